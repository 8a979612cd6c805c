// Sorts of the native engine against the specification's merge sort written out as a recursion, and against
// the reference engine.
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

using Less = bool (*)(float, float);
using Positions = std::vector<int32_t>;

Positions MergeSorted(const std::vector<float>& x, int64_t begin, int64_t end, Less less) {
  if (end - begin == 1) return {static_cast<int32_t>(begin)};
  Positions out;
  if (end == begin) return out;
  const int64_t middle = begin + (end - begin) / 2;
  const Positions left = MergeSorted(x, begin, middle, less), right = MergeSorted(x, middle, end, less);
  size_t l = 0, r = 0;
  while (l < left.size() && r < right.size())
    out.push_back(less(x[right[r]], x[left[l]]) ? right[r++] : left[l++]);
  out.insert(out.end(), left.begin() + static_cast<int64_t>(l), left.end());
  out.insert(out.end(), right.begin() + static_cast<int64_t>(r), right.end());
  return out;
}

// -NaN < -inf < … < -0 < +0 < … < inf < NaN, NaNs by their payload.
bool TotalLess(float a, float b) {
  const bool negative = std::signbit(a);
  if (negative != std::signbit(b)) return negative;
  const uint32_t x = std::bit_cast<uint32_t>(a), y = std::bit_cast<uint32_t>(b);
  return negative ? x > y : x < y;
}
float Alike(float x) { return x == 0 ? 0.0f : std::isnan(x) ? std::nanf("") : x; }

std::string Canonical(const char* x) {
  return fmt::format(
      R"( {0}n = pred[] compare({0}, {0}), direction=NE
 {0}e = pred[] compare({0}, zero), direction=EQ
 {0}s = f32[] select({0}e, zero, {0})
 {0}k = f32[] select({0}n, qnan, {0}s)
)",
      x);
}

struct Comparator {
  std::string body;  // over a, b, zero and qnan
  Less less;
};
std::vector<Comparator> Comparators() {
  const std::string canonical = Canonical("a") + Canonical("b");
  return {
      {"ROOT r = pred[] compare(a, b), direction=LT", [](float a, float b) { return a < b; }},
      {"ROOT r = pred[] compare(b, a), direction=LT", [](float a, float b) { return b < a; }},
      {"ROOT r = pred[] compare(a, b), direction=GT", [](float a, float b) { return a > b; }},
      {"ROOT r = pred[] compare(a, b), direction=LE", [](float a, float b) { return a <= b; }},
      {"ROOT r = pred[] compare(b, a), direction=LE", [](float a, float b) { return b <= a; }},
      {"ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER", TotalLess},
      {"ROOT r = pred[] compare(a, b), direction=GE, type=TOTALORDER",
       [](float a, float b) { return !TotalLess(a, b); }},
      {canonical + "ROOT r = pred[] compare(ak, bk), direction=LT, type=TOTALORDER",
       [](float a, float b) { return TotalLess(Alike(a), Alike(b)); }},
      {canonical + "ROOT r = pred[] compare(ak, bk), direction=GE, type=TOTALORDER",
       [](float a, float b) { return !TotalLess(Alike(a), Alike(b)); }},
      {canonical + "ROOT r = pred[] compare(ak, bk), direction=GT",
       [](float a, float b) { return Alike(a) > Alike(b); }},
      {R"(m = f32[] abs(a)
 n = f32[] abs(b)
 ROOT r = pred[] compare(m, n), direction=LT)",
       [](float a, float b) { return std::fabs(a) < std::fabs(b); }},
      // Two functions that are not one: no order.
      {R"(m = f32[] abs(a)
 n = f32[] negate(b)
 ROOT r = pred[] compare(m, n), direction=LT)",
       [](float a, float b) { return std::fabs(a) < -b; }},
      {"ROOT r = pred[] compare(a, b), direction=NE", [](float a, float b) { return a != b; }},
      {"ROOT r = pred[] compare(a, zero), direction=LT", [](float a, float) { return a < 0; }},
  };
}

// Whether the entry's last step has a kernel.
bool SortHasKernel(const Plan& plan) {
  return plan.computations[static_cast<size_t>(plan.module->entry.value)].steps.back().kernel != nullptr;
}

std::string SortBody(int64_t n, const std::string& comparator, bool with_positions) {
  const std::string cmp =
      R"({ a = f32[] parameter(0)
 b = f32[] parameter(1)
 zero = f32[] constant(0)
 qnan = f32[] constant(nan)
)" +
      std::string(with_positions ? R"( i = s32[] parameter(2)
 j = s32[] parameter(3)
)"
                                 : "") +
      " " + comparator + " }";
  if (!with_positions) {
    return fmt::format(R"(x = f32[{0}] parameter(0)
ROOT s = f32[{0}] sort(x), dimensions={{0}}, to_apply={1})",
                       n, cmp);
  }
  return fmt::format(
      R"(x = f32[{0}] parameter(0)
p = s32[{0}] iota(), iota_dimension=0
ROOT s = (f32[{0}], s32[{0}]) sort(x, p), dimensions={{0}}, to_apply={1})",
      n, cmp);
}

// Few distinct values, so that there are ties; NaNs of both signs and several payloads where wanted.
std::vector<float> Drawn(int64_t n, bool nans, bool ties, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> x;
  for (int64_t i = 0; i < n; ++i) {
    const auto pick = random() % 24;
    const auto sign = static_cast<uint32_t>(random() % 2) << 31;
    float value = ties ? static_cast<float>(static_cast<int>(random() % 9)) - 4 : normal(random);
    if (pick == 0) value = std::bit_cast<float>(sign);
    if (pick == 1) value = std::bit_cast<float>(sign | 0x7f800000);
    if (pick == 2) value = std::bit_cast<float>(sign | static_cast<uint32_t>(random() % 5));
    if (pick <= 4 && nans)
      value = std::bit_cast<float>(sign | 0x7f800001 | static_cast<uint32_t>(random() % 3) << 21);
    x.push_back(value);
  }
  return x;
}

void CheckSort(const std::vector<float>& x, const Comparator& comparator) {
  const auto n = static_cast<int64_t>(x.size());
  const Positions order = MergeSorted(x, 0, n, comparator.less);
  Literal argument = *Literal::Make(Shape::ArrayOrDie(ElementType::kF32, {&n, 1}));
  if (n > 0) std::memcpy(argument.MutableBytes().data(), x.data(), x.size() * sizeof(float));
  std::vector<float> sorted;
  for (int32_t p : order) sorted.push_back(x[p]);
  for (bool with_positions : {false, true}) {
    const Plan reference = ReferencePlan(SortBody(n, comparator.body, with_positions));
    for (Isa isa : MachineIsas()) {
      int kernels = 0;
      const Plan plan = NativePlan(reference, isa, &kernels);
      for (int jobs : {1, 3}) {
        const absl::StatusOr<Literal> result = RunPlan(plan, {argument}, jobs);
        INFO(comparator.body << "\nlength " << n << ", instruction set " << static_cast<int>(isa));
        REQUIRE(result.ok());
        const Literal& keys = with_positions ? result->element(0) : *result;
        CHECK((n == 0 || std::memcmp(keys.data(), sorted.data(), x.size() * sizeof(float)) == 0));
        if (with_positions && n > 0)
          CHECK(std::memcmp(result->element(1).data(), order.data(), order.size() * sizeof(int32_t)) == 0);
      }
    }
  }
}

std::string Typed(const std::string& type, const std::string& shape, int64_t dimension,
                  const std::string& root) {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
p = u16[{1}] parameter(1)
ROOT s = ({0}[{1}], u16[{1}]) sort(x, p), dimensions={{{2}}}, to_apply={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 i = u16[] parameter(2)
 j = u16[] parameter(3)
 ROOT r = {3} }})",
      type, shape, dimension, root);
}

}  // namespace

TEST_CASE("native sort: floats by every kind of comparator", "[native][sort]") {
  std::mt19937_64 random(5);
  const std::vector<Comparator> comparators = Comparators();
  for (int64_t n : {0, 1, 2, 3, 15, 16, 17, 31, 33, 47, 48, 63, 64, 65, 66, 67, 127, 129, 255, 257, 1000}) {
    for (const Comparator& comparator : comparators) {
      CheckSort(Drawn(n, true, true, random), comparator);
      CheckSort(Drawn(n, false, true, random), comparator);
      CheckSort(Drawn(n, false, false, random), comparator);
    }
  }
}

TEST_CASE("native sort: long lines", "[native][sort]") {
  std::mt19937_64 random(6);
  const std::vector<Comparator> comparators = Comparators();
  for (size_t i : {0, 3, 7, 10}) {
    CheckSort(Drawn(9000, false, true, random), comparators[i]);
    CheckSort(Drawn(70001, false, false, random), comparators[i]);
  }
  CheckSort(Drawn(1 << 20, true, false, random), comparators[7]);
  // What a partition does not halve: one value alone, two of them, sorted ones, the largest key.
  CheckSort(std::vector<float>(5000, 1.5f), comparators[0]);
  CheckSort(std::vector<float>(5000, std::bit_cast<float>(0x7fffffff)), comparators[5]);
  std::vector<float> steps;
  for (int i = 0; i < 5000; ++i) steps.push_back(static_cast<float>(i / 7));
  CheckSort(steps, comparators[0]);
  CheckSort(steps, comparators[1]);
}

TEST_CASE("native sort: element types", "[native][sort]") {
  for (const char* type :
       {"pred", "s2", "s4", "s8", "s16", "s32", "s64", "u2", "u4", "u8", "u16", "u32", "u64"}) {
    for (const char* shape : {"50", "3000"}) {
      CheckAgainstReference(Typed(type, shape, 0, "pred[] compare(a, b), direction=LT"),
                            {Draw::kNormal, Draw::kIntegers});
      CheckAgainstReference(Typed(type, shape, 0, "pred[] compare(a, b), direction=GE"),
                            {Draw::kNormal, Draw::kIntegers});
    }
  }
  for (const char* type : {"f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3fnuz",
                           "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e3m4", "f8e8m0fnu", "f4e2m1fn"}) {
    for (const char* shape : {"50", "3000"}) {
      CheckAgainstReference(Typed(type, shape, 0, "pred[] compare(a, b), direction=LT"), kAllDraws);
      CheckAgainstReference(Typed(type, shape, 0, "pred[] compare(b, a), direction=GE"), kAllDraws);
      CheckAgainstReference(Typed(type, shape, 0, "pred[] compare(a, b), direction=GT, type=TOTALORDER"),
                            kAllDraws);
    }
  }
}

TEST_CASE("native sort: dimensions", "[native][sort]") {
  const char* const less = "pred[] compare(a, b), direction=LT";
  for (const char* type : {"f32", "s64", "u8"}) {
    CheckAgainstReference(Typed(type, "13,40,9", 0, less), {Draw::kNormal, Draw::kIntegers});
    CheckAgainstReference(Typed(type, "13,40,9", 1, less), {Draw::kNormal, Draw::kIntegers});
    CheckAgainstReference(Typed(type, "13,40,9", 2, less), {Draw::kNormal, Draw::kIntegers});
    CheckAgainstReference(Typed(type, "70000,2", 0, less), {Draw::kIntegers});
    CheckAgainstReference(Typed(type, "2,70000", 1, less), {Draw::kIntegers});
    CheckAgainstReference(Typed(type, "4,0,5", 1, less), {Draw::kIntegers});
    CheckAgainstReference(Typed(type, "4,0,5", 2, less), {Draw::kIntegers});
  }
}

TEST_CASE("native sort: dynamic dimensions", "[native][sort]") {
  for (int d : {0, 1}) {
    CheckAgainstReference(fmt::format(R"(x = f32[6,50] parameter(0)
n = s32[] constant({0})
y = f32[{1}] set-dimension-size(x, n), dimensions={{{2}}}
ROOT s = f32[{1}] sort(y), dimensions={{{2}}}, to_apply={{ a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = pred[] compare(a, b), direction=LT }})",
                                      d == 0 ? 4 : 37, d == 0 ? "<=6,50" : "6,<=50", d),
                          {Draw::kNormal, Draw::kIntegers});
  }
}

TEST_CASE("native sort: several keys", "[native][sort]") {
  const auto body = [](const char* types, const char* root, int length = 500) {
    std::vector<std::string> type;
    for (size_t at = 0; at < std::strlen(types); at += 4) type.push_back(std::string(types + at, 3));
    std::string text, names, results, parameters;
    for (size_t k = 0; k < type.size(); ++k) {
      text += fmt::format("x{0} = {1}[{2}] parameter({0})\n", k, type[k], length);
      names += fmt::format("{}x{}", k > 0 ? ", " : "", k);
      results += fmt::format("{}{}[{}]", k > 0 ? ", " : "", type[k], length);
      parameters += fmt::format(R"( a{0} = {1}[] parameter({2})
 b{0} = {1}[] parameter({3})
)",
                                k, type[k], 2 * k, 2 * k + 1);
    }
    return fmt::format("{}ROOT s = ({}) sort({}), dimensions={{0}}, to_apply={{{} {} }}", text, results,
                       names, parameters, root);
  };
  const char* const chain =
      R"(l0 = pred[] compare(a0, b0), direction=LT
 e0 = pred[] compare(b0, a0), direction=EQ
 g1 = pred[] compare(a1, b1), direction=GT
 e1 = pred[] compare(a1, b1), direction=EQ
 l2 = pred[] compare(b2, a2), direction=LE
 t = pred[] and(l2, e1)
 u = pred[] or(g1, t)
 v = pred[] and(e0, u)
 ROOT r = pred[] or(v, l0))";
  for (const char* types : {"f32,f32,f32", "s32,f64,s64", "f64,f64,f32", "s16,u16,f16", "f16,s32,u16"})
    CheckAgainstReference(body(types, chain),
                          {Draw::kIntegers, Draw::kNormal, Draw::kSpecials, Draw::kZeros});
  const char* const selects =
      R"(l0 = pred[] compare(a0, b0), direction=LT
 e0 = pred[] compare(a0, b0), direction=EQ
 l1 = pred[] compare(a1, b1), direction=LT
 ROOT r = pred[] select(e0, l1, l0))";
  for (const char* types : {"s32,s32", "f32,u16", "f64,f64"})
    CheckAgainstReference(body(types, selects), {Draw::kIntegers, Draw::kNormal});
  // Not a chain: the second equality is of other keys. There are too few elements for code of the comparator.
  const char* const broken =
      R"(l0 = pred[] compare(a0, b0), direction=LT
 e0 = pred[] compare(a1, b1), direction=EQ
 l1 = pred[] compare(a1, b1), direction=LT
 s = pred[] select(e0, l1, l0)
 n = pred[] compare(a0, b0), direction=LT
 ROOT r = pred[] or(s, n))";
  const Plan reference = ReferencePlan(body("s32,s32", broken, 100));
  int kernels = 0;
  CHECK(!SortHasKernel(NativePlan(reference, MachineIsa(), &kernels)));
  CHECK(SortHasKernel(NativePlan(ReferencePlan(body("s32,s32", selects)), MachineIsa(), &kernels)));
  CHECK(SortHasKernel(NativePlan(ReferencePlan(body("f32,f64,s16", chain)), MachineIsa(), &kernels)));
}

TEST_CASE("native topk: every type, k and order", "[native][topk]") {
  const auto body = [](const std::string& type, const std::string& rows, int n, int k, bool largest) {
    return fmt::format(
        R"(x = {0}[{1}{2}] parameter(0)
ROOT r = ({0}[{1}{3}], s32[{1}{3}]) topk(x), k={3}, largest={4})",
        type, rows, n, k, largest);
  };
  for (const char* type : {"pred", "s4", "u2", "s8", "u8", "s16", "s32", "u32", "s64", "u64", "f16", "bf16",
                           "f32", "f64", "f8e4m3fn", "f8e5m2fnuz"}) {
    const auto draws = {Draw::kNormal, Draw::kIntegers, Draw::kSpecials, Draw::kZeros};
    for (bool largest : {false, true}) {
      CheckAgainstReference(body(type, "3,", 70, 5, largest), draws);
      CheckAgainstReference(body(type, "", 5000, 30, largest), draws);
      CheckAgainstReference(body(type, "2,", 3000, 3000, largest), draws);
      CheckAgainstReference(body(type, "2,", 1025, 1, largest), draws);
      CheckAgainstReference(body(type, "2,", 1500, 900, largest), draws);
    }
  }
}

TEST_CASE("native sort: complex keys by their parts", "[native][sort]") {
  CheckAgainstReference(
      R"(x = c64[700] parameter(0)
ROOT s = c64[700] sort(x), dimensions={0}, to_apply={ a = c64[] parameter(0)
 b = c64[] parameter(1)
 p = f32[] real(a)
 q = f32[] real(b)
 l = pred[] compare(p, q), direction=LT, type=TOTALORDER
 e = pred[] compare(p, q), direction=EQ, type=TOTALORDER
 v = f32[] imag(a)
 w = f32[] imag(b)
 m = pred[] compare(v, w), direction=LT, type=TOTALORDER
 t = pred[] and(e, m)
 ROOT r = pred[] or(l, t) })",
      kAllDraws);
}

}  // namespace assay::testing
