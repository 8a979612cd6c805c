#include "plan/fuse.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "evaluator/steps.h"
#include "fmt/format.h"
#include "plan/broadcast_fusion.h"
#include "plan/move_fusion.h"
#include "plan/prepare.h"

namespace assay {
namespace {

constexpr int64_t kMaxFusions = 2048;
// Fewer instructions on one number take no longer by themselves.
constexpr size_t kLeastOfScalars = 4;

// Those of several members that `engine`, which fuses, can take.
std::vector<Fusion> ElementwiseFusions(const Module& module, const Computation& computation,
                                       const Engine& engine, const ComputationPlan& plan,
                                       const std::vector<bool>& apart, const std::vector<bool>& taken) {
  std::vector<int32_t> order;
  order.reserve(plan.steps.size());
  for (const Step& step : plan.steps) order.push_back(step.instruction);
  std::vector<Fusion> fusions = FindFusions(module, computation, order, engine, apart, taken);
  std::erase_if(fusions, [&](const Fusion& fusion) {
    const Instruction& root = computation.instructions[fusion.members.back()];
    const bool is_scalar = root.opcode != Opcode::kReduce && root.shape->num_elements() == 1;
    return fusion.members.size() < (is_scalar ? kLeastOfScalars : 2);
  });
  return fusions;
}

// By instruction: whether it has a step, and no control dependency says where it stays.
std::vector<bool> MayJoin(const Computation& computation, const ComputationPlan& plan) {
  std::vector<bool> may_join(computation.instructions.size(), false);
  for (const Step& step : plan.steps) may_join[step.instruction] = true;
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    const auto& before = computation.instructions[i].control_predecessors;
    if (before.empty()) continue;
    may_join[i] = false;
    for (int32_t other : before) may_join[other] = false;
  }
  return may_join;
}

// What reads large broadcasts with these.
std::vector<Fusion> BroadcastFusions(const Computation& computation, const ComputationPlan& plan) {
  const auto is_large = [&](const Step& step) {
    const Instruction& instruction = computation.instructions[step.instruction];
    return instruction.opcode == Opcode::kBroadcast && instruction.shape->TotalBytes() >= kLeastReadThrough;
  };
  if (std::none_of(plan.steps.begin(), plan.steps.end(), is_large)) return {};
  const std::vector<bool> may_join = MayJoin(computation, plan);
  std::vector<Fusion> fusions;
  for (const Step& step : plan.steps) {
    std::optional<Fusion> fusion = FusionWithBroadcast(computation, step.instruction, may_join);
    if (fusion.has_value()) fusions.push_back(*std::move(fusion));
  }
  return fusions;
}

// Adds fusions of concatenates and what they read through, where that is no root of another fusion.
void AddMoveFusions(const Computation& computation, std::vector<Fusion>& fusions,
                    const ComputationPlan& plan) {
  const auto is_concatenate = [&](const Step& step) {
    return computation.instructions[step.instruction].opcode == Opcode::kConcatenate;
  };
  if (std::none_of(plan.steps.begin(), plan.steps.end(), is_concatenate)) return;
  std::vector<bool> may_join = MayJoin(computation, plan);
  for (const Fusion& fusion : fusions) may_join[fusion.members.back()] = false;
  for (const Step& step : plan.steps) {
    if (step.fusion != nullptr) may_join[step.instruction] = false;
  }
  for (const Step& step : plan.steps) {
    if (!is_concatenate(step)) continue;
    std::optional<Fusion> fusion = FusionOfConcatenate(computation, step.instruction, may_join);
    if (fusion.has_value()) fusions.push_back(*std::move(fusion));
  }
}

// Removes the steps of members whose value no step that stays reads.
void DropUnread(const Computation& computation, const std::vector<bool>& absorbed, ComputationPlan& plan) {
  std::vector<bool> read(computation.instructions.size(), false);
  read[computation.root] = true;
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    if (step->fusion == nullptr && absorbed[step->instruction] && !read[step->instruction]) continue;
    for (int32_t operand : step->Reads(computation)) read[operand] = true;
  }
  std::erase_if(plan.steps, [&](const Step& step) {
    return step.fusion == nullptr && absorbed[step.instruction] && !read[step.instruction];
  });
}

// What each instruction that has a step counts by itself.
std::vector<int64_t> CountsOfSteps(const Computation& computation, const ComputationPlan& plan) {
  std::vector<int64_t> counts(computation.instructions.size(), 0);
  for (const Step& step : plan.steps) counts[step.instruction] = step.step_units;
  return counts;
}

// Steps count alike whoever runs them: a member that several fusions have counts once.
// `counts` is of the members.
void CountMembers(std::vector<int64_t> counts, ComputationPlan& plan) {
  for (const Step& step : plan.steps) {
    if (step.fusion == nullptr) counts[step.instruction] = 0;
  }
  for (Step& step : plan.steps) {
    if (step.fusion == nullptr) continue;
    step.step_units = 0;
    for (int32_t member : step.fusion->members)
      step.step_units = AddUnits(step.step_units, std::exchange(counts[member], 0));
  }
}

// Offers fusions to the engines of a plan.
class Offers {
 public:
  Offers(const Module& module, const Computation& computation, std::span<const Engine* const> engines,
         bool in_loop, int64_t& fusions, ComputationPlan& plan)
      : module_(module),
        computation_(computation),
        engines_(engines),
        in_loop_(in_loop),
        fusions_(fusions),
        plan_(plan) {}

  bool any() const { return any_; }
  const std::vector<bool>& absorbed() const { return absorbed_; }

  // Whether some engine takes it. `who`: the engine that says so where there are too many.
  absl::StatusOr<bool> Offer(Fusion fusion, const Engine* who) {
    if (step_of_.empty()) FindSteps();
    Step& step = plan_.steps[step_of_[fusion.members.back()]];
    if (fusions_ >= kMaxFusions) {
      step.declined.push_back(
          {who,
           NotSupported({}, fmt::format("limit of {} fusions with generated code reached", kMaxFusions))});
      return false;
    }
    ASSAY_RETURN_IF_ERROR(
        PrepareStep({module_, computation_, fusion.members, fusion.operands, in_loop_}, engines_, step));
    if (step.kernel == nullptr) return false;
    ++fusions_;
    for (int32_t member : fusion.members) absorbed_[member] = true;
    step.fusion = std::make_shared<const Fusion>(std::move(fusion));
    any_ = true;
    return true;
  }

 private:
  void FindSteps() {
    step_of_.assign(computation_.instructions.size(), -1);
    absorbed_.assign(computation_.instructions.size(), false);
    for (size_t s = 0; s < plan_.steps.size(); ++s)
      step_of_[plan_.steps[s].instruction] = static_cast<int32_t>(s);
  }

  const Module& module_;
  const Computation& computation_;
  const std::span<const Engine* const> engines_;
  const bool in_loop_;
  int64_t& fusions_;
  ComputationPlan& plan_;
  std::vector<int32_t> step_of_;
  std::vector<bool> absorbed_;
  bool any_ = false;
};

}  // namespace

absl::Status FuseSteps(const Module& module, const Computation& computation,
                       std::span<const Engine* const> engines, bool in_loop, int64_t& fusions,
                       ComputationPlan& plan, const std::vector<bool>& apart) {
  const auto fusing =
      std::find_if(engines.begin(), engines.end(), [](const Engine* engine) { return engine->fuses(); });
  const Engine* const who = fusing != engines.end() ? *fusing : engines.front();
  Offers offers(module, computation, engines, in_loop, fusions, plan);
  std::vector<bool> alone = apart, fused(computation.instructions.size(), false);
  for (Fusion& fusion : BroadcastFusions(computation, plan)) {
    const int32_t root = fusion.members.back();
    ASSAY_ASSIGN_OR_RETURN(const bool taken, offers.Offer(std::move(fusion), who));
    if (!taken) continue;
    alone.resize(computation.instructions.size(), false);
    alone[root] = true;  // a fusion that had it as its member would read the whole broadcast
    fused[root] = true;
  }
  std::vector<Fusion> grown;
  if (fusing != engines.end()) grown = ElementwiseFusions(module, computation, **fusing, plan, alone, fused);
  AddMoveFusions(computation, grown, plan);
  for (Fusion& fusion : grown) ASSAY_RETURN_IF_ERROR(offers.Offer(std::move(fusion), who).status());
  // The engines behind it that fuse, too, grow others of what it left.
  for (auto next = fusing; next != engines.end() && ++next != engines.end();) {
    if (!(*next)->fuses()) continue;
    std::vector<bool> taken = offers.absorbed();
    for (size_t i = 0; i < taken.size(); ++i)
      taken[i] = taken[i] && !IsRecomputed(computation, computation.instructions[i]);
    for (Fusion& fusion : ElementwiseFusions(module, computation, **next, plan, alone, taken))
      ASSAY_RETURN_IF_ERROR(offers.Offer(std::move(fusion), *next).status());
  }
  if (!offers.any()) return absl::OkStatus();
  std::vector<int64_t> counts = CountsOfSteps(computation, plan);
  DropUnread(computation, offers.absorbed(), plan);
  CountMembers(std::move(counts), plan);
  return absl::OkStatus();
}

}  // namespace assay
