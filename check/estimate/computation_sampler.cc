#include "check/estimate/computation_sampler.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "check/allowance.h"
#include "check/estimate/move_ops.h"
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

double SizesOf(const Shape& shape, std::span<const int64_t> dimensions) {
  double product = 1;
  for (const int64_t d : dimensions) product *= static_cast<double>(shape.size(d));
  return product;
}

// The terms of one sum of the instruction; 1: it is none, or their number is not known.
double TermsOf(const InstructionView& view) {
  const AttributeMap& attributes = view.attributes();
  double terms = 1;
  switch (view.instruction.opcode) {
    case Opcode::kReduce:
      return SizesOf(view.operand(0), attributes.List(Attr::kDimensions)) + 1;
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      for (const WindowDimension& d : attributes.WindowOf()) terms *= static_cast<double>(d.size);
      return terms + 1;
    case Opcode::kDot:
    case Opcode::kRaggedDot:
      return SizesOf(view.operand(0), attributes.List(Attr::kLhsContractingDims));
    case Opcode::kConvolution: {
      const auto& numbers =
          *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
      return SizesOf(view.operand(1), numbers.kernel_spatial) *
             static_cast<double>(view.operand(1).size(numbers.kernel_input_feature));
    }
    default:
      return 1;
  }
}

// By how much the rule's radius is larger than errors are. Rounding errors of n terms add up to about the
// root of n of one (Higham, Accuracy and Stability of Numerical Algorithms, section 2.8), where the rule has
// n; those of an FFT to the root of log2(n), where it has 8 sqrt(n) log2(n); a sum over devices, of which
// there is one, has a term.
double ShareOfRadius(const InstructionView& view) {
  switch (view.instruction.opcode) {
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter:
      return 0x1p-16;
    case Opcode::kFft: {
      double n = 1;
      for (const int64_t length : view.attributes().List(Attr::kFftLength)) n *= static_cast<double>(length);
      return n > 1 ? 1 / (8 * std::sqrt(n * std::log2(n))) : 1;
    }
    default:
      return 1 / std::sqrt(std::max(1.0, TermsOf(view)));
  }
}

// Whether errors of the instruction, which has no rule, are those of operands that are a little off (backward
// stability), and it can be written once more.
bool MovesOperands(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kCustomCall:
      return !instruction.attributes.Bool(Attr::kCustomCallHasSideEffect);
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
    case Opcode::kBatchNormTraining:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormGrad:
      return true;
    default:
      return false;
  }
}

std::string_view TargetOf(Opcode op) {
  switch (op) {
    case Opcode::kCos:
    case Opcode::kErf:
    case Opcode::kLogistic:
    case Opcode::kSin:
    case Opcode::kTanh:
      return kMoveInUnitTarget;
    default:
      return kMoveTarget;
  }
}

}  // namespace

ModuleSampler::ModuleSampler(const Module& from, const Profile& profile) : shared_(from, profile) {
  Module& module = shared_.module();
  module.name = from.name + "_sampled";
  module.custom_ops = MoveOps(from.custom_ops, profile.flushes);
}

absl::StatusOr<ComputationId> ModuleSampler::Sampled(ComputationId id, SampledForm form) {
  const auto key = std::make_pair(id.value, form);
  if (const auto it = sampled_.find(key); it != sampled_.end()) return it->second;
  ComputationSampler sampler(*this, shared_.from().computation(id));
  ASSAY_ASSIGN_OR_RETURN(const ComputationId sampled, sampler.Sample(form));
  sampled_.emplace(key, sampled);
  return sampled;
}

absl::Status ModuleSampler::SampleEntry(const std::vector<bool>& subnormal_arguments) {
  ComputationSampler sampler(*this, shared_.from().entry_computation());
  ASSAY_ASSIGN_OR_RETURN(shared_.module().entry, sampler.Sample(SampledForm::kCalled, subnormal_arguments));
  return absl::OkStatus();
}

ComputationSampler::ComputationSampler(ModuleSampler& module, const Computation& from)
    : module_(module),
      shared_(module.shared()),
      from_(from),
      writer_(shared_.module(), from.name, shared_.instructions_left()) {}

absl::StatusOr<ComputationId> ComputationSampler::Sample(SampledForm form,
                                                         const std::vector<bool>& subnormal_arguments) {
  nodes_.resize(from_.instructions.size());
  TakeParameters(form, subnormal_arguments);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i]) continue;  // a parameter
    const Instruction& instruction = from_.instructions[i];
    writer_.NameThem(instruction.name);
    nodes_[i] = Follow(instruction);
    ASSAY_RETURN_IF_ERROR(status_);
    if (!writer_.status().ok()) return WithPosition(writer_.status(), instruction.position);
  }
  const Node root = nodes_[static_cast<size_t>(from_.root)];
  const Node result = form == SampledForm::kCarried ? Paired(root) : root;
  ASSAY_RETURN_IF_ERROR(writer_.status());
  return writer_.Finish(result);
}

void ComputationSampler::TakeParameters(SampledForm form, const std::vector<bool>& subnormal_arguments) {
  const auto seed = std::make_shared<const Shape>(Shape::Scalar(ElementType::kU64));
  if (form != SampledForm::kCalled) {
    const size_t at = static_cast<size_t>(from_.parameters[0]);
    const Shape& shape = *from_.instructions[at].shape;
    const Node pair = writer_.Parameter(0, std::make_shared<const Shape>(Shape::Tuple({shape, *seed})));
    nodes_[at] = writer_.Element(pair, 0);
    seed_ = writer_.Element(pair, 1);
    return;
  }
  for (const int32_t p : from_.parameters)
    nodes_[static_cast<size_t>(p)] = writer_.Write(from_.instructions[static_cast<size_t>(p)]);
  seed_ = writer_.Parameter(static_cast<int64_t>(from_.parameters.size()), seed);
  for (const int32_t p : from_.parameters) {
    Node& parameter = nodes_[static_cast<size_t>(p)];
    parameter = WithoutSubnormals(parameter, subnormal_arguments);
  }
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
  if (leaf >= subnormal_arguments.size() || !subnormal_arguments[leaf] || !IsReal(shape)) return value;
  if (!shared_.profile().flushes.Has(shape.element_type())) return value;
  return Moved(value, Constant(0, Magnitude(value)), kMoveTarget);
}

Node ComputationSampler::Follow(const Instruction& instruction) {
  view_.emplace(InstructionView{from_, instruction});
  operands_.clear();
  for (const int32_t k : instruction.operands) operands_.push_back(nodes_[static_cast<size_t>(k)]);
  const BoundFn rule = DefinitionOf(instruction.opcode).bound;
  if (rule == &bound::Structure && !CalledComputations(instruction).empty()) return FollowCalls(instruction);
  const Shape& shape = *instruction.shape;
  if (rule == &bound::Structure || !HasRoundedLeaf(shape) || !IsFlat(shape) ||
      instruction.opcode == Opcode::kRng)
    return Copy(instruction);
  if (instruction.opcode == Opcode::kConstant) {
    const Node constant = Copy(instruction);
    const bool flushed = IsReal(shape) && shared_.profile().flushes.Has(shape.element_type()) &&
                         instruction.literal != nullptr && HasSubnormals(*instruction.literal);
    return flushed ? Moved(constant, Constant(0, Magnitude(constant)), kMoveTarget) : constant;
  }
  if (const auto target = RoundingTarget()) return Call(*target, operands_[0], operands_[1]);
  CutOperands();
  TakeLeaves(Copy(instruction));
  gave_up_ = false;
  rule(*this);
  if (gave_up_) MoveWithoutRule(instruction);
  return WithMovedLeaves(instruction);
}

// Sums, differences and products that are rounded correctly, but may be kept unrounded: what is exact stays
// so, which a share of the result would not.
std::optional<std::string_view> ComputationSampler::RoundingTarget() const {
  const Opcode op = view_->instruction.opcode;
  if (op != Opcode::kAdd && op != Opcode::kSubtract && op != Opcode::kMultiply) return std::nullopt;
  const ElementType type = view_->result().element_type();
  if (!IsFloat(type)) return std::nullopt;
  const Allowance allowed = Allowed(type);
  if (allowed.ulps > 0.5 || allowed.relative > 0 || allowed.absolute > 0 || !allowed.keeps_precision)
    return std::nullopt;
  return op == Opcode::kAdd ? kAddTarget : op == Opcode::kSubtract ? kSubtractTarget : kMultiplyTarget;
}

void ComputationSampler::CutOperands() {
  const Opcode op = view_->instruction.opcode;
  if (op != Opcode::kDot && op != Opcode::kConvolution && op != Opcode::kRaggedDot) return;
  for (size_t k = 0; k < 2; ++k) {
    const Shape& shape = view_->operand(k);
    const double unit =
        IsRounded(shape) ? InputUnitOf(shared_.profile(), view_->instruction, shape.element_type()) : 0;
    if (unit > 0) operands_[k] = Moved(operands_[k], Times(Magnitude(operands_[k]), unit), kCutTarget);
  }
}

// The operands and the results are moved by the ulps that the profile has for the operation, and the root of
// the lines' length.
void ComputationSampler::MoveWithoutRule(const Instruction& instruction) {
  shared_.Note(from_, instruction, why_);
  if (MovesOperands(instruction)) {
    for (size_t k = 0; k < operands_.size(); ++k) {
      const Shape& shape = view_->operand(k);
      if (!IsRounded(shape)) continue;
      const double length = shape.rank() == 0 ? 1 : static_cast<double>(shape.size(shape.rank() - 1));
      const Node radius = Times(RelativeRadius(operands_[k]), std::sqrt(std::max(1.0, length)));
      operands_[k] = Moved(operands_[k], radius, kMoveTarget);
    }
    Instruction again = instruction;
    again.name.clear();
    TakeLeaves(Copy(again));
  }
  for (size_t k = 0; k < leaves_.size(); ++k)
    radii_[k] = IsRounded(writer_.ShapeOf(leaves_[k])) ? RelativeRadius(leaves_[k]) : Node();
}

Node ComputationSampler::WithMovedLeaves(const Instruction& instruction) {
  bool any = false;
  for (size_t k = 0; k < leaves_.size(); ++k) {
    if (!radii_[k] || !IsRounded(writer_.ShapeOf(leaves_[k]))) continue;
    const Node radius = gave_up_ ? radii_[k] : AsTheyAre(radii_[k], leaves_[k]);
    leaves_[k] = Moved(leaves_[k], radius, TargetOf(instruction.opcode));
    any = true;
  }
  return any && instruction.shape->IsTuple() ? writer_.Tuple(leaves_) : any ? leaves_[0] : whole_;
}

Node ComputationSampler::AsTheyAre(Node radius, Node value) {
  const double share = ShareOfRadius(*view_);
  if (share >= 1) return radius;
  const Node own = RelativeRadius(value);
  return Max(Times(ConvertTo(radius, writer_.ShapeOf(own).element_type()), share), own);
}

Node ComputationSampler::RelativeRadius(Node value) {
  const ElementType type = writer_.ShapeOf(value).element_type();
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  return Times(Magnitude(value), std::ldexp(Allowed(type).ulps, -Info(component).format->mantissa_bits));
}

Node ComputationSampler::Moved(Node value, Node radius, std::string_view target) {
  return Call(target, value, ConvertTo(radius, RadiusType(writer_.ShapeOf(value).element_type())));
}

Node ComputationSampler::Call(std::string_view target, Node first, Node second) {
  Instruction number(Opcode::kConstant);
  number.shape = std::make_shared<const Shape>(Shape::Scalar(ElementType::kU64));
  number.literal =
      std::make_shared<const Literal>(Literal::ScalarInt(ElementType::kU64, module_.NextNumber()));
  Instruction call(Opcode::kCustomCall);
  call.attributes.Set(Attr::kCustomCallTarget, std::string(target));
  call.operands = {first.id, second.id, seed_.id, writer_.Write(std::move(number)).id};
  call.shape = std::make_shared<const Shape>(writer_.ShapeOf(first));
  return writer_.Write(std::move(call));
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
  copy.control_predecessors.clear();
  copy.operands.clear();
  for (const Node operand : operands_) copy.operands.push_back(operand.id);
  RedirectCalls(copy, [&](ComputationId id) { return Copied(id); });
  return writer_.Write(std::move(copy));
}

// --- Calls, branches and loops ---

Node ComputationSampler::Paired(Node value) {
  const Node pair[] = {value, seed_};
  return writer_.Tuple(pair);
}

Node ComputationSampler::FollowCalls(const Instruction& instruction) {
  const Opcode op = instruction.opcode;
  const bool is_call = op == Opcode::kCall || op == Opcode::kFusion;
  Instruction made(is_call ? Opcode::kCall : op);
  made.name = instruction.name;
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
  if (is_call) made.operands.push_back(seed_.id);
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
Allowance ComputationSampler::Allowed(ElementType type) const {
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  Allowance allowed = AllowanceOf(shared_.profile(), view_->instruction, type);
  if (shared_.profile().flushes.Has(component))
    allowed.absolute -= std::ldexp(1, Info(component).format->min_exponent);
  return allowed;
}

double ComputationSampler::SumUnit(ElementType type) const { return SumUnitOf(shared_.profile(), type); }

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
