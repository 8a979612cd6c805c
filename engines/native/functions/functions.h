// The real functions of the native engine: which there are, and their approximations of both tiers.
//
// A function is one row of the table in functions.cc. Tier 1 gives a double (for results
// of f32 and narrower), tier 2 a sum of two doubles; each is good to its row's relative error bound, or NaN
// where it does not apply (outside the domain, at poles, where f64 nears its ends). What the rounding test
// (rounding_check.h) leaves open goes to the next tier, in the end to the reference of
// evaluator/scalar/real.h, so exact results and midpoints need no listing to be right, only to be fast.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_FUNCTIONS_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_FUNCTIONS_H_

#include <cstdint>
#include <limits>
#include <span>

#include "evaluator/scalar/real.h"
#include "hlo/opcode.h"
#include "jit/isa.h"

namespace assay::native {

// Approximations hi[i] + lo[i] of f(in[0][i], in[1][i], ...), i in [0, n), n a multiple of kBlock
// (rounding_check.h), of as many arguments as f has, at most kMaxArguments. A tier 1 pass leaves lo alone.
using Pass = void (*)(int64_t n, const double* const* in, double* hi, double* lo);
inline constexpr int kMaxArguments = 4;

// Indexed by Isa.
struct Passes {
  Pass single[3];
  Pass twofold[3];
};

// The passes of a complex function's parts, as functions of the operands' parts.
struct ComponentPasses {
  Passes re, im;
};

// Relative error bounds, with room for the rounding test's own errors.
struct Bounds {
  double single, twofold;
};

struct FunctionRow {
  Opcode opcode;
  const Passes* passes;
  Bounds bounds;
  RealFn1 reference1;  // one of the two
  RealFn2 reference2 = nullptr;
  // Functions of one argument have these: f(+-0) = +-0, and f is NaN outside [domain_low, domain_high].
  bool keeps_zeros = false;
  double domain_low = -std::numeric_limits<double>::infinity();
  double domain_high = std::numeric_limits<double>::infinity();
};

std::span<const FunctionRow> Functions();
// Null where the opcode is none of these functions.
const FunctionRow* FindFunction(Opcode opcode);

// out[i] = RN(f(x[i])) or RN(f(x[i], y[i])) for i in [0, n), n <= kStrip. out may be x or y.
void ApplyFunction(const FunctionRow& row, Isa isa, const FloatFormat& format, int64_t n, const double* x,
                   const double* y, double* out);

// The table of functions points to these, which the files of functions define.
extern const Passes kExpPasses, kExpm1Passes, kLogisticPasses, kTanhPasses, kSinhPasses, kCoshPasses;
extern const Passes kLogPasses, kLog1pPasses, kAsinhPasses, kAcoshPasses, kAtanhPasses;
extern const Passes kErfPasses, kCbrtPasses, kRsqrtPasses;
extern const Passes kSinPasses, kCosPasses, kTanPasses;
extern const Passes kAsinPasses, kAcosPasses, kAtan2Passes, kPowerPasses;

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_FUNCTIONS_H_
