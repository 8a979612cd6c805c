#include "check/estimate/computation_sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "check/allowance.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/registry.h"

namespace assay {
namespace {

bool IsReal(const Shape& shape) { return shape.IsArray() && IsFloat(shape.element_type()); }
bool IsRounded(const Shape& shape) {
  return IsReal(shape) || (shape.IsArray() && IsComplex(shape.element_type()));
}
bool HasRoundedLeaf(const Shape& shape) {
  bool has = false;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { has = has || IsRounded(leaf); });
  return has;
}
bool IsFlat(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray();
  return std::all_of(shape.elements().begin(), shape.elements().end(),
                     [](const Shape& element) { return element.IsArray(); });
}

// Whether errors of the instruction are those of operands that are a little off (backward
// stability), and it can be written once more.
bool MovesOperands(const Instruction& instruction, bool by_rule) {
  const OpDef& definition = DefinitionOf(instruction.opcode);
  const bool has_no_rule = definition.bound == &bound::NoRule || instruction.opcode == Opcode::kCustomCall;
  return (by_rule || has_no_rule) && CalledComputations(instruction).empty() && !HasSideEffect(instruction) &&
         definition.channel == Channel::kNone && !definition.gives_async_state &&
         !definition.takes_async_state;
}

// By the rules of functions of which no backend gives a number beyond 1.
bool StaysInUnit(BoundFn rule, const Shape& result) {
  static constexpr BoundFn kRules[] = {&bound::Cos, &bound::Erf, &bound::Logistic, &bound::Sin, &bound::Tanh};
  return IsReal(result) && std::find(std::begin(kRules), std::end(kRules), rule) != std::end(kRules);
}

}  // namespace

ModuleSampler::ModuleSampler(const Module& from, const Profile& profile, std::string_view suffix)
    : shared_(from, profile) {
  shared_.module().name = from.name + std::string(suffix);
}

absl::StatusOr<ComputationId> ModuleSampler::Sampled(ComputationId id, SampledForm form) {
  const auto key = std::make_pair(id.value, form);
  if (const auto it = sampled_.find(key); it != sampled_.end()) return it->second;
  ComputationSampler sampler(*this, shared_.from().computation(id));
  ASSAY_ASSIGN_OR_RETURN(const ComputationId sampled, sampler.Sample(form));
  sampled_.emplace(key, sampled);
  return sampled;
}

absl::StatusOr<SharedRadii> ModuleSampler::WriteRadii() {
  ComputationSampler sampler(*this, shared_.from().entry_computation());
  SharedRadii radii;
  ASSAY_ASSIGN_OR_RETURN(shared_.module().entry, sampler.WriteRadii(radii));
  return radii;
}

absl::Status ModuleSampler::SampleEntry(const std::vector<bool>& subnormal_arguments, SharedRadii radii) {
  ComputationSampler sampler(*this, shared_.from().entry_computation());
  ASSAY_ASSIGN_OR_RETURN(shared_.module().entry, sampler.SampleEntry(subnormal_arguments, std::move(radii)));
  return absl::OkStatus();
}

bool ModuleSampler::MayBeAdded(const Computation& computation, const Instruction& product) {
  std::vector<bool>& may_be_added = may_be_added_[&computation];
  if (may_be_added.empty()) {
    static constexpr BoundFn kRules[] = {&bound::Add, &bound::Subtract, &bound::Passed, &bound::Convert,
                                         &bound::Select};
    may_be_added.resize(computation.instructions.size());
    may_be_added[static_cast<size_t>(computation.root)] = true;
    for (const Instruction& user : computation.instructions) {
      const OpDef& definition = DefinitionOf(user.opcode);
      const bool hands_on =
          definition.strip == nullptr ||
          std::find(std::begin(kRules), std::end(kRules), BoundFn(definition.bound)) != std::end(kRules);
      for (const int32_t k : user.operands) {
        if (hands_on) may_be_added[static_cast<size_t>(k)] = true;
      }
    }
  }
  return may_be_added[static_cast<size_t>(&product - computation.instructions.data())];
}

ComputationSampler::ComputationSampler(ModuleSampler& module, const Computation& from)
    : module_(module),
      shared_(module.shared()),
      from_(&from),
      writer_(shared_.module(), from.name, shared_.instructions_left()),
      mover_(*this, shared_.profile().flushes) {}

absl::StatusOr<ComputationId> ComputationSampler::Sample(SampledForm form) {
  nodes_.resize(from_->instructions.size());
  TakeParameters(form);
  ASSAY_RETURN_IF_ERROR(FollowAll());
  const Node root = nodes_[static_cast<size_t>(from_->root)];
  const Node result = form == SampledForm::kCarried ? Paired(root) : root;
  ASSAY_RETURN_IF_ERROR(writer_.status());
  return writer_.Finish(result);
}

absl::StatusOr<ComputationId> ComputationSampler::SampleEntry(const std::vector<bool>& subnormal_arguments,
                                                              SharedRadii radii) {
  entry_ = Entry::kTakesRadii;
  nodes_.resize(from_->instructions.size());
  TakeParameters(SampledForm::kCalled);
  shared_radii_ = std::move(radii);
  int64_t parameter = std::ssize(from_->parameters);
  for (const auto& shape : shared_radii_)
    radius_nodes_.push_back(shape == nullptr ? Node() : writer_.Parameter(++parameter, shape));
  for (const int32_t p : from_->parameters) {
    Node& node = nodes_[static_cast<size_t>(p)];
    node = WithoutSubnormals(node, subnormal_arguments);
  }
  ASSAY_RETURN_IF_ERROR(FollowAll());
  const Node root = nodes_[static_cast<size_t>(from_->root)];
  ASSAY_RETURN_IF_ERROR(writer_.status());
  return writer_.Finish(root);
}

absl::StatusOr<ComputationId> ComputationSampler::WriteRadii(SharedRadii& radii) {
  entry_ = Entry::kWritesRadii;
  nodes_.resize(from_->instructions.size());
  for (const int32_t p : from_->parameters)
    nodes_[static_cast<size_t>(p)] = writer_.Write(from_->instructions[static_cast<size_t>(p)]);
  ASSAY_RETURN_IF_ERROR(FollowAll());
  const Node root = writer_.Tuple(radius_nodes_);
  ASSAY_RETURN_IF_ERROR(writer_.status());
  radii = std::move(shared_radii_);
  return writer_.Finish(root);
}

absl::Status ComputationSampler::FollowAll() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i]) continue;  // a parameter
    const Instruction& instruction = from_->instructions[i];
    writer_.NameThem(instruction.name);
    nodes_[i] = Follow(instruction);
    ASSAY_RETURN_IF_ERROR(status_);
    if (!writer_.status().ok()) return WithPosition(writer_.status(), instruction.position);
  }
  return absl::OkStatus();
}

void ComputationSampler::TakeParameters(SampledForm form) {
  const auto key = std::make_shared<const Shape>(Shape::Scalar(ElementType::kU32));
  if (form != SampledForm::kCalled) {
    const size_t at = static_cast<size_t>(from_->parameters[0]);
    const Shape& shape = *from_->instructions[at].shape;
    const Node pair = writer_.Parameter(0, std::make_shared<const Shape>(Shape::Tuple({shape, *key})));
    nodes_[at] = writer_.Element(pair, 0);
    key_ = writer_.Element(pair, 1);
  } else {
    for (const int32_t p : from_->parameters)
      nodes_[static_cast<size_t>(p)] = writer_.Write(from_->instructions[static_cast<size_t>(p)]);
    key_ = writer_.Parameter(std::ssize(from_->parameters), key);
  }
  mover_.SetKey(key_);
}

// Subnormal numbers of arguments are flushed where the sample does so.
Node ComputationSampler::WithoutSubnormals(Node value, const std::vector<bool>& subnormal_arguments) {
  const Shape shape = writer_.ShapeOf(value);
  if (shape.IsTuple()) {
    std::vector<Node> elements;
    bool any = false;
    for (size_t k = 0; k < shape.elements().size(); ++k) {
      const Node element = writer_.Element(value, static_cast<int64_t>(k));
      elements.push_back(WithoutSubnormals(element, subnormal_arguments));
      any = any || elements.back().id != element.id;
    }
    return any ? writer_.Tuple(elements) : value;
  }
  const size_t leaf = next_argument_leaf_++;
  if (leaf >= subnormal_arguments.size() || !subnormal_arguments[leaf] || !shape.IsArray()) return value;
  if (!shared_.profile().Flushes(shape.element_type())) return value;
  return Moved(value, Constant(0, Magnitude(value)));
}

Node ComputationSampler::Follow(const Instruction& instruction) {
  view_.emplace(InstructionView{*from_, instruction});
  operands_.clear();
  magnitudes_.clear();
  for (const int32_t k : instruction.operands) operands_.push_back(nodes_[static_cast<size_t>(k)]);
  const BoundFn rule = DefinitionOf(instruction.opcode).bound;
  const bool calls = rule == &bound::Structure && !CalledComputations(instruction).empty();
  if (calls && entry_ != Entry::kNone) {
    if (const std::optional<Node> inlined = FollowInlined(instruction)) return *inlined;
  }
  if (calls && entry_ != Entry::kWritesRadii) return FollowCalls(instruction);
  const Shape& shape = *instruction.shape;
  if (rule == &bound::Structure || !HasRoundedLeaf(shape) || !IsFlat(shape) ||
      instruction.opcode == Opcode::kRng)
    return Copy(instruction);
  if (entry_ != Entry::kNone && DefinitionOf(instruction.opcode).strip == nullptr &&
      instruction.opcode != Opcode::kConstant) {
    if (const std::optional<Node> shared = FollowShared(instruction, rule)) return *shared;
  }
  if (entry_ == Entry::kWritesRadii) return Copy(instruction);
  if (instruction.opcode == Opcode::kConstant) {
    const Node constant = Copy(instruction);
    const bool flushed = shape.IsArray() && shared_.profile().Flushes(shape.element_type()) &&
                         instruction.literal != nullptr && HasSubnormals(*instruction.literal);
    return flushed ? Moved(constant, Constant(0, Magnitude(constant))) : constant;
  }
  if (MayStayUnrounded())
    return mover_.RoundedEitherWay(instruction.opcode, operands_[0], operands_[1], module_.NextNumber());
  CutOperands();
  TakeLeaves(Copy(instruction));
  gave_up_ = moves_operands_ = false;
  rule(*this);
  if (gave_up_) shared_.Note(*from_, instruction, why_);
  if (gave_up_ || moves_operands_) MoveByUlps(instruction);
  return WithMovedLeaves(instruction, rule);
}

std::optional<Node> ComputationSampler::FollowInlined(const Instruction& call) {
  if (call.opcode != Opcode::kCall && call.opcode != Opcode::kFusion) return std::nullopt;
  const Computation& callee = shared_.from().computation(CalledComputations(call)[0]);
  inlined_ += callee.instructions.size();
  if (inlined_ > kMaxInlined) return std::nullopt;
  std::vector<Node> nodes(callee.instructions.size());
  for (size_t k = 0; k < callee.parameters.size(); ++k)
    nodes[static_cast<size_t>(callee.parameters[k])] = operands_[k];
  const Computation* const caller = std::exchange(from_, &callee);
  std::swap(nodes_, nodes);
  ++depth_;
  if (const absl::Status status = FollowAll(); !status.ok() && status_.ok()) status_ = status;
  --depth_;
  const Node root = nodes_[static_cast<size_t>(callee.root)];
  std::swap(nodes_, nodes);
  from_ = caller;
  return root;
}

std::optional<Node> ComputationSampler::FollowShared(const Instruction& instruction, BoundFn rule) {
  if (entry_ == Entry::kWritesRadii) {
    TakeLeaves(Copy(instruction));
    gave_up_ = moves_operands_ = false;
    rule(*this);
    if (gave_up_ || moves_operands_) radii_.assign(radii_.size(), Node());
    ShareRadii();
    return whole_;
  }
  const size_t count = instruction.shape->IsTuple() ? instruction.shape->elements().size() : 1;
  const size_t first = std::exchange(next_shared_, next_shared_ + count);
  const auto begin = radius_nodes_.begin() + static_cast<std::ptrdiff_t>(first);
  if (std::none_of(begin, begin + static_cast<std::ptrdiff_t>(count), [](Node node) { return bool(node); }))
    return std::nullopt;
  CutOperands();
  TakeLeaves(Copy(instruction));
  radii_.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return WithMovedLeaves(instruction, rule);
}

// Of an instruction some of whose radii do not fit, samples compute all.
void ComputationSampler::ShareRadii() {
  int64_t bytes = 0;
  for (size_t k = 0; k < radii_.size(); ++k) {
    if (!IsRounded(writer_.ShapeOf(leaves_[k]))) radii_[k] = Node();
    if (!radii_[k]) continue;
    radii_[k] = ConvertTo(radii_[k], RadiusType(writer_.ShapeOf(leaves_[k]).element_type()));
    bytes += writer_.ShapeOf(radii_[k]).num_bytes();
  }
  const bool fit = shared_bytes_ + bytes <= kMaxSharedBytes;
  if (fit) shared_bytes_ += bytes;
  for (const Node radius : radii_) {
    const bool given = fit && radius;
    shared_radii_.push_back(given ? std::make_shared<const Shape>(writer_.ShapeOf(radius)) : nullptr);
    if (given) radius_nodes_.push_back(radius);
  }
}

bool ComputationSampler::MayStayUnrounded() const {
  const BoundFn rule = DefinitionOf(view_->instruction.opcode).bound;
  if (rule != &bound::Add && rule != &bound::Subtract && rule != &bound::Multiply) return false;
  const ElementType type = view_->result().element_type();
  if (!IsFloat(type)) return false;
  const Allowance allowed = Allowed(type);
  return allowed.ulps <= 0.5 && allowed.relative == 0 && allowed.absolute <= 0 && allowed.keeps_precision;
}

void ComputationSampler::CutOperands() {
  const BoundFn rule = DefinitionOf(view_->instruction.opcode).bound;
  if (rule != &bound::Dot && rule != &bound::Convolution && rule != &bound::RaggedDot) return;
  for (size_t k = 0; k < 2; ++k) {
    const Shape& shape = view_->operand(k);
    const double unit =
        IsRounded(shape) ? InputUnitOf(shared_.profile(), view_->instruction, shape.element_type()) : 0;
    if (unit > 0) operands_[k] = mover_.Cut(operands_[k], unit, module_.NextNumber());
  }
}

// The operands and the results are moved by the ulps that the profile has for the operation, and the root of
// the lines' length.
void ComputationSampler::MoveByUlps(const Instruction& instruction) {
  gave_up_ = true;
  if (MovesOperands(instruction, moves_operands_)) {
    for (size_t k = 0; k < operands_.size(); ++k) {
      const Shape& shape = view_->operand(k);
      if (!IsRounded(shape)) continue;
      const double length = shape.rank() == 0 ? 1 : static_cast<double>(shape.size(shape.rank() - 1));
      const Node radius = Times(RelativeRadius(operands_[k]), std::sqrt(std::max(1.0, length)));
      operands_[k] = Moved(operands_[k], radius);
    }
    Instruction again = instruction;
    again.name.clear();
    TakeLeaves(Copy(again));
  }
  for (size_t k = 0; k < leaves_.size(); ++k)
    radii_[k] = IsRounded(writer_.ShapeOf(leaves_[k])) ? RelativeRadius(leaves_[k]) : Node();
}

Node ComputationSampler::WithMovedLeaves(const Instruction& instruction, BoundFn rule) {
  bool any = false;
  for (size_t k = 0; k < leaves_.size(); ++k) {
    if (!radii_[k] || !IsRounded(writer_.ShapeOf(leaves_[k]))) continue;
    leaves_[k] = Moved(leaves_[k], radii_[k], StaysInUnit(rule, writer_.ShapeOf(leaves_[k])));
    any = true;
  }
  return any && instruction.shape->IsTuple() ? writer_.Tuple(leaves_) : any ? leaves_[0] : whole_;
}

Node ComputationSampler::RelativeRadius(Node value) {
  const ElementType type = writer_.ShapeOf(value).element_type();
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  return Times(Magnitude(value), std::ldexp(Allowed(type).ulps, -Info(component).format->mantissa_bits));
}

Node ComputationSampler::Moved(Node value, Node radius, bool in_unit) {
  const ElementType type = RadiusType(writer_.ShapeOf(value).element_type());
  return mover_.Moved(value, ConvertTo(radius, type), module_.NextNumber(), in_unit);
}

void ComputationSampler::TakeLeaves(Node whole) {
  whole_ = whole;
  leaves_.clear();
  const Shape shape = writer_.ShapeOf(whole);
  if (!shape.IsTuple()) leaves_.push_back(whole);
  for (size_t k = 0; shape.IsTuple() && k < shape.elements().size(); ++k)
    leaves_.push_back(writer_.Element(whole, static_cast<int64_t>(k)));
  radii_.assign(leaves_.size(), Node());
}

Node ComputationSampler::Copy(const Instruction& instruction) {
  Instruction copy = instruction;
  if (depth_ > 0) copy.name.clear();
  copy.control_predecessors.clear();
  copy.operands.clear();
  for (const Node operand : operands_) copy.operands.push_back(operand.id);
  RedirectCalls(copy, [&](ComputationId id) { return Copied(id); });
  return writer_.Write(std::move(copy));
}

// --- Calls, branches and loops ---

Node ComputationSampler::Paired(Node value) {
  const Node pair[] = {value, key_};
  return writer_.Tuple(pair);
}

Node ComputationSampler::FollowCalls(const Instruction& instruction) {
  const Opcode op = instruction.opcode;
  const bool is_call = op == Opcode::kCall || op == Opcode::kFusion;
  Instruction made(is_call ? Opcode::kCall : op);
  if (depth_ == 0) made.name = instruction.name;
  made.shape = instruction.shape;
  for (const AttributeMap::Entry& entry : instruction.attributes.entries()) {
    const bool loops = op == Opcode::kWhile && entry.attr == Attr::kBody;
    const SampledForm form = is_call ? SampledForm::kCalled
                             : loops ? SampledForm::kCarried
                                     : SampledForm::kPaired;
    if (const auto* const id = std::get_if<ComputationId>(&entry.value)) {
      made.attributes.Set(is_call ? Attr::kToApply : entry.attr, SampledOrFail(*id, form));
    } else if (const auto* const ids = std::get_if<std::vector<ComputationId>>(&entry.value)) {
      std::vector<ComputationId> sampled;
      for (const ComputationId called : *ids) sampled.push_back(SampledOrFail(called, form));
      made.attributes.Set(entry.attr, std::move(sampled));
    }
  }
  for (size_t k = 0; k < operands_.size(); ++k) {
    const bool is_index = op == Opcode::kConditional && k == 0;
    made.operands.push_back((is_call || is_index ? operands_[k] : Paired(operands_[k])).id);
  }
  if (is_call) made.operands.push_back(key_.id);
  if (op == Opcode::kWhile)
    made.shape = std::make_shared<const Shape>(writer_.ShapeOf(Node{made.operands[0]}));
  const Node result = writer_.Write(std::move(made));
  return op == Opcode::kWhile && writer_.status().ok() ? writer_.Element(result, 0) : result;
}

ComputationId ComputationSampler::SampledOrFail(ComputationId id, SampledForm form) {
  absl::StatusOr<ComputationId> sampled = module_.Sampled(id, form);
  if (sampled.ok()) return *sampled;
  if (status_.ok()) status_ = sampled.status();
  writer_.Fail(sampled.status());
  return ComputationId{0};
}

// --- What rules ask ---

void ComputationSampler::MarkUnchecked(std::string_view why) {
  gave_up_ = true;
  why_ = why;
}

Ends ComputationSampler::EndsOf(size_t k) {
  return bound::EndsOfBall(*this, operands_[k], Node(), writer_.ShapeOf(operands_[k]).element_type());
}

Ends ComputationSampler::ResultEnds() { return bound::EndsByRule(*this); }

// Subnormal numbers are flushed by the calls themselves, in some samples.
Allowance ComputationSampler::AllowedFor(Opcode op, ElementType type) const {
  return AllowanceOf(shared_.profile(), Instruction(op), type);
}

Allowance ComputationSampler::Allowed(ElementType type) const {
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  Allowance allowed = AllowanceOf(shared_.profile(), view_->instruction, type);
  if (allowed.keeps_precision && !shared_.profile().keeps_precision.Has(component))
    allowed.keeps_precision = module_.MayBeAdded(*from_, view_->instruction);
  if (shared_.profile().Flushes(type))
    allowed.absolute -= std::ldexp(1, Info(component).format->min_exponent);
  return allowed;
}

double ComputationSampler::SumUnit(ElementType type) const {
  return SumUnitOf(shared_.profile(), view(), type);
}

Node ComputationSampler::Constant(double value, Node like) {
  const Shape shape = writer_.ShapeOf(like);
  return writer_.Filled(shape.element_type(), value, shape);
}

Node ComputationSampler::Magnitude(Node node) {
  const auto [it, is_new] = magnitudes_.try_emplace(node.id);
  if (!is_new) return it->second;
  const ElementType type = writer_.ShapeOf(node).element_type();
  Node magnitude = IsComplex(type) ? node : ConvertTo(node, RadiusType(type));
  if (type != ElementType::kPred && !IsUnsignedIntegral(type)) magnitude = Write(Opcode::kAbs, {magnitude});
  return magnitudes_[node.id] = magnitude;
}

}  // namespace assay
