#include "evaluator/scalar/exact_dft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "evaluator/scalar/cyclotomic.h"
#include "evaluator/scalar/fixed_fft.h"
#include "evaluator/scalar/mpfr_real.h"
#include "evaluator/scalar/rounding.h"

namespace assay {
namespace {

enum Part : int { kReal = 0, kImaginary = 1 };

int64_t Width(uint64_t value) { return static_cast<int64_t>(std::bit_width(value)); }

// RN_F(v * 2^exponent / divisor), v != 0.
double RoundFixed(Int128 v, int64_t exponent, int64_t divisor, const FloatFormat& format) {
  Truncated t;
  t.negative = v < 0;
  Uint128 magnitude = t.negative ? -static_cast<Uint128>(v) : static_cast<Uint128>(v);
  const auto normalize = [&] {
    const uint64_t top = static_cast<uint64_t>(magnitude >> 64);
    const int zeros =
        top != 0 ? std::countl_zero(top) : 64 + std::countl_zero(static_cast<uint64_t>(magnitude));
    magnitude <<= zeros;
    exponent -= zeros;
  };
  normalize();
  if (divisor > 1) {
    const Uint128 quotient = magnitude / static_cast<uint64_t>(divisor);
    t.sticky = quotient * static_cast<uint64_t>(divisor) != magnitude;
    magnitude = quotient;
    normalize();
  }
  t.mantissa = static_cast<uint64_t>(magnitude >> 64);
  t.sticky |= static_cast<uint64_t>(magnitude) != 0;
  t.exponent = exponent + 64;
  return RoundTruncated(t, format);
}

// x = mantissa * 2^exponent with an odd mantissa, or zero.
CosineTerm TakeApart(double x, int64_t doubled) {
  if (x == 0) return {};
  int exponent;
  int64_t mantissa = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  const int zeros = std::countr_zero(static_cast<uint64_t>(mantissa));
  return {mantissa / (int64_t{1} << zeros), exponent - 53 + zeros + doubled, 0};
}

// The truncation of mantissa * 2^(exponent + scale) to an integer.
Int128 TermToFixed(const CosineTerm& x, int64_t scale, bool* exact) {
  if (x.mantissa == 0) return 0;
  const int64_t shift = x.exponent + scale;
  if (shift >= 0) return static_cast<Int128>(x.mantissa) * (Int128{1} << shift);
  *exact = false;
  return shift <= -64 ? Int128{0} : x.mantissa / (Int128{1} << -shift);
}

}  // namespace

struct ExactDft::Impl {
  std::vector<int64_t> lengths;
  bool inverse;
  const FloatFormat& format;
  int64_t count = 1;           // N
  int64_t period = 1;          // lcm of the lengths
  int64_t order = 4;           // lcm(period, 4): cos(2 pi u / order) is every cosine and sine there is
  int64_t divisor = 1;         // N for the inverse
  std::vector<FixedFft> ffts;  // made when first needed
  CosineSum rational;
  std::vector<int64_t> units;                      // u = 1 (mod 4), prime to order; made when first needed
  std::vector<std::unique_ptr<MpfrReal>> cosines;  // of the first quarter, at `cosine_precision`
  mpfr_prec_t cosine_precision = 0;

  // The line in work has these.
  std::vector<CosineTerm> re, im;
  int64_t high = 0;  // every |component| < 2^high
  std::vector<FixedComplex> data;
  int64_t scale = 0;  // data is in units of 2^-scale
  double error = 0;

  Impl(std::vector<int64_t> n, bool inv, const FloatFormat& f, int64_t l)
      : lengths(std::move(n)), inverse(inv), format(f), order(l), rational(l) {
    for (int64_t length : lengths) {
      count *= length;
      period = std::lcm(period, length);
    }
    if (inverse) divisor = count;
  }

  bool LoadLine(const Line& line);
  absl::Status TransformFixed(Charge charge);
  std::optional<double> RoundWithin(Int128 value) const;
  std::vector<int64_t> IndexOf(int64_t position) const;
  std::vector<CosineTerm> TermsOf(const std::vector<int64_t>& k, Part part) const;
  void MakeUnits();
  absl::Status MakeCosines(mpfr_prec_t precision, Charge charge);
  absl::StatusOr<double> Irrational(const std::vector<CosineTerm>& terms, Charge charge);
  absl::Status Decide(int64_t position, Part part, std::vector<uint8_t>& open, std::vector<double>& out,
                      Charge charge);
  absl::Status DecideAll(Part part, std::vector<uint8_t>& open, std::vector<double>& out, Charge charge);
};

// False if every component is zero.
bool ExactDft::Impl::LoadLine(const Line& line) {
  re.resize(count);
  im.resize(count);
  high = std::numeric_limits<int64_t>::min();
  for (int64_t j = 0; j < count; ++j) {
    const int64_t doubled = line.doubled.empty() ? 0 : line.doubled[j];
    re[j] = TakeApart(line.re[j], doubled);
    im[j] = line.im.empty() ? CosineTerm{} : TakeApart(line.im[j], doubled);
    for (const CosineTerm& x : {re[j], im[j]}) {
      if (x.mantissa == 0) continue;
      high = std::max(high, x.exponent + Width(static_cast<uint64_t>(std::abs(x.mantissa))));
    }
  }
  if (high == std::numeric_limits<int64_t>::min()) return false;
  const int64_t bits = 124 - Width(static_cast<uint64_t>(count));
  scale = bits - high;
  bool exact = true;
  data.resize(count);
  for (int64_t j = 0; j < count; ++j)
    data[j] = {TermToFixed(re[j], scale, &exact), TermToFixed(im[j], scale, &exact)};
  error = exact ? 0 : 1.5;
  return true;
}

absl::Status ExactDft::Impl::TransformFixed(Charge charge) {
  for (size_t d = ffts.size(); d < lengths.size(); ++d) ffts.emplace_back(lengths[d], inverse);
  double magnitude = std::ldexp(1.5, static_cast<int>(scale + high));
  int64_t inner = 1;
  std::vector<FixedComplex> row;
  for (int64_t d = static_cast<int64_t>(lengths.size()) - 1; d >= 0; --d) {
    const int64_t n = lengths[d];
    row.resize(n);
    for (int64_t start = 0; start < count; ++start) {
      if (start / inner % n != 0) continue;
      for (int64_t i = 0; i < n; ++i) row[i] = data[start + i * inner];
      ASSAY_RETURN_IF_ERROR(ffts[d].Transform(row.data(), charge));
      for (int64_t i = 0; i < n; ++i) data[start + i * inner] = row[i];
    }
    inner *= n;
    error = ffts[d].ErrorAfter(error, magnitude);
    magnitude *= static_cast<double>(n);
  }
  return absl::OkStatus();
}

// The rounding that everything within the error bound shares, if there is one.
std::optional<double> ExactDft::Impl::RoundWithin(Int128 value) const {
  const Int128 bound = static_cast<Int128>(error) + 1;
  const Int128 low = value - bound, above = value + bound;
  if (low <= 0 && above >= 0) return std::nullopt;
  const double a = RoundFixed(low, -scale, divisor, format), b = RoundFixed(above, -scale, divisor, format);
  if (std::bit_cast<uint64_t>(a) != std::bit_cast<uint64_t>(b)) return std::nullopt;
  return a;
}

std::vector<int64_t> ExactDft::Impl::IndexOf(int64_t position) const {
  std::vector<int64_t> k(lengths.size());
  for (size_t d = lengths.size(); d-- > 0;) {
    k[d] = position % lengths[d];
    position /= lengths[d];
  }
  return k;
}

// With the angle theta = 2 pi u / order of element j = a + ib, forward:
//   re: a cos(theta) + b cos(theta - 90 degrees);  im: b cos(theta) + a cos(theta + 90 degrees)
// The inverse has the signs of the right angles exchanged.
std::vector<CosineTerm> ExactDft::Impl::TermsOf(const std::vector<int64_t>& k, Part part) const {
  std::vector<CosineTerm> terms;
  terms.reserve(2 * count);
  const int64_t quarter = (part == kReal) != inverse ? order - order / 4 : order / 4;
  const size_t rank = lengths.size();
  std::vector<int64_t> steps(rank), j(rank);
  for (size_t d = 0; d < rank; ++d) steps[d] = k[d] * (order / lengths[d]) % order;
  int64_t angle = 0;
  for (int64_t position = 0; position < count; ++position) {
    CosineTerm same = part == kReal ? re[position] : im[position];
    CosineTerm turned = part == kReal ? im[position] : re[position];
    same.angle = angle;
    turned.angle = (angle + quarter) % order;
    if (same.mantissa != 0) terms.push_back(same);
    if (turned.mantissa != 0) terms.push_back(turned);
    // n_d steps in dimension d are full turns, so that wrapping around needs no correction.
    for (size_t d = rank; d-- > 0;) {
      angle = (angle + steps[d]) % order;
      if (++j[d] < lengths[d]) break;
      j[d] = 0;
    }
  }
  return terms;
}

void ExactDft::Impl::MakeUnits() {
  if (!units.empty()) return;
  for (int64_t u = 1; u < order; u += 4) {
    if (std::gcd(u, order) == 1) units.push_back(u);
  }
}

absl::Status ExactDft::Impl::MakeCosines(mpfr_prec_t precision, Charge charge) {
  if (cosine_precision >= precision) return absl::OkStatus();
  cosines.clear();
  MpfrReal angle(precision + 64), pi(precision + 64);
  mpfr_const_pi(pi.get(), MPFR_RNDN);
  for (int64_t u = 0; u <= order / 4; ++u) {
    mpfr_mul_si(angle.get(), pi.get(), static_cast<long>(2 * u), MPFR_RNDN);
    mpfr_div_si(angle.get(), angle.get(), static_cast<long>(order), MPFR_RNDN);
    cosines.push_back(std::make_unique<MpfrReal>(precision));
    if (u < order / 4) {
      mpfr_cos(cosines.back()->get(), angle.get(), MPFR_RNDN);
    } else {
      mpfr_set_zero(cosines.back()->get(), 1);
    }
    if (u % 64 == 0) ASSAY_RETURN_IF_ERROR(charge(1 << 16));
  }
  cosine_precision = precision;
  return absl::OkStatus();
}

// Cosines are within 2^-precision; every one of the t terms adds at most 2^high * 2^-precision of that, and
// one rounding of a partial sum, at most t 2^high * 2^-precision. Together at most 2^high t (t + 1)
// 2^-precision.
absl::StatusOr<double> ExactDft::Impl::Irrational(const std::vector<CosineTerm>& terms, Charge charge) {
  const int64_t term_bits = Width(terms.size());
  for (mpfr_prec_t precision = 256;; precision *= 2) {
    ASSAY_RETURN_IF_ERROR(MakeCosines(precision, charge));
    MpfrReal sum(cosine_precision), x(kTruncatedPrecision), product(cosine_precision + 64);
    MpfrReal low(cosine_precision), above(cosine_precision), bound(kTruncatedPrecision);
    mpfr_set_zero(sum.get(), 1);
    for (const CosineTerm& term : terms) {
      const int64_t half = term.angle > order / 2 ? order - term.angle : term.angle;
      const bool reflected = half > order / 4;
      const MpfrReal& cosine = *cosines[reflected ? order / 2 - half : half];
      mpfr_set_si_2exp(x.get(), reflected ? -term.mantissa : term.mantissa,
                       static_cast<mpfr_exp_t>(term.exponent), MPFR_RNDN);
      mpfr_mul(product.get(), x.get(), cosine.get(), MPFR_RNDN);
      mpfr_add(sum.get(), sum.get(), product.get(), MPFR_RNDN);
    }
    ASSAY_RETURN_IF_ERROR(charge(static_cast<int64_t>(terms.size()) * 16));
    mpfr_set_si_2exp(bound.get(), 1, static_cast<mpfr_exp_t>(high + 2 * term_bits + 1 - cosine_precision),
                     MPFR_RNDU);
    mpfr_sub(low.get(), sum.get(), bound.get(), MPFR_RNDD);
    mpfr_add(above.get(), sum.get(), bound.get(), MPFR_RNDU);
    mpfr_div_si(low.get(), low.get(), static_cast<long>(divisor), MPFR_RNDD);
    mpfr_div_si(above.get(), above.get(), static_cast<long>(divisor), MPFR_RNDU);
    if (mpfr_sgn(low.get()) * mpfr_sgn(above.get()) <= 0) continue;
    if (const std::optional<double> rounded = RoundInterval(low.get(), above.get(), format)) return *rounded;
  }
}

absl::Status ExactDft::Impl::Decide(int64_t position, Part part, std::vector<uint8_t>& open,
                                    std::vector<double>& out, Charge charge) {
  const std::vector<int64_t> k = IndexOf(position);
  const std::vector<CosineTerm> terms = TermsOf(k, part);
  ASSAY_RETURN_IF_ERROR(charge(4 * order + count));
  const std::optional<double> value = rational.IfRational(terms, divisor, format);
  if (!value) {
    ASSAY_ASSIGN_OR_RETURN(out[position], Irrational(terms, charge));
    open[position] = 0;
    return absl::OkStatus();
  }
  MakeUnits();
  for (int64_t u : units) {
    int64_t same = 0;
    for (size_t d = 0; d < k.size(); ++d) same = same * lengths[d] + u % lengths[d] * k[d] % lengths[d];
    if (open[same] == 0) continue;
    out[same] = *value;
    open[same] = 0;
  }
  return absl::OkStatus();
}

absl::Status ExactDft::Impl::DecideAll(Part part, std::vector<uint8_t>& open, std::vector<double>& out,
                                       Charge charge) {
  for (int64_t k = 0; k < count; ++k) {
    if (open[k] != 0) ASSAY_RETURN_IF_ERROR(Decide(k, part, open, out, charge));
  }
  return absl::OkStatus();
}

ExactDft::ExactDft(std::vector<int64_t> lengths, bool inverse, const FloatFormat& format) {
  int64_t order = 4;
  for (int64_t n : lengths) order = std::lcm(order, n);
  impl_ = std::make_unique<Impl>(std::move(lengths), inverse, format, order);
}

ExactDft::~ExactDft() = default;

absl::Status ExactDft::Transform(const Line& line, int64_t last_limit, bool imaginary, Output& output,
                                 Charge charge) {
  Impl& dft = *impl_;
  output.re.assign(dft.count, 0);
  output.im.assign(imaginary ? dft.count : 0, 0);
  if (!dft.LoadLine(line)) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(dft.TransformFixed(charge));
  const int64_t last = dft.lengths.back();
  for (Part part : {kReal, kImaginary}) {
    if (part == kImaginary && !imaginary) break;
    std::vector<double>& out = part == kReal ? output.re : output.im;
    std::vector<uint8_t> open(dft.count, 0);
    for (int64_t k = 0; k < dft.count; ++k) {
      if (k % last >= last_limit) continue;
      const std::optional<double> rounded = dft.RoundWithin(part == kReal ? dft.data[k].re : dft.data[k].im);
      if (rounded) {
        out[k] = *rounded;
      } else {
        open[k] = 1;
      }
    }
    ASSAY_RETURN_IF_ERROR(dft.DecideAll(part, open, out, charge));
  }
  return charge(dft.count);
}

absl::Status ExactDft::Decide(const Line& line, std::vector<uint8_t>& marked_re,
                              std::vector<uint8_t>& marked_im, Output& output, Charge charge) {
  Impl& dft = *impl_;
  output.re.assign(dft.count, 0);
  output.im.assign(dft.count, 0);
  if (!dft.LoadLine(line)) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(dft.DecideAll(kReal, marked_re, output.re, charge));
  ASSAY_RETURN_IF_ERROR(dft.DecideAll(kImaginary, marked_im, output.im, charge));
  return charge(dft.count);
}

}  // namespace assay
