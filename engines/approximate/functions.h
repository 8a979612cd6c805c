// Functions of one argument over stored elements, near the correctly rounded result: polynomials in the
// element type (for f16 and bf16, in f32), a few roundings, no test.
//
// The bound is ApproximateFunction::ulps (WithinUlps). Subnormal numbers count like others, as arguments and
// as results. tools/prove --approximate compares all 2^32 floats. They are for AVX2 with FMA and for AVX-512,
// whose bits are the same: every operation is IEEE's. So neither threads nor the place in an array can show.
#ifndef ASSAY_ENGINES_APPROXIMATE_FUNCTIONS_H_
#define ASSAY_ENGINES_APPROXIMATE_FUNCTIONS_H_

#include <span>

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::approximate {

// One function of one type.
struct ApproximateFunction {
  Opcode opcode;
  ElementType type;
  int64_t ulps;
  ElementwiseFn stored;
  // The same to memory that is 64-byte aligned, past the caches: other threads see
  // it behind jit::StreamFence.
  ElementwiseFn streamed;
};
std::span<const ApproximateFunction> ApproximateFunctions(Isa isa);

// The row for an instruction, or null: also where it has a result_accuracy of its own.
const ApproximateFunction* ApproximateFunctionFor(const Computation& computation,
                                                  const Instruction& instruction, Isa isa);

// One such instruction as a step. NotSupported for fewer than `fewest` elements, and for others.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFunction(const StepView& step, Isa isa, int64_t fewest);

}  // namespace assay::approximate

#endif  // ASSAY_ENGINES_APPROXIMATE_FUNCTIONS_H_
