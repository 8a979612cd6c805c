// Elements as unsigned numbers that an operation folds in any order.
#ifndef ASSAY_GPU_KERNELS_FOLDING_CUH_
#define ASSAY_GPU_KERNELS_FOLDING_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

template <typename Bits>
struct Folding {
  static constexpr int kWidth = 8 * sizeof(Bits);
  static constexpr uint64_t kSign = uint64_t{1} << (kWidth - 1), kAll = ~uint64_t{0} >> (64 - kWidth);
  const FoldingArguments& a;

  __device__ __forceinline__ bool is_extreme() const { return a.op == FoldOp::kMax || a.op == FoldOp::kMin; }

  // A number that is ordered as the element is: -0 stands below +0, and a NaN where the extreme is.
  __device__ __forceinline__ uint64_t Key(Bits bits) const {
    if (!is_extreme() || a.kind == FoldKind::kUnsigned) return bits;
    if (a.kind == FoldKind::kSigned) return bits ^ kSign;
    if ((bits & ~kSign) > a.infinity) return a.op == FoldOp::kMax ? kAll : 0;
    return (bits & kSign) != 0 ? ~static_cast<uint64_t>(bits) & kAll : bits | kSign;
  }
  __device__ __forceinline__ Bits Element(uint64_t key) const {
    if (!is_extreme() || a.kind == FoldKind::kUnsigned) return static_cast<Bits>(key);
    if (a.kind == FoldKind::kSigned) return static_cast<Bits>(key ^ kSign);
    if (key == (a.op == FoldOp::kMax ? kAll : 0)) return static_cast<Bits>(a.nan);
    return static_cast<Bits>((key & kSign) != 0 ? key & ~kSign : ~key & kAll);
  }
  __device__ __forceinline__ uint64_t Neutral() const {
    return a.op == FoldOp::kMin || a.op == FoldOp::kAnd ? kAll : a.op == FoldOp::kMultiply ? 1 : 0;
  }
  __device__ __forceinline__ uint64_t Of(uint64_t x, uint64_t y) const {
    switch (a.op) {
      case FoldOp::kMax:
        return x > y ? x : y;
      case FoldOp::kMin:
        return x < y ? x : y;
      case FoldOp::kAnd:
        return x & y;
      case FoldOp::kOr:
        return x | y;
      case FoldOp::kXor:
        return x ^ y;
      case FoldOp::kAdd:
        return x + y;
      default:
        return x * y;
    }
  }
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_FOLDING_CUH_
