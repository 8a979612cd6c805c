// Integers: division, powers, shifts; and casts to them.
#include <cmath>
#include <limits>

#include "evaluator/audits/rules.h"

namespace assay::audit {
namespace {

// x / 0, and x / -1 of the smallest number, whose quotient its type does not hold. Remainders of the same.
void ByZero(AuditContext& c) {
  if (const Literal* divisor = c.Operand(1)) {
    const Literal* dividend = c.Operand(0);
    const auto is_zero = [&](int64_t i) { return divisor->GetInt(i) == 0; };
    if (dividend != nullptr) {
      c.Count(AuditPoint::kIntegerDivisionByZero, *divisor, is_zero, {dividend, divisor});
    } else {
      c.Count(AuditPoint::kIntegerDivisionByZero, *divisor, is_zero, {divisor});
    }
  } else if (c.Range(1).Contains(0)) {
    c.RecordPossible(AuditPoint::kIntegerDivisionByZero);
  }
}

void Overflow(AuditContext& c) {
  const absl::int128 smallest = IntegerRange::Of(c.operand_type(0)).low;
  const Literal *dividend = c.Operand(0), *divisor = c.Operand(1);
  if (dividend != nullptr && divisor != nullptr) {
    c.Count(AuditPoint::kIntegerDivisionOverflow, *divisor,
            [&](int64_t i) { return divisor->GetInt(i) == -1 && dividend->GetInt(i) == smallest; },
            {dividend, divisor});
  } else if (c.Range(0).Contains(smallest) && c.Range(1).Contains(-1)) {
    c.RecordPossible(AuditPoint::kIntegerDivisionOverflow);
  }
}

// Whether truncating x leaves the type: it is NaN or outside of (low - 1, high + 1).
bool OverflowsType(double x, ElementType type) {
  const int bits = Bits(type);
  const bool is_signed = IsSignedIntegral(type);
  const double end = std::ldexp(1, is_signed ? bits - 1 : bits);
  const double low = is_signed ? -end : 0;
  return !(std::trunc(x) < end && std::trunc(x) >= low);
}

}  // namespace

void Divide(AuditContext& c) {
  Subnormals(c);
  if (!IsIntegral(c.operand_type(0))) return;
  ByZero(c);
  if (IsSignedIntegral(c.operand_type(0))) Overflow(c);
}

void Power(AuditContext& c) {
  Subnormals(c);
  if (!IsSignedIntegral(c.operand_type(1))) return;
  const Literal *base = c.Operand(0), *exponent = c.Operand(1);
  if (base != nullptr && exponent != nullptr) {
    c.Count(AuditPoint::kNegativeExponent, *exponent, [&](int64_t i) { return exponent->GetInt(i) < 0; },
            {base, exponent});
  } else if (c.Range(1).low < 0) {
    c.RecordPossible(AuditPoint::kNegativeExponent);
  }
}

// Amounts of a shift count as unsigned; those of the type's width or more shift everything out.
void Shift(AuditContext& c) {
  const ElementType type = c.operand_type(0);
  const int bits = Bits(type);
  const Literal *value = c.Operand(0), *amount = c.Operand(1);
  if (value != nullptr && amount != nullptr) {
    const auto is_past = [&](int64_t i) {
      const int64_t by = amount->GetInt(i);
      return by < 0 || by >= bits;
    };
    c.Count(AuditPoint::kShiftPastWidth, *amount, is_past, {value, amount});
  } else if (const IntegerRange range = c.Range(1); range.low < 0 || range.high >= bits) {
    c.RecordPossible(AuditPoint::kShiftPastWidth);
  }
}

void Convert(AuditContext& c) {
  const ElementType to = c.view().result().element_type();
  if (!IsFloat(c.operand_type(0)) || !IsIntegral(to)) return Subnormals(c);
  const Literal* value = c.Operand(0);
  if (value == nullptr) return c.RecordPossible(AuditPoint::kCastOutOfRange);
  c.Count(AuditPoint::kCastOutOfRange, *value,
          [&](int64_t i) { return OverflowsType(value->GetDouble(i), to); }, {value});
}

}  // namespace assay::audit
