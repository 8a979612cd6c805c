// What --max-steps counts. A step is an instruction executed, a computation called, or 4,096 elements of
// work, where the work of an instruction follows from the shapes that the program declares, and is counted
// before the instruction runs. So a program takes as many steps by every engine, with any number of threads,
// and with the cross-check.
//
// Work, in elements (Work::elements, work.h); a tuple's are those of its leaves; of a dimension that is
// dynamic its bound, of one without, none:
//   dot, ragged-dot, scaled-dot    products, as many as of arrays without groups
//   convolution      result by the window by features
//   reduce-window    result by the window             select-and-scatter  source by the window
//   sort             elements by ⌈log2 of the line's length⌉, at least 1
//   fft              elements of the longer side by the sum of ⌈log2 of the lengths⌉, at least 1
//   cholesky, triangular-solve     elements of a or b by the unknowns
//   slice, dynamic-slice, gather   the result         dynamic-update-slice, scatter  the updates
//   custom-call      of an operation that says its own (CustomOp::Elements): those of LAPACK's routines the
//                    largest operand by the smallest of its sizes, 20 times as many where they iterate, and
//                    as many as it has elements where they solve a tridiagonal system
//   what passes values on (tuple, reshape, copy, …)                             none
//   what runs other computations as steps (call, while, …)                      none
//   all others       the larger of the result and the largest operand
// A computation that is applied to single elements (reduce, map, sort, …) counts as work of that instruction
// alone, unless it has to be interpreted, as loops, reductions and effects in it have: then each application
// is a call with its instructions.
#ifndef ASSAY_EVALUATOR_STEPS_H_
#define ASSAY_EVALUATOR_STEPS_H_

#include <cstdint>

#include "base/checked.h"
#include "hlo/module.h"

namespace assay {

// What is counted, in these units of a step.
inline constexpr int64_t kUnitsPerStep = 4096;

// What one run of the instruction counts: itself and its work, at most 2^36 steps.
int64_t StepUnitsOf(const Module& module, const Computation& computation, const Instruction& instruction);
// a + b, or as near to it as there is a number: plans are made of programs, too, that no machine can run.
inline int64_t AddUnits(int64_t a, int64_t b) {
  return CheckedAdd(a, b).value_or(b > 0 ? INT64_MAX : INT64_MIN);
}

}  // namespace assay

#endif  // ASSAY_EVALUATOR_STEPS_H_
