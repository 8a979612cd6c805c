// What is known of values beside their radii: the ends of their intervals, and where they are undecided.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "check/computation_deriver.h"
#include "evaluator/bounds/ends.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/registry.h"

namespace assay {
namespace {

// How many instructions are followed back for the ends of a value: beyond, what its radius says.
constexpr int kMaxForEnds = 4;

}  // namespace

Ends ComputationDeriver::EndsOf(size_t k) {
  ValueOf(operand(k), 0);
  return EndsOfLeaf(operand(k).leaves[0]);
}

Ends ComputationDeriver::ResultEnds() {
  BoundedLeaf& leaf = result_->leaves[0];
  return leaf.ends ? leaf.ends : leaf.ends = bound::EndsByRule(*this);
}

Ends ComputationDeriver::EndsOfLeaf(BoundedLeaf& leaf) {
  if (leaf.ends) return leaf.ends;
  if (leaf.producer >= 0 && leaf.radius && ends_depth_ < kMaxForEnds)
    return leaf.ends = EndsOfProducer(leaf.producer);
  return leaf.ends =
             bound::EndsOfBall(*this, leaf.value, leaf.radius, writer_.ShapeOf(leaf.value).element_type());
}

// The rule of the instruction that made it, which is not the one at hand.
Ends ComputationDeriver::EndsOfProducer(int32_t producer) {
  const InstructionView here = *view_;
  Derived* const result = result_;
  view_.emplace(InstructionView{from_, from_.instructions[static_cast<size_t>(producer)]});
  result_ = &derived_[static_cast<size_t>(producer)];
  ++ends_depth_;
  const Ends ends = ResultEnds();
  --ends_depth_;
  view_.emplace(here);
  result_ = result;
  return ends;
}

bool ComputationDeriver::MayOverflow(int32_t instruction, int depth) const {
  const Derived& derived = derived_[static_cast<size_t>(instruction)];
  if (derived.leaves.size() != 1 || !derived.leaves[0].radius || depth >= kMaxForEnds) return false;
  return MayOverflow(derived.leaves[0], depth);
}

bool ComputationDeriver::MayOverflow(const BoundedLeaf& leaf, int depth) const {
  if (leaf.producer < 0) return leaf.has_sharper_ends;
  const int32_t producer = leaf.producer;
  const Instruction& by = from_.instructions[static_cast<size_t>(producer)];
  const bound::EndsSource source = bound::OverflowOf({from_, by});
  return source.is_own || std::any_of(source.operands.begin(), source.operands.end(),
                                      [&](size_t k) { return MayOverflow(by.operands[k], depth + 1); });
}

bool ComputationDeriver::IsImage(int32_t producer, int depth) const {
  if (producer < 0 || depth >= kMaxForEnds) return false;
  const Instruction& by = from_.instructions[static_cast<size_t>(producer)];
  const bound::EndsSource source = bound::ImageOf({from_, by});
  return source.is_own || std::any_of(source.operands.begin(), source.operands.end(), [&](size_t k) {
           const Derived& from = derived_[static_cast<size_t>(by.operands[k])];
           return from.leaves.size() == 1 && IsImage(from.leaves[0].producer, depth + 1);
         });
}

bool ComputationDeriver::HasSharperEnds(const BoundedLeaf& leaf) const {
  return leaf.radius && (IsImage(leaf.producer) || MayOverflow(leaf, 0));
}

std::vector<bool> ComputationDeriver::WithSharperEnds(const std::vector<BoundedLeaf>& leaves) const {
  std::vector<bool> with;
  with.reserve(leaves.size());
  for (const BoundedLeaf& leaf : leaves) with.push_back(HasSharperEnds(leaf));
  return with;
}

void ComputationDeriver::AddEnds(std::vector<BoundedLeaf>& leaves, const std::vector<bool>& with,
                                 std::vector<Node>& elements) {
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (!with[k]) continue;
    const Ends ends = EndsOfLeaf(leaves[k]);
    elements.insert(elements.end(), {ends.low, ends.high});
  }
}

void ComputationDeriver::TakeEnds(std::vector<BoundedLeaf>& leaves, const std::vector<bool>& with,
                                  std::span<const Node> elements) {
  for (size_t k = 0, next = 0; k < leaves.size(); ++k) {
    if (!with[k]) continue;
    leaves[k].ends = {elements[next], elements[next + 1]};
    leaves[k].has_sharper_ends = true;
    next += 2;
  }
}

// --- Where something is undecided ---

absl::StatusOr<ProbedComputation> ComputationDeriver::DeriveProbed(const std::vector<bool>& radii) {
  TakeParameters(radii, std::vector<bool>(radii.size()), LoopForms());
  ASSAY_RETURN_IF_ERROR(DeriveInstructions());
  ProbedComputation probed;
  std::vector<Node> elements;
  const auto show = [&](Node node) {
    elements.push_back(node);
    return static_cast<int64_t>(elements.size()) - 1;
  };
  const auto shown = [&](Derived& derived) {
    std::vector<ProbedComputation::Shown> leaves;
    for (size_t k = 0; k < derived.leaves.size(); ++k) {
      const BoundedLeaf leaf = LeafOf(derived, k);
      leaves.push_back({show(leaf.value), leaf.radius ? show(leaf.radius) : -1});
    }
    return leaves;
  };
  for (size_t i = 0; i < derived_.size(); ++i) {
    std::vector<int64_t>& flags = probed.flags.emplace_back();
    for (const BoundedLeaf& leaf : derived_[i].leaves) {
      flags.push_back(-1);
      if (!leaf.radius) continue;
      const Node undecided = Choose(Compare("LT", leaf.radius, std::numeric_limits<double>::infinity()),
                                    Node(), Constant(1, leaf.radius));
      DimVector all(static_cast<size_t>(writer_.ShapeOf(undecided).rank()));
      std::iota(all.begin(), all.end(), 0);
      flags.back() = show(all.empty() ? undecided : Reduced(Opcode::kMaximum, undecided, all));
    }
    const Instruction& instruction = from_.instructions[i];
    if (DefinitionOf(instruction.opcode).bound != &bound::Structure ||
        CalledComputations(instruction).empty())
      continue;
    for (const int32_t k : instruction.operands)
      probed.shown[static_cast<int32_t>(i)].push_back(shown(derived_[static_cast<size_t>(k)]));
  }
  probed.root = shown(derived_[static_cast<size_t>(from_.root)]);
  ASSAY_RETURN_IF_ERROR(writer_.status());
  probed.id = writer_.Finish(writer_.Tuple(elements));
  return probed;
}

}  // namespace assay
