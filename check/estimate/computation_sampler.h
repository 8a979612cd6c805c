// Writes one computation of the sampled program. Beside each instruction stands what the op's rule
// (OpDef::bound) says of it on operands that are exact, which is its own allowance; a call moves the result
// by it.
#ifndef ASSAY_CHECK_ESTIMATE_COMPUTATION_SAMPLER_H_
#define ASSAY_CHECK_ESTIMATE_COMPUTATION_SAMPLER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/computation_writer.h"
#include "check/module_deriver.h"

namespace assay {

// What a computation of the sampled program takes and gives: the seed has to come in.
enum class SampledForm : uint8_t {
  kCalled,   // one parameter more, the seed
  kPaired,   // one parameter, a tuple of the program's and the seed
  kCarried,  // the same, and its result is paired with the seed
};

// What the computations share.
class ModuleSampler {
 public:
  ModuleSampler(const Module& from, const Profile& profile);

  ModuleDeriver& shared() { return shared_; }
  absl::StatusOr<ComputationId> Sampled(ComputationId id, SampledForm form);
  absl::Status SampleEntry(const std::vector<bool>& subnormal_arguments);
  int64_t NextNumber() { return ++number_; }

 private:
  ModuleDeriver shared_;
  std::map<std::pair<int32_t, SampledForm>, ComputationId> sampled_;
  int64_t number_ = 0;
};

class ComputationSampler final : public BoundContext {
 public:
  ComputationSampler(ModuleSampler& module, const Computation& from);

  absl::StatusOr<ComputationId> Sample(SampledForm form, const std::vector<bool>& subnormal_arguments = {});

  const InstructionView& view() const override { return *view_; }
  const Module& module() const override { return shared_.from(); }
  Node Value(size_t k) override { return operands_[k]; }
  Node Radius(size_t) override { return Node(); }
  Node Result(size_t leaf) override { return leaves_[leaf]; }
  const Shape& ShapeOf(Node node) const override { return writer_.ShapeOf(node); }
  Ends EndsOf(size_t k) override;
  Ends ResultEnds() override;
  bool MayOverflow(size_t) override { return false; }
  Node ResultRadius() override { return radii_[0]; }
  void SetRadius(Node radius, size_t leaf) override { radii_[leaf] = radius; }
  void MarkUnchecked(std::string_view why) override;
  void FollowStructure() override {}
  bool IsExact(ComputationId id) override { return shared_.IsExact(id); }
  Allowance Allowed(ElementType type) const override;
  double SumUnit(ElementType type) const override;
  double InputUnit(ElementType) const override { return 0; }  // operands are cut themselves
  Node Write(Instruction instruction) override { return writer_.Write(std::move(instruction)); }
  Node Constant(double value, Node like) override;
  Node Scalar(ElementType type, double value) override { return writer_.Scalar(type, value); }
  ComputationId Reducer(Opcode op, ElementType type) override { return shared_.Reducer(op, type); }
  ComputationId Replacer(ElementType type) override { return shared_.Replacer(type); }
  Node Magnitude(Node node) override;
  ComputationId Copied(ComputationId id) override { return shared_.Copied(id); }
  ComputationId Widened(ComputationId id, std::span<const ElementType> types) override {
    return shared_.Widened(id, types);
  }
  bool InfinityIsUndecided(size_t) override { return false; }
  void SetInfinityIsUndecided() override {}
  using BoundContext::Write;

 private:
  Node Follow(const Instruction& instruction);
  Node FollowCalls(const Instruction& instruction);
  ComputationId SampledOrFail(ComputationId id, SampledForm form);
  // The instruction on operands_.
  Node Copy(const Instruction& instruction);
  void TakeLeaves(Node whole);
  Node Moved(Node value, Node radius, std::string_view target);
  Node Call(std::string_view target, Node first, Node second);
  void CutOperands();
  // The radius that errors really have: those of n terms add up to about the root of n.
  Node AsTheyAre(Node radius, Node value);
  // |v| times the ulps that the profile has for the instruction.
  Node RelativeRadius(Node value);
  std::optional<std::string_view> RoundingTarget() const;
  // The result, its leaves moved by their radii.
  Node WithMovedLeaves(const Instruction& instruction);
  void MoveWithoutRule(const Instruction& instruction);
  Node WithoutSubnormals(Node value, const std::vector<bool>& subnormal_arguments);
  Node Paired(Node value);
  void TakeParameters(SampledForm form, const std::vector<bool>& subnormal_arguments);

  ModuleSampler& module_;
  ModuleDeriver& shared_;
  const Computation& from_;
  ComputationWriter writer_;
  std::vector<Node> nodes_;  // by instruction
  Node seed_, whole_;
  std::optional<InstructionView> view_;
  std::vector<Node> operands_, leaves_, radii_;
  bool gave_up_ = false;
  std::string why_;
  size_t next_argument_leaf_ = 0;
  absl::Status status_;
  std::map<int32_t, Node> magnitudes_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_ESTIMATE_COMPUTATION_SAMPLER_H_
