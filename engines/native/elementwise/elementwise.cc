#include "engines/native/elementwise/elementwise.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "engines/native/elementwise/run_elementwise.h"
#include "engines/native/elementwise/small_elementwise.h"
#include "engines/native/functions/complex.h"
#include "engines/native/functions/error_inverse.h"
#include "engines/native/functions/functions.h"
#include "engines/native/functions/proven.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/control/function_call.h"
#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

class ElementwiseKernel final : public Kernel {
 public:
  ElementwiseKernel(const StripKernel& strip, ElementwiseFn stored) : strip_(strip), stored_(stored) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunElementwise(context, operands, strip_, stored_);
  }

 private:
  const StripKernel strip_;
  const ElementwiseFn stored_;
};

// params.a: the function's row in its table; params.b: the instruction set.
void FunctionStrip(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const FunctionRow& row = Functions()[static_cast<size_t>(params.a)];
  const auto* y = row.reference2 != nullptr ? static_cast<const double*>(in[1]) : nullptr;
  ApplyFunction(row, static_cast<Isa>(params.b), *params.format, n, static_cast<const double*>(in[0]), y,
                static_cast<double*>(out));
}

void ComplexStrip(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const ComplexRow& row = ComplexFunctions()[static_cast<size_t>(params.a)];
  const auto* w = row.reference2 != nullptr ? static_cast<const Complex*>(in[1]) : nullptr;
  ApplyComplexFunction(row, static_cast<Isa>(params.b), *params.format, n, static_cast<const Complex*>(in[0]),
                       w, out);
}

// params.b: the instruction set.
void ErfInvStrip(const StripParams& params, int64_t n, const void* const* in, void* out) {
  ApplyErfInv(static_cast<Isa>(params.b), *params.format, n, static_cast<const double*>(in[0]),
              static_cast<double*>(out));
}

}  // namespace

StripKernel NativeStrip(const Instruction& instruction, std::span<const ElementType> operands,
                        ElementType result, Isa isa) {
  const ElementType type = operands[0];
  const bool uniform =
      std::all_of(operands.begin(), operands.end(), [&](ElementType t) { return t == type; });
  if (!uniform || ComponentType(type) != ComponentType(result)) return {};
  StripKernel kernel;
  if (const ComplexRow* row = FindComplexFunction(instruction.opcode); row != nullptr && IsComplex(type)) {
    kernel.fn = ComplexStrip;
    kernel.params.a = row - ComplexFunctions().data();
  } else if (const FunctionRow* real = FindFunction(instruction.opcode); real != nullptr && IsFloat(type)) {
    kernel.fn = FunctionStrip;
    kernel.params.a = real - Functions().data();
  } else {
    return {};
  }
  kernel.params.operand = type;
  kernel.params.result = result;
  kernel.params.format = Info(result).format;
  kernel.params.b = static_cast<int64_t>(isa);
  return kernel;
}

ElementwiseFn NativeStored(Opcode opcode, std::span<const ElementType> operands, ElementType result,
                           Isa isa) {
  const bool unary = operands.size() == 1 && operands[0] == result;
  return unary ? ProvenFunction(opcode, result, isa) : nullptr;
}

ElementwiseFn NativeStreamed(Opcode opcode, ElementType type, Isa isa) {
  return ProvenStreamed(opcode, type, isa);
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareElementwise(const StepView& step, Isa isa) {
  if (step.instruction.opcode == Opcode::kSelect && step.operand_shape(0).rank() == 0)
    return NotSupported({}, "select of whole arrays by a scalar pred");
  absl::InlinedVector<ElementType, 3> types;
  for (int32_t operand : step.instruction.operands) {
    types.push_back(step.computation.instructions[operand].shape->element_type());
  }
  const ElementType result = step.result_shape().element_type();
  StripKernel strip = NativeStrip(step.instruction, types, result, isa);
  if (strip.fn == nullptr)
    strip = DefinitionOf(step.instruction.opcode).strip(step.instruction, types, result);
  if (strip.fn == nullptr) return NotSupported({}, fmt::format("element type {}", Name(types[0])));
  const ElementwiseFn stored = NativeStored(step.instruction.opcode, types, result, isa);
  if (std::shared_ptr<const Kernel> small = MakeSmallElementwise(step, strip, stored)) return small;
  return std::make_shared<ElementwiseKernel>(strip, stored);
}

StripKernel NativeFunctionCall(const Instruction& call, ElementType type, Isa isa) {
  StripKernel kernel = StripForFunctionCall(call, type);
  if (IsFloat(type) && call.attributes.Text(Attr::kCustomCallTarget) == "chlo.erf_inv") {
    kernel.fn = ErfInvStrip;
    kernel.params.b = static_cast<int64_t>(isa);
  }
  return kernel;
}

std::shared_ptr<const Kernel> MakeFunctionCall(const StepView& step, Isa isa) {
  return std::make_shared<ElementwiseKernel>(
      NativeFunctionCall(step.instruction, step.result_shape().element_type(), isa), nullptr);
}

}  // namespace assay::native
