// Integer operations: Div, Rem, Pow, Mulhi, the shifts, PopulationCount and Clz of
// docs/spec/operations-elementwise.md. Add, multiply and the bitwise ops are the machine's own, wrapped by
// the caller.
#include "evaluator/scalar/integer.h"

#include <bit>

#include "absl/numeric/int128.h"
#include "literal/element_io.h"

namespace assay {
namespace {

int64_t ToSigned(uint64_t a, int bits) { return WrapSigned(static_cast<int64_t>(a), bits); }
uint64_t Pattern(int64_t a, int bits) { return WrapUnsigned(static_cast<uint64_t>(a), bits); }

uint64_t PowerModulo2To64(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

int64_t SignedDivide(int64_t a, int64_t b, int bits) {
  if (b == 0) return -1;
  if (b == -1) return ToSigned(-static_cast<uint64_t>(a), bits);
  return a / b;
}

uint64_t UnsignedDivide(uint64_t a, uint64_t b, int bits) {
  return b == 0 ? WrapUnsigned(~uint64_t{0}, bits) : a / b;
}

int64_t SignedRemainder(int64_t a, int64_t b, int /*bits*/) {
  if (b == 0) return a;
  return b == -1 ? 0 : a % b;
}

uint64_t UnsignedRemainder(uint64_t a, uint64_t b, int /*bits*/) { return b == 0 ? a : a % b; }

// Decision: integer-power-negative-exponent. a^b with b < 0 is 1/a^-b where that is an integer, else 0.
int64_t SignedPower(int64_t a, int64_t b, int bits) {
  if (b < 0) {
    if (a != 1 && a != -1) return 0;
    return ToSigned(a == 1 || b % 2 == 0 ? uint64_t{1} : ~uint64_t{0}, bits);
  }
  return ToSigned(PowerModulo2To64(static_cast<uint64_t>(a), static_cast<uint64_t>(b)), bits);
}

uint64_t UnsignedPower(uint64_t a, uint64_t b, int bits) {
  return WrapUnsigned(PowerModulo2To64(a, b), bits);
}

int64_t SignedMultiplyHigh(int64_t a, int64_t b, int bits) {
  const absl::int128 product = absl::int128(a) * absl::int128(b);
  return ToSigned(absl::Int128Low64(product >> bits), bits);
}

uint64_t UnsignedMultiplyHigh(uint64_t a, uint64_t b, int bits) {
  const absl::uint128 product = absl::uint128(a) * absl::uint128(b);
  return WrapUnsigned(absl::Uint128Low64(product >> bits), bits);
}

uint64_t UnsignedShiftLeft(uint64_t a, uint64_t amount, int bits) {
  return amount >= static_cast<uint64_t>(bits) ? 0 : WrapUnsigned(a << amount, bits);
}

int64_t SignedShiftLeft(int64_t a, int64_t amount, int bits) {
  return ToSigned(UnsignedShiftLeft(Pattern(a, bits), Pattern(amount, bits), bits), bits);
}

uint64_t UnsignedShiftRightLogical(uint64_t a, uint64_t amount, int bits) {
  return amount >= static_cast<uint64_t>(bits) ? 0 : a >> amount;
}

int64_t SignedShiftRightLogical(int64_t a, int64_t amount, int bits) {
  return ToSigned(UnsignedShiftRightLogical(Pattern(a, bits), Pattern(amount, bits), bits), bits);
}

int64_t SignedShiftRightArithmetic(int64_t a, int64_t amount, int bits) {
  const uint64_t places = Pattern(amount, bits);
  return places >= static_cast<uint64_t>(bits) ? (a < 0 ? -1 : 0) : a >> places;
}

uint64_t UnsignedShiftRightArithmetic(uint64_t a, uint64_t amount, int bits) {
  const int64_t as_signed = ToSigned(a, bits);
  const uint64_t places = amount >= static_cast<uint64_t>(bits) ? 63 : amount;
  return Pattern(as_signed >> places, bits);
}

uint64_t UnsignedPopulationCount(uint64_t a, int bits) {
  return WrapUnsigned(static_cast<uint64_t>(std::popcount(a)), bits);
}

int64_t SignedPopulationCount(int64_t a, int bits) {
  return ToSigned(UnsignedPopulationCount(Pattern(a, bits), bits), bits);
}

uint64_t UnsignedCountLeadingZeros(uint64_t a, int bits) {
  return WrapUnsigned(static_cast<uint64_t>(std::countl_zero(a) - (64 - bits)), bits);
}

int64_t SignedCountLeadingZeros(int64_t a, int bits) {
  return ToSigned(UnsignedCountLeadingZeros(Pattern(a, bits), bits), bits);
}

}  // namespace assay
