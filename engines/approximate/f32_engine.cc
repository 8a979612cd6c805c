#include "engines/approximate/f32_engine.h"

#include <array>

#include "engines/approximate/near_functions.h"
#include "engines/approximate/single_dot.h"

namespace assay::fast {
namespace {

class F32 final : public Engine {
 public:
  F32(native::Isa isa, int64_t fewest, int64_t fewest_elements)
      : isa_(isa), fewest_(fewest), fewest_elements_(fewest_elements) {}
  std::string_view name() const override { return "f32"; }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const StepView& step) const override {
    if (step.instruction.opcode == Opcode::kDot) return PrepareSingleDot(step, isa_, fewest_);
    const Shape& result = step.result_shape();
    if (!result.IsArray() || result.element_type() == ElementType::kF64)
      return NotSupported({}, "takes dots, and functions of f32, f16 and bf16");
    return PrepareNearFunction(step, isa_, fewest_elements_);
  }
  StripKernel Strip(const Instruction&, std::span<const ElementType>, ElementType) const override {
    return {};
  }

 private:
  const native::Isa isa_;
  const int64_t fewest_, fewest_elements_;  // products of a dot, elements of a function
};

using Engines = std::array<F32, 3>;

Engines MakeEngines(int64_t fewest, int64_t fewest_elements) {
  return {F32(native::Isa::kBaseline, fewest, fewest_elements),
          F32(native::Isa::kAvx2, fewest, fewest_elements),
          F32(native::Isa::kAvx512, fewest, fewest_elements)};
}

}  // namespace

const Engine& F32Engine(native::Isa isa) {
  static const Engines engines = MakeEngines(1 << 12, 1 << 10);
  return engines[static_cast<size_t>(isa)];
}

const Engine& EagerF32Engine(native::Isa isa) {
  static const Engines engines = MakeEngines(1, 1);
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::fast
