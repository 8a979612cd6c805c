// The elements that `assay run --trace-what` looks for.
#ifndef ASSAY_FIND_ORIGIN_ELEMENT_KINDS_H_
#define ASSAY_FIND_ORIGIN_ELEMENT_KINDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

enum class TraceKind : uint8_t {
  kNan,        // a NaN where no operand element is one
  kInfinity,   // an infinity where no operand element is one
  kOverflow,   // a conversion of a finite number that the result's type does not reach
  kSubnormal,  // a subnormal number where no operand element is one
};

std::string_view Name(TraceKind kind);  // "nan", "inf", "overflow", "subnormal"
// For sentences: "the first NaN", "3 elements are infinite".
std::string_view Noun(TraceKind kind);
std::string_view Adjective(TraceKind kind);
std::optional<TraceKind> TraceKindOf(std::string_view name);

// Whether the element is within the run-time sizes: what lies beyond them is no part of the value.
bool IsLive(const Literal& array, int64_t position);
// Whether an element is followed: NaN, infinite, subnormal; for kOverflow infinite or NaN. A complex number
// is if one of its parts is.
bool IsOfKind(TraceKind kind, const Literal& array, int64_t position);
// The first position from `from` on; -1: none. Arrays of other types than floats and complex have none.
int64_t FirstOfKind(TraceKind kind, const Literal& array, int64_t from = 0);
int64_t CountOfKind(TraceKind kind, const Literal& array);
// Whether some array of the value has one.
bool HasKind(TraceKind kind, const Literal& value);

// Whether a conversion made of this operand element what is no rounding of it: a finite number became
// infinite or NaN, or an integer that is not it rounded toward zero.
bool Overflowed(const Literal& operand, const Literal& result, int64_t position);
// Whether the instruction converts numbers: convert, stochastic-convert, reduce-precision.
bool IsConversion(Opcode opcode);

// The element as a number of f64; NaN for pred and complex numbers.
double NumberAt(const Literal& array, int64_t position);

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_ELEMENT_KINDS_H_
