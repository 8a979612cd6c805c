#include "engines/approximate/near_functions.h"

#include <algorithm>

#include "engine/near_kernel.h"
#include "evaluator/eval_context.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"

namespace assay::fast {
namespace {

class FunctionKernel final : public NearKernel {
 public:
  FunctionKernel(const Instruction& instruction, const NearRow& row) : instruction_(instruction), row_(row) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunElementwise(context, operands, {}, row_.stored);
  }
  NearFunction near(const Instruction& instruction) const override {
    return &instruction == &instruction_ ? NearFunction{row_.stored, row_.ulps} : NearFunction{};
  }

 private:
  const Instruction& instruction_;
  const NearRow& row_;
};

}  // namespace

std::span<const NearRow> NearRows(native::Isa isa) {
  if (isa == native::Isa::kBaseline) return {};
  return isa == native::Isa::kAvx512 ? NearRowsAvx512() : NearRowsAvx2();
}

const NearRow* NearFunctionFor(const Computation& computation, const Instruction& instruction,
                               native::Isa isa) {
  if (instruction.operands.size() != 1 || instruction.attributes.Has(Attr::kResultAccuracy)) return nullptr;
  const Shape& operand = *computation.instructions[instruction.operands[0]].shape;
  if (!WhyNotStatic(operand).empty() || !WhyNotStatic(*instruction.shape).empty()) return nullptr;
  const ElementType type = instruction.shape->element_type();
  if (operand.element_type() != type) return nullptr;
  const std::span<const NearRow> rows = NearRows(isa);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const NearRow& r) {
    return r.opcode == instruction.opcode && r.type == type;
  });
  return row == rows.end() ? nullptr : &*row;
}

namespace {

std::string WhyNoRow(const StepView& step, native::Isa isa) {
  const Shape& result = step.result_shape();
  const bool known = std::any_of(NearRows(isa).begin(), NearRows(isa).end(), [&](const NearRow& row) {
    return row.opcode == step.instruction.opcode && row.type == result.element_type();
  });
  if (isa == native::Isa::kBaseline) return "no AVX2";
  if (!known) {
    return fmt::format("no near function for {} of {}", Name(step.instruction.opcode),
                       Name(result.element_type()));
  }
  return step.instruction.attributes.Has(Attr::kResultAccuracy) ? "a result accuracy of its own"
                                                                : std::string(WhyNotStatic(result));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareNearFunction(const StepView& step, native::Isa isa,
                                                                  int64_t fewest) {
  const NearRow* const row = NearFunctionFor(step.computation, step.instruction, isa);
  if (row == nullptr) return NotSupported({}, WhyNoRow(step, isa));
  const int64_t elements = step.result_shape().num_elements();
  if (elements < fewest) return NotSupported({}, fmt::format("{} elements, fewer than {}", elements, fewest));
  return std::make_shared<FunctionKernel>(step.instruction, *row);
}

}  // namespace assay::fast
