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

__device__ __forceinline__ uint32_t Quotient(uint32_t n, const Divisor& d) {
  return d.number == 1 ? n : MulHigh(n, d.magic) >> d.shift;
}

// Where element i of a box is.
struct BoxPlace {
  int64_t from, to, index;
};
__device__ __forceinline__ BoxPlace PlaceOf(const BoxArguments& a, uint32_t i) {
  BoxPlace place{0, 0, 0};
  const auto step = [&](const BoxDimension& d, uint32_t at) {
    place.from += at * d.from_stride;
    place.to += at * d.to_stride;
    place.index += at * d.index_stride;
  };
#pragma unroll 1
  for (int d = 0; d + 1 < a.rank; ++d) {
    const uint32_t quotient = Quotient(i, a.dimensions[d].size);
    step(a.dimensions[d], i - quotient * a.dimensions[d].size.number);
    i = quotient;
  }
  if (a.rank > 0) step(a.dimensions[a.rank - 1], i);
  return place;
}

// All loads of a thread are under way before its first store.
template <typename Element, typename Place>
__device__ __forceinline__ void MoveBox(const BoxArguments& a, const Place& place_of) {
  const uint32_t first = blockIdx.x * (kMoveThreads * kBoxItems) + threadIdx.x;
  Element elements[kBoxItems];
  int64_t to[kBoxItems];
#pragma unroll
  for (uint32_t j = 0; j < kBoxItems; ++j) {
    const uint32_t i = first + j * kMoveThreads;
    if (i >= a.count) continue;
    const BoxPlace place = place_of(i);
    to[j] = place.to;
    elements[j] = reinterpret_cast<const Element*>(a.from)[place.from];
  }
#pragma unroll
  for (uint32_t j = 0; j < kBoxItems; ++j) {
    if (first + j * kMoveThreads < a.count)
      StoreStreaming(reinterpret_cast<Element*>(a.to) + to[j], elements[j]);
  }
}
template <typename Element>
__device__ __forceinline__ void CopyBox(const BoxArguments& a) {
  MoveBox<Element>(a, [&](uint32_t i) { return PlaceOf(a, i); });
}

// A tile goes through shared memory, so that reads and writes are of elements side by side; all reads of a
// thread are under way before the first is stored.
template <typename Element>
__device__ __forceinline__ void Transpose(const TransposeArguments& a) {
  constexpr int kTile = TransposeTile(sizeof(Element)), kLanes = 32, kStep = kMoveThreads / kLanes;
  constexpr int kHalves = kTile / kLanes, kLines = kTile / kStep;
  auto* const tile = reinterpret_cast<Element*>(SharedMemory());
  const int64_t across = (a.columns + kTile - 1) / kTile, tiles = across * ((a.rows + kTile - 1) / kTile);
  int64_t of_batch = blockIdx.x;
  int64_t down = SplitIndex(&of_batch, tiles);
  const int64_t column = SplitIndex(&down, across) * kTile, row = down * kTile;
  const TwoOffsets batch = OffsetsOf(a.batch, a.batch_to_strides, of_batch);
  const auto* const from = reinterpret_cast<const Element*>(a.from) + batch.first;
  auto* const to = reinterpret_cast<Element*>(a.to) + batch.second;
  const int lane = threadIdx.x % kLanes, line = threadIdx.x / kLanes;
  Element elements[kLines][kHalves];
#pragma unroll
  for (int j = 0; j < kLines; ++j) {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const int64_t r = row + line + j * kStep, c = column + lane + half * kLanes;
      if (r < a.rows && c < a.columns) elements[j][half] = LoadStreaming(from + r * a.from_stride + c);
    }
  }
#pragma unroll
  for (int j = 0; j < kLines; ++j) {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const int r = line + j * kStep, c = lane + half * kLanes;
      if (row + r < a.rows && column + c < a.columns) tile[r * (kTile + 1) + c] = elements[j][half];
    }
  }
  SyncThreads();
#pragma unroll
  for (int j = 0; j < kLines; ++j) {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const int c = line + j * kStep, r = lane + half * kLanes;
      if (row + r < a.rows && column + c < a.columns)
        StoreStreaming(to + (column + c) * a.to_stride + row + r, tile[r * (kTile + 1) + c]);
    }
  }
}

// The index clamped to [0, most].
template <typename Arguments>
__device__ __forceinline__ int64_t ClampedIndex(const Arguments& a, const WindowStart& start, int64_t at) {
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

template <typename Element>
__device__ __forceinline__ void PickBox(const PickArguments& a) {
  MoveBox<Element>(a.box, [&](uint32_t i) {
    BoxPlace place = PlaceOf(a.box, i);
    int64_t offset = 0;
#pragma unroll 1
    for (int32_t c = 0; c < a.components; ++c)
      offset += ClampedIndex(a, a.starts[c], place.index) * a.starts[c].stride;
    (a.place_in_result != 0 ? place.to : place.from) += offset;
    return place;
  });
}

#define MOVE_KERNELS(bytes, Element)                                                     \
  KERNEL(fill_##bytes, FillArguments, kMoveThreads) { Fill<Element>(a); }                \
  KERNEL(copy_##bytes, CopyArguments, kMoveThreads) { Copy<Element>(a); }                \
  KERNEL(box_##bytes, BoxArguments, kMoveThreads) { CopyBox<Element>(a); }               \
  KERNEL(pick_##bytes, PickArguments, kMoveThreads) { PickBox<Element>(a); }             \
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
