// Dots of integers by their bytes on integer tensor cores. Sums are modulo 2^32 or 2^64, so nothing is
// rounded.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_i8_arguments.h"
#include "gpu/kernels/dot_tiles.cuh"
#include "gpu/kernels/index.cuh"

namespace assay::gpu {

constexpr int kByteRows = 128;  // of either operand in a tile
using ByteSource = TileSource<uint8_t, kByteRows, kByteDotDepth, kByteDotPitch, kByteDotThreads>;

// Eight warps, two down and four across, each with 4 x 4 products of 16 x 8.
constexpr int kByteDown = 4, kByteAcross = 4;

template <bool kLhsSigned, bool kRhsSigned>
__device__ __forceinline__ void MultiplyBytes(const unsigned char* left, const unsigned char* right,
                                              int32_t (&c)[kByteDown][kByteAcross][4]) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const auto word = [](const unsigned char* from) { return *reinterpret_cast<const uint32_t*>(from); };
#pragma unroll
  for (int k = 0; k < kByteDotDepth; k += 32) {
    uint32_t b[kByteAcross][2];
#pragma unroll
    for (int j = 0; j < kByteAcross; ++j) {
#pragma unroll
      for (int i = 0; i < 2; ++i) b[j][i] = word(right + (8 * j + g) * kByteDotPitch + k + 16 * i + 4 * t);
    }
#pragma unroll
    for (int d = 0; d < kByteDown; ++d) {
      uint32_t m[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        m[i] = word(left + (16 * d + g + 8 * (i % 2)) * kByteDotPitch + k + 16 * (i / 2) + 4 * t);
      }
#pragma unroll
      for (int j = 0; j < kByteAcross; ++j) MmaI8<kLhsSigned, kRhsSigned>(c[d][j], m, b[j]);
    }
  }
}

__device__ __forceinline__ void StoreSum(const ByteDotArguments& a, int64_t at, int32_t sum) {
  if (a.result_bytes == 4) {
    reinterpret_cast<int32_t*>(a.result)[at] = sum;
  } else if (a.result_bytes == 2) {
    reinterpret_cast<uint16_t*>(a.result)[at] = static_cast<uint16_t>(sum);
  } else {
    const auto high = static_cast<uint32_t>(sum) << a.unused_bits;
    reinterpret_cast<uint8_t*>(a.result)[at] = static_cast<uint8_t>(
        a.result_is_signed != 0 ? static_cast<uint32_t>(static_cast<int32_t>(high) >> a.unused_bits)
                                : high >> a.unused_bits);
  }
}

// Where the rows and columns of a tile are in the result, or kNoRow.
__device__ __forceinline__ void FindResults(const ByteDotArguments& a, int64_t row, int64_t column,
                                            int64_t* offsets) {
  const int64_t rows = SizeOf(a.lhs.rows), columns = SizeOf(a.rhs.rows);
#pragma unroll 1
  for (int i = threadIdx.x; i < kByteRows; i += kByteDotThreads) {
    offsets[i] = row + i < rows ? OffsetOf(a.lhs.rows, a.row_strides, row + i) : kNoRow;
    offsets[kByteRows + i] =
        column + i < columns ? OffsetOf(a.rhs.rows, a.column_strides, column + i) : kNoRow;
  }
}

// The tile goes through shared memory, so that columns side by side are stored together.
constexpr int kSumPitch = kByteRows + 4;
static_assert(kByteRows * (kSumPitch * 4 + 16) <= kByteDotSharedBytes);

__device__ __forceinline__ void StoreSums(const ByteDotArguments& a, int64_t batch, int64_t row,
                                          int64_t column, int down, int across,
                                          const int32_t (&c)[kByteDown][kByteAcross][4]) {
  auto* const sums = reinterpret_cast<int32_t*>(SharedMemory());
  auto* const offsets = reinterpret_cast<int64_t*>(sums + kByteRows * kSumPitch);
  SyncThreads();
  FindResults(a, row, column, offsets);
  const int lane = threadIdx.x % 32;
  int32_t* const own = sums + (down + lane / 4) * kSumPitch + across + lane % 4 * 2;
#pragma unroll
  for (int d = 0; d < kByteDown; ++d) {
#pragma unroll
    for (int j = 0; j < kByteAcross; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) own[(16 * d + 8 * (i / 2)) * kSumPitch + 8 * j + i % 2] = c[d][j][i];
    }
  }
  SyncThreads();
  const int64_t start = OffsetOf(a.lhs.batch, a.batch_strides, batch);
  const int64_t own_column = offsets[kByteRows + threadIdx.x % kByteRows];
  if (own_column == kNoRow) return;
#pragma unroll 1
  for (int r = threadIdx.x / kByteRows; r < kByteRows; r += kByteDotThreads / kByteRows) {
    if (offsets[r] == kNoRow) return;
    StoreSum(a, start + offsets[r] + own_column, sums[r * kSumPitch + threadIdx.x % kByteRows]);
  }
}

__device__ __forceinline__ void MultiplyPass(const BytePass& pass, const unsigned char* left,
                                             const unsigned char* right,
                                             int32_t (&c)[kByteDown][kByteAcross][4]) {
  if (pass.lhs_signed != 0) {
    if (pass.rhs_signed != 0) {
      MultiplyBytes<true, true>(left, right, c);
    } else {
      MultiplyBytes<true, false>(left, right, c);
    }
  } else if (pass.rhs_signed != 0) {
    MultiplyBytes<false, true>(left, right, c);
  } else {
    MultiplyBytes<false, false>(left, right, c);
  }
}

__device__ __forceinline__ void ShiftSums(int32_t (&c)[kByteDown][kByteAcross][4]) {
#pragma unroll
  for (auto& row : c) {
#pragma unroll
    for (auto& tile : row) {
#pragma unroll
      for (int32_t& sum : tile) sum = static_cast<int32_t>(static_cast<uint32_t>(sum) << kByteShift);
    }
  }
}

// Adds a thread's sums to results of 64 bits; the first ones are stored. They start from zero then.
__device__ __forceinline__ void AddSums(const ByteDotArguments& a, int64_t batch, int down, int across,
                                        int place, bool is_first, const int64_t* offsets,
                                        int32_t (&c)[kByteDown][kByteAcross][4]) {
  auto* const result = reinterpret_cast<uint64_t*>(a.result) + OffsetOf(a.lhs.batch, a.batch_strides, batch);
  const int lane = threadIdx.x % 32;
  const int64_t *const rows = offsets + down + lane / 4, *const columns =
                                                             offsets + kByteRows + across + lane % 4 * 2;
#pragma unroll
  for (int d = 0; d < kByteDown; ++d) {
#pragma unroll
    for (int j = 0; j < kByteAcross; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const auto sum = static_cast<uint64_t>(static_cast<int64_t>(c[d][j][i])) << place;
        c[d][j][i] = 0;
        const int64_t row = rows[16 * d + 8 * (i / 2)], column = columns[8 * j + i % 2];
        if (row == kNoRow || column == kNoRow) continue;
        uint64_t& to = result[row + column];
        to = is_first ? sum : to + sum;
      }
    }
  }
}

template <bool kWide>
__device__ __forceinline__ void RunByteDot(const ByteDotArguments& a) {
  constexpr int kStage = 2 * kByteRows * kByteDotPitch;
  unsigned char* const shared = SharedMemory();
  auto* const offsets = reinterpret_cast<int64_t*>(shared + kByteDotStages * kStage);
  const int64_t tiles_down = (SizeOf(a.lhs.rows) + kByteRows - 1) / kByteRows;
  int64_t batch = blockIdx.x;
  const int64_t across_tile = SplitIndex(&batch, (SizeOf(a.rhs.rows) + kByteRows - 1) / kByteRows);
  const int64_t row = SplitIndex(&batch, tiles_down) * kByteRows, column = across_tile * kByteRows;
  const ByteSource left(a.lhs, batch, row, offsets), right(a.rhs, batch, column, offsets + kByteRows);
  int64_t* const results = offsets + 2 * kByteRows;
  if constexpr (kWide) FindResults(a, row, column, results);
  SyncThreads();
  // All stages of the first pass, then those of the next one.
  const int64_t of_pass = (SizeOf(a.lhs.depth) + kByteDotDepth - 1) / kByteDotDepth,
                stages = a.passes.count * of_pass;
  int64_t load_k = 0;
  int load_pass = 0;
  const auto load = [&](int64_t stage) {
    if (stage < stages) {
      unsigned char* const to = shared + stage % kByteDotStages * kStage;
      left.Load(load_k * kByteDotDepth, to, a.passes.list[load_pass].lhs);
      right.Load(load_k * kByteDotDepth, to + kByteRows * kByteDotPitch, a.passes.list[load_pass].rhs);
      if (++load_k == of_pass) {
        load_k = 0;
        ++load_pass;
      }
    }
    CopyAsyncCommit();
  };
  for (int stage = 0; stage < kByteDotStages - 1; ++stage) load(stage);
  const int warp = threadIdx.x / 32, down = warp / 4 * kByteDown * 16, across = warp % 4 * kByteAcross * 8;
  int32_t c[kByteDown][kByteAcross][4] = {};
  int64_t k = 0;
  int pass = 0;
  bool is_first = true;  // of what is added to results of 64 bits
  for (int64_t stage = 0; stage < stages; ++stage) {
    CopyAsyncWait<kByteDotStages - 2>();
    // This stage is there for all; and all are done with the one before, which the next copies overwrite.
    SyncThreads();
    load(stage + kByteDotStages - 1);
    const unsigned char* const at = shared + stage % kByteDotStages * kStage;
    if (k == 0 && a.passes.list[pass].shift != 0) ShiftSums(c);
    MultiplyPass(a.passes.list[pass], at + down * kByteDotPitch, at + (kByteRows + across) * kByteDotPitch,
                 c);
    ++k;
    if constexpr (kWide) {
      const int place = a.passes.list[pass].place;
      if (place >= 0 && (k == of_pass || (place < kExactPlaces && k % (kExactTerms / kByteDotDepth) == 0))) {
        AddSums(a, batch, down, across, place, is_first, results, c);
        is_first = false;
      }
    }
    if (k == of_pass) {
      k = 0;
      ++pass;
    }
  }
  CopyAsyncWait<0>();
  if constexpr (!kWide) {
    StoreSums(a, batch, row, column, down, across, c);
  } else if (is_first) {
    AddSums(a, batch, down, across, 0, true, results, c);  // of no products
  }
}

KERNEL(dot_i8, ByteDotArguments, kByteDotThreads) { RunByteDot<false>(a); }
LARGE_KERNEL(dot_i8_wide, ByteDotArguments, kByteDotThreads) { RunByteDot<true>(a); }

}  // namespace assay::gpu
