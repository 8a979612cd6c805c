// First-order forms of loops with a small state: radii worked out by hand, where errors shrink or turn.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "fmt/format.h"
#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

const double kUnitOfForms = std::ldexp(1, -24);  // u
constexpr char kStored[] = "stores_loop_state yes\n";
// Each result is off by an ulp, 2 u, and ours by u.
constexpr char kOneUlp[] = "stores_loop_state yes\nulps * * 1\n";
const double kError = 3 * kUnitOfForms;  // e

// A loop over a state x of n numbers, and a matrix m that stays, which are made of the arguments.
std::string LoopOf(int64_t n, int iterations, const std::string& step, const std::string& more = "",
                   const std::string& vector = "copy(x)", const std::string& matrix = "copy(m)") {
  return fmt::format(
      R"({3}
body {{ s = (s32[], f32[{0}], f32[{0},{0}]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[{0}] get-tuple-element(s), index=1
  m = f32[{0},{0}] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
{2}
  ROOT t = (s32[], f32[{0}], f32[{0},{0}]) tuple(j, y, m) }}
test {{ s = (s32[], f32[{0}], f32[{0},{0}]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({1})
  ROOT p = pred[] compare(i, n), direction=LT }}
ENTRY e {{ x = f32[{0}] parameter(0)
  m = f32[{0},{0}] parameter(1)
  z = s32[] constant(0)
  v = f32[{0}] {4}
  k = f32[{0},{0}] {5}
  t = (s32[], f32[{0}], f32[{0},{0}]) tuple(z, v, k)
  l = (s32[], f32[{0}], f32[{0},{0}]) while(t), condition=test, body=body
  ROOT r = f32[{0}] get-tuple-element(l), index=1 }})",
      n, iterations, step, more, vector, matrix);
}

// The first output with forms of all loops, also where bounds without them decide all.
BoundedOutput BoundedByForms(const std::string& text, std::vector<Literal> arguments,
                             const std::string& more) {
  const absl::StatusOr<Profile> profile = ParseProfile("test", "inherit strict\n" + more);
  REQUIRE(profile.ok());
  const absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  LoopSet loops;
  for (const Computation& computation : program->module().computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == Opcode::kWhile) loops.insert(&instruction);
    }
  }
  std::vector<DeviceInputs> inputs(1);
  inputs[0].arguments = std::move(arguments);
  const absl::StatusOr<PlannedBounds> bounds =
      PlanBounds(*program, *profile, SubnormalLeaves(inputs[0].arguments), EnginesOf(), loops);
  INFO(bounds.status());
  REQUIRE(bounds.ok());
  const absl::StatusOr<std::vector<BoundedOutput>> outputs =
      RunBounds(*bounds, DeviceGrid{}, std::move(inputs), RunOptions());
  REQUIRE(outputs.ok());
  return (*outputs)[0];
}

std::vector<double> RadiiByForms(const std::string& text, std::vector<Literal> arguments,
                                 const std::string& more) {
  return RadiiOf(BoundedByForms(text, std::move(arguments), more));
}

Literal Vector(std::vector<double> numbers) {
  const auto n = static_cast<int64_t>(numbers.size());
  return Literal::FromDoubles(ElementType::kF32, {{n}}, numbers);
}

Literal Square(std::vector<double> numbers) {
  const auto n = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(numbers.size()))));
  return Literal::FromDoubles(ElementType::kF32, {{n, n}}, numbers);
}

}  // namespace

// h = x / 2, w = h + h, v = w / 2 and y = x - v: an error d of x becomes d - d / 2 of y = x / 2, where two
// independent values would make it 3 d / 2. Of each result the backend's rounding and ours are e times its
// magnitude: e x / 2 of h, which w doubles, e x of w, which v halves, e x / 2 of v and of y: together 2 e x =
// 4 e y. Each x is half of the one before, and so are errors: after n iterations r = 4 n e |x|.
TEST_CASE("loop forms: an error that shrinks", "[check][bounds]") {
  const std::string step = R"(  half = f32[] constant(0.5)
  halves = f32[1] broadcast(half), dimensions={}
  h = f32[1] multiply(x, halves)
  w = f32[1] add(h, h)
  v = f32[1] multiply(w, halves)
  y = f32[1] subtract(x, v))";
  for (const int n : {4, 40}) {
    const double r = RadiiByForms(LoopOf(1, n, step), {Vector({1}), Square({1})}, kOneUlp)[0];
    CHECK(std::ldexp(r, n) == Approx(4 * n * kError).epsilon(1e-3));
  }
}

// A rotation by 45 degrees turns errors and keeps their length. Each iteration makes an error of at most 4
// u an element: a sum of two terms, 2 u sum |m| |x| <= 2 u, and two roundings of what is at most 1. Its
// length is at most sqrt(2) 4 u, which is what an element can be off by later. The symbols of 16 iterations
// are kept; then a box is made of what is left of them, by which they grow by sqrt(2) at most, once within
// 32 iterations. Radii alone grow by sqrt(2) an iteration, to 2^16 times the first one after 32.
TEST_CASE("loop forms: an error that turns", "[check][bounds]") {
  const double s = static_cast<float>(std::sqrt(0.5));
  const std::string step = "  y = f32[2] dot(m, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const std::vector<double> radii =
      RadiiByForms(LoopOf(2, 32, step), {Vector({1, 0}), Square({s, -s, s, s})}, kStored);
  for (const double r : radii) {
    CHECK(r <= std::sqrt(2) * std::sqrt(2) * 4 * 32 * kUnitOfForms);
    CHECK(r >= 32 * kUnitOfForms);
  }
}

// The same through a call, of the state's halves put together again: forms pass calls and moves.
TEST_CASE("loop forms: calls and moves", "[check][bounds]") {
  const double s = static_cast<float>(std::sqrt(0.5));
  const std::string plain = "  y = f32[2] dot(m, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const std::string moved = R"(  a = f32[1] slice(x), slice={[0:1]}
  b = f32[1] slice(x), slice={[1:2]}
  c = f32[2] concatenate(a, b), dimensions={0}
  d = f32[1,2] reshape(c)
  f = f32[2,1] transpose(d), dimensions={1,0}
  g = f32[2] reshape(f)
  q = f32[2,1] dot(m, f), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[2] reshape(q))";
  const std::string called = "  y = f32[2] call(m, x), to_apply=turned";
  const std::string callee = R"(turned { m = f32[2,2] parameter(0)
  x = f32[2] parameter(1)
  ROOT y = f32[2] dot(m, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} })";
  const std::vector<Literal> arguments = {Vector({1, 0}), Square({s, -s, s, s})};
  const std::vector<double> expected = RadiiByForms(LoopOf(2, 20, plain), arguments, kStored);
  const std::vector<double> of_moved = RadiiByForms(LoopOf(2, 20, moved), arguments, kStored);
  const std::vector<double> of_called = RadiiByForms(LoopOf(2, 20, called, callee), arguments, kStored);
  for (size_t k = 0; k < 2; ++k) {
    CHECK(expected[k] <= 2 * 4 * 20 * kUnitOfForms);
    CHECK(of_moved[k] == Approx(expected[k]).epsilon(1e-4));
    CHECK(of_called[k] == Approx(expected[k]).epsilon(1e-4));
  }
}

// A compiler may compute w = 3 x / 4 once for each of its two readers, and round it differently: w - w is
// off by 2 e |w| = 3/2 e |x|, and its sum with x by e |x| more. As a number that both readers have w would
// cancel itself. What is off of x does so.
TEST_CASE("loop forms: readers may have a value rounded differently", "[check][bounds]") {
  const std::string step = R"(  quarters = f32[] constant(0.75)
  c = f32[1] broadcast(quarters), dimensions={}
  w = f32[1] multiply(x, c)
  d = f32[1] subtract(w, w)
  y = f32[1] add(x, d))";
  const double r = RadiiByForms(LoopOf(1, 20, step), {Vector({1}), Square({1})}, kOneUlp)[0];
  CHECK(r == Approx(2.5 * 20 * kError).epsilon(1e-3));
}

// y = 3/4 (x + (x - x)), whose own errors are 2 e |y|. The state of a loop is one number for its readers only
// where a profile says that it is stored, else errors triple beside x in each iteration. Of a stored state
// each of the three reads may have a product unrounded (half an ulp, which is 2 u |x| at most), but in the
// first iteration, or zero for a subnormal number, m = 2^-126. Errors of v are then 3 m and m for the
// difference and the sum, of y 3/4 (5 m) + m, and 4 times that when as much has come as has shrunk.
TEST_CASE("loop forms: readers of a loop's state", "[check][bounds]") {
  const std::string step = R"(  quarters = f32[] constant(0.75)
  c = f32[1] broadcast(quarters), dimensions={}
  d = f32[1] subtract(x, x)
  v = f32[1] add(x, d)
  y = f32[1] multiply(v, c))";
  const auto radius = [&](int iterations, double start, const std::string& more) {
    return RadiiByForms(LoopOf(1, iterations, step), {Vector({start}), Square({1})}, more)[0];
  };
  const double value = std::pow(0.75, 20), u = std::ldexp(1, -24), anew = radius(20, 1, "ulps * * 1\n");
  CHECK(radius(20, 1, kOneUlp) / value == Approx(20 * 2 * kError).epsilon(1e-3));
  CHECK(anew / value >= std::ldexp(1, 30) * kError);
  CHECK(radius(20, 1, std::string(kOneUlp) + "keeps_precision f32\n") == Approx(anew));
  CHECK(radius(20, 1, std::string(kOneUlp) + "contracts yes\n") / value ==
        Approx(20 * 2 * kError + 19 * 3 * 2 * u).epsilon(1e-3));
  const double flushed = radius(60, 1e-38, std::string(kOneUlp) + "flushes_subnormals f32\n");
  CHECK(std::ldexp(flushed, 126) == Approx(19).epsilon(1e-2));
}

// A loop of one iteration is inlined, and what its state was made of may be computed anew for each reader: x
// = exp(1) is off by e x, and x - x by twice that.
TEST_CASE("loop forms: the first iteration", "[check][bounds]") {
  const std::string text = LoopOf(1, 1, "  y = f32[1] subtract(x, x)", "", "exponential(x)");
  const double r = RadiiByForms(text, {Vector({1}), Square({1})}, kOneUlp)[0];
  CHECK(r == Approx(2 * std::exp(1) * kError).epsilon(1e-3));
}

// An element that an iteration passes on may be computed anew in the body, for each reader: a = exp(1) is off
// by e a, and a - a by twice that.
TEST_CASE("loop forms: what an iteration passes on", "[check][bounds]") {
  const std::string step = R"(  a = f32[1] reshape(m)
  d = f32[1] subtract(a, a)
  y = f32[1] add(x, d))";
  const std::string text = LoopOf(1, 20, step, "", "copy(x)", "exponential(m)");
  std::string copied = text;
  const size_t root = copied.find("tuple(j, y, m)");
  copied.replace(root, 14, "tuple(j, y, copied)");
  copied.insert(copied.rfind("  ROOT", root), "  copied = f32[1,1] copy(m)\n");
  for (const std::string& program : {text, copied}) {
    const double r = RadiiByForms(program, {Vector({1}), Square({1})}, kOneUlp)[0];
    CHECK(r == Approx(20 * (2 * std::exp(1) + 1) * kError).epsilon(1e-3));
  }
}

// A conforming backend of the profile kOneUlp: each result is off by 2^-24 of it, which is at most an ulp: up
// or down at random, or always up, or always down.
class Backend {
 public:
  explicit Backend(uint64_t seed) : seed_(seed), random_(seed) {}
  double operator()(double exact) {
    const double way = seed_ == 0 ? 1 : seed_ == 1 ? -1 : (random_() & 1) != 0 ? 1 : -1;
    return exact * (1 + way * kUnitOfForms);
  }
  double Dot(const std::vector<double>& m, size_t row, const std::vector<double>& x) {
    double sum = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const double product = (*this)(m[row * x.size() + k] * x[k]);
      sum = k == 0 ? product : (*this)(sum + product);
    }
    return sum;
  }

 private:
  const uint64_t seed_;
  std::mt19937_64 random_;
};

using Step =
    std::function<std::vector<double>(Backend&, const std::vector<double>& x, const std::vector<double>& m)>;

// No sampled backend leaves the bound, and the farthest is not far below it: by less than `sharpness`.
void CheckSamples(const std::string& hlo, int iterations, const std::vector<double>& x,
                  const std::vector<double>& m, double sharpness, const Step& step,
                  const std::string& profile = kOneUlp) {
  const BoundedOutput bounded =
      BoundedByForms(LoopOf(std::ssize(x), iterations, hlo), {Vector(x), Square(m)}, profile);
  const std::vector<double> radii = RadiiOf(bounded);
  double farthest = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Backend backend(seed);
    std::vector<double> state = x;
    for (int k = 0; k < iterations; ++k) state = step(backend, state, m);
    for (size_t k = 0; k < state.size(); ++k) {
      const double distance = std::fabs(state[k] - bounded.exact.GetDouble(static_cast<int64_t>(k)));
      REQUIRE(distance <= radii[k]);
      farthest = std::max(farthest, distance / radii[k]);
    }
  }
  CHECK(farthest * sharpness >= 1);
}

constexpr char kMatrixProduct[] =
    "  p = f32[{0}] dot(m, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n";

TEST_CASE("loop forms: sampled backends, a rotation that shrinks", "[check][bounds]") {
  const std::string step = "  y = f32[2] dot(m, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  CheckSamples(step, 50, {1, 0.5}, {0.75, -0.625, 0.625, 0.75}, 30,
               [](Backend& b, const std::vector<double>& x, const std::vector<double>& m) {
                 return std::vector<double>{b.Dot(m, 0, x), b.Dot(m, 1, x)};
               });
}

// The root of 3: x - (x x - 3) / (x + x). Errors of x cancel but for the second order.
TEST_CASE("loop forms: sampled backends, Newton's iteration", "[check][bounds]") {
  const std::string step = R"(  three = f32[] constant(3)
  a = f32[1] broadcast(three), dimensions={}
  q = f32[1] multiply(x, x)
  d = f32[1] subtract(q, a)
  e = f32[1] add(x, x)
  f = f32[1] divide(d, e)
  y = f32[1] subtract(x, f))";
  const auto newton = [](Backend& b, const std::vector<double>& x, const std::vector<double>&) {
    return std::vector<double>{b(x[0] - b(b(b(x[0] * x[0]) - 3) / b(x[0] + x[0])))};
  };
  for (const int iterations : {2, 3, 12}) CheckSamples(step, iterations, {1.5}, {1}, 20, newton);
}

// Linear forms of dots in an iteration (bounds_forms_test.cc) beside those of the state: the smaller radius
// counts. p (1 - p) 5/2 has its fixed point at 3/5, where the rounding of the dot moves it by 1/2 of that.
// Forms of the state have that rounding in their rests, and say 5/2. In a rotation no ways meet.
TEST_CASE("loop forms: linear forms in an iteration", "[check][bounds]") {
  const std::string linear = "ulps * * 1\nstores_dots yes\n",
                    both = kOneUlp + std::string("stores_dots yes\n");
  const std::string map = fmt::format(kMatrixProduct, 1) + R"(  one_ = f32[] constant(1)
  ones = f32[1] broadcast(one_), dimensions={}
  slope = f32[] constant(2.5)
  c = f32[1] broadcast(slope), dimensions={}
  q = f32[1] subtract(ones, p)
  v = f32[1] multiply(p, q)
  y = f32[1] multiply(v, c))";
  const auto radius = [](const std::string& step, const std::vector<double>& x, const std::vector<double>& m,
                         const std::string& profile) {
    return RadiiByForms(LoopOf(std::ssize(x), 20, step), {Vector(x), Square(m)}, profile)[0];
  };
  const double of_map = radius(map, {0.5}, {1}, both);
  CHECK(of_map <= 0.75 * radius(map, {0.5}, {1}, kOneUlp));
  CHECK(of_map <= radius(map, {0.5}, {1}, linear));
  CheckSamples(
      map, 20, {0.5}, {1}, 20,
      [](Backend& b, const std::vector<double>& x, const std::vector<double>& m) {
        const double p = b.Dot(m, 0, x);
        return std::vector<double>{b(b(p * b(1 - p)) * 2.5)};
      },
      both);
  const std::string turn = "  y = f32[2] dot(m, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const std::vector<double> m = {0.75, -0.625, 0.625, 0.75};
  CHECK(radius(turn, {1, 0.5}, m, both) == radius(turn, {1, 0.5}, m, kOneUlp));
  CHECK(radius(turn, {1, 0.5}, m, both) <= 0.1 * radius(turn, {1, 0.5}, m, linear));
}

// h = (1 - z) h + z tanh(W h), z = logistic(W h): a gate.
TEST_CASE("loop forms: sampled backends, a recurrent network", "[check][bounds]") {
  const std::string step = fmt::format(kMatrixProduct, 3) + R"(  one_ = f32[] constant(1)
  ones = f32[3] broadcast(one_), dimensions={}
  z = f32[3] logistic(p)
  h = f32[3] tanh(p)
  k = f32[3] subtract(ones, z)
  u = f32[3] multiply(k, x)
  v = f32[3] multiply(z, h)
  y = f32[3] add(u, v))";
  CheckSamples(step, 30, {0.5, -0.25, 1}, {0.5, -1, 0.75, 1.25, 0.5, -0.5, -0.75, 1, 0.25}, 60,
               [](Backend& b, const std::vector<double>& x, const std::vector<double>& m) {
                 std::vector<double> y;
                 for (size_t k = 0; k < 3; ++k) {
                   const double p = b.Dot(m, k, x), z = b(1 / (1 + std::exp(-p))), t = b(std::tanh(p));
                   y.push_back(b(b(b(1 - z) * x[k]) + b(z * t)));
                 }
                 return y;
               });
}

// sqrt(x) rsqrt(x + x) + x / 4, and division of what is off by as much.
TEST_CASE("loop forms: sampled backends, roots and quotients", "[check][bounds]") {
  const std::string step = R"(  q = f32[] constant(0.25)
  c = f32[1] broadcast(q), dimensions={}
  a = f32[1] sqrt(x)
  d = f32[1] add(x, x)
  b = f32[1] rsqrt(d)
  e = f32[1] multiply(a, b)
  f = f32[1] multiply(x, c)
  g = f32[1] divide(f, e)
  y = f32[1] add(e, g))";
  CheckSamples(step, 20, {0.5}, {1}, 20,
               [](Backend& b, const std::vector<double>& x, const std::vector<double>&) {
                 const double e = b(b(std::sqrt(x[0])) * b(1 / std::sqrt(b(x[0] + x[0]))));
                 return std::vector<double>{b(e + b(b(x[0] * 0.25) / e))};
               });
}

// exp, log, sine, cosine, abs, maximum and minimum: of numbers far from where these change.
TEST_CASE("loop forms: sampled backends, functions", "[check][bounds]") {
  const std::string step = R"(  q = f32[] constant(0.25)
  c = f32[1] broadcast(q), dimensions={}
  a = f32[1] exponential(x)
  b = f32[1] log(a)
  h = f32[1] sine(b)
  k = f32[1] cosine(b)
  n = f32[1] negate(h)
  o = f32[1] abs(n)
  w = f32[1] maximum(o, x)
  u = f32[1] minimum(o, x)
  v = f32[1] subtract(w, u)
  r = f32[1] add(v, k)
  y = f32[1] multiply(r, c))";
  CheckSamples(step, 20, {0.5}, {1}, 60,
               [](Backend& b, const std::vector<double>& x, const std::vector<double>&) {
                 const double l = b(std::log(b(std::exp(x[0])))), o = std::fabs(b(std::sin(l)));
                 const double r = b(b(std::max(o, x[0]) - std::min(o, x[0])) + b(std::cos(l)));
                 return std::vector<double>{b(r * 0.25)};
               });
}

// The state is p, a fixed point of the cosine, which may be off by 2^-8 of itself, and w = f(p) - f'(p0) p,
// whose first order vanishes: what is seen of the error of p is the second order.
TEST_CASE("loop forms: the second order", "[check][bounds]") {
  struct Function {
    std::string lines;  // f of p
    std::function<double(double)> f;
    double slope;
  };
  const double p0 = 0.7390851332151607, t = std::tanh(p0), z = 1 / (1 + std::exp(-p0)), root = std::sqrt(p0);
  const std::vector<Function> functions = {
      {"f = f32[1] multiply(p, p)", [](double p) { return p * p; }, 2 * p0},
      {"f = f32[1] divide(ones, p)", [](double p) { return 1 / p; }, -1 / (p0 * p0)},
      {"f = f32[1] tanh(p)", [](double p) { return std::tanh(p); }, 1 - t * t},
      {"f = f32[1] logistic(p)", [](double p) { return 1 / (1 + std::exp(-p)); }, z * (1 - z)},
      {"f = f32[1] sine(p)", [](double p) { return std::sin(p); }, std::cos(p0)},
      {"f = f32[1] exponential(p)", [](double p) { return std::exp(p); }, std::exp(p0)},
      {"f = f32[1] log(p)", [](double p) { return std::log(p); }, 1 / p0},
      {"f = f32[1] sqrt(p)", [](double p) { return std::sqrt(p); }, 0.5 / root},
      {"f = f32[1] rsqrt(p)", [](double p) { return 1 / std::sqrt(p); }, -0.5 / (root * p0)},
      {"g = f32[] dot(p, p), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n  f = f32[1] reshape(g)",
       [](double p) { return p * p; }, 2 * p0},
  };
  for (const Function& function : functions) {
    const auto slope = static_cast<float>(function.slope);
    const std::string step = fmt::format(R"(  p = f32[1] slice(x), slice={{[0:1]}}
  one_ = f32[] constant(1)
  ones = f32[1] broadcast(one_), dimensions={{}}
  slope = f32[1] constant({{{:.9g}}})
  {}
  c = f32[1] cosine(p)
  l = f32[1] multiply(p, slope)
  w = f32[1] subtract(f, l)
  y = f32[2] concatenate(c, w), dimensions={{0}})",
                                         slope, function.lines);
    INFO(function.lines);
    const BoundedOutput bounded = BoundedByForms(LoopOf(2, 30, step), {Vector({p0, 0}), Square({1, 0, 0, 1})},
                                                 std::string(kStored) + "ulps cosine f32 65536\n");
    const double w = bounded.exact.GetDouble(1), radius = RadiiOf(bounded)[1];
    double farthest = 0;
    for (const double way : {-1.0, 1.0}) {
      double p = p0, result = 0;
      for (int k = 0; k < 30; ++k) {
        result = function.f(p) - slope * p;
        p = std::cos(p) * (1 + (k % 2 == 0 ? way : -way) / 256);
      }
      farthest = std::max(farthest, std::fabs(result - w));
    }
    CHECK(farthest > std::ldexp(1, -20));
    CHECK(farthest <= radius);
    CHECK(radius <= 100 * farthest);
  }
}

}  // namespace assay::testing
