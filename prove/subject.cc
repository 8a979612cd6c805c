#include "prove/subject.h"

#include <array>
#include <cstring>

#include "engines/engine.h"
#include "engines/native/elementwise/elementwise.h"
#include "engines/native/native_engine.h"
#include "evaluator/elementwise.h"
#include "evaluator/ops/control/function_call.h"
#include "evaluator/registry.h"
#include "run/engine_list.h"

namespace assay::prove {
namespace {

constexpr int kMaxOperands = 3;

// Instruction sets by name; all give the same bits, so each is worth a proof.
const Engine* NativeOf(const std::string& engine) {
  if (engine == "exact-baseline") return &native::NativeEngine(Isa::kBaseline);
  if (engine == "exact-avx2") return &native::NativeEngine(Isa::kAvx2);
  if (engine == "exact-avx512") return &native::NativeEngine(Isa::kAvx512);
  return nullptr;
}

// The function over stored elements that the engine takes where there is one.
ElementwiseFn StoredOf(const std::string& engine, Opcode opcode, std::span<const ElementType> operands,
                       ElementType result) {
  Isa isa = MachineIsa();
  if (engine == "exact-avx2") isa = Isa::kAvx2;
  const bool any = engine == "exact" || engine == "exact-avx2" || engine == "exact-avx512";
  return any ? native::NativeStored(opcode, operands, result, isa) : nullptr;
}

// The one place that chooses whose strip function is proved: the engine's, and where it has none the op
// table's, as the executor does.
StripKernel KernelOf(const std::string& engine, const Instruction& instruction,
                     std::span<const ElementType> operands, ElementType result) {
  const OpDef& definition = DefinitionOf(instruction.opcode);
  for (const ElementType type : operands) {
    if (!definition.types.Has(type)) return {};
  }
  StripKernel kernel;
  if (const Engine* native = NativeOf(engine)) kernel = native->Strip(instruction, operands, result);
  if (engine == "exact" || engine == "exact-strips") {
    for (const Engine* fast : EnginesOf(EngineChoice::kExact)) {
      if (kernel.fn == nullptr) kernel = fast->Strip(instruction, operands, result);
    }
  }
  return kernel.fn != nullptr ? kernel : definition.strip(instruction, operands, result);
}

// A strip function with its elements loaded and stored.
Subject OverStored(const StripKernel& kernel, std::span<const ElementType> operands, ElementType result) {
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

}  // namespace

bool IsEngine(const std::string& engine) {
  return engine == "reference" || engine == "exact" || engine == "exact-strips" ||
         NativeOf(engine) != nullptr;
}

Subject SubjectStrip(const std::string& engine, Opcode opcode, std::span<const ElementType> operands,
                     ElementType result) {
  if (const ElementwiseFn stored = StoredOf(engine, opcode, operands, result)) return stored;
  Instruction instruction;
  instruction.opcode = opcode;
  const StripKernel kernel = KernelOf(engine, instruction, operands, result);
  if (kernel.fn == nullptr) return nullptr;
  return OverStored(kernel, operands, result);
}

Subject SubjectStrip(const std::string& engine, const Function1& f, ElementType type) {
  const ElementType types[] = {type};
  if (f.call.empty()) return SubjectStrip(engine, f.opcode, types, type);
  Instruction call;
  call.opcode = f.opcode;
  call.attributes.Set(Attr::kCustomCallTarget, std::string(f.call));
  Isa isa = MachineIsa();
  if (engine == "exact-avx2") isa = Isa::kAvx2;
  if (engine == "exact-baseline") isa = Isa::kBaseline;
  return OverStored(
      engine == "reference" ? StripForFunctionCall(call, type) : native::NativeFunctionCall(call, type, isa),
      types, type);
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
