// Batch normalization of the native engine against the reference engine,
// and moments against rational arithmetic.
#include <catch2/catch.hpp>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"
#include "tests/evaluator/ops/exact_oracle.h"

namespace assay::testing {
namespace {

std::string Training(const std::string& type, const std::string& sizes, int64_t features, int index) {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
s = {0}[{2}] parameter(1)
o = {0}[{2}] parameter(2)
ROOT z = ({0}[{1}], {0}[{2}], {0}[{2}]) batch-norm-training(x, s, o), epsilon=0.001, feature_index={3})",
      type, sizes, features, index);
}
std::string Inference(const std::string& type, const std::string& sizes, int64_t features, int index) {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
s = {0}[{2}] parameter(1)
o = {0}[{2}] parameter(2)
m = {0}[{2}] parameter(3)
v = {0}[{2}] parameter(4)
ROOT z = {0}[{1}] batch-norm-inference(x, s, o, m, v), epsilon=0.001, feature_index={3})",
      type, sizes, features, index);
}
std::string Grad(const std::string& type, const std::string& sizes, int64_t features, int index) {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
s = {0}[{2}] parameter(1)
m = {0}[{2}] parameter(2)
v = {0}[{2}] parameter(3)
g = {0}[{1}] parameter(4)
ROOT z = ({0}[{1}], {0}[{2}], {0}[{2}]) batch-norm-grad(x, s, m, v, g), epsilon=0.001, feature_index={3})",
      type, sizes, features, index);
}
void CheckAll(const std::string& type, const std::string& sizes, int64_t features, int index) {
  CheckAgainstReference(Training(type, sizes, features, index), kAllDraws);
  CheckAgainstReference(Inference(type, sizes, features, index), kAllDraws);
  CheckAgainstReference(Grad(type, sizes, features, index), kAllDraws);
}

// Features whose sums cancel: values near one, and 2^60 or 2^-30 of either sign.
Literal Cancelling(const Shape& shape, bool near_one, uint64_t seed) {
  Literal literal = *Literal::Make(shape);
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const auto bits = static_cast<double>(random() % 8);
    ScalarValue value;
    value.kind = ComputeKind::kReal;
    value.r = near_one ? 1 + bits * 0x1p-23
                       : (i / 17 % 4 < 2 ? 0x1p60 : (1 + bits) * 0x1p-30) * (i / 17 % 2 == 0 ? 1 : -1);
    StoreElement(shape.element_type(), value,
                 literal.MutableBytes().data() + i * Bytes(shape.element_type()));
  }
  return literal;
}

}  // namespace

TEST_CASE("native batch-norm: every type and place of the features", "[native][batch-norm]") {
  for (const char* type : {"f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e5m2", "f4e2m1fn"}) {
    CheckAll(type, "5,7,6,9", 9, 3);
    CheckAll(type, "5,7,6,9", 7, 1);
    CheckAll(type, "5,7,6,9", 5, 0);
  }
}

TEST_CASE("native batch-norm: many rows, many features, long runs", "[native][batch-norm]") {
  CheckAll("f32", "3000,17", 17, 1);
  CheckAll("f32", "20,300", 300, 1);
  CheckAll("f32", "3,2,2500", 2, 1);
  CheckAll("bf16", "600,3", 3, 1);
  CheckAll("f32", "1,5", 5, 1);
  CheckAll("f32", "5", 5, 0);
  CheckAll("f32", "0,5", 5, 1);
  CheckAll("f32", "5,0", 0, 1);
}

TEST_CASE("native batch-norm: sums that cancel", "[native][batch-norm]") {
  for (const std::string& body : {Training("f32", "2000,17", 17, 1), Training("f32", "17,2000", 17, 0),
                                  Grad("f32", "2000,17", 17, 1), Grad("f32", "17,2000", 17, 0)}) {
    const Plan reference = ReferencePlan(body);
    for (bool near_one : {true, false}) {
      std::vector<Literal> arguments = DrawnArguments(reference, Draw::kIntegers, 3);
      arguments[0] = Cancelling(arguments[0].shape(), near_one, 1);
      if (arguments.size() == 5) arguments[4] = Cancelling(arguments[4].shape(), false, 2);
      const absl::StatusOr<Literal> wanted = RunPlan(reference, arguments);
      REQUIRE(wanted.ok());
      for (Isa isa : MachineIsas()) {
        int kernels = 0;
        const absl::StatusOr<Literal> result = RunPlan(NativePlan(reference, isa, &kernels), arguments, 2);
        REQUIRE(result.ok());
        INFO(body << " near one " << near_one);
        CHECK(Literal::BitwiseEqual(*wanted, *result));
      }
    }
  }
}

TEST_CASE("native batch-norm: moments are the rational ones, rounded once", "[native][batch-norm]") {
  constexpr int64_t kRows = 777, kFeatures = 13;
  for (const char* name : {"f32", "bf16"}) {
    const ElementType type = *ElementTypeFromName(name);
    int kernels = 0;
    const Plan plan =
        NativePlan(ReferencePlan(Training(name, "777,13", kFeatures, 1)), MachineIsa(), &kernels);
    REQUIRE(kernels > 0);
    for (Draw draw :
         {Draw::kNormal, Draw::kWide, Draw::kCancelling, Draw::kTies, Draw::kSmall, Draw::kIntegers}) {
      const std::vector<Literal> arguments = DrawnArguments(plan, draw, 5);
      const absl::StatusOr<Literal> result = RunPlan(plan, arguments, 2);
      REQUIRE(result.ok());
      for (int64_t c = 0; c < kFeatures; ++c) {
        mpq_t sum, squares, x, y;
        mpq_inits(sum, squares, x, y, nullptr);
        for (int64_t i = 0; i < kRows; ++i) {
          mpq_set_d(x, arguments[0].GetDouble(i * kFeatures + c));
          mpq_add(sum, sum, x);
          mpq_mul(x, x, x);
          mpq_add(squares, squares, x);
        }
        mpq_set_si(y, kRows, 1);
        mpq_div(sum, sum, y);
        mpq_div(squares, squares, y);
        mpq_mul(x, sum, sum);
        mpq_sub(squares, squares, x);
        mpfr_t exact;
        mpfr_init2(exact, 5000);
        mpfr_set_q(exact, sum, MPFR_RNDN);
        INFO(name << " draw " << static_cast<int>(draw) << " feature " << c);
        CHECK(result->element(1).GetDouble(c) == RoundingOracle(type).Round(exact));
        mpfr_set_q(exact, squares, MPFR_RNDN);
        CHECK(result->element(2).GetDouble(c) == RoundingOracle(type).Round(exact));
        mpfr_clear(exact);
        mpq_clears(sum, squares, x, y, nullptr);
      }
    }
  }
}

}  // namespace assay::testing
