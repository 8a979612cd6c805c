// The functions to prove and what their right answers are: MPFR, called by the prover itself. Zeros,
// infinities, NaNs and domains are C99's, as in docs/spec/operations-elementwise.md; where MPFR differs
// (rsqrt of -0, maximum and minimum of NaN) the function here says so.
#ifndef ASSAY_PROVE_FUNCTIONS_H_
#define ASSAY_PROVE_FUNCTIONS_H_

#include <mpfr.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "hlo/opcode.h"
#include "prove/number_format.h"

namespace assay::prove {

using Mpfr1 = int (*)(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);
using Mpfr2 = int (*)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding);

struct Function1 {
  std::string_view name;  // "exp"
  Opcode opcode;
  Mpfr1 mpfr;
  // The same function in double, with a relative error below 2^-48 where it is a normal number, exact zeros,
  // infinities and NaNs, and the right sign; null for functions that no one needs to approximate.
  double (*approximate)(double x) = nullptr;
  std::string_view call = {};  // the target, where the opcode is a custom call's
};

struct Function2 {
  std::string_view name;  // "pow"
  Opcode opcode;
  Mpfr2 mpfr;
};

std::span<const Function1> Functions1();
std::span<const Function2> Functions2();
const Function1* FindFunction1(std::string_view name);  // the short name or the opcode's; null: none

// Holds MPFR's working numbers; one for each thread.
class Oracle {
 public:
  Oracle();
  ~Oracle();
  Oracle(const Oracle&) = delete;

  // The pattern of RN_F(f(x)), for formats of at most 32 bits.
  uint64_t Want(const Function1& f, double x, const NumberFormat& format);
  uint64_t Want(const Function2& f, double x, double y, const NumberFormat& format);
  // The pattern of RN_F(f(x)) for f64.
  uint64_t WantDouble(const Function1& f, double x);
  uint64_t WantDouble(const Function2& f, double x, double y);

 private:
  mpfr_t x_, y_, wide_, double_;
};

}  // namespace assay::prove

#endif  // ASSAY_PROVE_FUNCTIONS_H_
