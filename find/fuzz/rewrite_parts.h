// What rewrites (rewrites.h) have in common: side conditions, and ways to write instructions.
#ifndef ASSAY_FIND_FUZZ_REWRITE_PARTS_H_
#define ASSAY_FIND_FUZZ_REWRITE_PARTS_H_

#include <initializer_list>
#include <optional>
#include <vector>

#include "find/fuzz/rewrites.h"

namespace assay::fuzz {

// In the default layout, which new instructions have: a bitcast reads its operand by its layout.
bool IsStaticArray(const Module& module, const Instruction& instruction);
// a op b = b op a. Complex products are left out: the imaginary part's two products are added in the other
// order, which exact sums would forgive and a backend's need not.
bool Commutes(const Module& module, const Instruction& instruction);
// A reduce of one array whose reducer gives the same in any order.
bool IsPlainReduce(const Module& module, const Instruction& instruction);
// A dot of two arrays, none of them complex, by the operands' own types.
bool IsPlainDot(const Module& module, const Instruction& instruction);

// Whether a plain reduce is a sum of floats: another grouping is rounded elsewhere. Others keep every bit.
bool SumsFloats(const Module& module, const Instruction& reduce);
// A start value that a reduce of some of the elements may have, so that its result and the plain reduce's
// own start value, combined once, give what all elements give: the neutral element, or, of what may be
// combined any number of times, the start value itself.
int32_t WritePartialStart(RewriteSite& site);

Shape WithType(const Shape& shape, ElementType type);

// Writes an instruction; its number in the new computation.
int32_t Write(RewriteSite& site, Opcode opcode, std::initializer_list<int32_t> operands,
              std::vector<AttributeMap::Entry> attributes = {}, std::optional<Shape> shape = std::nullopt);

// The tables of regroupings.cc and device_rewrites.cc.
std::span<const EqualRewrite> Regroupings();
std::span<const EqualRewrite> DeviceRewrites();

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_REWRITE_PARTS_H_
