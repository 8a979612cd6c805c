#include "gpu/ptx/elementwise.h"

#include <algorithm>
#include <string>
#include <vector>

#include "evaluator/elementwise.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "gpu/ptx/approximate.h"
#include "gpu/ptx/lanes.h"

namespace assay::gpu {
namespace {

// A function of a float of at most 8 bits as a table of its results, which the op's own strip function makes.
Element EmitTable(Emitter& emitter, const Instruction& instruction, Element& x) {
  const ElementType type = x.type;
  const auto patterns = static_cast<int64_t>(uint64_t{1} << Bits(type));
  const StripKernel kernel = DefinitionOf(instruction.opcode).strip(instruction, {&type, 1}, type);
  alignas(64) std::byte strip[kStripBytes];
  std::vector<std::byte> stored(static_cast<size_t>(patterns));
  for (int64_t i = 0; i < patterns; ++i) stored[static_cast<size_t>(i)] = static_cast<std::byte>(i);
  LoadStrip(type, stored.data(), 1, patterns, strip);
  const void* in = strip;
  kernel.fn(kernel.params, patterns, &in, strip);
  StoreStrip(type, strip, patterns, stored.data(), 1);
  std::string name =
      fmt::format("{}_{}_{}_{}", Name(instruction.opcode), Name(type), kernel.params.a, kernel.params.b);
  std::replace(name.begin(), name.end(), '-', '_');
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(stored.data()), stored.size());
  const Register table = emitter.w.Table(name, bytes);
  const Register index = emitter.elements.Pattern(x);
  return emitter.elements.OfPattern(type, emitter.elements.LookUp("u8", 1, table, index));
}

// The chosen element's bits, and its value where both are at hand anyway.
Element EmitSelect(Emitter& emitter, Register pred, Element& x, Element& y) {
  Elements& elements = emitter.elements;
  Element chosen =
      elements.OfPattern(x.type, elements.Choose(pred, elements.Pattern(x), elements.Pattern(y)));
  if (!chosen.single.known() && x.single.known() && y.single.known())
    chosen.single = elements.Choose(pred, x.single, y.single);
  return chosen;
}

// Bits of one width in another type.
Element EmitBits(Emitter& emitter, ElementType to, Element& x) {
  PtxWriter& w = emitter.w;
  Register bits = emitter.elements.Pattern(x);
  if (x.type == ElementType::kPred) bits = w.Choose32(w.Constant32(1), w.Constant32(0), bits);
  if (Bits(to) < 32 && IsSignedIntegral(x.type)) bits = w.And32(bits, w.Constant32((1u << Bits(to)) - 1));
  return IsFloat(to) ? emitter.elements.OfPattern(to, bits) : emitter.elements.Wrapped(to, bits);
}

int StorageBits(ElementType type) { return type == ElementType::kPred ? 8 : Bits(type); }

absl::Status Unknown(const Instruction& instruction, ElementType type) {
  return NotSupported({}, fmt::format("no PTX for {} of {}", Name(instruction.opcode), Name(type)));
}

absl::Status CheckTypes(const Instruction& instruction, std::span<Element* const> operands) {
  const auto check = [](ElementType type) {
    return IsComplex(type) ? NotSupported({}, fmt::format("element type {}", Name(type))) : absl::OkStatus();
  };
  for (const Element* operand : operands) ASSAY_RETURN_IF_ERROR(check(operand->type));
  return check(instruction.shape->element_type());
}

// Ops whose result's type is not the operands'; an unknown element where it is none of them.
absl::StatusOr<Element> EmitMixed(Emitter& emitter, const Instruction& instruction,
                                  std::span<Element* const> operands) {
  const ElementType type = instruction.shape->element_type();
  Element& x = *operands[0];
  switch (instruction.opcode) {
    case Opcode::kSelect:
      return EmitSelect(emitter, x.pattern, *operands[1], *operands[2]);
    case Opcode::kConvert:
      return EmitConvert(emitter, type, x);
    case Opcode::kCompare: {
      const bool total = IsFloat(x.type) && instruction.attributes.Text(Attr::kType) == "TOTALORDER";
      const std::string_view order = instruction.attributes.Text(Attr::kDirection);
      return emitter.elements.OfPattern(type, EmitCompare(emitter, order, total, x, *operands[1]));
    }
    case Opcode::kBitcastConvert:
      if (StorageBits(x.type) != StorageBits(type) || (type == ElementType::kPred && x.type != type))
        return NotSupported({}, fmt::format("bits of {} as {}", Name(x.type), Name(type)));
      return x.type == type ? x : EmitBits(emitter, type, x);
    default:
      return Element{};
  }
}

}  // namespace

absl::StatusOr<Element> EmitElementwise(Emitter& emitter, const Instruction& instruction,
                                        std::span<Element* const> operands) {
  if (operands.empty() || DefinitionOf(instruction.opcode).strip == nullptr)
    if (instruction.opcode != Opcode::kBitcastConvert)
      return NotSupported({}, fmt::format("no PTX for {}", Name(instruction.opcode)));
  ASSAY_RETURN_IF_ERROR(CheckTypes(instruction, operands));
  if (emitter.approximate && ApproximationBound(instruction) != nullptr)
    return EmitApproximation(emitter, instruction, *operands[0]);
  ASSAY_ASSIGN_OR_RETURN(Element element, EmitMixed(emitter, instruction, operands));
  if (IsKnown(element)) return element;
  const ElementType type = operands[0]->type;
  // The families are of operands of one type.
  for (const Element* operand : operands) {
    if (operand->type != type) return Unknown(instruction, type);
  }
  const bool same = instruction.shape->element_type() == type;
  if (!IsFloat(type)) {
    element = EmitIntegers(emitter, instruction, operands);
  } else if (operands.size() == 1 && same && Bits(type) <= 8) {
    element = EmitTable(emitter, instruction, *operands[0]);
  } else {
    element = EmitFloats(emitter, instruction, operands);
    if (!IsKnown(element)) element = EmitFunction(emitter, instruction, operands);
    if (!IsKnown(element)) element = EmitTestedFunction(emitter, instruction, operands);
  }
  if (!IsKnown(element)) return Unknown(instruction, type);
  return element;
}

}  // namespace assay::gpu
