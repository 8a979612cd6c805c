// A computation of scalars (a reducer, comparator, combiner, map body) as a function over many elements.
//
// If it consists only of parameters, constants, elementwise ops, tuples, get-tuple-element and calls (or
// fusions) of such computations, it becomes a list of strip functions, run a strip at a time; otherwise each
// application runs the interpreter. Both give the same bits.
#ifndef ASSAY_EVALUATOR_SCALAR_FUNCTION_H_
#define ASSAY_EVALUATOR_SCALAR_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "hlo/module.h"

namespace assay {

class RunContext;  // eval_context.h

class ScalarFunction {
 public:
  ~ScalarFunction();
  // `run` and `module` must outlive it. The computation must take and return scalars (or a flat tuple
  // of scalars). `interpreted`: it is never compiled, for who watches its steps.
  static absl::StatusOr<std::unique_ptr<ScalarFunction>> Make(RunContext& run, const Module& module,
                                                              ComputationId id, int depth,
                                                              bool interpreted = false);

  // The values of some of a computation's instructions, as a function of its parameters; null where it can't
  // be compiled.
  static std::unique_ptr<ScalarFunction> MakePart(RunContext& run, const Module& module, ComputationId id,
                                                  std::span<const int32_t> values);

  int64_t num_inputs() const;
  int64_t num_outputs() const;
  ElementType input_type(int64_t i) const;
  ElementType output_type(int64_t i) const;

  // RED-1: one result (or a tuple of it), of floating or complex type, which is `add` of the two parameters,
  // whatever copies, bitcasts of a scalar to its own type, barriers and tuples they go through. Such a
  // reducer means the exact sum rounded once.
  bool is_exact_sum() const;

  // A parameter returned unchanged (`index` its number), or -1: combiners that keep or replace.
  int64_t passes_through() const;

  // Applies the function to n independent argument tuples. in[k] points at n elements of input k,
  // in_strides[k] bytes apart (0 repeats one); out[k] at room for n elements of output k, out_strides[k]
  // bytes apart. in and out may be the same memory, element for element.
  absl::Status Run(int64_t n, std::span<const std::byte* const> in, std::span<const int64_t> in_strides,
                   std::span<std::byte* const> out, std::span<const int64_t> out_strides);

 private:
  struct Impl;
  explicit ScalarFunction(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// RED-1 on the program alone, for shape rules and plans. A computation that has effects is none: its sum is a
// left fold, since what it shows is each of its applications.
bool IsExactSum(const Module& module, ComputationId id);

// Whether a computation, or one that it calls, has side effects.
bool HasEffects(const Module& module, ComputationId id);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_SCALAR_FUNCTION_H_
