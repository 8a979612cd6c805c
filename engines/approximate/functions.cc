#include "engines/approximate/functions.h"

#include <algorithm>

#include "engines/native/elementwise/run_elementwise.h"
#include "evaluator/eval_context.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"

#define ASSAY_BODIES "engines/approximate/doubles_body.h"
#include "jit/each_wide_isa.inc"

namespace assay::approximate {
namespace {

class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(const Instruction& instruction, const ApproximateFunction& row)
      : instruction_(instruction), row_(row) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return native::RunElementwise(context, operands, {}, row_.stored);
  }
  const Accuracy& accuracy() const override { return ByMembers(); }
  Approximation ApproximationOf(const Instruction& member) const override {
    return &member == &instruction_ ? Approximation{row_.stored, &WithinUlps(row_.ulps)} : Approximation{};
  }

 private:
  const Instruction& instruction_;
  const ApproximateFunction& row_;
};

}  // namespace

std::span<const ApproximateFunction> ApproximateFunctions(Isa isa) {
  if (isa == Isa::kBaseline) return {};
  if (isa == Isa::kAvx2) return avx2::kRows;
  return avx512::kRows;
}

const ApproximateFunction* ApproximateFunctionFor(const Computation& computation,
                                                  const Instruction& instruction, Isa isa) {
  if (instruction.operands.size() != 1 || instruction.attributes.Has(Attr::kResultAccuracy)) return nullptr;
  const Shape& operand = *computation.instructions[instruction.operands[0]].shape;
  if (!WhyNotStatic(operand).empty() || !WhyNotStatic(*instruction.shape).empty()) return nullptr;
  const ElementType type = instruction.shape->element_type();
  if (operand.element_type() != type) return nullptr;
  const std::span<const ApproximateFunction> rows = ApproximateFunctions(isa);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const ApproximateFunction& r) {
    return r.opcode == instruction.opcode && r.type == type;
  });
  return row == rows.end() ? nullptr : &*row;
}

namespace {

std::string WhyNoRow(const StepView& step, Isa isa) {
  const Shape& result = step.result_shape();
  const bool known =
      std::any_of(ApproximateFunctions(isa).begin(), ApproximateFunctions(isa).end(),
                  [&](const ApproximateFunction& row) {
                    return row.opcode == step.instruction.opcode && row.type == result.element_type();
                  });
  if (isa == Isa::kBaseline) return "no AVX2";
  if (!known) {
    return fmt::format("no approximate function for {} of {}", Name(step.instruction.opcode),
                       Name(result.element_type()));
  }
  return step.instruction.attributes.Has(Attr::kResultAccuracy) ? "it has a result_accuracy"
                                                                : std::string(WhyNotStatic(result));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFunction(const StepView& step, Isa isa, int64_t fewest) {
  const ApproximateFunction* const row = ApproximateFunctionFor(step.computation, step.instruction, isa);
  if (row == nullptr) return NotSupported({}, WhyNoRow(step, isa));
  const int64_t elements = step.result_shape().num_elements();
  if (elements < fewest) return NotSupported({}, fmt::format("too few elements ({} < {})", elements, fewest));
  return std::make_shared<FunctionKernel>(step.instruction, *row);
}

}  // namespace assay::approximate
