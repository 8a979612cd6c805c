// The table of functions, and the walk through the tiers.
//
// Bounds. The header of each file of formulas derives what its approximations err by; the table's bounds are
// at least twice that, which also covers the rounding test's own operations (u for tier 1, u^2 for tier 2). A
// bound too large only costs time: with 2^-42 one f32 result in 2^17 goes to tier 2, with 2^-88 one f64
// result in 2^34 to the reference.
//
// Exact results, and what becomes of them. A result that is a value of the format passes the test (its
// approximation's interval lies inside one rounding cell); only midpoints of two neighbours, which are values
// of 2^-1 ulp, and results nearer to one than a bound never pass and reach the reference:
//   exp, expm1, log, log1p, sin, cos, tan and their inverses, the hyperbolic ones and theirs, erf, logistic:
//     rational only at 0 (log, acosh: at 1; acos: at 1), where they are 0, 1/2 or 1 (Hermite-Lindemann);
//     near such points f(x) = c + x + a x^2 + ..., which comes near midpoints for a few x only.
//   rsqrt: rational values 2^-k only, of 4^k.  cbrt: a midpoint of q + 1 bits has a cube of more than q bits.
//   power: x^2 of a q/2 + 1 bit number, and the like, may be midpoints: the reference decides.
//   atan2: y / x may be a midpoint where it is so small that atan does not move it: the reference decides.
#include "engines/native/functions/functions.h"

#include <algorithm>
#include <cmath>

#include "engines/native/functions/arithmetic.h"
#include "engines/native/functions/rounding_check.h"
#include "engines/native/sums/tiers.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

constexpr Bounds kBounds = {0x1p-42, 0x1p-88};
constexpr Bounds kChainBounds = {0x1p-38, 0x1p-88};  // log of arguments that err themselves
constexpr Bounds kPowerBounds = {0x1p-41, 0x1p-86};  // log's error times |y log x|

constexpr FunctionRow kFunctions[] = {
    {Opcode::kExp, &kExpPasses, kBounds, RealExp},
    {Opcode::kExpm1, &kExpm1Passes, kBounds, RealExpm1, nullptr, true},
    {Opcode::kLogistic, &kLogisticPasses, kBounds, RealLogistic},
    {Opcode::kTanh, &kTanhPasses, kBounds, RealTanh, nullptr, true},
    {Opcode::kSinh, &kSinhPasses, kBounds, RealSinh, nullptr, true},
    {Opcode::kCosh, &kCoshPasses, kBounds, RealCosh},
    {Opcode::kLog, &kLogPasses, kBounds, RealLog, nullptr, false, 0},
    {Opcode::kLog1p, &kLog1pPasses, kBounds, RealLog1p, nullptr, true, -1},
    {Opcode::kAsinh, &kAsinhPasses, kChainBounds, RealAsinh, nullptr, true},
    {Opcode::kAcosh, &kAcoshPasses, kChainBounds, RealAcosh, nullptr, false, 1},
    {Opcode::kAtanh, &kAtanhPasses, kChainBounds, RealAtanh, nullptr, true, -1, 1},
    {Opcode::kErf, &kErfPasses, kBounds, RealErf, nullptr, true},
    {Opcode::kCbrt, &kCbrtPasses, kBounds, RealCbrt, nullptr, true},
    {Opcode::kRsqrt, &kRsqrtPasses, kBounds, RealRsqrt, nullptr, false, 0},
    {Opcode::kSin, &kSinPasses, kBounds, RealSin, nullptr, true},
    {Opcode::kCos, &kCosPasses, kBounds, RealCos},
    {Opcode::kTan, &kTanPasses, kBounds, RealTan, nullptr, true},
    {Opcode::kAsin, &kAsinPasses, kBounds, RealAsin, nullptr, true, -1, 1},
    {Opcode::kAcos, &kAcosPasses, kBounds, RealAcos, nullptr, false, -1, 1},
    {Opcode::kAtan2, &kAtan2Passes, kBounds, nullptr, RealAtan2},
    {Opcode::kPower, &kPowerPasses, kPowerBounds, nullptr, RealPower},
};

bool IsBinary(const FunctionRow& row) { return row.reference2 != nullptr; }

struct RealBuffers {
  alignas(64) double x[kStrip], y[kStrip], hi[kStrip], lo[kStrip], out[kStrip];
  alignas(64) uint64_t undecided[kStrip];
  const double* const in[2] = {x, y};
};

int64_t Padded(int64_t n) { return (n + kBlock - 1) & -kBlock; }

// A copy that is whole blocks long.
void Pad(const double* from, int64_t n, double* to) {
  std::copy_n(from, n, to);
  std::fill(to + n, to + Padded(n), from[0]);
}

double Reference(const FunctionRow& row, double x, double y, const FloatFormat& format) {
  CountFunctionTiers({.reference = 1});
  return IsBinary(row) ? row.reference2(x, y, format) : row.reference1(x, format);
}

// Settles results without any arithmetic, which data may be full of: NaN for x outside [low, high], and where
// `zeros` is 1 x itself for zeros. n is whole blocks. Returns how many elements stay open.
ASSAY_BODY int64_t SettleBody(int64_t n, const double* __restrict x, double low, double high, uint64_t zeros,
                              double nan, double* __restrict out, uint64_t* __restrict undecided) {
  uint64_t open = 0;
  for (int64_t i = 0; i < (n & -kBlock); ++i) {
    const uint64_t outside = 1 - (Bit(x[i] >= low) & Bit(x[i] <= high));
    const uint64_t zero = Bit(x[i] == 0) & zeros;
    out[i] = Blend(-outside, nan, Blend(-zero, x[i], out[i]));
    undecided[i] &= 1 - (outside | zero);
    open += undecided[i];
  }
  return static_cast<int64_t>(open);
}
#define ASSAY_SETTLE(ISA, TARGET)                                                                 \
  TARGET int64_t Settle##ISA(int64_t n, const double* x, double low, double high, uint64_t zeros, \
                             double nan, double* out, uint64_t* undecided) {                      \
    return SettleBody(n, x, low, high, zeros, nan, out, undecided);                               \
  }
ASSAY_SETTLE(Baseline, )
ASSAY_SETTLE(Avx2, ASSAY_AVX2)
ASSAY_SETTLE(Avx512, ASSAY_AVX512)
constexpr decltype(&SettleBaseline) kSettle[] = {SettleBaseline, SettleAvx2, SettleAvx512};

int64_t Settle(const FunctionRow& row, Isa isa, const FloatFormat& format, int64_t n, RealBuffers& b) {
  return kSettle[static_cast<size_t>(isa)](Padded(n), b.x, row.domain_low, row.domain_high,
                                           Bit(row.keeps_zeros), CanonicalNaN(format), b.out, b.undecided);
}

// n elements that tier 1 left open, x and y at the front of b: tier 2, and the reference for the rest.
void ApplySecond(const FunctionRow& row, Isa isa, const FloatFormat& format, int64_t n, RealBuffers& b) {
  std::fill(b.x + n, b.x + Padded(n), b.x[0]);
  std::fill(b.y + n, b.y + Padded(n), b.y[0]);
  row.passes->twofold[static_cast<size_t>(isa)](Padded(n), b.in, b.hi, b.lo);
  for (int64_t i = 0; i < n; ++i) {
    const auto value = RoundIfDecided(b.hi[i], b.lo[i], row.bounds.twofold, format);
    b.out[i] = value.has_value() ? *value : Reference(row, b.x[i], b.y[i], format);
  }
}

// The undecided ones of n elements.
void Repair(const FunctionRow& row, Isa isa, const FloatFormat& format, int64_t n, RealBuffers& b,
            double* out) {
  int64_t open = 0;
  int64_t index[kStrip];
  for (int64_t i = 0; i < n; ++i) {
    if (b.undecided[i] == 0) continue;
    const double y = IsBinary(row) ? b.y[i] : 0;
    if (format.mantissa_bits == 52) {
      out[i] = Reference(row, b.x[i], y, format);
    } else {
      b.x[open] = b.x[i];
      b.y[open] = y;
      index[open++] = i;
    }
  }
  if (open == 0) return;
  CountFunctionTiers({.second = open});
  ApplySecond(row, isa, format, open, b);
  for (int64_t i = 0; i < open; ++i) out[index[i]] = b.out[i];
}

}  // namespace

std::span<const FunctionRow> Functions() { return kFunctions; }

const FunctionRow* FindFunction(Opcode opcode) {
  const auto* row = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                 [&](const FunctionRow& r) { return r.opcode == opcode; });
  return row != std::end(kFunctions) ? row : nullptr;
}

void ApplyFunction(const FunctionRow& row, Isa isa, const FloatFormat& format, int64_t n, const double* x,
                   const double* y, double* out) {
  if (n <= 0) return;
  const bool is_double = format.mantissa_bits == 52;
  const auto set = static_cast<size_t>(isa);
  const Pass pass = is_double ? row.passes->twofold[set] : row.passes->single[set];
  const double bound = is_double ? row.bounds.twofold : row.bounds.single;
  RealBuffers b;
  Pad(x, n, b.x);
  if (IsBinary(row)) Pad(y, n, b.y);
  pass(Padded(n), b.in, b.hi, b.lo);
  int64_t open = RoundingTestFor(format, isa)(Padded(n), b.hi, b.lo, bound, format, b.out, b.undecided);
  if (open != 0 && !IsBinary(row)) open = Settle(row, isa, format, n, b);
  std::copy_n(b.out, n, out);
  if (open != 0) Repair(row, isa, format, n, b, out);
  CountFunctionTiers({.elements = n});
}

}  // namespace assay::native
