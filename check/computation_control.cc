// Branches and loops of the derived program.
#include <utility>

#include "check/computation_deriver.h"
#include "evaluator/bounds/numbers.h"

namespace assay {

// All branches give the same radii. Where it is not decided which one runs, nothing is known of the result.
absl::Status ComputationDeriver::FollowConditional() {
  const std::vector<ComputationId> branches = CalledComputations(view_->instruction);
  std::vector<std::vector<BoundedLeaf>> arguments;
  for (size_t b = 0; b < branches.size(); ++b) {
    Derived& argument = operand(b + 1);
    for (size_t k = 0; k < argument.leaves.size(); ++k) ValueOf(argument, k);
    arguments.push_back(argument.leaves);
  }
  std::vector<bool> radii(result_->leaves.size());
  for (size_t b = 0; b < branches.size(); ++b) {
    ASSAY_ASSIGN_OR_RETURN(const DerivedComputation derived,
                           module_.Derive(branches[b], RadiiOf(arguments[b]), radii));
    radii = derived.radii;
  }
  Instruction conditional(Opcode::kConditional);
  conditional.operands.push_back(Value(0).id);
  std::vector<ComputationId> derived_branches;
  for (size_t b = 0; b < branches.size(); ++b) {
    ASSAY_ASSIGN_OR_RETURN(const DerivedComputation derived,
                           module_.Derive(branches[b], RadiiOf(arguments[b]), radii));
    derived_branches.push_back(derived.id);
    conditional.operands.push_back(writer_.Tuple(Packed(arguments[b], RadiiOf(arguments[b]))).id);
  }
  if (attributes().Has(Attr::kTrueComputation)) {
    conditional.attributes.Set(Attr::kTrueComputation, derived_branches[0]);
    conditional.attributes.Set(Attr::kFalseComputation, derived_branches[1]);
  } else {
    conditional.attributes.Set(Attr::kBranchComputations, derived_branches);
  }
  conditional.shape = module_.module().computation(derived_branches[0]).root_instruction().shape;
  const size_t size = conditional.shape->elements().size();
  const Node result = writer_.Write(std::move(conditional));
  ASSAY_RETURN_IF_ERROR(writer_.status());
  std::vector<Node> elements;
  for (size_t k = 0; k < size; ++k) elements.push_back(writer_.Element(result, static_cast<int64_t>(k)));
  std::vector<BoundedLeaf> leaves = Unpacked(elements, radii);
  if (const Node index = Radius(0)) {
    AddFlag(leaves, Flag(index));
    for (const ComputationId branch : branches) module_.NoteUndecided(view_->instruction, {branch});
  }
  TakeLeaves(std::move(leaves));
  return absl::OkStatus();
}

// The state is carried with radii where some iteration may give one, and with a flag: 0, or +inf once it was
// not decided whether the loop goes on. Then nothing is known of its result.
absl::Status ComputationDeriver::FollowWhile() {
  const ComputationId body = *attributes().Computation(Attr::kBody);
  const ComputationId condition = *attributes().Computation(Attr::kCondition);
  const std::vector<BoundedLeaf> start = OperandLeaves(0);
  std::vector<bool> radii = RadiiOf(start);
  DerivedComputation iteration, test;
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(iteration, module_.Derive(body, radii, radii));
    if (iteration.radii == radii) break;
    radii = iteration.radii;
  }
  ASSAY_ASSIGN_OR_RETURN(const LoopForms forms, FormsOfLoop(body, start, radii));
  if (forms.symbols > 0) {
    ASSAY_ASSIGN_OR_RETURN(iteration, module_.Derive(body, radii, radii, std::nullopt, forms));
    module_.NoteLoopForms(view_->instruction);
  }
  ASSAY_ASSIGN_OR_RETURN(test, module_.Derive(condition, radii, {false}));
  const bool may_be_undecided = test.radii[0];
  if (may_be_undecided) module_.NoteUndecided(view_->instruction, {body, condition});

  std::vector<Node> state = Packed(start, radii);
  const size_t size = state.size();  // of what the condition takes
  StartState(start, forms, state);
  const size_t whole = state.size();
  if (may_be_undecided) state.push_back(writer_.Scalar(ElementType::kF32, 0));
  const Node packed = writer_.Tuple(state);
  const auto shape = std::make_shared<const Shape>(writer_.ShapeOf(packed));

  // The two computations of the loop: they call those that were derived, and keep the flag.
  const auto open = [&](ComputationWriter& writer) {
    const Node parameter = writer.Parameter(0, shape);
    std::vector<Node> elements;
    for (size_t k = 0; k < state.size(); ++k)
      elements.push_back(writer.Element(parameter, static_cast<int64_t>(k)));
    return elements;
  };
  ComputationWriter test_writer(module_.module(), from_.name + "_test", module_.instructions_left());
  std::vector<Node> elements = open(test_writer);
  elements.resize(size);
  const Node goes_on = test_writer.Call(test.id, elements)[0];
  ASSAY_RETURN_IF_ERROR(test_writer.status());
  const ComputationId test_id = test_writer.Finish(goes_on);

  ComputationWriter iteration_writer(module_.module(), from_.name + "_iteration",
                                     module_.instructions_left());
  elements = open(iteration_writer);
  const Node flag = may_be_undecided ? elements.back() : Node();
  elements.resize(whole);
  std::vector<Node> next = iteration_writer.Call(iteration.id, elements);
  elements.resize(size);
  if (may_be_undecided) {
    const Node undecided = iteration_writer.Call(test.id, elements)[1];
    Instruction is_zero(Opcode::kCompare), chosen(Opcode::kSelect), sum(Opcode::kAdd);
    is_zero.attributes.Set(Attr::kDirection, Word{"EQ"});
    is_zero.operands = {undecided.id, iteration_writer.Scalar(ElementType::kF32, 0).id};
    chosen.operands = {iteration_writer.Write(std::move(is_zero)).id,
                       iteration_writer.Scalar(ElementType::kF32, 0).id,
                       iteration_writer.Scalar(ElementType::kF32, bound::kUnbounded).id};
    sum.operands = {flag.id, iteration_writer.Write(std::move(chosen)).id};
    next.push_back(iteration_writer.Write(std::move(sum)));
  }
  const Node after = iteration_writer.Tuple(next);
  ASSAY_RETURN_IF_ERROR(iteration_writer.status());
  const ComputationId iteration_id = iteration_writer.Finish(after);

  Instruction loop(Opcode::kWhile);
  loop.attributes.Set(Attr::kCondition, test_id);
  loop.attributes.Set(Attr::kBody, iteration_id);
  loop.operands.push_back(packed.id);
  loop.shape = shape;
  const Node result = writer_.Write(std::move(loop));
  ASSAY_RETURN_IF_ERROR(writer_.status());
  std::vector<Node> last;
  for (size_t k = 0; k < size; ++k) last.push_back(writer_.Element(result, static_cast<int64_t>(k)));
  std::vector<BoundedLeaf> leaves = Unpacked(last, radii);
  if (may_be_undecided) {
    // That it ended has to be decided too.
    const Node carried = writer_.Element(result, static_cast<int64_t>(whole));
    AddFlag(leaves, Plus(carried, Flag(writer_.Call(test.id, last)[1])));
  }
  TakeLeaves(std::move(leaves));
  return absl::OkStatus();
}

}  // namespace assay
