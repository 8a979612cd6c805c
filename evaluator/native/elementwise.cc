#include "evaluator/native/elementwise.h"

#include "absl/container/inlined_vector.h"
#include "evaluator/eval_context.h"
#include "evaluator/native/scalar/functions.h"
#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

class ElementwiseKernel final : public Kernel {
 public:
  explicit ElementwiseKernel(const StripKernel& strip) : strip_(strip) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunElementwise(context, operands, strip_);
  }

 private:
  const StripKernel strip_;
};

}  // namespace

namespace {

// params.a: the function's row; params.b: the instruction set.
void FunctionStrip(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const FunctionRow& row = Functions()[static_cast<size_t>(params.a)];
  const auto* y = row.reference2 != nullptr ? static_cast<const double*>(in[1]) : nullptr;
  ApplyFunction(row, static_cast<Isa>(params.b), *params.format, n, static_cast<const double*>(in[0]), y,
                static_cast<double*>(out));
}

}  // namespace

StripKernel NativeStrip(const Instruction& instruction, std::span<const ElementType> operands,
                        ElementType result, Isa isa) {
  const FunctionRow* row = FindFunction(instruction.opcode);
  if (row == nullptr || !IsFloat(result)) return {};
  for (const ElementType operand : operands) {
    if (operand != result) return {};
  }
  StripKernel kernel{.fn = FunctionStrip};
  kernel.params.operand = kernel.params.result = result;
  kernel.params.format = Info(result).format;
  kernel.params.a = row - Functions().data();
  kernel.params.b = static_cast<int64_t>(isa);
  return kernel;
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareElementwise(const StepView& step, Isa isa) {
  absl::InlinedVector<ElementType, 3> types;
  for (int32_t operand : step.instruction.operands) {
    types.push_back(step.computation.instructions[operand].shape->element_type());
  }
  const ElementType result = step.result_shape().element_type();
  StripKernel strip = NativeStrip(step.instruction, types, result, isa);
  if (strip.fn == nullptr)
    strip = DefinitionOf(step.instruction.opcode).strip(step.instruction, types, result);
  if (strip.fn == nullptr) return NotSupported({}, fmt::format("element type {}", Name(types[0])));
  return std::make_shared<ElementwiseKernel>(strip);
}

}  // namespace assay::native
