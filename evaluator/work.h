// What one run of an instruction takes, by its shapes and attributes alone. The op table names one function
// for each op; `assay plan` (plan/costs.h), --max-steps (steps.h) and the cross-check
// (run/crosscheck.h) read its answer.
#ifndef ASSAY_EVALUATOR_WORK_H_
#define ASSAY_EVALUATOR_WORK_H_

#include "absl/container/inlined_vector.h"
#include "evaluator/instruction_view.h"

namespace assay {

struct Work {
  // Elements that are looked at or made, as --max-steps counts them (the list in steps.h).
  double elements = 0;
  // Operations on elements, a product and its sum being two; and those of HloCostAnalysis' list of functions.
  double flops = 0, functions = 0;
  double read = 0, written = 0;  // bytes; of an operand that stands twice once
  // False where nobody knows: what a custom call does.
  bool known = true;
  // Applications of the computation `computation` to single elements,
  // whose operations come on top of `flops`.
  struct Applied {
    Attr computation;
    double times;
  };
  absl::InlinedVector<Applied, 2> applied = {};
};

using WorkFn = Work (*)(const InstructionView& view);

namespace work {

// `work(view).elements`, which plans need of every instruction:
// the common formulas are not worked out for it in full.
double ElementsOf(WorkFn work, const InstructionView& view);

// Nothing is looked at: values are passed on, or what is done counts where a called computation's steps run.
Work None(const InstructionView& view);
// All operands are read and the result is written; no operation.
Work Move(const InstructionView& view);
// Elements leave or enter the program: they are looked at, and no bytes move within it.
Work Stream(const InstructionView& view);
// One operation, or one function, for each element of the result.
Work Elementwise(const InstructionView& view);
Work Function(const InstructionView& view);
// The result is part of operand 0: as much is read as is given, and what says where.
Work Part(const InstructionView& view);

// --- What other ops' formulas are made of
// -------------------------------------------------------------------

// A tuple's elements are those of its leaves; no element where a dimension has no bound.
double Elements(const Shape& shape);
// The elements of the first of several results or operands side by side.
double ElementsOfFirst(const Shape& shape);
double BytesOf(const Shape& shape);
// The bytes of the operands from `first` on, each once.
double OperandBytes(const InstructionView& view, size_t first);
// The larger of the result and the largest operand.
double Largest(const InstructionView& view);
// The size of a dimension, and the product of those that an attribute lists; 0 without a bound.
double Size(const Shape& shape, int64_t d);
double Sizes(const InstructionView& view, size_t operand, Attr dimensions);
double WindowSize(const InstructionView& view);
double CeilLog2(int64_t n);

}  // namespace work
}  // namespace assay

#endif  // ASSAY_EVALUATOR_WORK_H_
