#include "check/computation_deriver.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "check/allowance.h"
#include "check/mapped_computation.h"
#include "evaluator/bounds/loop_forms.h"
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay {

double SubnormalParts(const Literal& array, int64_t i) {
  const ElementType type = array.shape().element_type();
  if (!IsFloat(type) && !IsComplex(type)) return 0;
  const double smallest =
      std::ldexp(1, Info(IsComplex(type) ? ComponentType(type) : type).format->min_exponent);
  const auto subnormal = [&](double part) { return std::fabs(part) < smallest ? std::fabs(part) : 0; };
  if (!IsComplex(type)) return subnormal(array.GetDouble(i));
  const std::complex<double> value = LoadElement(type, array.data() + i * Bytes(type)).c;
  const double parts = subnormal(value.real()) + subnormal(value.imag());
  return parts > 0 && !std::isfinite(std::abs(value)) ? HUGE_VAL : parts;
}

bool HasSubnormals(const Literal& array) {
  for (int64_t i = 0; i < array.shape().num_elements(); ++i)
    if (SubnormalParts(array, i) > 0) return true;
  return false;
}

ComputationDeriver::ComputationDeriver(ModuleDeriver& module, const Computation& from)
    : module_(module),
      from_(from),
      writer_(module.module(), from.name, module.instructions_left()),
      form_plan_(module.profile().stores_dots ? FormPlan(from) : FormPlan()) {}

// --- What rules ask ---

void ComputationDeriver::SetRadius(Node radius, size_t leaf) { result_->leaves[leaf].radius = radius; }

void ComputationDeriver::MarkUnchecked(std::string_view why) {
  bool any = false;
  for (size_t k = 0; k < result_->leaves.size(); ++k) {
    const Node value = ValueOf(*result_, k);
    if (!writer_.ShapeOf(value).IsArray()) continue;
    any = true;
    result_->leaves[k].radius = writer_.Filled(RadiusType(writer_.ShapeOf(value).element_type()),
                                               bound::kUnbounded, writer_.ShapeOf(value));
  }
  if (any) module_.Note(from_, view_->instruction, why);
}

Allowance ComputationDeriver::Allowed(ElementType type) const {
  return AllowanceOf(module_.profile(), view_->instruction, type);
}

Allowance ComputationDeriver::AllowedFor(Opcode op, ElementType type) const {
  return AllowanceOf(module_.profile(), Instruction(op), type);
}

Allowance ComputationDeriver::AllowedForSum(ElementType type) const {
  return SumAllowanceOf(module_.profile(), view_->instruction, type);
}

double ComputationDeriver::SumUnit(ElementType type) const {
  return SumUnitOf(module_.profile(), view(), type);
}

double ComputationDeriver::InputUnit(ElementType type) const {
  return InputUnitOf(module_.profile(), view_->instruction, type);
}

Node ComputationDeriver::Constant(double value, Node like) {
  const Shape shape = writer_.ShapeOf(like);
  return writer_.Filled(shape.element_type(), value, shape);
}

Node ComputationDeriver::Magnitude(Node node) {
  const auto [it, is_new] = magnitudes_.try_emplace(node.id);
  if (!is_new) return it->second;
  const ElementType type = writer_.ShapeOf(node).element_type();
  Node magnitude = IsComplex(type) ? node : ConvertTo(node, RadiusType(type));
  if (type != ElementType::kPred && !IsUnsignedIntegral(type)) magnitude = Write(Opcode::kAbs, {magnitude});
  return magnitudes_[node.id] = magnitude;
}

// --- Values ---

Node ComputationDeriver::ValueOf(Derived& derived, size_t leaf) {
  BoundedLeaf& found = derived.leaves[leaf];
  if (found.value) return found.value;
  Node value = derived.whole;
  for (const int64_t index : derived.paths[leaf]) value = writer_.Element(value, index);
  return found.value = value;
}

Node ComputationDeriver::Assemble(Derived& derived, const Shape& shape, size_t& leaf) {
  if (!shape.IsTuple()) return ValueOf(derived, leaf++);
  std::vector<Node> elements;
  for (const Shape& element : shape.elements()) elements.push_back(Assemble(derived, element, leaf));
  return writer_.Tuple(elements);
}

BoundedLeaf ComputationDeriver::LeafOf(Derived& derived, size_t leaf) {
  ValueOf(derived, leaf);
  return derived.leaves[leaf];
}

Node ComputationDeriver::WholeOf(Derived& derived) {
  size_t leaf = 0;
  if (!derived.whole) derived.whole = Assemble(derived, *derived.shape, leaf);
  return derived.whole;
}

Node ComputationDeriver::ZeroRadius(Node value) {
  const Shape shape = writer_.ShapeOf(value);
  return writer_.Filled(RadiusType(shape.element_type()), 0, shape);
}

std::vector<BoundedLeaf> ComputationDeriver::OperandLeaves(size_t first) {
  std::vector<BoundedLeaf> leaves;
  for (size_t k = first; k < view_->num_operands(); ++k) {
    Derived& from = operand(k);
    for (size_t leaf = 0; leaf < from.leaves.size(); ++leaf) leaves.push_back(LeafOf(from, leaf));
  }
  return leaves;
}

void ComputationDeriver::TakeLeaves(std::vector<BoundedLeaf> leaves) {
  result_->leaves = std::move(leaves);
  if (!result_->shape->IsTuple()) result_->whole = result_->leaves[0].value;
}

std::vector<Node> ComputationDeriver::Packed(const std::vector<BoundedLeaf>& leaves,
                                             const std::vector<bool>& radii) {
  std::vector<Node> elements;
  elements.reserve(leaves.size());
  for (const BoundedLeaf& leaf : leaves) elements.push_back(leaf.value);
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (radii[k]) elements.push_back(leaves[k].radius ? leaves[k].radius : ZeroRadius(leaves[k].value));
  }
  return elements;
}

std::vector<BoundedLeaf> ComputationDeriver::Unpacked(const std::vector<Node>& elements,
                                                      const std::vector<bool>& radii) {
  std::vector<BoundedLeaf> leaves;
  size_t next = radii.size();
  for (size_t k = 0; k < radii.size(); ++k)
    leaves.push_back({elements[k], radii[k] ? elements[next++] : Node(), {}});
  return leaves;
}

void ComputationDeriver::AddFlag(std::vector<BoundedLeaf>& leaves, Node flag) {
  for (BoundedLeaf& leaf : leaves) {
    const Shape shape = writer_.ShapeOf(leaf.value);
    if (!shape.IsArray()) continue;
    const Node here = Spread(ConvertTo(flag, RadiusType(shape.element_type())), ZeroRadius(leaf.value));
    leaf.radius = Plus(leaf.radius, here);
  }
}

// The magnitude of subnormal numbers, which may be taken for zero; of complex ones, that of their parts.
Node ComputationDeriver::SubnormalRadius(Node value) {
  const ElementType type = writer_.ShapeOf(value).element_type();
  if (IsComplex(type)) {
    const Node parts =
        Plus(SubnormalRadius(Write(Opcode::kReal, {value})), SubnormalRadius(Write(Opcode::kImag, {value})));
    // The distance of two numbers with an infinity or NaN is not a number, so that no radius covers it.
    const Node known =
        Write(Opcode::kOr, {Compare("LT", Magnitude(value), bound::kInfinity), Compare("EQ", parts, 0)});
    return Choose(known, parts, Constant(bound::kUnbounded, parts));
  }
  const Node magnitude = Magnitude(value);
  return Choose(Compare("LT", magnitude, std::ldexp(1, Info(type).format->min_exponent)), magnitude, Node());
}

// --- Computations ---

void ComputationDeriver::Copy(const Instruction& instruction) {
  Instruction copy = instruction;
  copy.control_predecessors.clear();
  copy.operands.clear();
  for (const int32_t k : instruction.operands)
    copy.operands.push_back(WholeOf(derived_[static_cast<size_t>(k)]).id);
  RedirectCalls(copy, [&](ComputationId id) { return Copied(id); });
  result_->whole = writer_.Write(std::move(copy));
  if (!result_->shape->IsTuple() && !result_->leaves.empty()) result_->leaves[0].value = result_->whole;
}

absl::Status ComputationDeriver::DeriveInstructions() {
  for (size_t i = 0; i < from_.instructions.size(); ++i) {
    const Instruction& instruction = from_.instructions[i];
    result_ = &derived_[i];
    if (result_->shape != nullptr) continue;  // a parameter
    view_.emplace(InstructionView{from_, instruction});
    magnitudes_.clear();  // each is fused with what reads it
    writer_.NameThem(instruction.name);
    result_->shape = instruction.shape;
    ForEachLeaf(*instruction.shape, [&](const ShapeIndex& path, const Shape&) {
      result_->leaves.emplace_back();
      result_->paths.push_back(path);
    });
    const BoundFn rule = DefinitionOf(instruction.opcode).bound;
    const bool follows = rule == &bound::Structure || rule == &bound::Asynchronous ||
                         rule == &bound::Mapped || rule == &bound::EndOfPair;
    if (!follows) Copy(instruction);
    roundings_.clear();
    rule(*this);
    if (instruction.shape->IsArray() && !follows) {
      bound::GiveLoopForm(*this, SharpensLoopForm(static_cast<int32_t>(i)));
      result_->leaves[0].producer = static_cast<int32_t>(i);
      FollowLinearForm(static_cast<int32_t>(i));
    }
    if (instruction.opcode == Opcode::kConstant) FlushConstant();
    ASSAY_RETURN_IF_ERROR(status_);
    if (!writer_.status().ok()) return WithPosition(writer_.status(), instruction.position);
  }
  return absl::OkStatus();
}

Node ComputationDeriver::ResultRounding() {
  Node sum;
  double absolute = 0;
  for (const auto& [part, number] : roundings_) {
    sum = Plus(sum, part);
    absolute += number;
  }
  if (!sum) return sum;
  sum = Plus(sum, absolute);
  roundings_ = {{sum, 0}};
  return sum;
}

// The instruction is an element of the computation's result.
bool ComputationDeriver::SharpensLoopForm(int32_t instruction) const {
  const Instruction& root = from_.root_instruction();
  return instruction == from_.root ||
         (root.opcode == Opcode::kTuple &&
          std::count(root.operands.begin(), root.operands.end(), instruction) > 0);
}

void ComputationDeriver::FlushConstant() {
  const Instruction& constant = view_->instruction;
  if (!constant.shape->IsArray() || constant.literal == nullptr) return;
  if (!module_.profile().Flushes(constant.shape->element_type()) || !HasSubnormals(*constant.literal)) return;
  SetRadius(SubnormalRadius(result_->whole), 0);
}

// One parameter: a tuple of the arrays of all, then the radii of some, then the ends of some, then the forms.
void ComputationDeriver::TakeParameters(const std::vector<bool>& radii, const std::vector<bool>& ends,
                                        const LoopForms& forms) {
  derived_.resize(from_.instructions.size());
  std::vector<Shape> shapes, radius_shapes;
  size_t leaf = 0;
  for (const int32_t p : from_.parameters) {
    for (const Shape* const shape : LeafShapes(*from_.instructions[static_cast<size_t>(p)].shape)) {
      shapes.push_back(*shape);
      if (!radii[leaf++]) continue;
      radius_shapes.push_back(Shape::ArrayOrDie(RadiusType(shape->element_type()), shape->sizes()));
    }
  }
  const size_t arrays = shapes.size();
  shapes.insert(shapes.end(), radius_shapes.begin(), radius_shapes.end());
  const size_t with_radii = shapes.size();
  for (size_t k = 0; k < arrays; ++k) {
    if (!ends[k]) continue;
    const Shape end = Shape::ArrayOrDie(RadiusType(shapes[k].element_type()), shapes[k].sizes());
    shapes.insert(shapes.end(), {end, end});
  }
  const size_t with_ends = shapes.size();
  AddLoopFormShapes(forms, arrays, shapes);
  const size_t elements = shapes.size();
  const Node packed = writer_.Parameter(0, std::make_shared<const Shape>(Shape::Tuple(std::move(shapes))));
  std::vector<Node> nodes;
  for (size_t k = 0; k < elements; ++k) nodes.push_back(writer_.Element(packed, static_cast<int64_t>(k)));
  std::vector<BoundedLeaf> leaves = Unpacked(nodes, radii);
  TakeEnds(leaves, ends, std::span(nodes).subspan(with_radii));
  const std::span<const Node> of_forms = std::span(nodes).subspan(with_ends);
  forms.rows > 0 ? TakeState(leaves, forms, of_forms) : TakeLoopForms(leaves, forms.leaves, of_forms);
  leaf = 0;
  for (const int32_t p : from_.parameters) {
    Derived& parameter = derived_[static_cast<size_t>(p)];
    parameter.shape = from_.instructions[static_cast<size_t>(p)].shape;
    for (size_t k = LeafShapes(*parameter.shape).size(); k > 0; --k)
      parameter.leaves.push_back(leaves[leaf++]);
    if (!parameter.shape->IsTuple()) parameter.whole = parameter.leaves[0].value;
  }
}

absl::StatusOr<DerivedComputation> ComputationDeriver::Derive(const std::vector<bool>& radii,
                                                              const std::vector<bool>& wanted,
                                                              const std::optional<std::vector<bool>>& ends,
                                                              const LoopForms& forms,
                                                              const std::vector<bool>& read) {
  gives_ends_ = ends.has_value() && (read.empty() || std::count(read.begin(), read.end(), true) > 0);
  TakeParameters(radii, ends.value_or(std::vector<bool>(radii.size())), forms);
  ASSAY_RETURN_IF_ERROR(DeriveInstructions());
  Derived& root = derived_[static_cast<size_t>(from_.root)];
  for (size_t k = 0; k < root.leaves.size(); ++k) ValueOf(root, k);
  std::vector<bool> given = RadiiOf(root.leaves);
  for (size_t k = 0; k < given.size(); ++k) given[k] = given[k] || wanted[k];
  std::vector<Node> elements = Packed(root.leaves, given);
  std::vector<bool> given_ends =
      gives_ends_ ? WithSharperEnds(root.leaves) : std::vector<bool>(root.leaves.size());
  for (size_t k = 0; k < read.size(); ++k) given_ends[k] = given_ends[k] && read[k];
  AddEnds(root.leaves, given_ends, elements);
  const std::vector<bool> given_forms = LoopFormsOf(root.leaves).leaves;
  forms.rows > 0 ? AddState(root.leaves, forms, given, elements)
                 : AddLoopForms(root.leaves, given_forms, elements);
  const Node result = writer_.Tuple(elements);
  ASSAY_RETURN_IF_ERROR(writer_.status());
  return DerivedComputation{writer_.Finish(result), given, given_ends, forms.leaves, given_forms};
}

absl::StatusOr<ComputationId> ComputationDeriver::DeriveEntry(const std::vector<bool>& subnormal_arguments,
                                                              std::vector<int64_t>& radius_of_leaf,
                                                              std::vector<int64_t>& ends_of_leaf) {
  derived_.resize(from_.instructions.size());
  size_t leaf = 0;
  for (const int32_t p : from_.parameters) {
    const Instruction& instruction = from_.instructions[static_cast<size_t>(p)];
    Derived& parameter = derived_[static_cast<size_t>(p)];
    parameter.shape = instruction.shape;
    parameter.whole = writer_.Write(instruction);
    ForEachLeaf(*instruction.shape, [&](const ShapeIndex& path, const Shape& shape) {
      parameter.leaves.emplace_back();
      parameter.paths.push_back(path);
      const bool is_subnormal = leaf < subnormal_arguments.size() && subnormal_arguments[leaf];
      ++leaf;
      if (!is_subnormal || !module_.profile().Flushes(shape.element_type())) return;
      parameter.leaves.back().radius = SubnormalRadius(ValueOf(parameter, parameter.leaves.size() - 1));
    });
    if (!parameter.shape->IsTuple() && !parameter.leaves.empty()) parameter.leaves[0].value = parameter.whole;
  }
  ASSAY_RETURN_IF_ERROR(DeriveInstructions());
  Derived& root = derived_[static_cast<size_t>(from_.root)];
  std::vector<Node> elements = {WholeOf(root)};
  for (const BoundedLeaf& result : root.leaves) {
    radius_of_leaf.push_back(result.radius ? static_cast<int64_t>(elements.size()) : -1);
    if (result.radius) elements.push_back(result.radius);
  }
  for (size_t k = 0; k < root.leaves.size(); ++k) {
    ValueOf(root, k);
    const bool sharper = HasSharperEnds(root.leaves[k]);
    ends_of_leaf.push_back(sharper ? static_cast<int64_t>(elements.size()) : -1);
    if (!sharper) continue;
    const Ends of = EndsOfLeaf(root.leaves[k]);
    elements.insert(elements.end(), {of.low, of.high});
  }
  const Node result = writer_.Tuple(elements);
  ASSAY_RETURN_IF_ERROR(writer_.status());
  return writer_.Finish(result);
}

// --- Structure ---

void ComputationDeriver::FollowStructure() {
  const Instruction& instruction = view_->instruction;
  const OpDef& op = DefinitionOf(instruction.opcode);
  if (op.gives_async_state || op.takes_async_state) {
    status_ = FollowAsync();
    return;
  }
  if (op.arguments == Arguments::kElements) {
    status_ = FollowMap();
    return;
  }
  switch (instruction.opcode) {
    case Opcode::kCall:
      status_ = FollowCall(*attributes().Computation(Attr::kToApply));
      return;
    case Opcode::kFusion:
      status_ = FollowCall(*attributes().Computation(Attr::kCalls));
      return;
    case Opcode::kConditional:
      status_ = FollowConditional();
      return;
    case Opcode::kWhile:
      status_ = FollowWhile();
      return;
    case Opcode::kTuple:
      return TakeLeaves(OperandLeaves(0));
    case Opcode::kGetTupleElement:
      return FollowElement(attributes().Int(Attr::kIndex));
    default: {
      // The result is operand 0, or its first leaf (copy-done), or begins with it
      // (copy-start, of which nothing else is read).
      Derived& from = operand(0);
      std::vector<BoundedLeaf> leaves;
      const std::vector<const Shape*> shapes = LeafShapes(*result_->shape);
      for (size_t k = 0; k < shapes.size(); ++k) {
        if (k < from.leaves.size())
          leaves.push_back(LeafOf(from, k));
        else
          leaves.push_back({writer_.Filled(shapes[k]->element_type(), 0, *shapes[k]), Node(), {}});
      }
      return TakeLeaves(std::move(leaves));
    }
  }
}

void ComputationDeriver::FollowElement(int64_t element) {
  Derived& tuple = operand(0);
  size_t first = 0;
  for (int64_t k = 0; k < element; ++k) first += LeafShapes(tuple.shape->element(k)).size();
  std::vector<BoundedLeaf> leaves;
  for (size_t k = first; k < first + result_->leaves.size(); ++k) leaves.push_back(LeafOf(tuple, k));
  TakeLeaves(std::move(leaves));
}

absl::Status ComputationDeriver::FollowCall(ComputationId callee) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<BoundedLeaf> leaves, CallOf(callee, OperandLeaves(0)));
  TakeLeaves(std::move(leaves));
  return absl::OkStatus();
}

// The wrapped computation runs where the last of its arguments is bound. What else a state holds is zeros.
absl::Status ComputationDeriver::FollowAsync() {
  const Instruction* start = &view_->instruction;
  const bool is_done = !DefinitionOf(start->opcode).gives_async_state;
  const bool is_start = !DefinitionOf(start->opcode).takes_async_state;
  while (DefinitionOf(start->opcode).takes_async_state)
    start = &from_.instructions[static_cast<size_t>(start->operands[0])];
  const ComputationId callee = *start->attributes.Computation(Attr::kCalls);
  std::vector<BoundedLeaf> before = is_start ? OperandLeaves(0) : std::vector<BoundedLeaf>(),
                           arguments = before;
  size_t bound = view_->num_operands();
  if (!is_start) {
    Derived& state = operand(0);
    for (size_t k = 0; k < state.leaves.size(); ++k) before.push_back(LeafOf(state, k));
    const size_t given = LeafShapes(state.shape->element(0)).size();
    if (view_->num_operands() == 1) {
      is_done ? FollowElement(1) : TakeLeaves(std::move(before));
      return absl::OkStatus();
    }
    before.resize(given);
    arguments = std::move(before);
    for (const BoundedLeaf& leaf : OperandLeaves(1)) arguments.push_back(leaf);
    bound = state.shape->element(0).elements().size() + view_->num_operands() - 1;
  }
  std::vector<BoundedLeaf> leaves = is_done ? std::vector<BoundedLeaf>() : arguments;
  if (bound == module_.from().computation(callee).parameters.size()) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<BoundedLeaf> results, CallOf(callee, std::move(arguments)));
    leaves.insert(leaves.end(), results.begin(), results.end());
  }
  const std::vector<const Shape*> shapes = LeafShapes(*result_->shape);
  for (size_t k = leaves.size(); k < shapes.size(); ++k)
    leaves.push_back({writer_.Filled(shapes[k]->element_type(), 0, *shapes[k]), Node(), {}});
  TakeLeaves(std::move(leaves));
  return absl::OkStatus();
}

std::vector<bool> ComputationDeriver::LeavesRead(int32_t instruction) const {
  const Shape& shape = *from_.instructions[static_cast<size_t>(instruction)].shape;
  const size_t leaves = LeafShapes(shape).size();
  const std::vector<bool> all(leaves, true);
  std::vector<bool> read(leaves);
  if (instruction == from_.root && gives_ends_) return all;
  for (size_t k = 0; k < from_.instructions.size(); ++k) {
    const Instruction& reader = from_.instructions[k];
    if (std::count(reader.operands.begin(), reader.operands.end(), instruction) == 0) continue;
    const auto at = static_cast<int32_t>(k);
    if (reader.opcode == Opcode::kTuple && at == from_.root && !gives_ends_) continue;
    if (reader.opcode != Opcode::kGetTupleElement) return all;
    size_t first = 0;
    for (int64_t e = 0; e < reader.attributes.Int(Attr::kIndex); ++e)
      first += LeafShapes(shape.element(e)).size();
    for (const bool is_read : LeavesRead(at)) {
      read[first] = read[first] || is_read;
      ++first;
    }
  }
  return read;
}

absl::StatusOr<std::vector<BoundedLeaf>> ComputationDeriver::CallOf(ComputationId callee,
                                                                    std::vector<BoundedLeaf> arguments) {
  const size_t results = LeafShapes(*module_.from().computation(callee).root_instruction().shape).size();
  const std::vector<bool> ends = WithSharperEnds(arguments);
  const auto here = static_cast<int32_t>(&view_->instruction - from_.instructions.data());
  ASSAY_ASSIGN_OR_RETURN(const DerivedComputation derived,
                         module_.Derive(callee, RadiiOf(arguments), std::vector<bool>(results), ends,
                                        LoopFormsOf(arguments), LeavesRead(here)));
  return ResultsOf(derived, std::move(arguments), ends);
}

std::vector<BoundedLeaf> ComputationDeriver::ResultsOf(const DerivedComputation& derived,
                                                       std::vector<BoundedLeaf> arguments,
                                                       const std::vector<bool>& ends) {
  std::vector<Node> packed = Packed(arguments, RadiiOf(arguments));
  AddEnds(arguments, ends, packed);
  AddLoopForms(arguments, derived.takes_loop_forms, packed);
  const std::vector<Node> elements = writer_.Call(derived.id, packed);
  std::vector<BoundedLeaf> leaves = Unpacked(elements, derived.radii);
  const auto with_radii =
      leaves.size() + static_cast<size_t>(std::count(derived.radii.begin(), derived.radii.end(), true));
  const auto with_ends =
      with_radii + 2 * static_cast<size_t>(std::count(derived.ends.begin(), derived.ends.end(), true));
  TakeEnds(leaves, derived.ends, std::span(elements).subspan(with_radii));
  TakeLoopForms(leaves, derived.loop_forms, std::span(elements).subspan(with_ends));
  return leaves;
}

// What is mapped is derived as a computation of arrays.
absl::Status ComputationDeriver::FollowMap() {
  const ComputationId id = *attributes().Computation(Attr::kToApply);
  const std::optional<Computation> mapped = MappedOver(module_.from().computation(id), view_->result());
  if (!mapped) {
    Copy(view_->instruction);
    if (AnyRadius() || !IsExact(id)) MarkUnchecked("what is mapped is not elementwise");
    return absl::OkStatus();
  }
  std::vector<BoundedLeaf> arguments = OperandLeaves(0);
  const std::vector<bool> ends = WithSharperEnds(arguments);
  ComputationDeriver deriver(module_, *mapped);
  ASSAY_ASSIGN_OR_RETURN(const DerivedComputation derived,
                         deriver.Derive(RadiiOf(arguments), {false}, ends, LoopForms()));
  TakeLeaves(ResultsOf(derived, std::move(arguments), ends));
  return absl::OkStatus();
}

}  // namespace assay
