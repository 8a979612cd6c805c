#include "find/fuzz/rewrites.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "find/fuzz/rewrite_parts.h"
#include "fmt/format.h"
#include "hlo/attribute.h"

namespace assay::fuzz {
namespace {

// Side conditions.

bool HasDimensions(const Module& module, const Instruction& instruction) {
  return IsStaticArray(module, instruction) && instruction.shape->rank() > 0;
}

bool HasTwoDimensions(const Module& module, const Instruction& instruction) {
  return IsStaticArray(module, instruction) && instruction.shape->rank() > 1;
}

// The type of the same width whose bits are a number; nullopt: none.
std::optional<ElementType> BitsType(ElementType type) {
  switch (type) {
    case ElementType::kF32:
    case ElementType::kS32:
      return ElementType::kU32;
    case ElementType::kF64:
    case ElementType::kS64:
      return ElementType::kU64;
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kS16:
      return ElementType::kU16;
    case ElementType::kF8E4M3FN:
    case ElementType::kF8E5M2:
    case ElementType::kS8:
      return ElementType::kU8;
    default:
      return std::nullopt;
  }
}

bool HasBitsType(const Module& module, const Instruction& instruction) {
  return IsStaticArray(module, instruction) && BitsType(instruction.shape->element_type());
}

// A type that holds all values of `type`; nullopt: none is tried.
std::optional<ElementType> WiderType(ElementType type) {
  switch (type) {
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF8E4M3FN:
    case ElementType::kF8E5M2:
      return ElementType::kF32;
    case ElementType::kF32:
    case ElementType::kS32:
    case ElementType::kU32:
      return ElementType::kF64;
    case ElementType::kS8:
    case ElementType::kU8:
    case ElementType::kS16:
    case ElementType::kU16:
    case ElementType::kPred:
      return ElementType::kS32;
    default:
      return std::nullopt;
  }
}

// A conversion need not keep the payload and the sign of a NaN, which these show.
bool ShowsNanBits(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == Opcode::kBitcastConvert ||
          instruction.attributes.Text(Attr::kType) == "TOTALORDER")
        return true;
    }
  }
  return false;
}

bool HasWiderType(const Module& module, const Instruction& instruction) {
  if (!IsStaticArray(module, instruction)) return false;
  const ElementType type = instruction.shape->element_type();
  return WiderType(type) && (!IsFloat(type) || !ShowsNanBits(module));
}

// Computes an array of arrays, calls nothing, and gives the same wherever it stands.
bool IsElementwise(const Module& module, const Instruction& instruction) {
  if (!IsStaticArray(module, instruction) || instruction.operands.empty()) return false;
  if (!CalledComputations(instruction).empty()) return false;
  switch (instruction.opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kBroadcast:
    case Opcode::kClamp:
    case Opcode::kCompare:
    case Opcode::kConcatenate:
    case Opcode::kConvert:
    case Opcode::kConvolution:
    case Opcode::kCos:
    case Opcode::kDivide:
    case Opcode::kDot:
    case Opcode::kExp:
    case Opcode::kGather:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kPad:
    case Opcode::kPower:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSelect:
    case Opcode::kSlice:
    case Opcode::kSubtract:
    case Opcode::kTanh:
    case Opcode::kTranspose:
      break;
    default:
      return false;
  }
  return std::all_of(instruction.operands.begin(), instruction.operands.end(), [&](int32_t operand) {
    return IsStaticArray(module, module.entry_computation().instructions[static_cast<size_t>(operand)]);
  });
}

// Instructions.

int32_t TransposeTwice(RewriteSite& site) {
  const int64_t rank = site.shape().rank();
  Ints order(static_cast<size_t>(rank)), inverse(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t d = rank - 1; d > 0; --d) std::swap(order[d], order[site.choices.Below(d + 1)]);
  for (int64_t d = 0; d < rank; ++d) inverse[order[d]] = d;
  const int32_t there = Write(site, Opcode::kTranspose, {site.edit.Keep(site.instruction)},
                              {{Attr::kDimensions, std::move(order)}});
  return Write(site, Opcode::kTranspose, {there}, {{Attr::kDimensions, std::move(inverse)}});
}

int32_t ReverseTwice(RewriteSite& site) {
  Ints dimensions;
  for (int64_t d = 0; d < site.shape().rank(); ++d) {
    if (site.choices.OneIn(2) || (dimensions.empty() && d == site.shape().rank() - 1))
      dimensions.push_back(d);
  }
  const int32_t there =
      Write(site, Opcode::kReverse, {site.edit.Keep(site.instruction)}, {{Attr::kDimensions, dimensions}});
  return Write(site, Opcode::kReverse, {there}, {{Attr::kDimensions, std::move(dimensions)}});
}

int32_t ReshapeTwice(RewriteSite& site) {
  const Shape& shape = site.shape();
  const int32_t flat = Write(site, Opcode::kReshape, {site.edit.Keep(site.instruction)}, {},
                             Shape::ArrayOrDie(shape.element_type(), DimVector{shape.num_elements()}));
  return Write(site, Opcode::kReshape, {flat}, {}, WithType(shape, shape.element_type()));
}

// A border is added, and cut off again.
int32_t PadAndSlice(RewriteSite& site) {
  const Shape& shape = site.shape();
  PaddingConfig padding;
  SliceConfig slices;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t low = site.choices.Below(3), high = site.choices.Below(3);
    padding.push_back({low, high, 0});
    slices.push_back({low, low + shape.size(d), 1});
  }
  const int32_t value = site.edit.Keep(site.instruction);
  const int32_t border = site.edit.AddFilled(SharedShape(Shape::Scalar(shape.element_type())), 1);
  const int32_t padded = Write(site, Opcode::kPad, {value, border}, {{Attr::kPadding, std::move(padding)}});
  return Write(site, Opcode::kSlice, {padded}, {{Attr::kSlice, std::move(slices)}});
}

// Two copies one behind the other, of which the second is cut out.
int32_t ConcatenateAndSlice(RewriteSite& site) {
  const Shape& shape = site.shape();
  const int64_t dimension = site.choices.Below(shape.rank());
  SliceConfig slices;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t start = d == dimension ? shape.size(d) : 0;
    slices.push_back({start, start + shape.size(d), 1});
  }
  const int32_t value = site.edit.Keep(site.instruction);
  const int32_t both =
      Write(site, Opcode::kConcatenate, {value, value}, {{Attr::kDimensions, Ints{dimension}}});
  return Write(site, Opcode::kSlice, {both}, {{Attr::kSlice, std::move(slices)}});
}

int32_t BitcastTwice(RewriteSite& site) {
  const Shape& shape = site.shape();
  const int32_t bits = Write(site, Opcode::kBitcastConvert, {site.edit.Keep(site.instruction)}, {},
                             WithType(shape, *BitsType(shape.element_type())));
  return Write(site, Opcode::kBitcastConvert, {bits}, {}, WithType(shape, shape.element_type()));
}

int32_t ConvertTwice(RewriteSite& site) {
  const Shape& shape = site.shape();
  const int32_t wide = Write(site, Opcode::kConvert, {site.edit.Keep(site.instruction)}, {},
                             WithType(shape, *WiderType(shape.element_type())));
  return Write(site, Opcode::kConvert, {wide}, {}, WithType(shape, shape.element_type()));
}

int32_t SelectOfItself(RewriteSite& site) {
  const Shape& shape = site.shape();
  const int32_t value = site.edit.Keep(site.instruction);
  const bool takes_first = site.choices.OneIn(2);
  const int32_t predicate =
      site.edit.AddFilled(SharedShape(WithType(shape, ElementType::kPred)), takes_first ? 1 : 0);
  const int32_t other = site.edit.AddFilled(SharedShape(WithType(shape, shape.element_type())), 1);
  return takes_first ? Write(site, Opcode::kSelect, {predicate, value, other})
                     : Write(site, Opcode::kSelect, {predicate, other, value});
}

int32_t PassBarrier(RewriteSite& site) {
  return Write(site, Opcode::kOptBarrier, {site.edit.Keep(site.instruction)});
}

// A layout that is not the default one.
Shape InAnotherLayout(RewriteSite& site) {
  Shape shape = site.shape();
  const int64_t rank = shape.rank();
  Layout layout;
  for (int64_t d = rank - 1; d >= 0; --d) layout.minor_to_major.push_back(d);
  // An index is swapped with one before it.
  const int64_t k = 1 + site.choices.Below(rank - 1);
  std::swap(layout.minor_to_major[k], layout.minor_to_major[site.choices.Below(k)]);
  shape.set_layout(std::move(layout));
  return shape;
}

int32_t CopyToALayout(RewriteSite& site) {
  const int32_t there =
      Write(site, Opcode::kCopy, {site.edit.Keep(site.instruction)}, {}, InAnotherLayout(site));
  return Write(site, Opcode::kCopy, {there}, {}, site.shape());
}

// Only bitcast and what is like it say something of layouts.
bool MayHaveALayout(const Module& module, const Instruction& instruction) {
  return HasTwoDimensions(module, instruction) && IsElementwise(module, instruction);
}

int32_t ComputeInALayout(RewriteSite& site) {
  Instruction there = site.before();
  for (int32_t& operand : there.operands) operand = site.edit.At(operand);
  there.shape = SharedShape(InAnotherLayout(site));
  return Write(site, Opcode::kCopy, {site.edit.Add(std::move(there))}, {}, site.shape());
}

int32_t Copy(RewriteSite& site) { return Write(site, Opcode::kCopy, {site.edit.Keep(site.instruction)}); }

int32_t SwapOperands(RewriteSite& site) {
  Instruction swapped = site.before();
  const int32_t lhs = site.edit.At(swapped.operands[0]), rhs = site.edit.At(swapped.operands[1]);
  swapped.operands = {rhs, lhs};
  return site.edit.Add(std::move(swapped));
}

// dot(a, b) is dot(b, a) with the free dimensions of both the other way round.
int32_t SwapDot(RewriteSite& site) {
  const Instruction& dot = site.before();
  Instruction swapped = dot;
  const int32_t lhs = site.edit.At(dot.operands[0]), rhs = site.edit.At(dot.operands[1]);
  swapped.operands = {rhs, lhs};
  const auto list = [&](Attr attr) {
    const std::span<const int64_t> dims = dot.attributes.List(attr);
    return Ints(dims.begin(), dims.end());
  };
  const auto swap = [&](Attr a, Attr b) {
    Ints of_a = list(a), of_b = list(b);
    if (of_a.empty() && of_b.empty()) return;
    swapped.attributes.Set(a, std::move(of_b));
    swapped.attributes.Set(b, std::move(of_a));
  };
  swap(Attr::kLhsContractingDims, Attr::kRhsContractingDims);
  swap(Attr::kLhsBatchDims, Attr::kRhsBatchDims);
  // Precisions are given by operand.
  swapped.attributes.Erase(Attr::kOperandPrecision);
  const auto batches = static_cast<int64_t>(list(Attr::kLhsBatchDims).size());
  const int64_t rank = dot.shape->rank();
  const int64_t of_lhs = site.edit.at(lhs).shape->rank() - batches -
                         static_cast<int64_t>(list(Attr::kLhsContractingDims).size());
  const int64_t of_rhs = rank - batches - of_lhs;
  DimVector sizes(dot.shape->sizes().begin(), dot.shape->sizes().end());
  std::rotate(sizes.begin() + batches, sizes.begin() + batches + of_lhs, sizes.end());
  swapped.shape = SharedShape(Shape::ArrayOrDie(dot.shape->element_type(), sizes));
  const int32_t value = site.edit.Add(std::move(swapped));
  Ints back(static_cast<size_t>(rank));
  for (int64_t d = 0; d < rank; ++d)
    back[static_cast<size_t>(d)] = d < batches ? d : d < batches + of_lhs ? d + of_rhs : d - of_lhs;
  // A transpose whose layout is left open has another one, by which a bitcast would read it.
  return Write(site, Opcode::kTranspose, {value}, {{Attr::kDimensions, std::move(back)}},
               WithType(*dot.shape, dot.shape->element_type()));
}

// The terms of each line the other way round.
int32_t ReduceReversed(RewriteSite& site) {
  Instruction reduce = site.before();
  const std::span<const int64_t> dims = reduce.attributes.List(Attr::kDimensions);
  const int32_t reversed = Write(site, Opcode::kReverse, {site.edit.At(reduce.operands[0])},
                                 {{Attr::kDimensions, Ints(dims.begin(), dims.end())}});
  reduce.operands = {reversed, site.edit.At(reduce.operands[1])};
  return site.edit.Add(std::move(reduce));
}

// Computations.

Instruction Parameter(const Shape& shape) {
  Instruction parameter(Opcode::kParameter);
  parameter.shape = SharedShape(shape);
  parameter.name = "p0";
  return parameter;
}

Instruction Element(int32_t tuple, int64_t index, const Shape& shape) {
  Instruction element(Opcode::kGetTupleElement);
  element.operands = {tuple};
  element.attributes.Set(Attr::kIndex, index);
  element.shape = SharedShape(shape);
  element.name = fmt::format("element{}", index);
  return element;
}

Computation Ended(std::string name, std::vector<Instruction> instructions) {
  Computation computation;
  computation.name = std::move(name);
  computation.instructions = std::move(instructions);
  computation.root = static_cast<int32_t>(computation.instructions.size()) - 1;
  for (size_t k = 0; k < computation.instructions.size(); ++k) {
    if (computation.instructions[k].opcode == Opcode::kParameter)
      computation.parameters.push_back(static_cast<int32_t>(k));
  }
  return computation;
}

Computation Identity(const Shape& shape) { return Ended("identity", {Parameter(shape)}); }

std::vector<Computation> OneIdentity(Choices&, const Module&, const Instruction& instruction) {
  return {Identity(WithType(*instruction.shape, instruction.shape->element_type()))};
}

std::vector<Computation> TwoIdentities(Choices& choices, const Module& module,
                                       const Instruction& instruction) {
  std::vector<Computation> two = OneIdentity(choices, module, instruction);
  two.push_back(two[0]);
  return two;
}

int32_t CallIdentity(RewriteSite& site) {
  return Write(site, Opcode::kCall, {site.edit.Keep(site.instruction)}, {{Attr::kToApply, site.callees[0]}});
}

int32_t BranchOfItself(RewriteSite& site) {
  const int32_t value = site.edit.Keep(site.instruction);
  const int32_t index = site.edit.AddConstant(Literal::ScalarInt(ElementType::kS32, site.choices.Below(2)));
  return Write(site, Opcode::kConditional, {index, value, value},
               {{Attr::kBranchComputations, site.callees}});
}

// while (i < n) { i + 1, x }
std::vector<Computation> LoopOfNothing(Choices& choices, const Module&, const Instruction& instruction) {
  const Shape counter = Shape::Scalar(ElementType::kS32),
              value = WithType(*instruction.shape, instruction.shape->element_type());
  const Shape state = Shape::Tuple({counter, value});
  const auto constant = [&](int64_t number) {
    Instruction written(Opcode::kConstant);
    written.literal = std::make_shared<const Literal>(Literal::ScalarInt(ElementType::kS32, number));
    written.shape = SharedShape(counter);
    written.name = "number";
    return written;
  };
  const auto binary = [](Opcode opcode, int32_t a, int32_t b, const Shape& shape) {
    Instruction written(opcode);
    written.operands = {a, b};
    written.shape = SharedShape(shape);
    written.name = "result";
    return written;
  };
  Instruction less = binary(Opcode::kCompare, 1, 2, Shape::Scalar(ElementType::kPred));
  less.attributes.Set(Attr::kDirection, Word{"LT"});
  Computation condition = Ended(
      "condition", {Parameter(state), Element(0, 0, counter), constant(choices.Below(4)), std::move(less)});
  Computation body = Ended(
      "body", {Parameter(state), Element(0, 0, counter), constant(1), binary(Opcode::kAdd, 1, 2, counter),
               Element(0, 1, value), binary(Opcode::kTuple, 3, 4, state)});
  return {std::move(condition), std::move(body)};
}

int32_t PassLoop(RewriteSite& site) {
  const int32_t value = site.edit.Keep(site.instruction);
  const int32_t zero = site.edit.AddConstant(Literal::ScalarInt(ElementType::kS32, 0));
  const int32_t loop = Write(site, Opcode::kWhile, {site.edit.AddTuple({{zero, value}})},
                             {{Attr::kCondition, site.callees[0]}, {Attr::kBody, site.callees[1]}});
  return site.edit.AddElement(loop, 1);
}

// The instruction alone, of parameters.
std::vector<Computation> Outlined(Choices&, const Module& module, const Instruction& instruction) {
  std::vector<Instruction> instructions;
  Instruction inside = instruction;
  for (size_t k = 0; k < instruction.operands.size(); ++k) {
    const Instruction& operand =
        module.entry_computation().instructions[static_cast<size_t>(instruction.operands[k])];
    Instruction parameter = Parameter(*operand.shape);
    parameter.parameter_number = static_cast<int64_t>(k);
    parameter.name = fmt::format("p{}", k);
    instructions.push_back(std::move(parameter));
    inside.operands[k] = static_cast<int32_t>(k);
  }
  inside.control_predecessors.clear();
  instructions.push_back(std::move(inside));
  return {Ended("outlined", std::move(instructions))};
}

int32_t UseOutlined(RewriteSite& site, Opcode opcode, std::vector<AttributeMap::Entry> attributes) {
  Instruction call(opcode);
  for (const int32_t operand : site.before().operands) call.operands.push_back(site.edit.At(operand));
  for (AttributeMap::Entry& entry : attributes) call.attributes.Set(entry.attr, std::move(entry.value));
  call.shape = site.before().shape;
  return site.edit.Add(std::move(call));
}

int32_t CallOutlined(RewriteSite& site) {
  return UseOutlined(site, Opcode::kCall, {{Attr::kToApply, site.callees[0]}});
}

int32_t FuseOutlined(RewriteSite& site) {
  return UseOutlined(site, Opcode::kFusion, {{Attr::kKind, Word{"kLoop"}}, {Attr::kCalls, site.callees[0]}});
}

constexpr EqualRewrite kPlainRewrites[] = {
    {"transpose twice", HasTwoDimensions, nullptr, TransposeTwice},
    {"reverse twice", HasDimensions, nullptr, ReverseTwice},
    {"reshape twice", IsStaticArray, nullptr, ReshapeTwice},
    {"pad and slice", HasDimensions, nullptr, PadAndSlice},
    {"concatenate and slice", HasDimensions, nullptr, ConcatenateAndSlice},
    {"bitcast twice", HasBitsType, nullptr, BitcastTwice},
    {"convert twice", HasWiderType, nullptr, ConvertTwice},
    {"select of itself", IsStaticArray, nullptr, SelectOfItself},
    {"barrier", IsStaticArray, nullptr, PassBarrier},
    {"copy", IsStaticArray, nullptr, Copy},
    {"copy to another layout and back", HasTwoDimensions, nullptr, CopyToALayout},
    {"result in another layout", MayHaveALayout, nullptr, ComputeInALayout},
    {"swap operands", Commutes, nullptr, SwapOperands},
    {"swap operands of a dot", IsPlainDot, nullptr, SwapDot},
    {"reduce the other way round", IsPlainReduce, nullptr, ReduceReversed},
    {"call", IsStaticArray, OneIdentity, CallIdentity},
    {"branches that are equal", IsStaticArray, TwoIdentities, BranchOfItself},
    {"loop that changes nothing", IsStaticArray, LoopOfNothing, PassLoop},
    {"call of the instruction", IsElementwise, Outlined, CallOutlined},
    {"fusion of the instruction", IsElementwise, Outlined, FuseOutlined},
};

}  // namespace

std::span<const EqualRewrite> EqualRewrites() {
  static const std::vector<EqualRewrite>* const all = [] {
    auto* const rewrites = new std::vector<EqualRewrite>();
    for (const std::span<const EqualRewrite> some :
         {std::span<const EqualRewrite>(kPlainRewrites), Regroupings(), DeviceRewrites()})
      rewrites->insert(rewrites->end(), some.begin(), some.end());
    return rewrites;
  }();
  return *all;
}

absl::Status ApplyRewrite(const EqualRewrite& rewrite, int32_t instruction, Choices& choices,
                          Module& module) {
  Module rewritten = module;
  std::vector<ComputationId> callees;
  if (rewrite.callees != nullptr) {
    const Computation& entry = module.entry_computation();
    // Callees stand before their caller.
    for (Computation& callee :
         rewrite.callees(choices, module, entry.instructions[static_cast<size_t>(instruction)])) {
      callees.push_back(rewritten.entry);
      rewritten.computations.insert(rewritten.computations.end() - 1, std::move(callee));
      ++rewritten.entry.value;
    }
  }
  ComputationEdit edit(rewritten, rewritten.entry);
  int64_t devices = 1;
  for (int32_t k = 0; k < edit.size(); ++k) {
    if (k != instruction) {
      edit.Keep(k);
      continue;
    }
    RewriteSite site{module, choices, edit, k, callees};
    edit.Become(k, rewrite.write(site));
    devices = site.devices;
  }
  ASSAY_RETURN_IF_ERROR(edit.Finish());
  NameApart(rewritten);
  if (devices > 1) rewritten.num_partitions = devices;
  module = std::move(rewritten);
  return absl::OkStatus();
}

std::vector<std::string_view> RewriteEqually(Choices& choices, int count,
                                             absl::FunctionRef<bool(const EqualRewrite&)> is_wanted,
                                             Module& module) {
  std::vector<const EqualRewrite*> wanted;
  for (const EqualRewrite& rewrite : EqualRewrites()) {
    if (is_wanted(rewrite)) wanted.push_back(&rewrite);
  }
  std::vector<std::string_view> applied;
  for (int i = 0; i < count; ++i) {
    // The first one that has a place, in any order.
    for (size_t k = wanted.size(); k-- > 0;) {
      std::swap(wanted[k], wanted[static_cast<size_t>(choices.Below(static_cast<int64_t>(k) + 1))]);
      const Computation& entry = module.entry_computation();
      std::vector<int32_t> places;
      for (size_t at = 0; at < entry.instructions.size(); ++at) {
        if (wanted[k]->applies(module, entry.instructions[at])) places.push_back(static_cast<int32_t>(at));
      }
      if (places.empty()) continue;
      const int32_t place = places[static_cast<size_t>(choices.Below(std::ssize(places)))];
      if (ApplyRewrite(*wanted[k], place, choices, module).ok()) applied.push_back(wanted[k]->name);
      break;
    }
  }
  return applied;
}

}  // namespace assay::fuzz
