// The merge sort that defines `sort` (evaluator/ops/indexing/sort.cc) with a comparator in generated code.
#ifndef ASSAY_ENGINES_NATIVE_SORT_MERGE_LINES_H_
#define ASSAY_ENGINES_NATIVE_SORT_MERGE_LINES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engines/codegen/scalar_code.h"
#include "evaluator/eval_context.h"

namespace assay::native {

// Lines of neighbouring elements, one entry an operand.
struct LineArrays {
  std::vector<const std::byte*> elements;  // of the first line
  std::vector<int64_t> bytes;              // of an element
};

// order[at + j] = which element of its line comes j-th, for `total` elements in lines of `length`.
// scratch is as long.
absl::Status MergeLines(EvalContext& context, const codegen::ScalarCode& comparator, const LineArrays& arrays,
                        int64_t length, std::span<uint32_t> order, std::span<uint32_t> scratch);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SORT_MERGE_LINES_H_
