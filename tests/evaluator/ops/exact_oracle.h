// Sums of products in rational arithmetic (GMP), rounded once by the rounding oracle: what the tests of
// reductions and contractions compare with.
#ifndef ASSAY_TESTS_EVALUATOR_OPS_EXACT_ORACLE_H_
#define ASSAY_TESTS_EVALUATOR_OPS_EXACT_ORACLE_H_

#include <gmp.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "literal/literal.h"
#include "tests/evaluator/scalar/rounding_oracle.h"
#include "tests/run/run_text.h"

namespace assay::testing {

// Finite terms only.
class RationalSum {
 public:
  RationalSum() {
    mpq_init(sum_);
    mpq_init(a_);
    mpq_init(b_);
  }
  ~RationalSum() {
    mpq_clear(sum_);
    mpq_clear(a_);
    mpq_clear(b_);
  }
  RationalSum(const RationalSum&) = delete;
  RationalSum& operator=(const RationalSum&) = delete;

  void AddProduct(double a, double b) {
    all_negative_zero_ = all_negative_zero_ && (a == 0 || b == 0) && std::signbit(a) != std::signbit(b);
    any_ = true;
    mpq_set_d(a_, a);
    mpq_set_d(b_, b);
    mpq_mul(a_, a_, b_);
    mpq_add(sum_, sum_, a_);
  }
  void Add(double x) { AddProduct(x, 1); }

  double Round(ElementType type) const {
    if (mpq_sgn(sum_) == 0) return any_ && all_negative_zero_ ? -0.0 : 0.0;
    mpfr_t exact;
    mpfr_init2(exact, 5000);
    mpfr_set_q(exact, sum_, MPFR_RNDN);
    const double rounded = RoundingOracle(type).Round(exact);
    mpfr_clear(exact);
    return rounded;
  }

 private:
  mpq_t sum_, a_, b_;
  bool any_ = false, all_negative_zero_ = true;
};

inline bool SameBits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

inline int64_t CountOf(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t n : sizes) count *= n;
  return count;
}

// Calls fn with every index, row-major.
template <typename Fn>
void ForEachIndex(const std::vector<int64_t>& sizes, const Fn& fn) {
  std::vector<int64_t> index(sizes.size(), 0);
  for (int64_t i = 0; i < CountOf(sizes); ++i) {
    fn(index);
    for (size_t d = sizes.size(); d-- > 0 && ++index[d] == sizes[d];) index[d] = 0;
  }
}

// A row-major array of doubles that are values of `type`.
struct Doubles {
  ElementType type;
  std::vector<int64_t> sizes;
  std::vector<double> values;

  Doubles(ElementType t, std::vector<int64_t> s) : type(t), sizes(std::move(s)), values(CountOf(sizes)) {}
  double& At(const std::vector<int64_t>& index) {
    int64_t at = 0;
    for (size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
    return values[at];
  }
  Literal ToLiteral() const { return Literal::FromDoubles(type, sizes, values); }
  std::string Text() const {
    std::string text(Name(type));
    text += "[";
    for (size_t d = 0; d < sizes.size(); ++d) text += (d > 0 ? "," : "") + std::to_string(sizes[d]);
    return text + "]";
  }
};

class RandomDoubles {
 public:
  explicit RandomDoubles(uint32_t seed) : engine_(seed) {}
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  // Values whose exponents are spread over 2 * spread binades, zeros and repetitions of -x among them.
  Doubles Fill(ElementType type, std::vector<int64_t> sizes, int spread) {
    Doubles array(type, std::move(sizes));
    double last = 0;
    for (double& value : array.values) {
      const int64_t what = Int(0, 9);
      const double x = std::ldexp(static_cast<double>(Int(-(int64_t{1} << 52), int64_t{1} << 52)),
                                  static_cast<int>(Int(-spread, spread)) - 52);
      value = what == 0 ? -last : what == 1 ? 0.0 : RoundToFormat(x, *Info(type).format);
      last = value;
    }
    return array;
  }

 private:
  std::mt19937 engine_;
};

inline absl::StatusOr<Literal> RunProgram(const std::string& program, std::vector<Literal> arguments,
                                          const RunOptions& options = {}) {
  ASSAY_ASSIGN_OR_RETURN(const Program loaded, Program::Load("program.hlo", program));
  RunOptions checked = options;
  checked.crosscheck = Crosscheck::kFull;  // so that the test holds for the reference and for fast kernels
  return loaded.Run(std::move(arguments), checked);
}
inline Literal RunGood(const std::string& program, std::vector<Literal> arguments) {
  INFO(program);
  absl::StatusOr<Literal> result = RunProgram(program, std::move(arguments));
  if (!result.ok()) FAIL(std::string(result.status().message()));
  return *std::move(result);
}

// Counts the elements of `actual` that differ from `expected` in a bit.
inline int64_t Differences(const Literal& actual, const Doubles& expected) {
  if (actual.shape().num_elements() != static_cast<int64_t>(expected.values.size())) return -1;
  int64_t different = 0;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    different += !SameBits(actual.GetDouble(static_cast<int64_t>(i)), expected.values[i]);
  }
  return different;
}

// A computation of two scalars of one type.
inline std::string Reducer(const std::string& type, const std::string& op, const std::string& name = "f") {
  return fmt::format(R"({0} {{
  a = {1}[] parameter(0)
  b = {1}[] parameter(1)
  ROOT r = {1}[] {2}(a, b)
}}
)",
                     name, type, op);
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_EVALUATOR_OPS_EXACT_ORACLE_H_
