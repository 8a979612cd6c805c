// Arguments of the kernels of dot_fast.cu: result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k] by
// tensor cores that do not round correctly, for operands of f32 (as TF32), bf16 or f16. How far the result
// may be from the exact one: TensorCoreSums (engines/accuracy.h).
#ifndef ASSAY_GPU_KERNELS_FAST_DOT_FAST_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_FAST_DOT_FAST_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/formats.h"
#include "gpu/kernels/strides.h"

namespace assay::gpu {

// Element (b, row, k) is the sum of the three offsets from `address` on, in elements.
struct FastOperand {
  uint64_t address;
  Strides batch, rows, depth;
};

// dot_TYPE and dot_small_TYPE for tf32, bf16 and f16. One block a tile (FastDotBlocks).
struct FastDotArguments {
  FastOperand lhs, rhs;  // of the same batch and depth
  uint64_t result;
  // Of the result, in elements: for the dimensions of the batch, of m and of n.
  int64_t batch_strides[kMaxDimensions], row_strides[kMaxDimensions], column_strides[kMaxDimensions];
  Float result_type;
  int32_t lhs_has_padding;  // as in DotArguments
};

// Tiles, stages and shared memory are those of dot_f32 and dot_small_f32: a row of a stage has as many words
// of 4 bytes as there are floats.
constexpr int64_t FastDotBlocks(const DotTile& tile, const FastDotArguments& a) {
  return SizeOf(a.lhs.batch) * ((SizeOf(a.lhs.rows) + tile.rows - 1) / tile.rows) *
         ((SizeOf(a.rhs.rows) + tile.columns - 1) / tile.columns);
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_FAST_DOT_FAST_ARGUMENTS_H_
