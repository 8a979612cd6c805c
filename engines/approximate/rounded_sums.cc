#include "engines/approximate/rounded_sums.h"

#include <array>

#include "engines/approximate/double_dot.h"
#include "engines/approximate/single_dot.h"

namespace assay::approximate {
namespace {

class RoundedSums final : public Engine {
 public:
  RoundedSums(Isa isa, int64_t fewest_f32, int64_t fewest_f64)
      : isa_(isa), fewest_f32_(fewest_f32), fewest_f64_(fewest_f64) {}
  std::string_view name() const override { return "rounded-sums"; }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& fusion) const override {
    ASSAY_ASSIGN_OR_RETURN(const StepView step, SingleInstruction(fusion));
    if (step.instruction.opcode != Opcode::kDot) return NotSupported({}, "takes dot alone");
    const ElementType type =
        step.result_shape().IsArray() ? step.result_shape().element_type() : ElementType::kPred;
    return type == ElementType::kF64 ? PrepareDoubleDot(step, isa_, fewest_f64_)
                                     : PrepareSingleDot(step, isa_, fewest_f32_);
  }

 private:
  const Isa isa_;
  const int64_t fewest_f32_, fewest_f64_;  // products
};

template <int64_t fewest_f32, int64_t fewest_f64>
const Engine& RoundedSumsEngineFor(Isa isa) {
  static const std::array<RoundedSums, 3> engines = {RoundedSums(Isa::kBaseline, fewest_f32, fewest_f64),
                                                     RoundedSums(Isa::kAvx2, fewest_f32, fewest_f64),
                                                     RoundedSums(Isa::kAvx512, fewest_f32, fewest_f64)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace

const Engine& RoundedSumsEngine(Isa isa) { return RoundedSumsEngineFor<1 << 12, 1 << 18>(isa); }
const Engine& EagerRoundedSumsEngine(Isa isa) { return RoundedSumsEngineFor<1, 1>(isa); }

}  // namespace assay::approximate
