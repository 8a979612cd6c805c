// What all dots share: the rows of an operand, brought to shared memory some k at a time.
#ifndef ASSAY_GPU_KERNELS_DOT_TILES_CUH_
#define ASSAY_GPU_KERNELS_DOT_TILES_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"

namespace assay::gpu {

constexpr int64_t kNoRow = INT64_MIN;

// The rows [first, first + kRows) of an operand, kDepth elements of k of them at a time, to shared memory, where rows are
// kPitch elements apart. Elements that the operand does not have are zeros. Loads may be copies that go on: the thread commits
// them and waits.
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
    way_ = WordsAreAligned(operand.rows)                                               ? kWords
           : InnermostStride(operand.rows) == 1 && InnermostStride(operand.depth) != 1 ? kAlongRows
                                                                                       : kAlongDepth;
  }

  __device__ __forceinline__ int64_t size() const { return size_; }

  __device__ __forceinline__ void Load(int64_t k, Element* to) const {
    if (way_ == kWords) {
      LoadWords(k, to);
    } else if (way_ == kAlongRows) {
      const int row = threadIdx.x % kRows, first = threadIdx.x / kRows;
      const int64_t at = offsets_[row];
#pragma unroll kUnrolled
      for (int i = first; i < kDepth; i += kThreads / kRows) {
        const bool inside = k + i < size_ && at != kNoRow;
        LoadElement(to + row * kPitch + i, inside ? from_ + at + OffsetOf(depth_, k + i) : nullptr);
      }
    } else {
      const int i = threadIdx.x % kDepth, first = threadIdx.x / kDepth;
      const bool valid = k + i < size_;
      const int64_t depth = valid ? OffsetOf(depth_, k + i) : 0;
#pragma unroll kUnrolled
      for (int row = first; row < kRows; row += kThreads / kDepth) {
        const int64_t at = offsets_[row];
        LoadElement(to + row * kPitch + i, valid && at != kNoRow ? from_ + at + depth : nullptr);
      }
    }
  }

 private:
  enum Way { kWords, kAlongRows, kAlongDepth };
  static constexpr int kOfWord = 16 / sizeof(Element);
  // Bytes are loaded into registers, of which there are too few for all of them.
  static constexpr int kUnrolled = sizeof(Element) == 1 ? 2 : sizeof(Element) == 8 ? 4 : 16;
  static_assert(kThreads % kDepth == 0 && kThreads >= kRows && kThreads % kRows == 0);
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
    const uint32_t bytes = left >= kOfWord ? 16 : left > 0 ? static_cast<uint32_t>(left) * sizeof(Element) : 0;
#pragma unroll
    for (int row = first; row < kRows; row += kThreads / kWordsOfRow) {
      const int64_t at = offsets_[row];
      const bool inside = bytes != 0 && at != kNoRow;
      CopyAsync16(to + row * kPitch + offset, inside ? from_ + at + depth : from_, inside ? bytes : 0);
    }
  }
  // Of a null pointer, zero.
  __device__ __forceinline__ void LoadElement(Element* to, const Element* from) const {
    if constexpr (sizeof(Element) == 4) {
      CopyAsync4(to, from != nullptr ? from : from_, from != nullptr ? 4 : 0);
    } else {
      *to = from != nullptr ? *from : Element{};
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
