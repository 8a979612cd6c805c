// Exact sums over the dimensions of an array (RED-1).
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_ADD_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_ADD_H_

#include "engines/native/sums/sum_kernels.h"
#include "engines/native/walk/loops.h"
#include "evaluator/eval_context.h"

namespace assay::native {

// Elements, start value and results of one float or complex type.
struct ArraySums {
  ElementType type;
  const std::byte* input;
  const std::byte* init;
  std::byte* result;
  LoopDims remaining;  // array 0: input, array 1: result
  LoopDims reduced;    // array 0: input
};

absl::Status RunArraySums(EvalContext& context, const SumKernels& kernels, const ArraySums& sums);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_ADD_H_
