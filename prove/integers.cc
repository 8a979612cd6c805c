// Integer functions over all pairs of values of types of at most 8 bits: the oracle reads the definitions of
// docs/spec/operations-elementwise.md literally, in 64-bit arithmetic that can't overflow on such operands.
#include <algorithm>

#include "fmt/format.h"
#include "prove/narrow.h"

namespace assay::prove {
namespace {

int64_t Pattern(int64_t value, int bits) { return value & ((int64_t{1} << bits) - 1); }
int64_t Value(int64_t pattern, int bits, bool is_signed) {
  return is_signed && ((pattern >> (bits - 1)) & 1) ? pattern - (int64_t{1} << bits) : pattern;
}
int64_t Smallest(int bits) { return -(int64_t{1} << (bits - 1)); }

int64_t Divide(int64_t a, int64_t b, int bits, bool is_signed) {
  if (b == 0) return -1;
  if (is_signed && a == Smallest(bits) && b == -1) return a;
  return a / b;
}
int64_t Remainder(int64_t a, int64_t b, int, bool) { return b == 0 ? a : a % b; }

// Repeated multiplication mod 2^bits, as the definition says; exponents are below 256.
int64_t Power(int64_t a, int64_t b, int bits, bool) {
  if (b < 0) {
    if (a == 1) return 1;
    if (a == -1) return b % 2 == 0 ? 1 : -1;
    return 0;
  }
  int64_t result = 1;
  for (int64_t i = 0; i < b; ++i) result = Pattern(result * Pattern(a, bits), bits);
  return result;
}

int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t MultiplyHigh(int64_t a, int64_t b, int bits, bool) { return FloorDivide(a * b, int64_t{1} << bits); }

int64_t ShiftLeft(int64_t a, int64_t b, int bits, bool) {
  const int64_t amount = Pattern(b, bits);
  return amount >= bits ? 0 : Pattern(a, bits) << amount;
}
int64_t ShiftRightLogical(int64_t a, int64_t b, int bits, bool) {
  const int64_t amount = Pattern(b, bits);
  return amount >= bits ? 0 : Pattern(a, bits) >> amount;
}
int64_t ShiftRightArithmetic(int64_t a, int64_t b, int bits, bool) {
  const int64_t amount = std::min<int64_t>(Pattern(b, bits), bits);
  return FloorDivide(Value(Pattern(a, bits), bits, true), int64_t{1} << amount);
}

int64_t PopulationCount(int64_t a, int64_t, int bits, bool) {
  int64_t count = 0;
  for (int i = 0; i < bits; ++i) count += (a >> i) & 1;
  return count;
}
int64_t LeadingZeros(int64_t a, int64_t, int bits, bool) {
  int64_t count = 0;
  while (count < bits && ((a >> (bits - 1 - count)) & 1) == 0) ++count;
  return count;
}

}  // namespace

const std::vector<IntegerFunction>& IntegerFunctions() {
  using I = int64_t;
  static const std::vector<IntegerFunction> functions = {
      {Opcode::kAbs, 1, [](I a, I, int, bool) { return a < 0 ? -a : a; }},
      {Opcode::kNegate, 1, [](I a, I, int, bool) { return -a; }},
      {Opcode::kSign, 1, [](I a, I, int, bool) -> I { return a < 0   ? -1
                                                             : a > 0 ? 1
                                                                     : 0; }},
      {Opcode::kNot, 1, [](I a, I, int, bool) { return -1 - a; }},
      {Opcode::kPopulationCount, 1, PopulationCount},
      {Opcode::kClz, 1, LeadingZeros},
      {Opcode::kAdd, 2, [](I a, I b, int, bool) { return a + b; }},
      {Opcode::kSubtract, 2, [](I a, I b, int, bool) { return a - b; }},
      {Opcode::kMultiply, 2, [](I a, I b, int, bool) { return a * b; }},
      {Opcode::kDivide, 2, Divide},
      {Opcode::kRemainder, 2, Remainder},
      {Opcode::kPower, 2, Power},
      {Opcode::kMulhi, 2, MultiplyHigh},
      {Opcode::kMaximum, 2, [](I a, I b, int, bool) { return a < b ? b : a; }},
      {Opcode::kMinimum, 2, [](I a, I b, int, bool) { return a < b ? a : b; }},
      {Opcode::kAnd, 2, [](I a, I b, int, bool) { return a & b; }},
      {Opcode::kOr, 2, [](I a, I b, int, bool) { return a | b; }},
      {Opcode::kXor, 2, [](I a, I b, int, bool) { return a ^ b; }},
      {Opcode::kShiftLeft, 2, ShiftLeft},
      {Opcode::kShiftRightLogical, 2, ShiftRightLogical},
      {Opcode::kShiftRightArithmetic, 2, ShiftRightArithmetic},
  };
  return functions;
}

Proof ProveIntegers(const IntegerFunction& f, ElementType type, const Subject& subject) {
  Proof proof{.function = std::string(Name(f.opcode)), .type = std::string(Name(type)), .inputs = "all"};
  alignas(64) std::byte x[kStripBytes], y[kStripBytes], result[kStripBytes];
  const int bits = Bits(type);
  const bool is_signed = IsSignedIntegral(type);
  const int64_t count = int64_t{1} << bits;
  for (int64_t i = 0; i < count; ++i) SetPattern(y, i, type, i);
  for (int64_t a = 0; a < count; ++a) {
    for (int64_t i = 0; i < count; ++i) SetPattern(x, i, type, a);
    const std::byte* in[] = {x, y};
    subject(count, in, result);
    for (int64_t b = 0; b < (f.operands == 1 ? 1 : count); ++b) {
      const int64_t value = f.value(Value(a, bits, is_signed), Value(b, bits, is_signed), bits, is_signed);
      const uint64_t got = PatternAt(result, b, type);
      const uint64_t wanted = static_cast<uint64_t>(Pattern(value, bits));
      ++proof.tried;
      if (got == wanted) continue;
      std::string operands = fmt::format("{} {}", proof.type, Hex(a, bits));
      if (f.operands == 2) operands += ", " + Hex(b, bits);
      proof.AddWrong(WrongLine(operands, got, wanted, bits));
    }
  }
  return proof;
}

}  // namespace assay::prove
