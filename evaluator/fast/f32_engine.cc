#include "evaluator/fast/f32_engine.h"

#include <array>

#include "evaluator/fast/single_dot.h"

namespace assay::fast {
namespace {

class F32 final : public Engine {
 public:
  F32(native::Isa isa, int64_t fewest) : isa_(isa), fewest_(fewest) {}
  std::string_view name() const override { return "f32"; }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const StepView& step) const override {
    if (step.instruction.opcode != Opcode::kDot) return NotSupported({}, "takes dot alone");
    return PrepareSingleDot(step, isa_, fewest_);
  }
  StripKernel Strip(const Instruction&, std::span<const ElementType>, ElementType) const override {
    return {};
  }

 private:
  const native::Isa isa_;
  const int64_t fewest_;  // products
};

using Engines = std::array<F32, 3>;

Engines MakeEngines(int64_t fewest) {
  return {F32(native::Isa::kBaseline, fewest), F32(native::Isa::kAvx2, fewest),
          F32(native::Isa::kAvx512, fewest)};
}

}  // namespace

const Engine& F32Engine(native::Isa isa) {
  static const Engines engines = MakeEngines(1 << 12);
  return engines[static_cast<size_t>(isa)];
}

const Engine& EagerF32Engine(native::Isa isa) {
  static const Engines engines = MakeEngines(1);
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::fast
