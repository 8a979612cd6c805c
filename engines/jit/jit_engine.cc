#include "engines/jit/jit_engine.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "engines/jit/deferred_kernel.h"
#include "engines/jit/kernel.h"
#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay::jit {
namespace {

// Code costs about 60 us to make, as much as the step's own time at this number of elements and instructions;
// in a loop, which is expected to run often, less is enough. Smaller ones get code when they have run often.
constexpr int64_t kMinWork = 1 << 16;
constexpr int64_t kMinWorkInLoop = 1 << 9;

template <bool eager>
const Engine& EngineFor(Isa isa) {
  static const std::array<JitEngine, 3> engines = {JitEngine(Isa::kBaseline, {.eager = eager}),
                                                   JitEngine(Isa::kAvx2, {.eager = eager}),
                                                   JitEngine(Isa::kAvx512, {.eager = eager})};
  return engines[static_cast<size_t>(isa)];
}

}  // namespace

bool JitEngine::CanFuse(const StepView& step) const {
  if (isa_ == Isa::kBaseline) return false;
  const Shape& shape = step.result_shape();
  if (shape.IsArray() && !shape.HasUnbounded() && shape.num_elements() < 1) return false;
  return CanBePart(step);
}

bool JitEngine::MayTake(Opcode opcode) const {
  if (isa_ == Isa::kBaseline || opcode == Opcode::kComplex) return false;  // no segment holds complex values
  const OpDef& op = DefinitionOf(opcode);
  return op.strip != nullptr || op.source != nullptr || op.from_index;
}

std::string JitEngine::WhyNot(const FusionView& step) const {
  if (isa_ == Isa::kBaseline) return "no AVX2";
  const StepView root = step.single();
  const Shape& shape = root.result_shape();
  if (step.is_single() && shape.IsArray() && !shape.HasUnbounded() && shape.num_elements() < fewest())
    return fmt::format("too few elements ({} < {})", shape.num_elements(), fewest());
  if (std::string why = WhyNoPart(root); !why.empty()) return why;
  if (DefinitionOf(root.instruction.opcode).strip == nullptr)
    return fmt::format("{} without an elementwise operation", Name(root.instruction.opcode));
  return "";
}

absl::StatusOr<std::shared_ptr<const Kernel>> JitEngine::Prepare(const FusionView& step) const {
  if (const std::string why = WhyNot(step); !why.empty()) return NotSupported({}, why);
  const int64_t elements = step.root().shape->num_elements();
  const int64_t members = static_cast<int64_t>(step.members.size());
  if (!options_.eager && elements < (step.in_loop ? kMinWorkInLoop : kMinWork) / members) {
    if (step.is_single())
      return NotSupported({}, fmt::format("too few elements ({}) to generate code", elements));
    if (std::shared_ptr<const Kernel> late = MakeLateKernel(step, isa_)) return late;
  }
  absl::StatusOr<Stages> stages = MakeStages(step, isa_, options_.approximate);
  // Where there is no memory for code, other engines can do without.
  if (!stages.ok()) {
    const absl::Status& status = stages.status();
    return NotSupported({}, std::string_view(status.message().data(), status.message().size()));
  }
  return MakeKernel(*std::move(stages));
}

const Engine& ExactJitEngine(Isa isa) { return EngineFor<false>(isa); }
const Engine& EagerJitEngine(Isa isa) { return EngineFor<true>(isa); }

}  // namespace assay::jit
