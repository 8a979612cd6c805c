#include "engines/approximate/f64_engine.h"

#include <array>

#include "engine/element_terms.h"
#include "engines/approximate/near_functions.h"
#include "engines/native/contraction/dot.h"
#include "fmt/format.h"

namespace assay::fast {
namespace {

using native::Isa;

// Longer rows are summed exactly, one after the other.
constexpr int64_t kLongestTerms = 1 << 16;

class F64 final : public Engine {
 public:
  F64(Isa isa, int64_t fewest, int64_t fewest_elements)
      : isa_(isa), fewest_(fewest), fewest_elements_(fewest_elements) {}
  std::string_view name() const override { return "f64"; }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const StepView& step) const override {
    const ElementType type =
        step.result_shape().IsArray() ? step.result_shape().element_type() : ElementType::kPred;
    if (step.instruction.opcode != Opcode::kDot && type == ElementType::kF64)
      return PrepareNearFunction(step, isa_, fewest_elements_);
    if (step.instruction.opcode != Opcode::kDot) return NotSupported({}, "takes dots, and functions of f64");
    for (const Shape* shape : {&step.operand_shape(0), &step.operand_shape(1), &step.result_shape()}) {
      if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic shapes");
    }
    const int64_t terms = MostTerms(step.computation, step.instruction);
    const double products =
        static_cast<double>(terms) * static_cast<double>(step.result_shape().num_elements());
    if (products < static_cast<double>(fewest_))
      return NotSupported({}, fmt::format("{} products, fewer than {}", products, fewest_));
    if (terms > kLongestTerms)
      return NotSupported({}, fmt::format("sums of more than {} terms", kLongestTerms));
    return native::PreparePlainDot(step, isa_);
  }
  StripKernel Strip(const Instruction&, std::span<const ElementType>, ElementType) const override {
    return {};
  }

 private:
  const Isa isa_;
  const int64_t fewest_, fewest_elements_;  // products of a dot, elements of a function
};

using Engines = std::array<F64, 3>;

Engines MakeEngines(int64_t fewest, int64_t fewest_elements) {
  return {F64(Isa::kBaseline, fewest, fewest_elements), F64(Isa::kAvx2, fewest, fewest_elements),
          F64(Isa::kAvx512, fewest, fewest_elements)};
}

}  // namespace

const Engine& F64Engine(Isa isa) {
  static const Engines engines = MakeEngines(1 << 18, 1 << 10);
  return engines[static_cast<size_t>(isa)];
}

const Engine& EagerF64Engine(Isa isa) {
  static const Engines engines = MakeEngines(1, 1);
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::fast
