#include "evaluator/fast/f64_engine.h"

#include <array>

#include "evaluator/element_terms.h"
#include "evaluator/native/dot.h"
#include "fmt/format.h"

namespace assay::fast {
namespace {

using native::Isa;

// Longer rows are summed exactly, one after the other.
constexpr int64_t kLongestTerms = 1 << 16;

class F64 final : public Engine {
 public:
  F64(Isa isa, int64_t fewest) : isa_(isa), fewest_(fewest) {}
  std::string_view name() const override { return "f64"; }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const StepView& step) const override {
    if (step.instruction.opcode != Opcode::kDot) return NotSupported({}, "takes dot alone");
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
  const int64_t fewest_;  // products
};

using Engines = std::array<F64, 3>;

Engines MakeEngines(int64_t fewest) {
  return {F64(Isa::kBaseline, fewest), F64(Isa::kAvx2, fewest), F64(Isa::kAvx512, fewest)};
}

}  // namespace

const Engine& F64Engine(Isa isa) {
  static const Engines engines = MakeEngines(1 << 18);
  return engines[static_cast<size_t>(isa)];
}

const Engine& EagerF64Engine(Isa isa) {
  static const Engines engines = MakeEngines(1);
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::fast
