// The hot loop of reducers whose grouping no result can show, once an instruction set (fold_kernels_body.h).
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_FOLD_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_FOLD_KERNELS_H_

#include <cstdint>

#include "jit/isa.h"

namespace assay::native {

enum class FoldOp : uint8_t {
  kAdd,
  kMultiply,
  kAnd,
  kOr,
  kXor,
  kSignedMaximum,
  kSignedMinimum,
  kUnsignedMaximum,
  kUnsignedMinimum,
  // Of float patterns with the sign on top, as signed keys: in the order of the values,
  // NaN beyond everything.
  kFloatMaximum,
  kFloatMinimum,
};
inline constexpr int kFoldOps = 11;

// folded[j] = folded[j] op x[j] for j < n. `largest` is the pattern of the largest magnitude that is no NaN.
using FoldFn = void (*)(int64_t n, const void* x, void* folded, uint64_t largest);
// All of x[0 .. n), n > 0, folded: the pattern that FoldFn would leave.
using FoldRunFn = uint64_t (*)(int64_t n, const void* x, uint64_t largest);
struct FoldKernels {
  // By log2 of the element's bytes.
  FoldFn of[4][kFoldOps];
  FoldRunFn run[4][kFoldOps];
};
const FoldKernels& FoldKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_FOLD_KERNELS_H_
