// Dots of bytes on integer tensor cores. Sums are modulo 2^32, so nothing is rounded.
#include "gpu/kernels/device.cuh"
#include "gpu/kernels/dot_i8_arguments.h"
#include "gpu/kernels/index.cuh"

namespace assay::gpu {

constexpr int64_t kNoByteRow = INT64_MIN;
constexpr int kByteRows = 128;  // of either operand in a tile

// The rows [first, first + kByteRows) of an operand, kByteDotDepth bytes of k of them at a time, to shared memory.
class ByteSource {
 public:
  // `offsets` are shared memory for kByteRows numbers, which the block must wait for.
  __device__ __forceinline__ ByteSource(const ByteOperand& operand, int64_t batch, int64_t first,
                                        int64_t* offsets)
      : from_(reinterpret_cast<const uint8_t*>(operand.address) + OffsetOf(operand.batch, batch)),
        size_(SizeOf(operand.depth)),
        depth_(operand.depth),
        offsets_(offsets),
        along_rows_(InnermostStride(operand.rows) == 1 && InnermostStride(operand.depth) != 1) {
    const int64_t rows = SizeOf(operand.rows);
    for (int row = threadIdx.x; row < kByteRows; row += kByteDotThreads) {
      offsets[row] = first + row < rows ? OffsetOf(operand.rows, first + row) : kNoByteRow;
    }
    // Sixteen bytes of k are side by side in memory, and aligned.
    bool words = reinterpret_cast<uintptr_t>(from_) % 16 == 0 && InnermostStride(depth_) == 1;
    for (int d = 0; d < operand.rows.rank; ++d) words &= operand.rows.strides[d] % 16 == 0;
    for (int d = 0; d + 1 < depth_.rank; ++d) words &= depth_.strides[d] % 16 == 0;
    words_ = words && (depth_.rank == 1 || depth_.sizes[depth_.rank - 1] % 16 == 0);
  }

  __device__ __forceinline__ void Load(int64_t k, unsigned char* to) const {
    if (words_) {
      LoadWords(k, to);
    } else if (along_rows_) {
      const int row = threadIdx.x % kByteRows, first = threadIdx.x / kByteRows;
      const int64_t at = offsets_[row];
#pragma unroll 2
      for (int i = first; i < kByteDotDepth; i += kByteDotThreads / kByteRows) {
        to[row * kByteDotPitch + i] = Element(at, k + i < size_ ? OffsetOf(depth_, k + i) : kNoByteRow);
      }
    } else {
      const int i = threadIdx.x % kByteDotDepth;
      const int64_t depth = k + i < size_ ? OffsetOf(depth_, k + i) : kNoByteRow;
#pragma unroll 2
      for (int row = threadIdx.x / kByteDotDepth; row < kByteRows; row += kByteDotThreads / kByteDotDepth) {
        to[row * kByteDotPitch + i] = Element(offsets_[row], depth);
      }
    }
  }

 private:
  __device__ __forceinline__ void LoadWords(int64_t k, unsigned char* to) const {
    constexpr int kWordsOfRow = kByteDotDepth / 16;
    const int offset = threadIdx.x % kWordsOfRow * 16, first = threadIdx.x / kWordsOfRow;
    const int64_t left = size_ - k - offset, depth = left > 0 ? OffsetOf(depth_, k + offset) : 0;
    const uint32_t bytes = left >= 16 ? 16 : left > 0 ? static_cast<uint32_t>(left) : 0;
#pragma unroll
    for (int row = first; row < kByteRows; row += kByteDotThreads / kWordsOfRow) {
      const int64_t at = offsets_[row];
      const bool inside = bytes != 0 && at != kNoByteRow;
      CopyAsync16(to + row * kByteDotPitch + offset, inside ? from_ + at + depth : from_, inside ? bytes : 0);
    }
  }
  __device__ __forceinline__ uint8_t Element(int64_t row, int64_t depth) const {
    return row == kNoByteRow || depth == kNoByteRow ? 0 : from_[row + depth];
  }

  const uint8_t* const from_;
  const int64_t size_;
  const Strides& depth_;
  const int64_t* const offsets_;
  const bool along_rows_;
  bool words_;
};

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
    reinterpret_cast<uint8_t*>(a.result)[at] = static_cast<uint8_t>(sum);
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
  const int64_t rows = SizeOf(a.lhs.rows), columns = SizeOf(a.rhs.rows);
#pragma unroll 1
  for (int i = threadIdx.x; i < kByteRows; i += kByteDotThreads) {
    offsets[i] = row + i < rows ? OffsetOf(a.lhs.rows, a.row_strides, row + i) : kNoByteRow;
    offsets[kByteRows + i] =
        column + i < columns ? OffsetOf(a.rhs.rows, a.column_strides, column + i) : kNoByteRow;
  }
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
  if (own_column == kNoByteRow) return;
#pragma unroll 1
  for (int r = threadIdx.x / kByteRows; r < kByteRows; r += kByteDotThreads / kByteRows) {
    if (offsets[r] == kNoByteRow) return;
    StoreSum(a, start + offsets[r] + own_column, sums[r * kSumPitch + threadIdx.x % kByteRows]);
  }
}

template <bool kLhsSigned, bool kRhsSigned>
__device__ __forceinline__ void DotBytes(const ByteDotArguments& a) {
  constexpr int kStage = 2 * kByteRows * kByteDotPitch;
  unsigned char* const shared = SharedMemory();
  auto* const offsets = reinterpret_cast<int64_t*>(shared + kByteDotStages * kStage);
  const int64_t tiles_down = (SizeOf(a.lhs.rows) + kByteRows - 1) / kByteRows;
  int64_t batch = blockIdx.x;
  const int64_t across_tile = SplitIndex(&batch, (SizeOf(a.rhs.rows) + kByteRows - 1) / kByteRows);
  const int64_t row = SplitIndex(&batch, tiles_down) * kByteRows, column = across_tile * kByteRows;
  const ByteSource left(a.lhs, batch, row, offsets), right(a.rhs, batch, column, offsets + kByteRows);
  SyncThreads();
  const int64_t stages = (SizeOf(a.lhs.depth) + kByteDotDepth - 1) / kByteDotDepth;
  const auto load = [&](int64_t stage) {
    if (stage < stages) {
      unsigned char* const to = shared + stage % kByteDotStages * kStage;
      left.Load(stage * kByteDotDepth, to);
      right.Load(stage * kByteDotDepth, to + kByteRows * kByteDotPitch);
    }
    CopyAsyncCommit();
  };
  for (int stage = 0; stage < kByteDotStages - 1; ++stage) load(stage);
  const int warp = threadIdx.x / 32, down = warp / 4 * kByteDown * 16, across = warp % 4 * kByteAcross * 8;
  int32_t c[kByteDown][kByteAcross][4] = {};
  for (int64_t stage = 0; stage < stages; ++stage) {
    CopyAsyncWait<kByteDotStages - 2>();
    // This stage is there for all; and all are done with the one before, which the next copies overwrite.
    SyncThreads();
    load(stage + kByteDotStages - 1);
    const unsigned char* const at = shared + stage % kByteDotStages * kStage;
    MultiplyBytes<kLhsSigned, kRhsSigned>(at + down * kByteDotPitch,
                                          at + (kByteRows + across) * kByteDotPitch, c);
  }
  CopyAsyncWait<0>();
  StoreSums(a, batch, row, column, down, across, c);
}

KERNEL(dot_i8_ss, ByteDotArguments, kByteDotThreads) { DotBytes<true, true>(a); }
KERNEL(dot_i8_su, ByteDotArguments, kByteDotThreads) { DotBytes<true, false>(a); }
KERNEL(dot_i8_us, ByteDotArguments, kByteDotThreads) { DotBytes<false, true>(a); }
KERNEL(dot_i8_uu, ByteDotArguments, kByteDotThreads) { DotBytes<false, false>(a); }

}  // namespace assay::gpu
