#include "engines/approximate/rounded_sums.h"

#include <array>

#include "engines/approximate/single_dot.h"
#include "engines/native/contraction/dot.h"
#include "fmt/format.h"

namespace assay::approximate {
namespace {

// Longer rows of f64 are summed exactly, one after the other.
constexpr int64_t kLongestTerms = 1 << 16;

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
    return type == ElementType::kF64 ? PrepareF64(step) : PrepareSingleDot(step, isa_, fewest_f32_);
  }

 private:
  // The exact engine's tiles without their tests.
  absl::StatusOr<std::shared_ptr<const Kernel>> PrepareF64(const StepView& step) const {
    for (const Shape* shape : {&step.operand_shape(0), &step.operand_shape(1), &step.result_shape()}) {
      if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic shapes");
    }
    const int64_t terms = TermsOfProduct(step.computation, step.instruction);
    const double products =
        static_cast<double>(terms) * static_cast<double>(step.result_shape().num_elements());
    if (products < static_cast<double>(fewest_f64_))
      return NotSupported({}, fmt::format("{} products, fewer than {}", products, fewest_f64_));
    if (terms > kLongestTerms)
      return NotSupported({}, fmt::format("sums of more than {} terms", kLongestTerms));
    return native::PreparePlainDot(step, isa_);
  }

  const Isa isa_;
  const int64_t fewest_f32_, fewest_f64_;  // products
};

template <int64_t fewest_f32, int64_t fewest_f64>
const Engine& EngineFor(Isa isa) {
  static const std::array<RoundedSums, 3> engines = {RoundedSums(Isa::kBaseline, fewest_f32, fewest_f64),
                                                     RoundedSums(Isa::kAvx2, fewest_f32, fewest_f64),
                                                     RoundedSums(Isa::kAvx512, fewest_f32, fewest_f64)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace

const Engine& RoundedSumsEngine(Isa isa) { return EngineFor<1 << 12, 1 << 18>(isa); }
const Engine& EagerRoundedSumsEngine(Isa isa) { return EngineFor<1, 1>(isa); }

}  // namespace assay::approximate
