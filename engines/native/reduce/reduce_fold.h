// Associative reducers over the dimensions of an array.
#ifndef ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_FOLD_H_
#define ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_FOLD_H_

#include "engines/native/reduce/fold_kernels.h"
#include "engines/native/walk/loops.h"
#include "evaluator/eval_context.h"
#include "evaluator/patterns/associative.h"

namespace assay::native {

// The vector loop of an op on elements of a type.
struct TypedFold {
  FoldFn combine = nullptr;  // null: this type has none
  FoldRunFn run = nullptr;
  KeyOp op = KeyOp::kAdd;
  ElementType type = ElementType::kPred;
  uint64_t largest = 0;   // see FoldKernels
  uint64_t identity = 0;  // the folded value that changes nothing
  bool float_keys = false;
  // Whether folded values are elements: a sum of s4 in a byte may have more than 4 bits.
  bool stays_in_type = false;
};
TypedFold TypedFoldOf(const FoldKernels& kernels, KeyOp op, ElementType type);

struct ArrayFold {
  const std::byte* input;
  const std::byte* init;
  std::byte* result;
  LoopDims remaining;  // array 0: input, array 1: result
  LoopDims reduced;    // array 0: input
};
// False where neither remaining nor reduced elements lie together: the reference is as fast there.
bool IsFoldable(const ArrayFold& fold);
absl::Status RunArrayFold(EvalContext& context, const TypedFold& typed, const ArrayFold& fold);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_REDUCE_REDUCE_FOLD_H_
