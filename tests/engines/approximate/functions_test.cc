// The approximate functions within the bounds that they state, on every instruction set with the same bits;
// the oracle is the exact engine's functions (tools/prove compared those with MPFR, and
// these with those on every float). Fusions and single instructions that use them pass the cross-check,
// and broken ones don't.
#include "engines/approximate/functions.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "engines/native/functions/functions.h"
#include "fmt/format.h"
#include "prove/approximate.h"
#include "prove/functions.h"
#include "run/engine_list.h"
#include "tests/engines/approximate/bounds_testing.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

using approximate::ApproximateFunction;

std::vector<Isa> VectorIsas() {
  std::vector<Isa> isas = MachineIsas();
  isas.erase(isas.begin());
  if (isas.empty()) WARN("skipped: no AVX2");
  return isas;
}

std::vector<uint64_t> Run(ElementwiseFn f, ElementType type, const std::vector<uint64_t>& patterns) {
  const int64_t bytes = Bytes(type), n = std::ssize(patterns);
  std::vector<std::byte> x(static_cast<size_t>(n * bytes)), y(x.size());
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(&x[static_cast<size_t>(i * bytes)], &patterns[static_cast<size_t>(i)], bytes);
  const std::byte* in = x.data();
  f(n, &in, y.data());
  std::vector<uint64_t> results(patterns.size());
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(&results[static_cast<size_t>(i)], &y[static_cast<size_t>(i * bytes)], bytes);
  return results;
}

std::vector<uint64_t> Right(const ApproximateFunction& row, const std::vector<uint64_t>& patterns) {
  std::vector<uint64_t> right(patterns.size());
  if (row.type == ElementType::kF64) {
    prove::Oracle oracle;
    for (size_t i = 0; i < right.size(); ++i)
      right[i] =
          oracle.WantDouble(*prove::FindFunction1(Name(row.opcode)), std::bit_cast<double>(patterns[i]));
    return right;
  }
  for (size_t i = 0; i < right.size(); ++i) {
    double x = LoadElement(row.type, reinterpret_cast<const std::byte*>(&patterns[i])).r;
    native::ApplyFunction(*native::FindFunction(row.opcode), MachineIsa(), *Info(row.type).format, 1, &x,
                          nullptr, &x);
    StoreElement(row.type, {.kind = ComputeKind::kReal, .r = x}, reinterpret_cast<std::byte*>(&right[i]));
  }
  return right;
}

void CheckRow(size_t k, const std::vector<uint64_t>& patterns) {
  const ApproximateFunction& row = approximate::ApproximateFunctions(Isa::kAvx2)[k];
  const std::vector<uint64_t> right = Right(row, patterns), first = Run(row.stored, row.type, patterns);
  for (const Isa isa : VectorIsas()) {
    const ApproximateFunction& of_isa = approximate::ApproximateFunctions(isa)[k];
    CAPTURE(Name(row.opcode), Name(row.type), static_cast<int>(isa));
    REQUIRE((of_isa.opcode == row.opcode && of_isa.type == row.type && of_isa.ulps == row.ulps));
    const std::vector<uint64_t> got = Run(of_isa.stored, row.type, patterns);
    CHECK(got == first);
    int64_t wrong = 0;
    uint64_t pattern = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (prove::PatternDistance(row.type, got[i], right[i]) <= row.ulps) continue;
      ++wrong;
      pattern = patterns[i];
    }
    CAPTURE(pattern);
    CHECK(wrong == 0);
  }
}

template <typename Check>
void ForRows(ElementType type, Check check) {
  if (VectorIsas().empty()) return;
  const auto rows = approximate::ApproximateFunctions(Isa::kAvx2);
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k].type == type) check(k);
  }
}

TEST_CASE("approximate functions: every f16 and bf16 within the bound", "[approximate]") {
  std::vector<uint64_t> all;
  for (uint64_t pattern = 0; pattern < 1 << 16; ++pattern) all.push_back(pattern);
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16})
    ForRows(type, [&](size_t k) { CheckRow(k, all); });
}

TEST_CASE("approximate functions: f32 values spread over the range, and special ones, within the bound",
          "[approximate]") {
  std::vector<uint64_t> some;
  for (uint64_t pattern = 0; pattern < uint64_t{1} << 32; pattern += 65521) some.push_back(pattern);
  for (uint64_t e = 0; e < 1 << 9; ++e) {
    for (uint64_t d = 0; d < 7; ++d) some.push_back(((e << 23) + d - 3) & 0xffffffff);
  }
  for (const float limit : {88.72284f, -103.972084f, 89.0f, -104.0f, -87.33655f, 9.010913f, 3.9192059f,
                            -17.32868f, 0.70710678f, 1.41421356f, 0x1p-126f}) {
    for (uint32_t d = 0; d < 100; ++d) some.push_back(std::bit_cast<uint32_t>(limit) - 50 + d);
  }
  ForRows(ElementType::kF32, [&](size_t k) { CheckRow(k, some); });
}

TEST_CASE("approximate functions: f64 values within the bound", "[approximate]") {
  std::vector<uint64_t> some;
  for (uint64_t e = 0; e < 1 << 12; ++e) {
    for (uint64_t d = 0; d < 3; ++d) some.push_back((e << 52) + d - 1);
  }
  std::mt19937_64 random(8);
  for (int i = 0; i < 5000; ++i) {
    some.push_back(random());
    for (const int scale : {-63, -60, -54})
      some.push_back(
          std::bit_cast<uint64_t>(std::ldexp(static_cast<double>(static_cast<int64_t>(random())), scale)));
  }
  for (const double limit : {-745.2, -708.4, 709.79}) {
    for (int i = -100; i < 100; ++i) some.push_back(std::bit_cast<uint64_t>(limit + i * 0.01));
  }
  ForRows(ElementType::kF64, [&](size_t k) { CheckRow(k, some); });
}

TEST_CASE(
    "approximate functions: of every short length, in place, streamed, and with nothing written outside",
    "[approximate]") {
  for (const Isa isa : VectorIsas()) {
    for (const ApproximateFunction& row : approximate::ApproximateFunctions(isa)) {
      const int64_t bytes = Bytes(row.type);
      std::vector<std::byte> x(static_cast<size_t>(67 * bytes));
      for (int64_t i = 0; i < 67; ++i)
        StoreElement(row.type,
                     {.kind = ComputeKind::kReal,
                      .r = RoundToFormat(0.37 * static_cast<double>(i) - 4, *Info(row.type).format)},
                     &x[static_cast<size_t>(i * bytes)]);
      for (int64_t n = 0; n <= 67; ++n) {
        std::vector<std::byte> strip = x, want = x;
        const std::byte* in = strip.data();
        row.stored(n, &in, strip.data());
        for (int64_t i = 0; i < n; ++i) {
          const std::byte* one = &x[static_cast<size_t>(i * bytes)];
          row.stored(1, &one, &want[static_cast<size_t>(i * bytes)]);
        }
        CAPTURE(Name(row.opcode), Name(row.type), static_cast<int>(isa), n);
        CHECK(strip == want);
        if (row.streamed == nullptr) continue;
        alignas(64) std::byte streamed[80 * 8];
        std::copy(x.begin(), x.end(), streamed);
        in = x.data();
        row.streamed(n, &in, streamed);
        CHECK(std::equal(want.begin(), want.end(), streamed));
      }
    }
  }
}

Plan FastPlan(const std::string& body, Isa isa = MachineIsa()) {
  return PlanBy(EnginesOf(EngineChoice::kFast, isa), body);
}

const Step& RootStep(const Plan& plan) { return plan.computations.back().steps.back(); }

const std::string kChain =
    R"(x = f32[14001] parameter(0)
y = f32[14001] parameter(1)
e = f32[14001] exponential(x)
l = f32[14001] log(y)
p = f32[14001] multiply(e, l)
t = f32[14001] tanh(p)
ROOT out = f32[14001] subtract(t, x))";
const std::string kSingle = R"(x = f32[5001] parameter(0)
ROOT out = f32[5001] exponential(x))";

TEST_CASE("approximate functions: fusions and single instructions take them and pass the cross-check",
          "[approximate]") {
  if (VectorIsas().empty()) return;
  for (const std::string& body : {kChain, kSingle, std::string(R"(x = bf16[3000] parameter(0)
ROOT out = bf16[3000] tanh(x))"),
                                  std::string(R"(x = f16[100,330] parameter(0)
a = f16[100,330] logistic(x)
ROOT out = f16[100,330] multiply(a, x))")}) {
    for (const Isa isa : VectorIsas()) {
      const Plan plan = FastPlan(body, isa);
      REQUIRE(RootStep(plan).kernel != nullptr);
      CHECK(&RootStep(plan).kernel->accuracy() == &ByMembers());
      for (Draw draw : {Draw::kNormal, Draw::kWide, Draw::kSmall, Draw::kSpecials}) {
        const std::vector<Literal> arguments = DrawnArguments(plan, draw, 5);
        std::vector<Literal> results;
        for (int jobs : {1, 2, 7}) {
          const Crosscheck crosscheck = jobs == 2 ? Crosscheck::kFull : Crosscheck::kOff;
          Executor executor(plan, {.jobs = jobs, .crosscheck = crosscheck});
          const absl::StatusOr<Literal> result = executor.Run(arguments);
          INFO(body << "\ndraw " << static_cast<int>(draw) << ": " << result.status().message());
          REQUIRE(result.ok());
          CHECK(executor.statistics().crosschecked == (jobs == 2 ? 1 : 0));
          results.push_back(*result);
        }
        CHECK(
            (Literal::BitwiseEqual(results[0], results[1]) && Literal::BitwiseEqual(results[0], results[2])));
      }
    }
  }
}

TEST_CASE("approximate functions: none of another accuracy, few elements, other types, or without AVX2",
          "[approximate]") {
  const auto is_exact = [](const std::string& body, Isa isa = MachineIsa()) {
    const Plan plan = FastPlan(body, isa);
    REQUIRE(RootStep(plan).kernel != nullptr);
    return &RootStep(plan).kernel->accuracy() == &BitExact();
  };
  const std::string exact =
      R"(x = f32[{0}] parameter(0)
ROOT out = f32[{0}] exponential(x), result_accuracy={{mode=highest}})";
  for (const int n : {5001, 70000}) CHECK(is_exact(fmt::format(fmt::runtime(exact), n)));
  CHECK(is_exact(R"(x = f32[1000] parameter(0)
ROOT out = f32[1000] exponential(x))"));
  CHECK(is_exact(R"(x = f32[5000] parameter(0)
ROOT out = f32[5000] sine(x))"));
  CHECK(is_exact(kSingle, Isa::kBaseline));
}

// e^x with a coefficient that is wrong: by 2^-19, relatively.
void WrongExp(int64_t n, const std::byte* const* in, std::byte* out) {
  const ApproximateFunction& row = approximate::ApproximateFunctions(Isa::kAvx2)[0];
  REQUIRE(row.opcode == Opcode::kExp);
  row.stored(n, in, out);
  for (int64_t i = 0; i < n; ++i) {
    float y;
    std::memcpy(&y, out + 4 * i, 4);
    y *= 1 + 0x1p-19f;
    std::memcpy(out + 4 * i, &y, 4);
  }
}

// A kernel whose exp is another function, which it states, or whose results are not what its functions give.
class WrongKernel final : public Kernel {
 public:
  WrongKernel(std::shared_ptr<const Kernel> kernel, bool function)
      : kernel_(std::move(kernel)), function_(function) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, kernel_->Run(context, operands));
    if (!function_) {
      for (size_t i = 0; i < result.bytes().size(); i += 4) result.MutableBytes()[i] ^= std::byte{1};
    }
    return result;
  }
  const Accuracy& accuracy() const override { return ByMembers(); }
  Approximation ApproximationOf(const Instruction& member) const override {
    const Approximation right = kernel_->ApproximationOf(member);
    const bool is_wrong = function_ && member.opcode == Opcode::kExp;
    return is_wrong ? Approximation{WrongExp, right.accuracy} : right;
  }

 private:
  const std::shared_ptr<const Kernel> kernel_;
  const bool function_;
};

TEST_CASE("approximate functions: a wrong polynomial and a wrong loop are found, also by a sample",
          "[approximate][crosscheck]") {
  if (VectorIsas().empty()) return;
  for (const std::string& body : {kChain, kSingle}) {
    for (const bool function : {true, false}) {
      Plan plan = FastPlan(body);
      Step& step = plan.computations.back().steps.back();
      step.kernel = std::make_shared<WrongKernel>(step.kernel, function);
      for (Crosscheck crosscheck : {Crosscheck::kSample, Crosscheck::kFull}) {
        Executor executor(plan, {.jobs = 1, .crosscheck = crosscheck});
        const absl::Status status = executor.Run(DrawnArguments(plan, Draw::kNormal, 5)).status();
        CHECK(ExitCodeOf(status) == 1);
        CHECK_THAT(std::string(status.message()),
                   Catch::Contains("differs from the reference") &&
                       Catch::Contains(function ? "allowed 1 ulp" : "compared elements wrong"));
      }
    }
  }
}

TEST_CASE("approximate functions: the prover finds a result that is too far away, and another bit of a NaN",
          "[approximate][prove]") {
  if (VectorIsas().empty()) return;
  const ElementType f32 = ElementType::kF32;
  CHECK(prove::PatternDistance(f32, 0x7f7fffff, 0x7f800000) == 1);
  CHECK(prove::PatternDistance(f32, 0, 0x80000000) == INT64_MAX);
  CHECK(prove::PatternDistance(f32, 0x7fc00000, 0x7f800000) == INT64_MAX);
  CHECK(prove::PatternDistance(f32, 0x7fc00000, 0x7fc00000) == 0);
  CHECK(prove::PatternDistance(f32, 0x3f800000, 0x3f7ffffe) == 2);
  ApproximateFunction row = approximate::ApproximateFunctions(Isa::kAvx2)[0];
  CHECK(prove::ProveApproximatePatterns(row, 0x3f800000, 1 << 12).wrong == 0);
  row.ulps = 0;
  CHECK(prove::ProveApproximatePatterns(row, 0x3f800000, 1 << 12).wrong > 10);
}

}  // namespace
}  // namespace assay::testing
