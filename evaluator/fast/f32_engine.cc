#include "evaluator/fast/f32_engine.h"

#include <array>

#include "evaluator/fast/single_dot.h"

namespace assay::fast {
namespace {

class F32 final : public Engine {
 public:
  explicit F32(native::Isa isa) : isa_(isa) {}
  std::string_view name() const override { return "f32"; }

  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const StepView& step) const override {
    if (step.instruction.opcode != Opcode::kDot) return NotSupported({}, "takes dot alone");
    return PrepareSingleDot(step, isa_);
  }
  StripKernel Strip(const Instruction&, std::span<const ElementType>, ElementType) const override {
    return {};
  }

 private:
  const native::Isa isa_;
};

}  // namespace

const Engine& F32Engine(native::Isa isa) {
  static const std::array<F32, 3> engines = {F32(native::Isa::kBaseline), F32(native::Isa::kAvx2),
                                             F32(native::Isa::kAvx512)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace assay::fast
