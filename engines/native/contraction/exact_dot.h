// A dot of any two types, one exact sum of products after the other: for few products,
// and for rows too long to pack.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_EXACT_DOT_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_EXACT_DOT_H_

#include "engines/native/contraction/dot_box.h"
#include "evaluator/meter.h"

namespace assay::native {

// result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k], for every index of the box;
// elements of `type`.
absl::Status RunExactDot(const DotArray& lhs, const DotArray& rhs, const DotBox& box, ElementType type,
                         std::byte* result, Meter& meter);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_EXACT_DOT_H_
