// Arguments of the kernels of dot.cu: result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k], exact and
// rounded once. Each of b, m, n and k is an index over some dimensions, so that any dot is one of these
// without a copy, and so is a convolution whose operand has its padding in memory: m is the batch and the
// place of the window, k what is in it.
//
// A dot of f32 runs, in this order, dot_scales_f32 once for each operand, dot_f32 or dot_small_f32, and
// dot_repair_f32; one of f64 (dot_f64.cu) dot_scales_f64, dot_f64 and dot_repair_f64.
#ifndef ASSAY_GPU_KERNELS_DOT_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_DOT_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/formats.h"
#include "gpu/kernels/strides.h"

namespace assay::gpu {

// What is known of a row of an operand: at least its Euclidean norm (infinite where an
// element is not finite), and a power of two of which every element is a multiple.
struct RowScale {
  double norm;
  double unit;
};

// Element (b, row, k) is the sum of the three offsets from `address` on.
struct DotOperand {
  uint64_t address;
  uint64_t scales;  // RowScale [batch * rows]
  Strides batch, rows, depth;
};

// dot_scales_f32. Blocks of kScaleThreads threads, ScaleBlocks of them.
struct DotScaleArguments {
  DotOperand operand;
};
constexpr int kScaleThreads = 256;
constexpr int64_t kScaleRows = 32;  // of a block
constexpr int64_t ScaleBlocks(const DotOperand& operand) {
  return SizeOf(operand.batch) * ((SizeOf(operand.rows) + kScaleRows - 1) / kScaleRows);
}
constexpr uint32_t kScaleSharedBytes = 2 * 8 * kScaleRows * sizeof(double);

// dot_f32, dot_small_f32 and dot_repair_f32.
struct DotArguments {
  DotOperand lhs, rhs;  // of the same batch and depth
  uint64_t result;
  // Of the result, in elements: for the dimensions of the batch, of m and of n.
  int64_t batch_strides[kMaxDimensions], row_strides[kMaxDimensions], column_strides[kMaxDimensions];
  uint64_t open;        // uint32_t [batch * m * n]: the elements that the rounding test left open
  uint64_t open_count;  // uint32_t, zero before dot_f32
  Float result_type;
  // Whether elements -0 of lhs are no elements: padding around a convolution's image, which is no term even
  // where the other factor is infinite. Its own zeros are +0 then;
  // no sum of products shows the sign of a zero.
  int32_t lhs_has_padding;
};
// At most this many k, and fewer than 2^32 elements of the result.
constexpr int64_t kMaxDotTerms = int64_t{1} << 28;

struct DotTile {
  int64_t rows, columns;
  uint32_t threads;
  uint32_t shared_bytes;
};
constexpr int kDotDepth = 16, kDotPitch = 20,
              kDotStages = 4;  // floats of k in a stage, floats between rows, stages
constexpr DotTile DotTileOf(int64_t rows, int64_t columns, uint32_t threads) {
  return {rows, columns, threads, static_cast<uint32_t>((rows + columns) * (kDotPitch * kDotStages * 4 + 8))};
}
constexpr DotTile kDotTile = DotTileOf(128, 128, 256);
constexpr DotTile kSmallDotTile = DotTileOf(32, 32, 128);
// One block a tile.
constexpr int64_t DotBlocks(const DotTile& tile, const DotArguments& a) {
  return SizeOf(a.lhs.batch) * ((SizeOf(a.lhs.rows) + tile.rows - 1) / tile.rows) *
         ((SizeOf(a.rhs.rows) + tile.columns - 1) / tile.columns);
}
// dot_f64: tiles of as many entries.
constexpr int kPairDotDepth = 16, kPairDotPitch = 18;  // doubles of k in a stage, and between rows
constexpr DotTile kPairDotTile = {64, 64, 256, (64 + 64) * (kPairDotPitch * 8 + 8)};
// dot_repair_f32 and dot_repair_f64: any number of blocks of this many threads.
constexpr int kRepairThreads = 256;

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_DOT_ARGUMENTS_H_
