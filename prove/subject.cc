#include "prove/subject.h"

#include <array>
#include <cstring>

#include "evaluator/elementwise.h"
#include "evaluator/registry.h"

namespace assay::prove {
namespace {

constexpr int kMaxOperands = 3;

// The one place that chooses whose strip function is proved.
StripKernel KernelOf(const std::string&, const Instruction& instruction,
                     std::span<const ElementType> operands, ElementType result) {
  const OpDef& definition = DefinitionOf(instruction.opcode);
  for (const ElementType type : operands) {
    if (!definition.types.Has(type)) return {};
  }
  return definition.strip(instruction, operands, result);
}

}  // namespace

bool IsEngine(const std::string& engine) { return engine == "reference"; }

Subject SubjectStrip(const std::string& engine, Opcode opcode, std::span<const ElementType> operands,
                     ElementType result) {
  Instruction instruction;
  instruction.opcode = opcode;
  const StripKernel kernel = KernelOf(engine, instruction, operands, result);
  if (kernel.fn == nullptr) return nullptr;
  std::array<ElementType, kMaxOperands> types{};
  std::copy(operands.begin(), operands.end(), types.begin());
  const size_t count = operands.size();
  return [=](int64_t n, const std::byte* const* in, std::byte* out) {
    alignas(64) std::byte buffers[kMaxOperands + 1][kStripBytes];
    const void* loaded[kMaxOperands] = {};
    for (size_t k = 0; k < count; ++k) {
      LoadStrip(types[k], in[k], Bytes(types[k]), n, buffers[k]);
      loaded[k] = buffers[k];
    }
    kernel.fn(kernel.params, n, loaded, buffers[kMaxOperands]);
    StoreStrip(result, buffers[kMaxOperands], n, out, Bytes(result));
  };
}

uint64_t PatternAt(const std::byte* elements, int64_t i, ElementType type) {
  uint64_t pattern = 0;
  std::memcpy(&pattern, elements + i * Bytes(type), Bytes(type));
  return Bits(type) == 64 ? pattern : pattern & ((uint64_t{1} << Bits(type)) - 1);
}

void SetPattern(std::byte* elements, int64_t i, ElementType type, uint64_t pattern) {
  // Signed types of less than a byte are stored with their sign bits.
  if (IsSignedIntegral(type) && Bits(type) < 8 && (pattern >> (Bits(type) - 1)) & 1)
    pattern |= ~uint64_t{0} << Bits(type);
  std::memcpy(elements + i * Bytes(type), &pattern, Bytes(type));
}

}  // namespace assay::prove
