#include <catch2/catch.hpp>

#include "tests/evaluator/ops/exact_oracle.h"

namespace assay {
namespace {

using namespace testing;  // NOLINT

// out[b, i, j] = sum over k of l[b, i, k] r[b, k, j] for 3-dimensional operands.
Doubles DotSlowly(Doubles l, Doubles r, ElementType result) {
  Doubles out(result, {l.sizes[0], l.sizes[1], r.sizes[2]});
  ForEachIndex(out.sizes, [&](const std::vector<int64_t>& o) {
    RationalSum sum;
    sum.Add(0.0);  // where a contraction starts
    for (int64_t k = 0; k < l.sizes[2]; ++k) sum.AddProduct(l.At({o[0], o[1], k}), r.At({o[0], k, o[2]}));
    out.At(o) = sum.Round(result);
  });
  return out;
}

std::string DotProgram(const Doubles& l, const Doubles& r, const Doubles& out) {
  return R"(ENTRY e {
  l = )" +
         l.Text() + R"( parameter(0)
  r = )" +
         r.Text() +
         R"( parameter(1)
  ROOT d = )" +
         out.Text() +
         " dot(l, r), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
         "rhs_contracting_dims={1}\n}\n";
}

TEST_CASE("dot: exact sum of exact products, rounded once", "[dot]") {
  RandomDoubles random(11);
  struct Types {
    ElementType lhs, rhs, result;
    int spread;
  };
  const Types cases[] = {
      {ElementType::kF32, ElementType::kF32, ElementType::kF32, 60},
      {ElementType::kF64, ElementType::kF64, ElementType::kF64, 500},
      {ElementType::kBF16, ElementType::kBF16, ElementType::kF32, 60},
      {ElementType::kF16, ElementType::kF16, ElementType::kF16, 6},
      {ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kBF16, 5},
      {ElementType::kF64, ElementType::kF32, ElementType::kF16, 5},
  };
  for (const Types& t : cases) {
    for (int round = 0; round < 6; ++round) {
      const int64_t b = random.Int(1, 3), m = random.Int(1, 5), k = random.Int(0, 40), n = random.Int(1, 5);
      const Doubles l = random.Fill(t.lhs, {b, m, k}, t.spread), r = random.Fill(t.rhs, {b, k, n}, t.spread);
      const Doubles expected = DotSlowly(l, r, t.result);
      INFO(Name(t.lhs) << " " << Name(t.rhs) << " " << Name(t.result) << " k=" << k);
      CHECK(Differences(RunGood(DotProgram(l, r, expected), {l.ToLiteral(), r.ToLiteral()}), expected) == 0);
    }
  }
}

TEST_CASE("dot: blocks of rows and columns are put together right", "[dot]") {
  // Small integers: every sum is exact in double, so that a plain loop is an oracle. A block has 4096 rows.
  RandomDoubles random(12);
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{4200, 20}, {20, 4200}}) {
    Doubles l(ElementType::kF32, {1, m, 3}), r(ElementType::kF32, {1, 3, n}),
        out(ElementType::kF32, {1, m, n});
    for (double& v : l.values) v = static_cast<double>(random.Int(-9, 9));
    for (double& v : r.values) v = static_cast<double>(random.Int(-9, 9));
    ForEachIndex(out.sizes, [&](const std::vector<int64_t>& o) {
      const auto term = [&](int64_t k) { return l.At({0, o[1], k}) * r.At({0, k, o[2]}); };
      out.At(o) = 0.0 + term(0) + term(1) + term(2);
    });
    CHECK(Differences(RunGood(DotProgram(l, r, out), {l.ToLiteral(), r.ToLiteral()}), out) == 0);
  }
}

TEST_CASE("dot: a contraction too long for a panel is summed piece by piece", "[dot]") {
  const int64_t k = (1 << 20) + 12345;
  Doubles l(ElementType::kBF16, {1, 1, k}), r(ElementType::kBF16, {1, k, 2});
  for (int64_t i = 0; i < k; ++i) {
    l.values[i] = static_cast<double>(i % 3) - 1;
    r.values[2 * i] = static_cast<double>(i % 2);
    r.values[2 * i + 1] = 1;
  }
  double first = 0, second = 0;
  for (int64_t i = 0; i < k; ++i) {
    first += l.values[i] * r.values[2 * i];
    second += l.values[i];
  }
  const Doubles out(ElementType::kF32, {1, 1, 2});
  const Literal result = RunGood(DotProgram(l, r, out), {l.ToLiteral(), r.ToLiteral()});
  CHECK(result.GetDouble(0) == first);
  CHECK(result.GetDouble(1) == second);
}

TEST_CASE("dot: integers wrap in the result type", "[dot]") {
  CHECK(Gives("dot", {"s8[2] {100, 100}", "s8[2] {1, 1}"}, "s8[] -56",
              ", lhs_contracting_dims={0}, rhs_contracting_dims={0}"));
  CHECK(Gives("dot", {"s8[2] {-128, 127}", "u8[2] {255, 255}"}, "s32[] -255",
              ", lhs_contracting_dims={0}, rhs_contracting_dims={0}"));
  CHECK(Gives("dot", {"u64[2] {18446744073709551615, 2}", "u64[2] {18446744073709551615, 3}"}, "u64[] 7",
              ", lhs_contracting_dims={0}, rhs_contracting_dims={0}"));
  CHECK(Gives("dot", {"pred[3] {true, false, true}", "pred[3] {false, true, true}"}, "pred[] true",
              ", lhs_contracting_dims={0}, rhs_contracting_dims={0}"));
}

TEST_CASE("dot: an empty contraction is plus zero", "[dot]") {
  CHECK(Gives("dot", {"f32[1,0] {{}}", "f32[0,1] {}"}, "f32[1,1] {{0}}",
              ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
}

TEST_CASE("dot: algorithm and precision must be known words", "[dot]") {
  const std::string dims = ", lhs_contracting_dims={0}, rhs_contracting_dims={0}";
  CHECK(Refusal("dot", {"f32[2]", "f32[2]"}, "f32[]", dims + ", algorithm=dot_tf32_tf32_f32") == "");
  CHECK(Refusal("dot", {"f32[2]", "f32[2]"}, "f32[]", dims + ", algorithm=dot_by_hand") != "");
  CHECK(Refusal("dot", {"f32[2]", "f32[2]"}, "f32[]", dims + ", operand_precision={highest,lowest}") != "");
}

TEST_CASE("dot: the timeout is seen inside a large one", "[dot]") {
  RunOptions options;
  options.limits.timeout_seconds = 0.05;
  const std::string program =
      R"(ENTRY e {
  o = f32[] constant(1)
  x = f32[2000,2000] broadcast(o), dimensions={}
  ROOT d = f32[2000,2000] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";
  const absl::StatusOr<Literal> result = RunProgram(program, {}, options);
  REQUIRE_FALSE(result.ok());
  CHECK(std::string(result.status().message()).find("timeout") != std::string::npos);
}

TEST_CASE("ragged-dot: group sizes beyond the rows are cut off", "[dot]") {
  CHECK(
      Gives("ragged-dot", {"f32[2,1] {{2}, {3}}", "f32[2,1,1] {{{10}}, {{100}}}", "s32[2] {1, 50}"},
            "f32[2,1] {{20}, {300}}",
            ", lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"));
}

TEST_CASE("scaled-dot: products of operand and scale are not rounded", "[dot]") {
  // 1 + 2^-7 times itself needs 15 bits; minus 1 + 2^-6 leaves 2^-14.
  CHECK(Gives(
      "scaled-dot",
      {"bf16[1,2] {{0x1.02p+0, 1}}", "f32[2,1] {{1}, {-0x1.04p+0}}", "bf16[1,2] {{0x1.02p+0, 1}}", "f32[] 1"},
      "f32[1,1] {{0x1p-14}}", ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
}

}  // namespace
}  // namespace assay
