// What all dots share: the rows of an operand, brought to shared memory some k at a time.
#ifndef ASSAY_GPU_KERNELS_DOT_TILES_CUH_
#define ASSAY_GPU_KERNELS_DOT_TILES_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"

namespace assay::gpu {

constexpr int64_t kNoRow = INT64_MIN;

// The rows [first, first + kRows) of an operand, kDepth elements of k of them at a time, to shared memory,
// where rows are kPitch elements apart. Elements that the operand does not have are zeros. Loads of 4-byte
// elements and of bytes may be copies that go on: the thread commits them and waits.
template <typename Element, int kRows, int kDepth, int kPitch, int kThreads>
class TileSource {
 public:
  // `offsets` are shared memory for kRows numbers, which the block must wait for.
  template <typename Operand>
  __device__ __forceinline__ TileSource(const Operand& operand, int64_t batch, int64_t first,
                                        int64_t* offsets)
      : from_(reinterpret_cast<const Element*>(operand.address) + OffsetOf(operand.batch, batch)),
        size_(SizeOf(operand.depth)),
        depth_(operand.depth),
        offsets_(offsets) {
    const int64_t rows = SizeOf(operand.rows);
    for (int row = threadIdx.x; row < kRows; row += kThreads) {
      offsets[row] = first + row < rows ? OffsetOf(operand.rows, first + row) : kNoRow;
    }
    way_ = kHasWords && WordsAreAligned(operand.rows)                                  ? kWords
           : InnermostStride(operand.rows) == 1 && InnermostStride(operand.depth) != 1 ? kAlongRows
                                                                                       : kAlongDepth;
  }

  __device__ __forceinline__ int64_t size() const { return size_; }

  // `start`: elements from the operand's first on, where these do not stand in whole words.
  __device__ __forceinline__ void Load(int64_t k, Element* to, int64_t start = 0) const {
    if constexpr (kHasWords) {
      if (way_ == kWords) {
        LoadWords(k, to);
        return;
      }
    }
    if (way_ == kAlongRows) {
      const int row = threadIdx.x % kRows, first = threadIdx.x / kRows;
      const int64_t at = offsets_[row];
#pragma unroll kUnrolled
      for (int step = 0; step < kDepth; step += kThreads / kRows) {
        const int i = first + step;
        const bool inside = k + i < size_ && at != kNoRow;
        LoadElement(to + row * kPitch + i, inside, inside ? at + OffsetOf(depth_, k + i) + start : 0);
      }
    } else {
      const int i = threadIdx.x % kDepth, first = threadIdx.x / kDepth;
      const bool valid = k + i < size_;
      const int64_t depth = valid ? OffsetOf(depth_, k + i) + start : 0;
#pragma unroll kUnrolled
      for (int step = 0; step < kRows; step += kThreads / kDepth) {
        const int row = first + step;
        const int64_t at = offsets_[row];
        const bool inside = valid && at != kNoRow;
        LoadElement(to + row * kPitch + i, inside, inside ? at + depth : 0);
      }
    }
  }

 private:
  enum Way { kWords, kAlongRows, kAlongDepth };
  // Kernels of doubles wait for every load, so that copies that go on would cost registers and save nothing.
  static constexpr bool kHasWords = sizeof(Element) != 8;
  static constexpr int kOfWord = 16 / sizeof(Element);
  // Other elements than those of 4 bytes go through registers, of which there are too few for all of them.
  static constexpr int kUnrolled = sizeof(Element) == 4 ? 16 : sizeof(Element) == 8 ? 4 : 2;
  static_assert(kThreads % kDepth == 0 && kThreads % kRows == 0 && kRows % (kThreads / kDepth) == 0);
  static_assert(kPitch * sizeof(Element) % 16 == 0 && kDepth % kOfWord == 0);

  // Sixteen bytes of k are side by side in memory, and aligned.
  __device__ __forceinline__ bool WordsAreAligned(const Strides& rows) const {
    bool aligned = reinterpret_cast<uintptr_t>(from_) % 16 == 0 && InnermostStride(depth_) == 1;
    for (int d = 0; d < rows.rank; ++d) aligned &= rows.strides[d] % kOfWord == 0;
    for (int d = 0; d + 1 < depth_.rank; ++d) aligned &= depth_.strides[d] % kOfWord == 0;
    return aligned && (depth_.rank == 1 || depth_.sizes[depth_.rank - 1] % kOfWord == 0);
  }
  __device__ __forceinline__ void LoadWords(int64_t k, Element* to) const {
    constexpr int kWordsOfRow = kDepth / kOfWord;
    const int offset = threadIdx.x % kWordsOfRow * kOfWord, first = threadIdx.x / kWordsOfRow;
    const int64_t left = size_ - k - offset, depth = left > 0 ? OffsetOf(depth_, k + offset) : 0;
    if (left > 0 && left < kOfWord) {
      LoadRaggedWords(static_cast<int>(left), depth, to, first, offset);
      return;
    }
#pragma unroll
    for (int step = 0; step < kRows; step += kThreads / kWordsOfRow) {
      const int row = first + step;
      const int64_t at = offsets_[row];
      const bool inside = left > 0 && at != kNoRow;
      CopyAsync16(to + row * kPitch + offset, inside ? from_ + at + depth : from_, inside ? 16 : 0);
    }
  }
  // The words at the rows' ends, of which `left` elements are the operand's: element by element, as a copy of
  // 16 bytes would reach beyond the allocation.
  __device__ __forceinline__ void LoadRaggedWords(int left, int64_t depth, Element* to, int first,
                                                  int offset) const {
#pragma unroll 1
    for (int row = first; row < kRows; row += kThreads / (kDepth / kOfWord)) {
      const int64_t at = offsets_[row];
#pragma unroll 1
      for (int i = 0; i < kOfWord; ++i) {
        const bool inside = i < left && at != kNoRow;
        LoadElement(to + row * kPitch + offset + i, inside, inside ? at + depth + i : 0);
      }
    }
  }
  // What is not inside is zero.
  __device__ __forceinline__ void LoadElement(Element* to, bool inside, int64_t at) const {
    if constexpr (sizeof(Element) == 4) {
      CopyAsync4(to, inside ? from_ + at : from_, inside ? 4 : 0);
    } else {
      *to = inside ? from_[at] : Element{};
    }
  }

  const Element* const from_;
  const int64_t size_;
  const Strides& depth_;
  const int64_t* const offsets_;
  Way way_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_DOT_TILES_CUH_
