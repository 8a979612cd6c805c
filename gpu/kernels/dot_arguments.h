// Arguments of the kernels of dot.cu: result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k], exact and rounded once.
//
// A dot of f32 runs, in this order, dot_scales_f32 once for each operand, dot_f32 or dot_small_f32, and dot_repair_f32.
#ifndef ASSAY_GPU_KERNELS_DOT_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_DOT_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/formats.h"

namespace assay::gpu {

// What is known of a row of an operand: at least its Euclidean norm (infinite where an element is not finite), and a power
// of two of which every element is a multiple.
struct RowScale {
  double norm;
  double unit;
};

// An operand: element (b, row, k) is element b * strides[0] + row * strides[1] + k * strides[2] from `address` on.
struct DotOperand {
  uint64_t address;
  uint64_t scales;  // RowScale [batch * rows]
  int64_t rows;
  int64_t strides[3];
};

// dot_scales_f32. Blocks of kScaleThreads threads, ScaleBlocks of them.
struct DotScaleArguments {
  DotOperand operand;
  int64_t batch, k;
};
constexpr int kScaleThreads = 256;
constexpr int64_t kScaleRows = 32;  // of a block
constexpr int64_t ScaleBlocks(int64_t batch, int64_t rows) {
  return batch * ((rows + kScaleRows - 1) / kScaleRows);
}
constexpr uint32_t kScaleSharedBytes = 2 * 8 * kScaleRows * sizeof(double);

// dot_f32, dot_small_f32 and dot_repair_f32.
struct DotArguments {
  DotOperand lhs, rhs;
  uint64_t result;
  int64_t result_strides[3];  // of b, m and n, in elements
  uint64_t open;              // uint32_t [batch * m * n]: the elements that the rounding test left open
  uint64_t open_count;        // uint32_t, zero before dot_f32
  int64_t batch, k;           // k <= kMostDotTerms, batch * m * n < 2^32
  Float result_type;
};
constexpr int64_t kMostDotTerms = int64_t{1} << 28;

struct DotTile {
  int64_t rows, columns;
  uint32_t threads;
  uint32_t shared_bytes;
};
constexpr int kDotDepth = 16, kDotPitch = 20,
              kDotStages = 4;  // floats of k in a stage, floats between rows, stages
constexpr DotTile DotTileOf(int64_t rows, int64_t columns, uint32_t threads) {
  return {rows, columns, threads, static_cast<uint32_t>((rows + columns) * kDotPitch * kDotStages * 4)};
}
constexpr DotTile kDotTile = DotTileOf(128, 128, 256);
constexpr DotTile kSmallDotTile = DotTileOf(32, 32, 128);
// One block a tile.
constexpr int64_t DotBlocks(const DotTile& tile, int64_t batch, int64_t rows, int64_t columns) {
  return batch * ((rows + tile.rows - 1) / tile.rows) * ((columns + tile.columns - 1) / tile.columns);
}
// dot_repair_f32: any number of blocks of this many threads.
constexpr int kRepairThreads = 256;

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_DOT_ARGUMENTS_H_
