// Moving elements without looking at them, by strides.
#ifndef ASSAY_ENGINES_NATIVE_WALK_MOVE_H_
#define ASSAY_ENGINES_NATIVE_WALK_MOVE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "shape/index.h"

namespace assay::native {

// dst element at to(I) = src element at from(I), for every I of the index space `sizes`, of elements of
// `element_bytes` (1, 2, 4, 8 or 16). src and dst do not overlap; to() hits no element twice.
void MoveElements(int element_bytes, std::span<const int64_t> sizes, const std::byte* src,
                  const AffineMap& from, std::byte* dst, const AffineMap& to);
// dst[2 i] = src[i] and dst[2 i + 1] = *value for i in [0, n).
void InterleaveElements(int element_bytes, const std::byte* src, const std::byte* value, int64_t n,
                        std::byte* dst);
// dst[i] = *value for i in [0, n).
void FillElements(int element_bytes, const std::byte* value, std::byte* dst, int64_t n);

// MoveElements prepared once and run at many places: the same index space and strides, other bases.
class StridedMove {
 public:
  // Strides in elements; 0 and negative are legal.
  StridedMove(int element_bytes, std::span<const int64_t> sizes, std::span<const int64_t> from_strides,
              std::span<const int64_t> to_strides);
  // src and dst point at the elements of index 0.
  void Run(const std::byte* src, std::byte* dst) const {
    if (outer_.empty()) {
      if (!empty_) kernel_(plane_, src, dst);
    } else {
      RunOuter(src, dst);
    }
  }
  // If every run moves one block of bytes that is contiguous on both sides: its length, else 0.
  int64_t block_bytes() const { return block_bytes_; }

 private:
  struct Dimension {
    int64_t size, from, to;  // strides in bytes
  };
  // The two inner dimensions, which one call of the kernel moves: `columns` is the inner one.
  struct Plane {
    Dimension columns{1, 0, 0}, rows{1, 0, 0};
  };
  struct Kernels;
  using Kernel = void (*)(const Plane& plane, const std::byte* src, std::byte* dst);

  void ChoosePlane(int element_bytes);
  void RunOuter(const std::byte* src, std::byte* dst) const;

  bool empty_ = false;
  int64_t block_bytes_ = 0;
  Plane plane_;
  Kernel kernel_ = nullptr;
  absl::InlinedVector<Dimension, 4> outer_;  // outermost first
};

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_WALK_MOVE_H_
