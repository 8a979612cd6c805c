// The instructions of one node.
#ifndef ASSAY_JIT_EMIT_H_
#define ASSAY_JIT_EMIT_H_

#include <array>
#include <span>

#include "jit/assembler.h"
#include "jit/segment.h"

namespace assay::jit {

// Vector registers that emitted instructions may use as they like: the last ones but the assembler's own.
inline constexpr int kTemporaries = 3;
inline Vec Temporary(const Assembler& a, int i) { return {a.num_vectors() - 1 - i}; }

Lane LaneOf(ElementType type);

struct Emitted {
  const Node* node = nullptr;
  Vec d;  // none of the operands' registers
  std::array<Vec, 3> operands;
  std::array<ElementType, 3> types;  // of the operands
  // Somebody sees which NaN it is: a NaN result of arithmetic must be the canonical one.
  bool canonical = true;
};

// Any op but kParameter.
void Emit(Assembler& a, const Emitted& what);

// NaNs of the float type become the canonical one.
void MakeCanonical(Assembler& a, ElementType type, Vec v);

// The result is a float that was computed, so that its NaN is canonical; not one that was moved.
bool IsFloatArithmetic(const Node& node);
// The op sees of a NaN operand only that it is one.
bool SeesNaNAlone(const Node& node);

}  // namespace assay::jit

#endif  // ASSAY_JIT_EMIT_H_
