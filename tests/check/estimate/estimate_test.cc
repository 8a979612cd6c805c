// Estimates where bounds end: sampled backends, whose spreads are worked out by hand.
#include "check/estimate/estimate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "check/estimate/mover.h"
#include "check/estimate/sample_program.h"
#include "literal/leaves.h"

namespace assay::testing {
namespace {

constexpr double kUlp = 0x1p-23;  // of f32 numbers in [1, 2)

struct Loaded {
  Program program;
  Profile profile;
};
Loaded LoadedFrom(const std::string& text, const std::string& more) {
  absl::StatusOr<Profile> profile = ParseProfile("test", "inherit strict\n" + more);
  INFO(profile.status());
  REQUIRE(profile.ok());
  absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  return {*std::move(program), *std::move(profile)};
}

// The values of the result's elements, by sample.
std::vector<std::vector<double>> Samples(const std::string& text, const std::vector<Literal>& arguments,
                                         const std::string& more = "", int64_t count = 32) {
  const Loaded loaded = LoadedFrom(text, more);
  absl::StatusOr<SampledProgram> made =
      SampleProgram(loaded.program.verified(), loaded.profile, SubnormalLeaves(arguments));
  INFO(made.status());
  REQUIRE(made.ok());
  std::vector<Literal> radii;
  if (!made->radii.entry_computation().root_instruction().shape->elements().empty()) {
    const absl::StatusOr<Program> exact = Program::OfModule(std::move(made->radii));
    INFO(exact.status());
    REQUIRE(exact.ok());
    absl::StatusOr<Literal> result = exact->Run(arguments, RunOptions(), EnginesOf());
    INFO(result.status());
    REQUIRE(result.ok());
    radii = std::move(*result).TakeElements();
  }
  const absl::StatusOr<Program> moved = Program::OfModule(std::move(made->module));
  INFO(moved.status());
  REQUIRE(moved.ok());
  std::vector<std::vector<double>> samples;
  for (int64_t seed = 0; seed < count; ++seed) {
    std::vector<Literal> given = arguments;
    given.push_back(Literal::ScalarInt(ElementType::kU32, KeyOfSeed(static_cast<uint64_t>(seed))));
    given.insert(given.end(), radii.begin(), radii.end());
    const absl::StatusOr<Literal> result = moved->Run(std::move(given), RunOptions(), EnginesOf());
    INFO(result.status());
    REQUIRE(result.ok());
    std::vector<double>& values = samples.emplace_back();
    for (int64_t i = 0; i < result->shape().num_elements(); ++i) values.push_back(result->GetDouble(i));
  }
  return samples;
}

// The result's bytes of one sample, on these engines.
std::string BytesOfSample(const std::string& text, const std::vector<Literal>& arguments,
                          const std::string& more, std::span<const Engine* const> engines) {
  const Loaded loaded = LoadedFrom(text, more);
  absl::StatusOr<SampledProgram> made = SampleProgram(loaded.program.verified(), loaded.profile, {});
  REQUIRE(made.ok());
  const absl::StatusOr<Program> exact = Program::OfModule(std::move(made->radii));
  REQUIRE(exact.ok());
  absl::StatusOr<Literal> radii = exact->Run(arguments, RunOptions(), engines);
  REQUIRE(radii.ok());
  std::vector<Literal> given = arguments;
  given.push_back(Literal::ScalarInt(ElementType::kU32, KeyOfSeed(3)));
  for (Literal& radius : std::move(*radii).TakeElements()) given.push_back(std::move(radius));
  const absl::StatusOr<Program> moved = Program::OfModule(std::move(made->module));
  REQUIRE(moved.ok());
  const absl::StatusOr<Literal> result = moved->Run(std::move(given), RunOptions(), engines);
  INFO(result.status());
  REQUIRE(result.ok());
  std::string bytes;
  for (const Literal& leaf : result->shape().IsTuple() ? LeavesOf(*result) : std::vector<Literal>{*result})
    bytes.append(reinterpret_cast<const char*>(leaf.data()), static_cast<size_t>(leaf.shape().num_bytes()));
  return bytes;
}

double SpreadOf(const std::vector<std::vector<double>>& samples, double exact) {
  double spread = 0;
  for (const std::vector<double>& sample : samples)
    for (const double value : sample) spread = std::max(spread, std::fabs(value - exact));
  return spread;
}

std::vector<BoundedOutput> Estimated(const std::string& text, const std::vector<Literal>& arguments,
                                     const std::string& more = "", int64_t count = 16) {
  const Loaded loaded = LoadedFrom(text, more);
  std::vector<DeviceInputs> inputs(1);
  inputs[0].arguments = arguments;
  absl::StatusOr<BoundedOutputs> bounded =
      RunWithBounds(loaded.program, loaded.profile, DeviceGrid{}, inputs, RunOptions());
  INFO(bounded.status());
  REQUIRE(bounded.ok());
  const absl::StatusOr<Estimates> estimates = AddSamples(
      loaded.program, loaded.profile, DeviceGrid{}, inputs[0], RunOptions(), {count, 1}, bounded->outputs);
  INFO(estimates.status());
  REQUIRE(estimates.ok());
  return bounded->outputs;
}

Literal Real(double value) { return Literal::ScalarDouble(ElementType::kF32, value); }

// The word for one element alone.
std::string WordOf(const BoundedOutput& output, const Literal& actual) {
  std::string word = "none";
  CompareToBounds(output, &actual, [&](const JudgedElement& element) {
    static constexpr const char* kWords[] = {"inside", "outside", "plausible", "implausible", "undecided"};
    word = kWords[static_cast<size_t>(element.verdict)];
  });
  return word;
}

constexpr char kAdd[] =
    "add { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b) }\n";
// x -> 3.9 x (1 - x), n times.
std::string LogisticMap(int turns) {
  return "body { s = (s32[], f32[]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
         "  x = f32[] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
         "  r = f32[] constant(3.9)\n  e = f32[] constant(1)\n  y = f32[] subtract(e, x)\n"
         "  xy = f32[] multiply(x, y)\n  z = f32[] multiply(r, xy)\n  ROOT t = (s32[], f32[]) tuple(j, z) }\n"
         "test { s = (s32[], f32[]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
         "  n = s32[] constant(" +
         std::to_string(turns) +
         ")\n  ROOT p = pred[] compare(i, n), direction=LT }\n"
         "ENTRY e { x = f32[] parameter(0)\n  zero = s32[] constant(0)\n  s = (s32[], f32[]) tuple(zero, x)\n"
         "  w = (s32[], f32[]) while(s), condition=test, body=body\n"
         "  ROOT r = f32[] get-tuple-element(w), index=1 }";
}

}  // namespace

TEST_CASE("samples: a function is off by its ulps, and by all of them", "[check][estimate]") {
  // exp(0) = 1 is off by 4 ulps and half of one, by which it is rounded.
  const char kText[] = "ENTRY e { x = f32[64] parameter(0)\n  ROOT y = f32[64] exponential(x) }";
  const Literal zeros = *Literal::Make(Shape::ArrayOrDie(ElementType::kF32, {{64}}));
  const double spread = SpreadOf(Samples(kText, {zeros}, "ulps exponential f32 4\n"), 1);
  CHECK(spread <= 5.5 * kUlp);
  CHECK(spread >= 3.5 * kUlp);
}

TEST_CASE("samples: a sum is off by the root of its terms", "[check][estimate]") {
  // 64 ones and the start value: 8.06 2^-24 of 64, and what it is rounded by; all 65 would be 65 2^-24 of it.
  const std::string text = std::string(kAdd) + R"(ENTRY e { x = f32[32,64] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[32] reduce(x, zero), dimensions={1}, to_apply=add })";
  const Literal ones = Literal::FromDoubles(ElementType::kF32, {{32, 64}}, std::vector<double>(2048, 1));
  const double spread = SpreadOf(Samples(text, {ones}), 64) / 64;
  CHECK(spread <= 6 * kUlp);
  CHECK(spread >= 3 * kUlp);
}

TEST_CASE("samples: operands of dots are cut to the profile's bits", "[check][estimate]") {
  // Of 11 bits the unit is 2^-10: two operands are off by it.
  const char kText[] = R"(ENTRY e { x = f32[64,1] parameter(0)
  ROOT d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1} })";
  const Literal ones = Literal::FromDoubles(ElementType::kF32, {{64, 1}}, std::vector<double>(64, 1));
  CHECK(SpreadOf(Samples(kText, {ones}), 1) <= 2 * kUlp);
  const double spread = SpreadOf(Samples(kText, {ones}, "dot_input_bits f32 11\n"), 1);
  CHECK(spread <= 2.1 * 0x1p-10);
  CHECK(spread >= 1.2 * 0x1p-10);
}

TEST_CASE("samples: what is exact stays so", "[check][estimate]") {
  // 3 x and x + 1 are numbers of the type, though a product may be kept unrounded.
  const char kText[] = R"(ENTRY e { x = f32[] parameter(0)
  three = f32[] constant(3)
  p = f32[] multiply(x, three)
  one = f32[] constant(1)
  s = f32[] add(p, one)
  ROOT f = f32[] floor(s) })";
  for (const std::vector<double>& sample : Samples(kText, {Real(5)}, "contracts yes\n"))
    CHECK(sample[0] == 16);
  // A third is none: its product with 3 is rounded up or down.
  std::set<double> seen;
  for (const std::vector<double>& sample :
       Samples("ENTRY e { x = f32[] parameter(0)\n  ROOT p = f32[] multiply(x, x) }", {Real(1.0 / 3)},
               "contracts yes\n"))
    seen.insert(sample[0]);
  CHECK(seen.size() == 2);
}

TEST_CASE("samples: subnormal numbers are flushed in some samples", "[check][estimate]") {
  const char kText[] = "ENTRY e { x = f32[] parameter(0)\n  ROOT n = f32[] negate(x) }";
  std::set<double> seen;
  for (const std::vector<double>& sample : Samples(kText, {Real(-0x1p-130)}, "flushes_subnormals f32\n"))
    seen.insert(sample[0]);
  CHECK(seen == std::set<double>{0, 0x1p-130});
}

TEST_CASE("samples: a moved product is the number above or below the real one", "[check][estimate]") {
  // Products of 24-bit numbers, in f64 exact: of f32, f16 and bf16. 1 + 2^-23 squared is next to 1 + 2^-22,
  // and the numbers just below a power of two are half as far apart.
  std::vector<double> x;
  for (int k = 0; k < 4000; ++k) x.push_back(1 + std::fmod(k * 0.6180339887498949, 1));
  x[0] = 1 + 0x1p-23, x[1] = 2 - 0x1p-23;
  for (const auto& [type, bits] : {std::pair("f32", 23), std::pair("f16", 10), std::pair("bf16", 7)}) {
    INFO(type);
    const ElementType of = *ElementTypeFromName(type);
    const Literal given = Literal::FromDoubles(of, {{4000}}, x);
    const std::string t = std::string(type) + "[4000]";
    const std::vector<std::vector<double>> samples =
        Samples("ENTRY e { x = " + t + " parameter(0)\n  ROOT p = " + t + " multiply(x, x) }", {given},
                "keeps_precision f32 f16 bf16\n", 8);
    std::vector<int> above(4000), below(4000);
    for (const std::vector<double>& sample : samples) {
      for (size_t i = 0; i < x.size(); ++i) {
        const double real =
            given.GetDouble(static_cast<int64_t>(i)) * given.GetDouble(static_cast<int64_t>(i));
        const double ulp = std::ldexp(1, std::ilogb(real) - bits), low = std::floor(real / ulp) * ulp;
        REQUIRE((sample[i] == low || (sample[i] == low + ulp && real != low)));
        (sample[i] == low ? below : above)[i]++;
      }
    }
    // Most are seen on both sides in eight samples.
    const auto both = std::count_if(x.begin(), x.end(), [&](const double& one) {
      const size_t i = static_cast<size_t>(&one - x.data());
      return above[i] > 0 && below[i] > 0;
    });
    CHECK(both > 2000);
  }
}

TEST_CASE("samples: products that nothing adds stay as they are rounded", "[check][estimate]") {
  const std::string product = "ENTRY e { x = f32[] parameter(0)\n  p = f32[] multiply(x, x)\n";
  const auto count = [&](const std::string& rest) {
    std::set<double> seen;
    for (const std::vector<double>& sample :
         Samples(product + rest + " }", {Real(1.0 / 3)}, "contracts yes\n"))
      seen.insert(sample[0]);
    return seen.size();
  };
  CHECK(count("  ROOT r = f32[] sqrt(p)") == 1);
  CHECK(count("  ROOT r = f32[] add(p, x)") == 2);
  CHECK(count("  n = f32[] negate(p)\n  ROOT r = f32[] subtract(x, n)") == 2);
}

TEST_CASE("samples: every engine has the same bits, and a chain is one kernel", "[check][estimate]") {
  const char kText[] = R"(ENTRY e { x = f32[3,700] parameter(0)
  d = f64[3,700] convert(x)
  h = bf16[3,700] convert(x)
  a = f32[3,700] tanh(x)
  b = f32[3,700] multiply(a, x)
  c = f32[3,700] add(b, a)
  e = f64[3,700] exponential(d)
  f = f64[3,700] multiply(e, d)
  s = f64[3,700] subtract(f, e)
  g = bf16[3,700] multiply(h, h)
  p = bf16[3,700] add(g, h)
  z = c64[3,700] complex(x, a)
  w = c64[3,700] multiply(z, z)
  q = f32[3,3] dot(x, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = (f32[3,700], f64[3,700], bf16[3,700], c64[3,700], f32[3,3]) tuple(c, s, p, w, q) })";
  const std::string more =
      "contracts yes\nkeeps_precision bf16\nulps * * 3\nulps add * 0.5\nulps multiply f32 0.5\n"
      "ulps multiply f64 0.5\nulps multiply bf16 0.5\nflushes_subnormals f32\ndot_input_bits f32 11\n";
  std::vector<double> values;
  for (int k = 0; k < 2100; ++k)
    values.push_back(std::ldexp(1 + k % 7 / 7.0, k % 40 - 30) * (k % 2 ? 1 : -1));
  values[5] = INFINITY, values[6] = NAN, values[7] = 0x1p-140, values[8] = 0;
  const std::vector<Literal> x = {Literal::FromDoubles(ElementType::kF32, {{3, 700}}, values)};
  const std::string exact = BytesOfSample(kText, x, more, EnginesOf());
  CHECK(exact == BytesOfSample(kText, x, more, EnginesOf(EngineChoice::kReference)));
  CHECK(exact == BytesOfSample(kText, x, more, EnginesOf(EngineChoice::kExact, Isa::kBaseline)));
  // Two functions and a sum, and what moves them.
  const Loaded chain = LoadedFrom(
      "ENTRY e { x = f32[3,700] parameter(0)\n  a = f32[3,700] tanh(x)\n  b = f32[3,700] exponential(a)\n"
      "  ROOT c = f32[3,700] add(b, a) }",
      "ulps * * 3\n");
  absl::StatusOr<SampledProgram> made = SampleProgram(chain.program.verified(), chain.profile, {});
  REQUIRE(made.ok());
  const absl::StatusOr<Program> moved = Program::OfModule(std::move(made->module));
  REQUIRE(moved.ok());
  const std::shared_ptr<const Plan> plan = *moved->PlanFor(EnginesOf());
  int64_t steps = 0;
  for (const Step& step : plan->computations.back().steps) steps += step.fusion != nullptr;
  CHECK(steps == 1);
}

TEST_CASE("samples: calls, branches and loops hand the seed on", "[check][estimate]") {
  // Logarithms of 2 in a fusion, a branch and a loop of one turn: all are off, by 8 ulps and half of one.
  const char kText[] = R"(f { a = f32[] parameter(0)
  ROOT l = f32[] log(a) }
yes { a = f32[] parameter(0)
  ROOT l = f32[] log(a) }
no { a = f32[] parameter(0)
  ROOT n = f32[] negate(a) }
body { s = (pred[], f32[]) parameter(0)
  v = f32[] get-tuple-element(s), index=1
  l = f32[] log(v)
  off = pred[] constant(false)
  ROOT t = (pred[], f32[]) tuple(off, l) }
test { s = (pred[], f32[]) parameter(0)
  ROOT p = pred[] get-tuple-element(s), index=0 }
ENTRY e { x = f32[] parameter(0)
  on = pred[] constant(true)
  a = f32[] fusion(x), kind=kLoop, calls=f
  b = f32[] conditional(on, x, x), true_computation=yes, false_computation=no
  s = (pred[], f32[]) tuple(on, x)
  w = (pred[], f32[]) while(s), condition=test, body=body
  c = f32[] get-tuple-element(w), index=1
  ba = f32[1] reshape(a)
  bb = f32[1] reshape(b)
  bc = f32[1] reshape(c)
  ROOT r = f32[3] concatenate(ba, bb, bc), dimensions={0} })";
  std::set<double> seen[3];
  for (const std::vector<double>& sample : Samples(kText, {Real(2)}, "ulps log f32 8\n")) {
    for (size_t k = 0; k < 3; ++k) {
      CHECK(std::fabs(sample[k] - std::log(2)) <= 9 * kUlp * std::log(2));
      seen[k].insert(sample[k]);
    }
  }
  for (const std::set<double>& values : seen) CHECK(values.size() > 4);
}

// w = x, a matrix of one element, by an operation without a rule.
const char kEigenvalue[] = R"(  c = (f32[1], f32[1], c64[1,1], c64[1,1], s32[]) custom-call(x),
    custom_call_target="lapack_sgeev_ffi", api_version=API_VERSION_TYPED_FFI,
    backend_config={compute_left = 78 : ui8, compute_right = 78 : ui8}
  w = f32[1] get-tuple-element(c), index=0
)";

TEST_CASE("estimate: an op without a rule, by the ulps of the profile", "[check][estimate]") {
  // The eigenvalue of 2 (1 + 4 e), off by 4 e of its own: 8 ulps of 2, and what is rounded twice.
  const std::string text =
      std::string("ENTRY e { x = f32[1,1] parameter(0)\n") + kEigenvalue + "  ROOT r = f32[] reshape(w) }";
  const Literal two = Literal::FromDoubles(ElementType::kF32, {{1, 1}}, {{2}});
  const BoundedOutput output = Estimated(text, {two}, "ulps * * 4\n")[0];
  const Literal exact = Real(2);
  const Conformance judged = CompareToBounds(output, &exact);
  CHECK(judged.plausible == 1);
  CHECK(judged.largest_spread <= 10 * 2 * kUlp);
  CHECK(judged.largest_spread >= 2 * 2 * kUlp);
  CHECK(WordOf(output, Real(2 + 8 * 2 * kUlp)) == "plausible");
  CHECK(WordOf(output, Real(2.001)) == "implausible");
  CHECK(WordOf(output, Real(-2)) == "implausible");
  CHECK(WordOf(output, Real(std::nan(""))) == "implausible");
  CHECK(WordOf(output, Real(INFINITY)) == "implausible");
  const Literal wrong = Real(2.02);
  CHECK_FALSE(CompareToBounds(output, &wrong).ok());
  CHECK(CompareToBounds(output, &wrong).ok(true));
  // No samples: nothing is said.
  CHECK(WordOf(Estimated(text, {two}, "", 0)[0], Real(-2)) == "undecided");
}

TEST_CASE("estimate: NaN and infinities are plausible where samples have them", "[check][estimate]") {
  // 1 + 2 + 3 - 6 is 0, or a little more or less: its logarithm is -inf, a number or NaN.
  const std::string text = std::string(kAdd) + R"(ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  ROOT l = f32[] log(sum) })";
  const Literal x = Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, -6}});
  const BoundedOutput output = Estimated(text, {x}, "", 32)[0];
  CHECK(WordOf(output, Real(std::nan(""))) == "plausible");
  CHECK(WordOf(output, Real(-INFINITY)) == "plausible");
  CHECK(WordOf(output, Real(INFINITY)) == "implausible");
  CHECK(WordOf(output, Real(1000)) == "implausible");
}

TEST_CASE("estimate: integers are among those that were seen", "[check][estimate]") {
  // The eigenvalue of 3 is 3, or less.
  const std::string text = std::string("ENTRY e { x = f32[1,1] parameter(0)\n") + kEigenvalue +
                           "  s = f32[] reshape(w)\n  ROOT i = s32[] convert(s) }";
  const Literal three = Literal::FromDoubles(ElementType::kF32, {{1, 1}}, {{3}});
  const BoundedOutput output = Estimated(text, {three}, "ulps * * 4\n")[0];
  for (const auto& [value, word] : {std::pair(3, "plausible"), std::pair(2, "plausible"),
                                    std::pair(4, "implausible"), std::pair(1, "implausible")})
    CHECK(WordOf(output, Literal::ScalarInt(ElementType::kS32, value)) == word);
}

TEST_CASE("estimate: a chaotic loop is undecided, a short one is not", "[check][estimate]") {
  const BoundedOutput chaotic = Estimated(LogisticMap(200), {Real(0.3)}, "contracts yes\n")[0];
  CHECK(WordOf(chaotic, chaotic.exact) == "undecided");
  CHECK(WordOf(chaotic, Real(0.5)) == "undecided");
  CHECK(WordOf(chaotic, Real(1000)) == "implausible");
  CHECK(WordOf(chaotic, Real(std::nan(""))) == "implausible");
  // After 20 turns the interval is all of f32, where an error of half an ulp has grown to some 0.005 (the
  // same loop in NumPy).
  const BoundedOutput early = Estimated(LogisticMap(20), {Real(0.3)}, "contracts yes\n")[0];
  CHECK(WordOf(early, early.exact) == "plausible");
  CHECK(WordOf(early, Real(0.8)) == "plausible");
  CHECK(WordOf(early, Real(0.3)) == "implausible");
}

}  // namespace assay::testing
