// ExactSum against GMP rationals: every double is a rational, so the sum is one, and its rounding is decided
// by comparing rationals with midpoints.
#include "evaluator/scalar/exact_sum.h"

#include <gmp.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "literal/float_format.h"
#include "tests/evaluator/scalar/rounding_oracle.h"

namespace assay {
namespace {

using testing::Bits;
using testing::F32;
using testing::F64;
using testing::Format;
using testing::kInf;
using testing::kMax;
using testing::kNaN;
using testing::kTiny;

class Rational {
 public:
  Rational() { mpq_init(q); }
  explicit Rational(double x) : Rational() { mpq_set_d(q, x); }
  Rational(const Rational& other) : Rational() { mpq_set(q, other.q); }
  Rational& operator=(const Rational&) = delete;
  ~Rational() { mpq_clear(q); }
  void Add(const Rational& x) { mpq_add(q, q, x.q); }
  void AddProduct(double a, double b) {
    Rational x(a), y(b);
    mpq_mul(x.q, x.q, y.q);
    Add(x);
  }
  void Divide(int64_t n) {
    Rational d;
    mpq_set_si(d.q, n, 1);
    mpq_div(q, q, d.q);
  }
  mpq_t q;
};

// 2^1024 as a rational stands for the double after the largest.
Rational AsRational(double x) {
  if (!std::isinf(x)) return Rational(x);
  Rational r(x > 0 ? 0x1p1023 : -0x1p1023);
  Rational two(2.0);
  mpq_mul(r.q, r.q, two.q);
  return r;
}

// The double nearest to a rational: mpq_get_d truncates toward zero, so the answer is that or the next one
// away from zero, whichever is nearer, ties to even.
double NearestDouble(const Rational& x) {
  if (mpq_sgn(x.q) == 0) return 0.0;
  const Rational limit = AsRational(kInf);
  Rational magnitude(x);
  mpq_abs(magnitude.q, magnitude.q);
  double below = mpq_cmp(magnitude.q, limit.q) >= 0 ? kMax : mpq_get_d(magnitude.q);
  // mpq_get_d's behaviour below the smallest normal is not trusted.
  while (mpq_cmp(AsRational(below).q, magnitude.q) > 0) below = std::nextafter(below, 0.0);
  while (below < kMax && mpq_cmp(AsRational(std::nextafter(below, kInf)).q, magnitude.q) <= 0) {
    below = std::nextafter(below, kInf);
  }
  const double above = std::nextafter(below, kInf);
  Rational middle = AsRational(above);
  middle.Add(AsRational(below));
  middle.Divide(2);
  const int order = mpq_cmp(magnitude.q, middle.q);
  const bool up = order > 0 || (order == 0 && (Bits(below) & 1) != 0);
  return std::copysign(up ? above : below, mpq_sgn(x.q));
}

struct Generator {
  std::mt19937_64 engine{20240607};
  // A double with an exponent field in [low, high].
  double Double(int low, int high) {
    const uint64_t exponent = low + engine() % (high - low + 1);
    const uint64_t fraction = engine() >> 12 >> (engine() % 3 == 0 ? engine() % 52 : 0);
    return std::bit_cast<double>((engine() & 1) << 63 | exponent << 52 | fraction);
  }
};

void CheckProducts(const std::vector<double>& a, const std::vector<double>& b) {
  ExactSum sum;
  Rational expected;
  for (size_t i = 0; i < a.size(); ++i) {
    sum.AddProduct(a[i], b[i]);
    expected.AddProduct(a[i], b[i]);
  }
  const double want = NearestDouble(expected);
  REQUIRE(Bits(sum.Round(F64())) == Bits(want));
  REQUIRE(sum.Sign() == mpq_sgn(expected.q));
  ExactSum strided;
  strided.AddProducts(a.data() + a.size() - 1, -1, b.data() + b.size() - 1, -1, a.size());
  REQUIRE(Bits(strided.Round(F64())) == Bits(want));
  for (int64_t n : {int64_t{1}, int64_t{3}, int64_t{1000003}, std::numeric_limits<int64_t>::max()}) {
    Rational quotient(expected);
    quotient.Divide(n);
    REQUIRE(Bits(sum.RoundQuotient(n, F64())) == Bits(NearestDouble(quotient)));
  }
}

}  // namespace

TEST_CASE("exact sum: random products of every exponent round as the rational sum", "[exact_sum]") {
  Generator random;
  const int ranges[][2] = {{0, 2046}, {1000, 1050}, {0, 3}, {1500, 1540}, {500, 520}, {1, 600}, {2040, 2046}};
  for (const auto& range : ranges) {
    for (int trial = 0; trial < 40; ++trial) {
      const int n = 1 + static_cast<int>(random.engine() % 20);
      std::vector<double> a(n), b(n);
      for (int i = 0; i < n; ++i) {
        a[i] = random.Double(range[0], range[1]);
        b[i] = random.Double(range[0], range[1]);
      }
      CheckProducts(a, b);
    }
  }
}

TEST_CASE("exact sum: cancellation leaves the small terms exact", "[exact_sum]") {
  Generator random;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> a, b;
    for (int i = 0; i < 8; ++i) {
      const double x = random.Double(900, 1500), y = random.Double(900, 1500);
      a.insert(a.end(), {x, -y});
      b.insert(b.end(), {y, x});
    }
    if (trial % 3 != 0) {
      a.push_back(random.Double(0, 1200));
      b.push_back(random.Double(0, 900));
    }
    std::shuffle(a.begin(), a.end(), std::mt19937_64(trial));
    std::shuffle(b.begin(), b.end(), std::mt19937_64(trial));
    CheckProducts(a, b);
  }
}

TEST_CASE("exact sum: plain terms, subnormals and totals beyond the range", "[exact_sum]") {
  ExactSum sum;
  const auto round = [&](std::vector<double> terms) {
    sum.Clear();
    for (double x : terms) sum.Add(x);
    return sum.Round(F64());
  };
  CHECK(round({kMax, kMax, -kMax}) == kMax);
  CHECK(round({kMax, 0x1p969}) == kMax);
  CHECK(round({kMax, 0x1p970}) == kInf);
  CHECK(round({kMax, 0x1p970, -kTiny}) == kMax);
  CHECK(round({-kMax, -0x1p970, kTiny}) == -kMax);
  CHECK(round({-kMax, -0x1p970}) == -kInf);
  CHECK(round({1, 0x1p-53}) == 1);
  CHECK(round({1, 0x1p-53, kTiny}) == 1 + 0x1p-52);
  CHECK(round({1, 0x1p-53, -kTiny}) == 1);
  CHECK(round({1 + 0x1p-52, 0x1p-53}) == 1 + 0x1p-51);
  CHECK(round({0x1p-1022, -kTiny}) == 0x1p-1022 - kTiny);
  CHECK(round({kTiny, kTiny, kTiny}) == 3 * kTiny);
}

TEST_CASE("exact sum: products that underflow still decide", "[exact_sum]") {
  ExactSum sum;
  sum.AddProduct(kTiny, 0.5);
  CHECK(Bits(sum.Round(F64())) == Bits(0.0));
  sum.AddProduct(kTiny, kTiny);
  CHECK(sum.Round(F64()) == kTiny);
  sum.SubtractProduct(kTiny, 0.5);
  CHECK(Bits(sum.Round(F64())) == Bits(0.0));
  CHECK(sum.Sign() == 1);
  sum.SubtractProduct(kTiny, kTiny);
  CHECK(sum.Sign() == 0);
  sum.AddProduct(-kTiny, kTiny);
  CHECK(Bits(sum.Round(F64())) == Bits(-0.0));
  sum.Clear();
  sum.AddProduct(kMax, kMax);
  sum.SubtractProduct(kMax, kMax);
  sum.Add(3);
  CHECK(sum.Round(F64()) == 3);
}

TEST_CASE("exact sum: zeros are +0 unless every term was -0", "[exact_sum]") {
  ExactSum sum;
  CHECK(Bits(sum.Round(F64())) == Bits(0.0));
  sum.Add(-0.0);
  CHECK(Bits(sum.Round(F64())) == Bits(-0.0));
  sum.AddProduct(0.0, -5);
  CHECK(Bits(sum.Round(F32())) == Bits(-0.0));
  CHECK(Bits(sum.RoundQuotient(4, F64())) == Bits(-0.0));
  sum.AddProduct(0.0, 5);
  CHECK(Bits(sum.Round(F64())) == Bits(0.0));
  sum.Clear();
  sum.Add(1);
  sum.Add(-1);
  CHECK(Bits(sum.Round(F64())) == Bits(0.0));
  sum.Add(-0.0);
  CHECK(Bits(sum.Round(F64())) == Bits(0.0));
}

TEST_CASE("exact sum: infinities and NaN follow the extended reals", "[exact_sum]") {
  ExactSum sum;
  sum.Add(kInf);
  sum.Add(-kMax);
  CHECK(sum.Round(F64()) == kInf);
  CHECK(sum.RoundQuotient(7, F64()) == kInf);
  CHECK(sum.Sign() == 1);
  sum.AddProduct(-kInf, 2);
  CHECK(Bits(sum.Round(F64())) == 0x7ff8000000000000);
  CHECK(sum.Sign() == 0);
  sum.Clear();
  sum.AddProduct(0, kInf);
  CHECK(Bits(sum.Round(F64())) == 0x7ff8000000000000);
  sum.Clear();
  sum.Add(-kNaN);
  CHECK(Bits(sum.Round(F32())) == Bits(CanonicalNaN(F32())));
  sum.Clear();
  sum.AddProduct(-kInf, 3);
  sum.Add(5);
  CHECK(sum.Round(F64()) == -kInf);
  CHECK(Bits(sum.RoundQuotient(0, F64())) == 0x7ff8000000000000);
}

TEST_CASE("exact sum: narrow formats are rounded once", "[exact_sum]") {
  ExactSum sum;
  // Just above the midpoint of 1 and 1 + 2^-7 in bf16, by less than a double's or a float's last bit.
  sum.Add(1);
  sum.Add(0x1p-8);
  CHECK(sum.Round(Format(ElementType::kBF16)) == 1);
  sum.Add(0x1p-90);
  CHECK(sum.Round(Format(ElementType::kBF16)) == 1 + 0x1p-7);
  sum.Add(-0x1p-89);
  CHECK(sum.Round(Format(ElementType::kBF16)) == 1);
  sum.Clear();
  sum.AddProduct(0x1p-200, 0x1p-200);
  CHECK(sum.Round(Format(ElementType::kF8E8M0FNU)) == 0x1p-127);
  CHECK(Bits(sum.Round(F32())) == Bits(0.0));
  sum.Clear();
  sum.AddProduct(0x1p900, -0x1p900);
  CHECK(sum.Round(F32()) == -kInf);
  CHECK(sum.Round(Format(ElementType::kF4E2M1FN)) == -6);
}

TEST_CASE("exact sum: more terms than a limb has room for", "[exact_sum]") {
  // Carries after 2^30 terms can't be waited for; strides of 0 make large sums quickly.
  ExactSum sum;
  const double minus_one = -1, almost_two = 2 - 0x1p-52;
  const int64_t n = 3'000'000;
  sum.AddProducts(&almost_two, 0, &minus_one, 0, n);
  Rational expected(almost_two);
  Rational factor(-static_cast<double>(n));
  mpq_mul(expected.q, expected.q, factor.q);
  CHECK(sum.Round(F64()) == NearestDouble(expected));
  CHECK(sum.RoundQuotient(n, F64()) == -almost_two);
}

TEST_CASE("variance: exact until one rounding", "[exact_sum]") {
  const auto variance = [](const std::vector<double>& values, const FloatFormat& format) {
    ExactSum sum, squares;
    for (double x : values) {
      sum.Add(x);
      squares.AddProduct(x, x);
    }
    return RoundVariance(sum, squares, static_cast<int64_t>(values.size()), format);
  };
  // The specification's example.
  CHECK(variance({10000.1f, 10000.2f, 10000.3f}, F32()) == 0.006679747f);
  CHECK(variance({1, 3}, F32()) == 1);
  CHECK(variance({10, 14}, F32()) == 4);
  CHECK(Bits(variance({-7.5, -7.5, -7.5}, F64())) == Bits(0.0));
  CHECK(Bits(variance({}, F64())) == 0x7ff8000000000000);
  CHECK(Bits(variance({1, kInf}, F64())) == 0x7ff8000000000000);
  CHECK(variance({kMax, -kMax}, F64()) == kInf);
  CHECK(variance({0x1p-500, -0x1p-500, 0}, F64()) == 0x1p-999 / 3);

  Generator random;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<double> values(1 + trial % 9);
    for (double& x : values) x = random.Double(trial % 2 == 0 ? 1020 : 500, 1030);
    Rational mean, want;
    for (double x : values) mean.Add(Rational(x));
    mean.Divide(static_cast<int64_t>(values.size()));
    for (double x : values) {
      Rational deviation(x);
      mpq_sub(deviation.q, deviation.q, mean.q);
      mpq_mul(deviation.q, deviation.q, deviation.q);
      want.Add(deviation);
    }
    want.Divide(static_cast<int64_t>(values.size()));
    REQUIRE(variance(values, F64()) == NearestDouble(want));
  }
}

}  // namespace assay
