// convert between all types of at most 32 bits, over every value of the source: one rounding from the exact
// source (docs/spec/operations-elementwise.md, ConvertElementType).
#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "prove/narrow.h"

namespace assay::prove {
namespace {

uint64_t Mask(ElementType type) { return (uint64_t{1} << Bits(type)) - 1; }

// The exact value of a pattern; NaN patterns give NaN.
double SourceValue(ElementType type, uint64_t pattern) {
  if (IsFloat(type)) return ValueOf(pattern, FormatOf(type));
  const double value = static_cast<double>(pattern);
  const bool negative = IsSignedIntegral(type) && (pattern >> (Bits(type) - 1)) != 0;
  return negative ? value - std::ldexp(1.0, Bits(type)) : value;
}

// Toward zero, out of range to the nearest end, NaN to 0.
uint64_t Saturate(double x, ElementType to) {
  if (std::isnan(x)) return 0;
  const double low = IsSignedIntegral(to) ? -std::ldexp(1.0, Bits(to) - 1) : 0;
  const double high = std::ldexp(1.0, Bits(to) - (IsSignedIntegral(to) ? 1 : 0)) - 1;
  return static_cast<uint64_t>(static_cast<int64_t>(std::clamp(std::trunc(x), low, high))) & Mask(to);
}

}  // namespace

uint64_t WantConversion(ElementType from, ElementType to, uint64_t pattern) {
  if (from == to) return pattern;
  const double x = SourceValue(from, pattern);
  if (to == ElementType::kPred) return x != 0;  // true of NaN
  if (IsFloat(to)) return RoundReal(RealOf(x), FormatOf(to));
  if (IsFloat(from)) return Saturate(x, to);
  return static_cast<uint64_t>(static_cast<int64_t>(x)) & Mask(to);
}

Proof ProveConversion(ElementType from, ElementType to, const Subject& subject) {
  Proof proof{.function = "convert", .type = fmt::format("{} to {}", Name(from), Name(to)), .inputs = "all"};
  alignas(64) std::byte x[kStripBytes], result[kStripBytes];
  const int64_t count = int64_t{1} << Bits(from);
  for (int64_t begin = 0; begin < count; begin += kStrip) {
    const int64_t n = std::min(kStrip, count - begin);
    for (int64_t i = 0; i < n; ++i) SetPattern(x, i, from, begin + i);
    const std::byte* in[] = {x};
    subject(n, in, result);
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t got = PatternAt(result, i, to), wanted = WantConversion(from, to, begin + i);
      if (got == wanted) continue;
      proof.AddWrong(
          WrongLine(fmt::format("{} {}", proof.type, Hex(begin + i, Bits(from))), got, wanted, Bits(to)));
    }
  }
  proof.tried = count;
  return proof;
}

}  // namespace assay::prove
