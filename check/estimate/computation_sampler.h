// Writes one computation of the sampled program. Beside each instruction stands what the op's rule
// (OpDef::bound) says of it on operands that are exact, which is its own allowance; the result is moved by it
// (mover.h).
#ifndef ASSAY_CHECK_ESTIMATE_COMPUTATION_SAMPLER_H_
#define ASSAY_CHECK_ESTIMATE_COMPUTATION_SAMPLER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/computation_writer.h"
#include "check/estimate/mover.h"
#include "check/module_deriver.h"
#include "evaluator/op.h"

namespace assay {

// What a computation of the sampled program takes and gives: the key of the sample has to come in.
enum class SampledForm : uint8_t {
  kCalled,   // one parameter more, the key
  kPaired,   // one parameter, a tuple of the program's and the key
  kCarried,  // the same, and its result is paired with the key
};

// Radii of the entry computation, of exact values, that all samples share: of what is not elementwise, of
// which a radius costs about as much as the value. By leaf of these instructions, in the order in which they
// are met, the shape of the radius; null: it has none, or the samples compute their own.
using SharedRadii = std::vector<std::shared_ptr<const Shape>>;

// What the computations share.
class ModuleSampler {
 public:
  ModuleSampler(const Module& from, const Profile& profile, std::string_view suffix);

  ModuleDeriver& shared() { return shared_; }
  absl::StatusOr<ComputationId> Sampled(ComputationId id, SampledForm form);
  // The entry computation that gives these radii, or the one that takes them behind the key.
  absl::StatusOr<SharedRadii> WriteRadii();
  absl::Status SampleEntry(const std::vector<bool>& subnormal_arguments, SharedRadii radii);
  int64_t NextNumber() { return ++number_; }
  // Whether a product of the computation may be contracted: it is the root, or read by a sum, or by what is
  // no arithmetic and may hand it on.
  bool MayBeAdded(const Computation& computation, const Instruction& product);

 private:
  ModuleDeriver shared_;
  std::map<std::pair<int32_t, SampledForm>, ComputationId> sampled_;
  std::map<const Computation*, std::vector<bool>> may_be_added_;
  int64_t number_ = 0;
};

class ComputationSampler final : public BoundContext {
 public:
  ComputationSampler(ModuleSampler& module, const Computation& from);

  absl::StatusOr<ComputationId> Sample(SampledForm form);
  absl::StatusOr<ComputationId> SampleEntry(const std::vector<bool>& subnormal_arguments, SharedRadii radii);
  absl::StatusOr<ComputationId> WriteRadii(SharedRadii& radii);

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
  void FollowElement(int64_t) override {}
  bool SamplesMoveOperands() override { return moves_operands_ = true; }
  bool IsExact(ComputationId id) override { return shared_.IsExact(id); }
  Allowance Allowed(ElementType type) const override;
  Allowance AllowedFor(Opcode op, ElementType type) const override;
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
  bool IsEstimate() const override { return true; }
  void SetInfinityIsUndecided() override {}
  using BoundContext::Write;

 private:
  // What becomes of the entry computation's instructions that are not elementwise.
  enum class Entry : uint8_t { kNone, kWritesRadii, kTakesRadii };
  // Bytes of radii that are shared at most.
  static constexpr int64_t kMaxSharedBytes = int64_t{1} << 28;
  // Instructions of computations that the entry computation calls, with which it is written as one.
  static constexpr size_t kMaxInlined = 20000;

  absl::Status FollowAll();
  Node Follow(const Instruction& instruction);
  // The callee's instructions in this place: nothing where they are too many.
  std::optional<Node> FollowInlined(const Instruction& call);
  // The result of an instruction of which the radii are shared: exact, or moved by them; nothing where it has
  // none.
  std::optional<Node> FollowShared(const Instruction& instruction, BoundFn rule);
  void ShareRadii();
  Node FollowCalls(const Instruction& instruction);
  ComputationId SampledOrFail(ComputationId id, SampledForm form);
  // The instruction on operands_.
  Node Copy(const Instruction& instruction);
  void TakeLeaves(Node whole);
  Node Moved(Node value, Node radius, bool in_unit = false);
  void CutOperands();
  // |v| times the ulps that the profile has for the instruction.
  Node RelativeRadius(Node value);
  bool MayStayUnrounded() const;
  // The result, its leaves moved by their radii.
  Node WithMovedLeaves(const Instruction& instruction, BoundFn rule);
  void MoveByUlps(const Instruction& instruction);
  Node WithoutSubnormals(Node value, const std::vector<bool>& subnormal_arguments);
  Node Paired(Node value);
  void TakeParameters(SampledForm form);

  ModuleSampler& module_;
  ModuleDeriver& shared_;
  const Computation* from_;
  ComputationWriter writer_;
  Mover mover_;
  std::vector<Node> nodes_;  // by instruction
  Node key_, whole_;
  std::optional<InstructionView> view_;
  std::vector<Node> operands_, leaves_, radii_;
  bool gave_up_ = false, moves_operands_ = false;
  std::string why_;
  size_t next_argument_leaf_ = 0;
  Entry entry_ = Entry::kNone;
  SharedRadii shared_radii_;
  std::vector<Node> radius_nodes_;  // that are given, or taken
  size_t next_shared_ = 0, inlined_ = 0;
  int64_t shared_bytes_ = 0;
  int depth_ = 0;  // of calls that are written in the entry computation
  absl::Status status_;
  // Of the instruction alone, so that each is fused with what reads it.
  std::map<int32_t, Node> magnitudes_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_ESTIMATE_COMPUTATION_SAMPLER_H_
