// The table of complex functions and the walk through the tiers, component by component.
//
// Inverse circular and hyperbolic functions, power and atan2 are with the reference: their components lose
// precision in regions that need formulas of their own.
#include "engines/native/functions/complex.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engines/native/functions/rounding_check.h"
#include "engines/native/sums/tiers.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

constexpr ComplexRow Unary(Opcode opcode, const ComponentPasses& passes, ComplexFn1 reference) {
  return {.opcode = opcode, .re = &passes.re, .im = &passes.im, .reference1 = reference};
}
constexpr ComplexRow Binary(Opcode opcode, const ComponentPasses& passes, ComplexFn2 reference) {
  return {.opcode = opcode, .re = &passes.re, .im = &passes.im, .reference2 = reference, .takes_zeros = true};
}

constexpr ComplexRow kFunctions[] = {
    Unary(Opcode::kExp, kComplexExp, ComplexExp),
    Unary(Opcode::kExpm1, kComplexExpm1, ComplexExpm1),
    Unary(Opcode::kLogistic, kComplexLogistic, ComplexLogistic),
    Unary(Opcode::kSin, kComplexSin, ComplexSin),
    Unary(Opcode::kCos, kComplexCos, ComplexCos),
    Unary(Opcode::kTan, kComplexTan, ComplexTan),
    Unary(Opcode::kSinh, kComplexSinh, ComplexSinh),
    Unary(Opcode::kCosh, kComplexCosh, ComplexCosh),
    Unary(Opcode::kTanh, kComplexTanh, ComplexTanh),
    Unary(Opcode::kLog, kComplexLog, ComplexLog),
    Unary(Opcode::kLog1p, kComplexLog1p, ComplexLog1p),
    Unary(Opcode::kSqrt, kComplexSqrt, ComplexSqrt),
    Unary(Opcode::kRsqrt, kComplexRsqrt, ComplexRsqrt),
    Unary(Opcode::kSign, kComplexSign, ComplexSign),
    Binary(Opcode::kMultiply, kComplexMultiply, ComplexMultiply),
    Binary(Opcode::kDivide, kComplexDivide, ComplexDivide),
    {.opcode = Opcode::kAbs, .re = &kComplexAbs, .im = nullptr, .reference_real = ComplexAbs},
};

struct ComplexBuffers {
  alignas(64) double parts[kMaxArguments][kStrip];
  alignas(64) double hi[kStrip], lo[kStrip], out[2][kStrip];
  alignas(64) uint64_t undecided[2][kStrip];
  const double* const in[kMaxArguments] = {parts[0], parts[1], parts[2], parts[3]};
};

int64_t Padded(int64_t n) { return (n + kBlock - 1) & -kBlock; }

void Split(const Complex* z, int64_t n, double* re, double* im) {
  for (int64_t i = 0; i < n; ++i) {
    re[i] = z[i].real();
    im[i] = z[i].imag();
  }
  std::fill(re + n, re + Padded(n), re[0]);
  std::fill(im + n, im + Padded(n), im[0]);
}

// Parts that only the reference handles.
void MarkSpecial(const ComplexRow& row, int64_t n, const double* parts, uint64_t* undecided) {
  for (int64_t i = 0; i < n; ++i) {
    const bool finite = std::fabs(parts[i]) <= std::numeric_limits<double>::max();
    undecided[i] |= !finite || (parts[i] == 0 && !row.takes_zeros) ? 1 : 0;
  }
}

int Components(const ComplexRow& row) { return row.im != nullptr ? 2 : 1; }

const Passes& PassesOf(const ComplexRow& row, int component) { return component == 0 ? *row.re : *row.im; }

Complex Reference(const ComplexRow& row, Complex z, Complex w, const FloatFormat& format) {
  CountFunctionTiers({.reference = 1});
  if (row.reference_real != nullptr) return row.reference_real(z, format);
  return row.reference1 != nullptr ? row.reference1(z, format) : row.reference2(z, w, format);
}

void Store(const ComplexRow& row, int64_t i, Complex value, void* out) {
  if (row.im != nullptr) {
    static_cast<Complex*>(out)[i] = value;
  } else {
    static_cast<double*>(out)[i] = value.real();
  }
}

// An element is open if a component is, or if it is none for the tiers.
void JoinUndecided(const ComplexRow& row, int64_t n, ComplexBuffers& b) {
  if (row.im != nullptr) {
    for (int64_t i = 0; i < n; ++i) b.undecided[0][i] |= b.undecided[1][i];
  }
  const int parts = row.reference2 != nullptr ? 4 : 2;
  for (int k = 0; k < parts; ++k) MarkSpecial(row, n, b.parts[k], b.undecided[0]);
}

// n elements that tier 1 left open, at the front of b.parts; which[i] is their index in out.
void ApplySecond(const ComplexRow& row, Isa isa, const FloatFormat& format, int64_t n, const int64_t* which,
                 ComplexBuffers& b, void* out) {
  for (double(&parts)[kStrip] : b.parts) std::fill(parts + n, parts + Padded(n), parts[0]);
  for (int c = 0; c < Components(row); ++c) {
    PassesOf(row, c).twofold[static_cast<size_t>(isa)](Padded(n), b.in, b.hi, b.lo);
    for (int64_t i = 0; i < n; ++i) {
      const auto value = RoundIfDecided(b.hi[i], b.lo[i], kComplexBounds.twofold, format);
      b.out[c][i] = value.value_or(0);
      b.undecided[c][i] = value.has_value() ? 0 : 1;
    }
  }
  JoinUndecided(row, n, b);
  for (int64_t i = 0; i < n; ++i) {
    const Complex z(b.parts[0][i], b.parts[1][i]), w(b.parts[2][i], b.parts[3][i]);
    const Complex value(b.out[0][i], row.im != nullptr ? b.out[1][i] : 0);
    Store(row, which[i], b.undecided[0][i] != 0 ? Reference(row, z, w, format) : value, out);
  }
}

}  // namespace

std::span<const ComplexRow> ComplexFunctions() { return kFunctions; }

const ComplexRow* FindComplexFunction(Opcode opcode) {
  const auto* row = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                 [&](const ComplexRow& r) { return r.opcode == opcode; });
  return row != std::end(kFunctions) ? row : nullptr;
}

void ApplyComplexFunction(const ComplexRow& row, Isa isa, const FloatFormat& format, int64_t n,
                          const Complex* z, const Complex* w, void* out) {
  if (n <= 0) return;
  const bool is_double = format.mantissa_bits == 52;
  const int arguments = row.reference2 != nullptr ? 4 : 2;
  ComplexBuffers b;
  Split(z, n, b.parts[0], b.parts[1]);
  if (arguments == 4) {
    Split(w, n, b.parts[2], b.parts[3]);
  } else {
    std::fill_n(b.parts[2], n, 0.0);
    std::fill_n(b.parts[3], n, 0.0);
  }
  for (int c = 0; c < Components(row); ++c) {
    const Passes& passes = PassesOf(row, c);
    const Pass pass = (is_double ? passes.twofold : passes.single)[static_cast<size_t>(isa)];
    pass(Padded(n), b.in, b.hi, b.lo);
    const double bound = is_double ? kComplexBounds.twofold : kComplexBounds.single;
    RoundingTestFor(format, isa)(Padded(n), b.hi, b.lo, bound, format, b.out[c], b.undecided[c]);
  }
  JoinUndecided(row, n, b);

  int64_t count = 0;
  int64_t which[kStrip];
  for (int64_t i = 0; i < n; ++i) {
    if (b.undecided[0][i] == 0) {
      Store(row, i, {b.out[0][i], row.im != nullptr ? b.out[1][i] : 0}, out);
      continue;
    }
    which[count] = i;
    for (double(&parts)[kStrip] : b.parts) parts[count] = parts[i];
    ++count;
  }
  CountFunctionTiers({.elements = n, .second = is_double ? 0 : count});
  if (count == 0) return;
  ApplySecond(row, isa, format, count, which, b, out);
}

}  // namespace assay::native
