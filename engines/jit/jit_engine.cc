#include "engines/jit/jit_engine.h"

#include <array>

#include "engines/jit/kernel.h"
#include "engines/jit/late_kernel.h"
#include "engines/jit/program.h"
#include "fmt/format.h"

namespace assay::fused {
namespace {

// Code costs about 60 us to make, as much as the step's own time at this number of elements and instructions; in
// a loop, which is expected to run often, less is enough. Smaller ones get code when they have run often.
constexpr int64_t kMinElements = 2;
constexpr int64_t kMinWork = 1 << 16;
constexpr int64_t kMinWorkInLoop = 1 << 9;

class Jit final : public Engine {
 public:
  Jit(native::Isa isa, bool eager, Functions functions) : isa_(isa), eager_(eager), functions_(functions) {}

  std::string_view name() const override { return "jit"; }

  bool fuses() const override { return true; }

  bool CanFuse(const StepView& step, std::string* reason) const override {
    if (isa_ == native::Isa::kBaseline) {
      if (reason != nullptr) *reason = "no AVX2";
      return false;
    }
    const Shape& shape = *step.instruction.shape;
    const int64_t least = eager_ ? 1 : kMinElements;
    if (shape.IsArray() && !shape.HasUnbounded() && shape.num_elements() < least) {
      if (reason != nullptr) *reason = fmt::format("{} elements", shape.num_elements());
      return false;
    }
    return CanBePart(step, reason);
  }

  absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFusion(const FusionView& fusion) const override {
    const int64_t elements = fusion.root().shape->num_elements();
    const int64_t members = static_cast<int64_t>(fusion.members.size());
    if (!eager_ && elements < (fusion.in_loop ? kMinWorkInLoop : kMinWork) / members) {
      if (members > 1) return MakeLateKernel(fusion, isa_);
      return NotSupported({}, fmt::format("{} elements by {} instructions", elements, members));
    }
    absl::StatusOr<Program> program = MakeProgram(fusion, isa_, functions_);
    // Where there is no memory for code, other engines can do without.
    if (!program.ok()) {
      const absl::Status& status = program.status();
      return NotSupported({}, std::string_view(status.message().data(), status.message().size()));
    }
    return MakeKernel(*std::move(program));
  }

  StripKernel Strip(const Instruction&, std::span<const ElementType>, ElementType) const override {
    return {};
  }

 private:
  const native::Isa isa_;
  const bool eager_;
  const Functions functions_;
};

template <Functions functions, bool eager>
const Engine& JitOf(native::Isa isa) {
  using native::Isa;
  static const std::array<Jit, 3> engines = {Jit(Isa::kBaseline, eager, functions),
                                             Jit(Isa::kAvx2, eager, functions),
                                             Jit(Isa::kAvx512, eager, functions)};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace

const Engine& JitEngine(native::Isa isa) { return JitOf<Functions::kExact, false>(isa); }
const Engine& EagerJitEngine(native::Isa isa) { return JitOf<Functions::kExact, true>(isa); }
const Engine& NearJitEngine(native::Isa isa) { return JitOf<Functions::kNear, false>(isa); }
const Engine& EagerNearJitEngine(native::Isa isa) { return JitOf<Functions::kNear, true>(isa); }

}  // namespace assay::fused
