// The prover has a row for every function of numbers in the op table.
#include "prove/functions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "evaluator/elementwise.h"
#include "evaluator/registry.h"

namespace assay::prove {
namespace {

// Whether the op makes an f32 of so many.
bool IsFunction(Opcode opcode, int operands) {
  const OpDef& op = DefinitionOf(opcode);
  if (op.strip == nullptr || op.operands.min != operands || op.operands.max != operands) return false;
  if (!op.types.Has(ElementType::kF32)) return false;
  const std::vector<ElementType> types(static_cast<size_t>(operands), ElementType::kF32);
  return op.strip(Instruction(opcode), types, ElementType::kF32).fn != nullptr;
}

template <typename Function>
void CheckRows(std::span<const Function> rows, int operands, const std::set<Opcode>& others) {
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    INFO(Name(opcode));
    const bool has_row = std::ranges::any_of(rows, [&](const Function& f) { return f.opcode == opcode; });
    if (opcode == Opcode::kCustomCall) continue;  // functions of CHLO
    CHECK(has_row == (IsFunction(opcode, operands) && !others.contains(opcode)));
  }
}

TEST_CASE("prove: every function of one or two floats has a row", "[prove]") {
  using enum Opcode;
  // Conversions have proofs of their own; the others move bits, or give what is not a float.
  CheckRows(Functions1(), 1, {kBitcastConvert, kConvert, kImag, kIsFinite, kReal, kReducePrecision});
  CheckRows(Functions2(), 2, {kCompare, kComplex, kStochasticConvert});
}

}  // namespace
}  // namespace assay::prove
