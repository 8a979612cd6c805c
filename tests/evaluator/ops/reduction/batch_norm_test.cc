#include <catch2/catch.hpp>

#include "tests/evaluator/ops/exact_oracle.h"

namespace assay {
namespace {

using namespace testing;  // NOLINT

TEST_CASE("batch-norm-inference: the example of the specification", "[batch-norm]") {
  CHECK(Gives(
      "batch-norm-inference",
      {"f32[2,2] {{1, 10}, {3, 14}}", "f32[2] {1, 2}", "f32[2] {0, 5}", "f32[2] {2, 12}", "f32[2] {1, 4}"},
      "f32[2,2] {{-1, 3}, {1, 7}}", ", epsilon=0, feature_index=1"));
}

TEST_CASE("batch-norm-training: mean and variance are exact before the one rounding", "[batch-norm]") {
  RandomDoubles random(51);
  for (int round = 0; round < 20; ++round) {
    Doubles x = random.Fill(ElementType::kF32, {5, 3}, 3);
    for (double& v : x.values) v += 1000;
    for (double& v : x.values) v = static_cast<float>(v);
    const std::string program =
        R"(ENTRY e {
  x = f32[5,3] parameter(0)
  s = f32[3] constant({1, 1, 1})
  r = (f32[5,3], f32[3], f32[3]) batch-norm-training(x, s, s), epsilon=0.001, feature_index=1
  m = f32[3] get-tuple-element(r), index=1
  v = f32[3] get-tuple-element(r), index=2
  ROOT t = (f32[3], f32[3]) tuple(m, v)
}
)";
    const Literal result = RunGood(program, {x.ToLiteral()});
    for (int64_t c = 0; c < 3; ++c) {
      // n = 5: a fraction, so that the quotient is rounded by MPFR from GMP rationals.
      mpq_t sum, squares, term, mean, five;
      mpq_inits(sum, squares, term, mean, five, static_cast<mpq_ptr>(nullptr));
      mpq_set_ui(five, 5, 1);
      for (int64_t i = 0; i < 5; ++i) {
        mpq_set_d(term, x.At({i, c}));
        mpq_add(sum, sum, term);
        mpq_mul(term, term, term);
        mpq_add(squares, squares, term);
      }
      mpq_div(mean, sum, five);
      mpq_div(squares, squares, five);
      mpq_mul(term, mean, mean);
      mpq_sub(squares, squares, term);
      mpfr_t rounded;
      mpfr_init2(rounded, 24);
      mpfr_set_q(rounded, mean, MPFR_RNDN);
      CHECK(result.element(0).GetDouble(c) == mpfr_get_d(rounded, MPFR_RNDN));
      mpfr_set_q(rounded, squares, MPFR_RNDN);
      CHECK(result.element(1).GetDouble(c) == mpfr_get_d(rounded, MPFR_RNDN));
      mpfr_clear(rounded);
      mpq_clears(sum, squares, term, mean, five, static_cast<mpq_ptr>(nullptr));
    }
  }
}

TEST_CASE("batch-norm-training: equal elements have variance zero, never a negative one", "[batch-norm]") {
  const std::string program =
      R"(ENTRY e {
  x = f32[3,1] constant({{10000.1}, {10000.1}, {10000.1}})
  s = f32[1] constant({1})
  r = (f32[3,1], f32[1], f32[1]) batch-norm-training(x, s, s), epsilon=0, feature_index=1
  ROOT v = f32[1] get-tuple-element(r), index=2
}
)";
  CHECK(SameBits(RunGood(program, {}).GetDouble(0), 0.0));
}

TEST_CASE("batch-norm-training: a dynamic dimension counts live elements", "[batch-norm]") {
  const std::string program =
      R"(ENTRY e {
  x = f32[4,1] parameter(0)
  n = s32[] constant(2)
  d = f32[<=4,1] set-dimension-size(x, n), dimensions={0}
  s = f32[1] constant({1})
  r = (f32[<=4,1], f32[1], f32[1]) batch-norm-training(d, s, s), epsilon=0, feature_index=1
  ROOT m = f32[1] get-tuple-element(r), index=1
}
)";
  Doubles x(ElementType::kF32, {4, 1});
  x.values = {1, 4, 1000, 1000};
  CHECK(RunGood(program, {x.ToLiteral()}).GetDouble(0) == 2.5);
}

TEST_CASE("batch-norm-grad: the example of the specification", "[batch-norm]") {
  const std::string program =
      R"(ENTRY e {
  x = f32[2,2] constant({{1, 10}, {3, 14}})
  s = f32[2] constant({1, 2})
  m = f32[2] constant({2, 12})
  v = f32[2] constant({1, 4})
  g = f32[2,2] constant({{1, 2}, {3, 8}})
  ROOT r = (f32[2,2], f32[2], f32[2]) batch-norm-grad(x, s, m, v, g), epsilon=0, feature_index=1
}
)";
  const Literal r = RunGood(program, {});
  for (int64_t i = 0; i < 4; ++i) CHECK(r.element(0).GetDouble(i) == 0);
  CHECK(r.element(1).GetDouble(0) == 2);
  CHECK(r.element(1).GetDouble(1) == 6);
  CHECK(r.element(2).GetDouble(0) == 4);
  CHECK(r.element(2).GetDouble(1) == 10);
}

}  // namespace
}  // namespace assay
