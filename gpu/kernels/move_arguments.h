// Arguments of the kernels of move.cu, which move elements of 1, 2, 4, 8 or 16 bytes: NAME_BYTES.
// Offsets are in elements.
#ifndef ASSAY_GPU_KERNELS_MOVE_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_MOVE_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/strides.h"

namespace assay::gpu {

constexpr int kMoveThreads = 256;

// fill_N: to[i] = value for every index of the dimensions. Any number of blocks of kMoveThreads threads.
struct FillArguments {
  uint64_t to;
  uint64_t value[2];  // the first N bytes
  Strides dimensions;
};

// Division of n < 2^31 by a number in one multiplication. With s = ceil(log2 d) and m = ceil(2^(31 + s) / d)
// < 2^32, m d = 2^(31 + s) + r with 0 <= r < d <= 2^s, so n m / 2^(31 + s) = n / d + n r / (d 2^(31 + s)),
// of which the second term is below 1 / d: the integer part is that of n / d.
struct Divisor {
  uint32_t number, magic, shift;  // shift: s - 1; a divisor of 1 is a case by itself
};
constexpr Divisor DivisorOf(uint32_t d) {
  uint32_t s = 0;
  while ((uint64_t{1} << s) < d) ++s;
  if (s == 0) return {1, 0, 0};
  return {d, static_cast<uint32_t>(((uint64_t{1} << (31 + s)) + d - 1) / d), s - 1};
}

// box_N: to[i] = from[i] for every index i of up to kMaxDimensions dimensions, the innermost first, of which
// the outermost needs no divisor. pick_N: the same where the place in `from` (in `to` where place_in_result)
// is read from memory, as WindowArguments has it. Blocks of kMoveThreads threads, BoxBlocks of them.
struct BoxDimension {
  Divisor size;
  int64_t from_stride, to_stride;
  int64_t index_stride;  // of pick_N, in indices
};
struct BoxArguments {
  uint64_t from, to;
  uint32_t count;  // of elements, below 2^31
  int32_t rank;
  BoxDimension dimensions[kMaxDimensions];
};
constexpr uint32_t kBoxItems = 4;  // of a thread
constexpr int64_t BoxBlocks(int64_t count) {
  return (count + kMoveThreads * kBoxItems - 1) / (kMoveThreads * kBoxItems);
}

// copy_N: to[i] = from[i] for every index i; both have the sizes of `from`. Any number of blocks of
// kMoveThreads threads. Slices, broadcasts, reversals, concatenations, paddings and transposes are copies
// with other strides. copy_image_4 and _8, of f32 and f64: the same with +0 in place of -0, which marks
// padding (dot_arguments.h).
struct CopyArguments {
  uint64_t from, to;
  Strides from_dimensions;
  int64_t to_strides[kMaxDimensions];
};

// transpose_N: the same where one dimension, of stride 1, is side by side in `from`, and another one in `to`.
// TransposeBlocks blocks of kMoveThreads threads.
struct TransposeArguments {
  uint64_t from, to;
  Strides batch;  // the other dimensions, with strides in `from`
  int64_t batch_to_strides[kMaxDimensions];
  int64_t rows, columns;           // element (r, c) is r * from_stride + c in `from`
  int64_t from_stride, to_stride;  // and c * to_stride + r in `to`
};
constexpr int TransposeTile(int bytes) { return bytes == 16 ? 32 : 64; }
constexpr uint32_t TransposeSharedBytes(int bytes) {
  return static_cast<uint32_t>(TransposeTile(bytes) * (TransposeTile(bytes) + 1) * bytes);
}
constexpr int64_t TransposeBlocks(const TransposeArguments& a, int bytes) {
  const int tile = TransposeTile(bytes);
  return SizeOf(a.batch) * ((a.rows + tile - 1) / tile) * ((a.columns + tile - 1) / tile);
}

// One component of a window's place: an index in memory, held to [0, most], times the stride of a dimension.
struct WindowStart {
  uint64_t address;
  int64_t most, stride;
};

// window_N: copies of windows whose place is read from memory: gather, dynamic-slice and
// (one window alone, as windows may overlap) dynamic-update-slice. For every index b of `batch` and w of
// `window`, with p the sum over components of clamp(start[b]) * stride: to[b, w] = from[p + b, w], or to[p +
// b, w] = from[b, w] where `place_in_result`. Any number of blocks of kMoveThreads threads.
struct WindowArguments {
  uint64_t from, to;
  Strides batch, window;  // with strides in `from`
  int64_t batch_to_strides[kMaxDimensions], window_to_strides[kMaxDimensions];
  int64_t batch_index_strides[kMaxDimensions];  // of the components, in indices
  WindowStart starts[kMaxDimensions];
  int32_t components;
  int32_t index_bytes;  // 1, 2, 4 or 8
  int32_t index_is_signed;
  int32_t place_in_result;
};

struct PickArguments {
  BoxArguments box;
  WindowStart starts[kMaxDimensions];
  int32_t components;
  int32_t index_bytes;
  int32_t index_is_signed;
  int32_t place_in_result;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_MOVE_ARGUMENTS_H_
