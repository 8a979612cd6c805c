#include "gpu/ptx/body.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/counted.h"
#include "evaluator/registry.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"
#include "gpu/kernels/move_arguments.h"
#include "gpu/ptx/lanes.h"

namespace assay::gpu {
namespace {

bool FitsIn32(int64_t elements) { return elements <= std::numeric_limits<int32_t>::max(); }

const Literal* ConstantOf(const Instruction& instruction) {
  return instruction.opcode == Opcode::kConstant ? instruction.literal.get() : nullptr;
}

// value / size: of 32 bits, where the value is below 2^31, by one multiplication.
Register Quotient(Words& words, Width width, Register value, int64_t size) {
  if (width == Width::k64) return words.DivU(value, words.Constant(static_cast<uint64_t>(size)));
  const Divisor divisor = DivisorOf(static_cast<uint32_t>(size));
  const Register product = words.MulHighU(value, words.Constant(divisor.magic));
  return divisor.shift == 0 ? product : words.ShrU(product, words.Constant(divisor.shift));
}

}  // namespace

FusionBody::FusionBody(PtxWriter& writer, const FusionView& step, std::span<const int32_t> members,
                       const Shape& shape, int64_t operands, bool approximate)
    : writer_(writer),
      step_(step),
      members_(members),
      shape_(shape),
      operands_(operands),
      elements_(writer),
      is_read_(step.operands.size(), false),
      reads_in_place_(step.operands.size(), true),
      emitter_{.w = writer, .elements = elements_, .approximate = approximate} {}

Register FusionBody::InPrologue(int64_t offset) {
  const auto [at, fresh] = arguments_.try_emplace(offset);
  if (fresh) {
    const PtxWriter::InPrologue here(writer_);
    at->second = writer_.Argument(offset);
  }
  return at->second;
}

absl::Status FusionBody::Make(Register position) {
  emitter_.open = {};
  position_ = position;
  values_.clear();
  for (int32_t member : members_) ASSAY_RETURN_IF_ERROR(AddMember(member));
  return absl::OkStatus();
}

Element* FusionBody::Add(int32_t i, Element element) {
  owned_.push_back(element);
  return values_[i] = &owned_.back();
}

absl::Status FusionBody::AddMember(int32_t i) {
  const Instruction& instruction = At(i);
  if (const std::string_view why = WhyNotStatic(*instruction.shape); !why.empty())
    return NotSupported({}, why);
  if (instruction.shape->num_elements() != shape_.num_elements())
    return NotSupported({},
                        fmt::format("{} and the root have different numbers of elements", instruction.name));
  if (DefinitionOf(instruction.opcode).from_index) return AddIota(i);
  if (const auto source = SourceOf(step_.computation, instruction)) return AddMoved(i, *source);
  std::vector<Element*> operands;
  for (int32_t operand : instruction.operands) {
    ASSAY_ASSIGN_OR_RETURN(Element * element, ValueOf(operand));
    operands.push_back(element);
  }
  ASSAY_ASSIGN_OR_RETURN(const Element element, EmitElementwise(emitter_, instruction, operands));
  Add(i, element);
  return absl::OkStatus();
}

void FusionBody::NoteOpen(Register open, Register position, const OpenList& to) {
  const Label over = writer_.NewLabel();
  writer_.BranchUnless(open, over);
  const Register place = writer_.AtomicAdd(InPrologue(to.count), writer_.Constant64(1));
  writer_.BranchIf(writer_.GeU64(place, InPrologue(to.room)), over);
  const Register offset = writer_.Shl64(place, writer_.Constant32(3));
  writer_.Store("b64", writer_.Add64(InPrologue(to.list), offset), position);
  writer_.Place(over);
}

// A member's element, or an operand's at the thread's own position;
// the one element of an operand that has no other.
absl::StatusOr<Element*> FusionBody::ValueOf(int32_t i) {
  if (const auto found = values_.find(i); found != values_.end()) return found->second;
  const Shape& shape = *At(i).shape;
  if (const std::string_view why = WhyNotStatic(shape); !why.empty()) return NotSupported({}, why);
  const ElementType type = shape.element_type();
  if (IsComplex(type)) return NotSupported({}, fmt::format("element type {}", Name(type)));
  const bool one = shape.num_elements() == 1 && shape_.num_elements() != 1;
  if (!one && shape.num_elements() != shape_.num_elements())
    return NotSupported({}, fmt::format("{} of {}", Counted(shape.num_elements(), "element"), At(i).name));
  if (const Literal* constant = ConstantOf(At(i)); constant != nullptr && shape.num_elements() == 1)
    return Add(i, ImmediateElement(writer_, elements_, *constant));
  ASSAY_ASSIGN_OR_RETURN(const int64_t k, OperandOf(i));
  const Register base = InPrologue(operands_ + 8 * k);
  if (!one) return Add(i, elements_.Load(type, elements_.AddressOf(type, base, position_)));
  reads_in_place_[static_cast<size_t>(k)] = false;
  const auto [at, fresh] = scalars_.try_emplace(i);
  if (fresh) {
    const PtxWriter::InPrologue here(writer_);
    at->second = elements_.Load(type, base);
  }
  return Add(i, at->second);
}

absl::StatusOr<int64_t> FusionBody::OperandOf(int32_t i) {
  const auto at = std::find(step_.operands.begin(), step_.operands.end(), i);
  if (at == step_.operands.end()) return NotSupported({}, fmt::format("{} is not an operand", At(i).name));
  const int64_t k = at - step_.operands.begin();
  is_read_[static_cast<size_t>(k)] = true;
  return k;
}

Element ImmediateElement(PtxWriter& writer, Elements& elements, const Literal& literal) {
  const ElementType type = literal.shape().element_type();
  uint64_t bits = 0;
  std::memcpy(&bits, literal.data(), static_cast<size_t>(Bytes(type)));
  if (type == ElementType::kPred)
    return elements.OfPattern(type, writer.Ne32(writer.Constant32(bits != 0), writer.Constant32(0)));
  if (WidthOf(type) == Width::k64) return elements.OfPattern(type, writer.Constant64(bits));
  // Elements of less than a byte are stored extended to one.
  if (IsSignedIntegral(type) && Bytes(type) < 4) {
    const int shift = 32 - 8 * Bytes(type);
    bits = static_cast<uint32_t>(static_cast<int32_t>(static_cast<uint32_t>(bits) << shift) >> shift);
  }
  return elements.OfPattern(type, writer.Constant32(static_cast<uint32_t>(bits)));
}

absl::Status FusionBody::AddMoved(int32_t i, const AffineMap& source) {
  const Instruction& instruction = At(i);
  const int32_t from = instruction.operands[0];
  const Shape& operand = *At(from).shape;
  if (operand.num_elements() == 1 || ReadsInPlace(source, operand, *instruction.shape)) {
    ASSAY_ASSIGN_OR_RETURN(Element * element, ValueOf(from));
    values_[i] = element;
    return absl::OkStatus();
  }
  if (IsComplex(operand.element_type()))
    return NotSupported({}, fmt::format("element type {}", Name(operand.element_type())));
  const bool moves_member = std::find(members_.begin(), members_.end(), from) != members_.end();
  if (moves_member) return NotSupported({}, fmt::format("{} of a member", Name(instruction.opcode)));
  ASSAY_ASSIGN_OR_RETURN(const int64_t k, OperandOf(from));
  reads_in_place_[static_cast<size_t>(k)] = false;
  const ElementType type = operand.element_type();
  const bool narrow = FitsIn32(shape_.num_elements()) && FitsIn32(operand.num_elements());
  const Register position = PositionIn(*instruction.shape, source, narrow ? Width::k32 : Width::k64);
  Add(i, elements_.Load(type, elements_.AddressOf(type, InPrologue(operands_ + 8 * k), position)));
  return absl::OkStatus();
}

// Neighbouring dimensions that the source walks as one are one.
std::vector<FusionBody::Dimension> FusionBody::Merged(const Shape& shape, std::span<const int64_t> strides) {
  std::vector<Dimension> dimensions;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.size(d), stride = strides[static_cast<size_t>(d)];
    if (size == 1) continue;
    if (!dimensions.empty() && dimensions.back().stride == stride * size) {
      dimensions.back() = {dimensions.back().size * size, stride};
    } else {
      dimensions.push_back({size, stride});
    }
  }
  return dimensions;
}

// base + the sum of index[d] * strides[d] at the thread's position in the shape. In 32 bits sums may wrap
// on the way, never in the end.
Register FusionBody::PositionIn(const Shape& shape, const AffineMap& source, Width width) {
  const std::vector<Dimension> dimensions = Merged(shape, source.strides);
  Words words(writer_, width);
  const auto constant = [&](int64_t value) { return words.Constant(static_cast<uint64_t>(value)); };
  Register position = constant(source.base);
  Register rest = width == Width::k32 ? writer_.Low32(position_) : position_;
  for (size_t d = dimensions.size(); d-- > 0;) {
    const auto [size, stride] = dimensions[d];
    Register index = rest;
    if (d > 0) {
      const Register outer = Quotient(words, width, rest, size);
      if (stride != 0) index = words.Sub(rest, words.Mul(outer, constant(size)));
      rest = outer;
    }
    if (stride != 0) position = words.Add(position, stride == 1 ? index : words.Mul(index, constant(stride)));
  }
  return position;
}

absl::Status FusionBody::AddIota(int32_t i) {
  const Instruction& instruction = At(i);
  const Shape& shape = *instruction.shape;
  const ElementType type = shape.element_type();
  if (IsComplex(type)) return NotSupported({}, fmt::format("element type {}", Name(type)));
  AffineMap counted{.base = 0, .strides = DimVector(static_cast<size_t>(shape.rank()), 0)};
  counted.strides[static_cast<size_t>(instruction.attributes.Int(Attr::kIotaDimension))] = 1;
  const bool narrow = FitsIn32(shape_.num_elements());
  const Register count = PositionIn(shape, counted, narrow ? Width::k32 : Width::k64);
  Element whole = elements_.OfPattern(narrow ? ElementType::kS32 : ElementType::kS64, count);
  Add(i, EmitConvert(emitter_, type, whole));
  return absl::OkStatus();
}

std::optional<AffineMap> SourceOf(const Computation& computation, const Instruction& instruction) {
  const OpDef& definition = DefinitionOf(instruction.opcode);
  if (definition.source == nullptr) return std::nullopt;
  const InstructionView view{computation, instruction};
  if (!IsStaticArray(view.operand(0)) || !IsStaticArray(view.result())) return std::nullopt;
  return definition.source(view);
}

bool ReadsInPlace(const AffineMap& source, const Shape& operand, const Shape& result) {
  if (operand.num_elements() != result.num_elements() || source.base != 0) return false;
  const DimVector own = RowMajorStrides(result.sizes());
  for (size_t d = 0; d < own.size(); ++d) {
    if (result.size(static_cast<int64_t>(d)) != 1 && source.strides[d] != own[d]) return false;
  }
  return true;
}

}  // namespace assay::gpu
