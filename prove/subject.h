// What is proved: an elementwise op as a function from stored elements to stored elements.
#ifndef ASSAY_PROVE_SUBJECT_H_
#define ASSAY_PROVE_SUBJECT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "hlo/opcode.h"
#include "literal/element_io.h"
#include "prove/functions.h"
#include "shape/element_type.h"

namespace assay::prove {

// out[i] = op(in[0][i], in[1][i], …) for n <= kStrip elements as they are stored. Threads may share one.
using Subject = std::function<void(int64_t n, const std::byte* const* in, std::byte* out)>;

// The op as an engine ("reference", "exact", "exact-avx2", …) evaluates it; empty where it does not take
// these types.
Subject SubjectStrip(const std::string& engine, Opcode opcode, std::span<const ElementType> operands,
                     ElementType result);
// The same of a function of one argument, which may be a custom call.
Subject SubjectStrip(const std::string& engine, const Function1& f, ElementType type);
bool IsEngine(const std::string& engine);

// The stored pattern at index i of an array of a type of at most 64 bits, without bits that the type leaves
// unused.
uint64_t PatternAt(const std::byte* elements, int64_t i, ElementType type);
void SetPattern(std::byte* elements, int64_t i, ElementType type, uint64_t pattern);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_SUBJECT_H_
