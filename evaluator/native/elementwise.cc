#include "evaluator/native/elementwise.h"

#include "absl/container/inlined_vector.h"
#include "evaluator/eval_context.h"
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

StripKernel NativeStrip(const Instruction&, std::span<const ElementType>, ElementType, Isa) { return {}; }

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
