// Derives one computation: copies its instructions and has the rules of the op table
// write their radii beside them.
#ifndef ASSAY_CHECK_COMPUTATION_DERIVER_H_
#define ASSAY_CHECK_COMPUTATION_DERIVER_H_

#include <map>
#include <vector>

#include "check/form_plan.h"
#include "check/module_deriver.h"
#include "evaluator/bound.h"
#include "evaluator/bounds/loop_state.h"

namespace assay {

class ComputationDeriver final : public BoundContext {
 public:
  ComputationDeriver(ModuleDeriver& module, const Computation& from);

  absl::StatusOr<DerivedComputation> Derive(const std::vector<bool>& radii, const std::vector<bool>& wanted,
                                            const std::optional<std::vector<bool>>& ends,
                                            const LoopForms& forms, const std::vector<bool>& read = {});
  absl::StatusOr<ProbedComputation> DeriveProbed(const std::vector<bool>& radii);
  // The entry computation keeps its parameters; its root is the program's, the radii and the ends,
  // whose places are told.
  absl::StatusOr<ComputationId> DeriveEntry(const std::vector<bool>& subnormal_arguments,
                                            std::vector<int64_t>& radius_of_leaf,
                                            std::vector<int64_t>& ends_of_leaf);

  const InstructionView& view() const override { return *view_; }
  const Module& module() const override { return module_.from(); }
  Node Value(size_t k) override { return ValueOf(operand(k), 0); }
  Node Radius(size_t k) override { return operand(k).leaves.empty() ? Node() : operand(k).leaves[0].radius; }
  Node Result(size_t leaf) override { return ValueOf(*result_, leaf); }
  const Shape& ShapeOf(Node node) const override { return writer_.ShapeOf(node); }
  Ends EndsOf(size_t k) override;
  Ends ResultEnds() override;
  bool MayOverflow(size_t k) override { return MayOverflow(view_->instruction.operands[k], 0); }
  Node ResultRadius() override { return result_->leaves[0].radius; }
  LoopForm LoopFormOf(size_t k) override {
    return operand(k).leaves.empty() ? LoopForm() : operand(k).leaves[0].loop_form;
  }
  void SetLoopForm(const LoopForm& form) override { result_->leaves[0].loop_form = form; }
  void AddRounding(Node part, double absolute) override { roundings_.emplace_back(part, absolute); }
  Node ResultRounding() override;
  Node ValueAt(int32_t instruction) override {
    return ValueOf(derived_[static_cast<size_t>(instruction)], 0);
  }
  Node RadiusAt(int32_t instruction) override {
    return derived_[static_cast<size_t>(instruction)].leaves[0].radius;
  }
  void SetRadius(Node radius, size_t leaf) override;
  void MarkUnchecked(std::string_view why) override;
  void FollowStructure() override;
  void FollowElement(int64_t element) override;
  bool IsExact(ComputationId id) override { return module_.IsExact(id); }
  Allowance Allowed(ElementType type) const override;
  Allowance AllowedFor(Opcode op, ElementType type) const override;
  Allowance AllowedForSum(ElementType type) const override;
  double SumUnit(ElementType type) const override;
  double InputUnit(ElementType type) const override;
  Node Write(Instruction instruction) override { return writer_.Write(std::move(instruction)); }
  Node Constant(double value, Node like) override;
  Node Scalar(ElementType type, double value) override { return writer_.Scalar(type, value); }
  ComputationId Reducer(Opcode op, ElementType type) override { return module_.Reducer(op, type); }
  ComputationId Replacer(ElementType type) override { return module_.Replacer(type); }
  Node Magnitude(Node node) override;
  ComputationId Copied(ComputationId id) override { return module_.Copied(id); }
  ComputationId Widened(ComputationId id, std::span<const ElementType> types) override {
    return module_.Widened(id, types);
  }
  bool InfinityIsUndecided(size_t k) override { return operand(k).infinity_is_undecided; }
  void SetInfinityIsUndecided() override { result_->infinity_is_undecided = true; }
  using BoundContext::Write;

 private:
  // An instruction of the program in the derived one.
  struct Derived {
    Node whole;  // none where it was written in parts
    std::vector<BoundedLeaf> leaves;
    std::vector<ShapeIndex> paths;
    std::shared_ptr<const Shape> shape;
    bool infinity_is_undecided = false;
  };

  Derived& operand(size_t k) { return derived_[static_cast<size_t>(view_->instruction.operands[k])]; }
  Node ValueOf(Derived& derived, size_t leaf);
  Ends EndsOfLeaf(BoundedLeaf& leaf);  // its value is written
  Ends EndsOfProducer(int32_t producer);
  bool MayOverflow(int32_t instruction, int depth) const;
  bool MayOverflow(const BoundedLeaf& leaf, int depth) const;
  // The leaf is the image of an interval, whose ends say more than its radius.
  bool IsImage(int32_t producer, int depth = 0) const;
  bool HasSharperEnds(const BoundedLeaf& leaf) const;
  std::vector<bool> WithSharperEnds(const std::vector<BoundedLeaf>& leaves) const;
  // The ends of these leaves behind other elements of a tuple, and from there.
  void AddEnds(std::vector<BoundedLeaf>& leaves, const std::vector<bool>& with, std::vector<Node>& elements);
  static void TakeEnds(std::vector<BoundedLeaf>& leaves, const std::vector<bool>& with,
                       std::span<const Node> elements);
  // The forms of these leaves behind other elements of a tuple, and from there.
  void AddLoopForms(const std::vector<BoundedLeaf>& leaves, const std::vector<bool>& with,
                    std::vector<Node>& elements);
  static void TakeLoopForms(std::vector<BoundedLeaf>& leaves, const std::vector<bool>& with,
                            std::span<const Node> elements);
  static void AddLoopFormShapes(const LoopForms& forms, size_t leaves, std::vector<Shape>& shapes);
  LoopForms LoopFormsOf(const std::vector<BoundedLeaf>& leaves) const;
  // Which leaves of a loop's state have symbols, and how many.
  absl::StatusOr<LoopForms> FormsOfLoop(ComputationId body, const std::vector<BoundedLeaf>& start,
                                        const std::vector<bool>& radii);
  // What a loop carries for forms: at first, as its body takes it, and as its body gives it, with the radii
  // that follow from it among the elements.
  void StartState(const std::vector<BoundedLeaf>& start, const LoopForms& forms, std::vector<Node>& elements);
  void TakeState(std::vector<BoundedLeaf>& leaves, const LoopForms& forms, std::span<const Node> elements);
  void AddState(std::vector<BoundedLeaf>& leaves, const LoopForms& forms, const std::vector<bool>& radii,
                std::vector<Node>& elements);
  BoundedLeaf LeafOf(Derived& derived, size_t leaf);
  Node WholeOf(Derived& derived);
  Node Assemble(Derived& derived, const Shape& shape, size_t& leaf);
  void TakeParameters(const std::vector<bool>& radii, const std::vector<bool>& ends, const LoopForms& forms);
  absl::Status DeriveInstructions();
  void FollowLinearForm(int32_t instruction);
  void Copy(const Instruction& instruction);
  void TakeLeaves(std::vector<BoundedLeaf> leaves);
  std::vector<BoundedLeaf> OperandLeaves(size_t first);
  Node ZeroRadius(Node value);
  // The values, and radii where the mask has them.
  std::vector<Node> Packed(const std::vector<BoundedLeaf>& leaves, const std::vector<bool>& radii);
  static std::vector<BoundedLeaf> Unpacked(const std::vector<Node>& elements, const std::vector<bool>& radii);
  // Adds to the radii of all arrays.
  void AddFlag(std::vector<BoundedLeaf>& leaves, Node flag);
  bool SharpensLoopForm(int32_t instruction) const;
  void FlushConstant();
  Node SubnormalRadius(Node value);

  // The leaves of an instruction that another one reads; the root passes them on.
  std::vector<bool> LeavesRead(int32_t instruction) const;
  absl::Status FollowCall(ComputationId callee);
  absl::Status FollowAsync();
  absl::Status FollowMap();
  absl::StatusOr<std::vector<BoundedLeaf>> CallOf(ComputationId callee, std::vector<BoundedLeaf> arguments);
  std::vector<BoundedLeaf> ResultsOf(const DerivedComputation& derived, std::vector<BoundedLeaf> arguments,
                                     const std::vector<bool>& ends);
  absl::Status FollowConditional();
  absl::Status FollowWhile();

  ModuleDeriver& module_;
  const Computation& from_;
  ComputationWriter writer_;
  FormPlan form_plan_;
  std::vector<Derived> derived_;
  std::optional<InstructionView> view_;
  Derived* result_ = nullptr;
  std::vector<std::pair<Node, double>> roundings_;  // parts, of the instruction at hand
  bound::LoopState carried_;                        // of the loop whose body it is
  int ends_depth_ = 0;
  bool gives_ends_ = true;  // of some leaf of its result
  absl::Status status_;
  std::map<int32_t, Node> magnitudes_;
};

}  // namespace assay

#endif  // ASSAY_CHECK_COMPUTATION_DERIVER_H_
