// Elements moved as they are: their bits, whatever they mean.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/move_arguments.h"
#include "gpu/kernels/offsets.cuh"

namespace assay::gpu {

struct alignas(16) Element16 {
  uint64_t low, high;
};

// The same index's offsets by two kinds of strides.
struct TwoOffsets {
  int64_t first, second;
};
__device__ __forceinline__ TwoOffsets OffsetsOf(const Strides& dimensions,
                                                const int64_t (&others)[kMaxDimensions], int64_t index) {
  TwoOffsets offsets{0, 0};
#pragma unroll 1
  for (int d = dimensions.rank - 1; d > 0; --d) {
    const int64_t at = SplitIndex(&index, dimensions.sizes[d]);
    offsets.first += at * dimensions.strides[d];
    offsets.second += at * others[d];
  }
  if (dimensions.rank == 0) return offsets;
  return {offsets.first + index * dimensions.strides[0], offsets.second + index * others[0]};
}

template <typename Element>
__device__ __forceinline__ Element FirstBytes(const uint64_t (&value)[2]) {
  if constexpr (sizeof(Element) == 16) {
    return {value[0], value[1]};
  } else {
    return static_cast<Element>(value[0]);
  }
}

template <typename Element>
__device__ __forceinline__ void Fill(const FillArguments& a) {
  const int64_t count = SizeOf(a.dimensions);
  const auto value = FirstBytes<Element>(a.value);
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    reinterpret_cast<Element*>(a.to)[OffsetOf(a.dimensions, i)] = value;
  }
}

template <typename Element>
__device__ __forceinline__ void Copy(const CopyArguments& a) {
  const int64_t count = SizeOf(a.from_dimensions);
#pragma unroll 2
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    const TwoOffsets at = OffsetsOf(a.from_dimensions, a.to_strides, i);
    reinterpret_cast<Element*>(a.to)[at.second] = reinterpret_cast<const Element*>(a.from)[at.first];
  }
}

// Of floats, whose sign is the highest bit.
template <typename Element>
__device__ __forceinline__ void CopyImage(const CopyArguments& a) {
  constexpr auto kNegativeZero = static_cast<Element>(Element{1} << (8 * sizeof(Element) - 1));
  const int64_t count = SizeOf(a.from_dimensions);
#pragma unroll 2
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    const TwoOffsets at = OffsetsOf(a.from_dimensions, a.to_strides, i);
    const Element bits = reinterpret_cast<const Element*>(a.from)[at.first];
    reinterpret_cast<Element*>(a.to)[at.second] = bits == kNegativeZero ? Element{0} : bits;
  }
}

// A tile goes through shared memory, so that reads and writes are of elements side by side.
template <typename Element>
__device__ __forceinline__ void Transpose(const TransposeArguments& a) {
  constexpr int kTile = kTransposeTile, kStep = kMoveThreads / kTile;
  auto* const tile = reinterpret_cast<Element*>(SharedMemory());
  const int64_t across = (a.columns + kTile - 1) / kTile, tiles = across * ((a.rows + kTile - 1) / kTile);
  const int64_t place = blockIdx.x % tiles, row = place / across * kTile, column = place % across * kTile;
  const TwoOffsets batch = OffsetsOf(a.batch, a.batch_to_strides, blockIdx.x / tiles);
  const auto* const from = reinterpret_cast<const Element*>(a.from) + batch.first;
  auto* const to = reinterpret_cast<Element*>(a.to) + batch.second;
  const int lane = threadIdx.x % kTile, line = threadIdx.x / kTile;
#pragma unroll
  for (int r = line; r < kTile; r += kStep) {
    if (row + r < a.rows && column + lane < a.columns) {
      tile[r * (kTile + 1) + lane] = from[(row + r) * a.from_stride + column + lane];
    }
  }
  SyncThreads();
#pragma unroll
  for (int c = line; c < kTile; c += kStep) {
    if (row + lane < a.rows && column + c < a.columns) {
      to[(column + c) * a.to_stride + row + lane] = tile[lane * (kTile + 1) + c];
    }
  }
}

// The index clamped to [0, most].
__device__ __forceinline__ int64_t ClampedIndex(const WindowArguments& a, const WindowStart& start,
                                                int64_t at) {
  const int64_t index = IndexAt(start.address, at, a.index_bytes, a.index_is_signed != 0);
  return index < 0 ? 0 : index > start.most ? start.most : index;
}

template <typename Element>
__device__ __forceinline__ void CopyWindows(const WindowArguments& a) {
  const int64_t size = SizeOf(a.window), count = SizeOf(a.batch) * size;
  for (int64_t i = GridThread(); i < count; i += GridThreads()) {
    int64_t b = i;
    const int64_t w = SplitIndex(&b, size);
    const TwoOffsets batch = OffsetsOf(a.batch, a.batch_to_strides, b);
    const TwoOffsets window = OffsetsOf(a.window, a.window_to_strides, w);
    int64_t from = batch.first + window.first, to = batch.second + window.second;
    const int64_t index = OffsetOf(a.batch, a.batch_index_strides, b);
    int64_t place = 0;
    for (int32_t c = 0; c < a.components; ++c)
      place += ClampedIndex(a, a.starts[c], index) * a.starts[c].stride;
    (a.place_in_result != 0 ? to : from) += place;
    reinterpret_cast<Element*>(a.to)[to] = reinterpret_cast<const Element*>(a.from)[from];
  }
}

#define MOVE_KERNELS(bytes, Element)                                                     \
  KERNEL(fill_##bytes, FillArguments, kMoveThreads) { Fill<Element>(a); }                \
  KERNEL(copy_##bytes, CopyArguments, kMoveThreads) { Copy<Element>(a); }                \
  KERNEL(transpose_##bytes, TransposeArguments, kMoveThreads) { Transpose<Element>(a); } \
  KERNEL(window_##bytes, WindowArguments, kMoveThreads) { CopyWindows<Element>(a); }
MOVE_KERNELS(1, uint8_t)
MOVE_KERNELS(2, uint16_t)
MOVE_KERNELS(4, uint32_t)
MOVE_KERNELS(8, uint64_t)
MOVE_KERNELS(16, Element16)
KERNEL(copy_image_4, CopyArguments, kMoveThreads) { CopyImage<uint32_t>(a); }
KERNEL(copy_image_8, CopyArguments, kMoveThreads) { CopyImage<uint64_t>(a); }

}  // namespace assay::gpu
