// Oracles of the functions that HLO has no opcode for, custom calls of CHLO's names: MPFR where it has them,
// else enclosures by ways other than the library's (evaluator/scalar/special.cc).
#ifndef ASSAY_PROVE_CALL_FUNCTIONS_H_
#define ASSAY_PROVE_CALL_FUNCTIONS_H_

#include <mpfr.h>

#include "absl/functional/function_ref.h"

namespace assay::prove {

// `result` is the number that `enclose` gives bounds of, in low and high, at their precision; neither a value
// nor a midpoint of the result's precision, so that some precision decides. Ternary value as MPFR's.
int RoundEnclosed(mpfr_ptr result, mpfr_rnd_t rounding,
                  absl::FunctionRef<void(mpfr_ptr low, mpfr_ptr high)> enclose);

int DigammaOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);
int LgammaOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);
int ErfInvOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);
int BesselI1eOf(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);

// In double, with relative errors below 2^-48 as Function1::approximate wants.
double NearLgamma(double x);
double NearErfInv(double x);
double NearBesselI1e(double x);

}  // namespace assay::prove

#endif  // ASSAY_PROVE_CALL_FUNCTIONS_H_
