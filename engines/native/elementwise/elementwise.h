// Elementwise steps of the native engine.
#ifndef ASSAY_ENGINES_NATIVE_ELEMENTWISE_ELEMENTWISE_H_
#define ASSAY_ENGINES_NATIVE_ELEMENTWISE_ELEMENTWISE_H_

#include <memory>
#include <span>

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

// A strip function with the op table's bits that is faster than the op table's; fn is null where there is
// none.
StripKernel NativeStrip(const Instruction& instruction, std::span<const ElementType> operands,
                        ElementType result, Isa isa);

// The same over stored elements, which wants no conversions: null where there is none.
ElementwiseFn NativeStored(Opcode opcode, std::span<const ElementType> operands, ElementType result, Isa isa);

// NativeStored of one operand with stores past the caches (ProvenStreamed); null where there is none.
ElementwiseFn NativeStreamed(Opcode opcode, ElementType type, Isa isa);

// Ops that have a strip function in the op table: RunElementwise with NativeStored,
// NativeStrip or else the table's.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareElementwise(const StepView& step, Isa isa);

// Custom calls of functions that HLO has no operation for (evaluator/ops/control/function_call.h).
std::shared_ptr<const Kernel> MakeFunctionCall(const StepView& step, Isa isa);
StripKernel NativeFunctionCall(const Instruction& call, ElementType type, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_ELEMENTWISE_ELEMENTWISE_H_
