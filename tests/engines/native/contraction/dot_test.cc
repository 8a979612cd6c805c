// Dots of the native engine against the reference engine, and against rational arithmetic.
#include <catch2/catch.hpp>
#include <cstring>

#include "engines/native/contraction/integer_kernels.h"
#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"
#include "tests/evaluator/ops/exact_oracle.h"

namespace assay::testing {
namespace {

std::string Dot(const std::string& lhs, const std::string& rhs, const std::string& result,
                const std::string& attributes = "lhs_contracting_dims={1}, rhs_contracting_dims={0}") {
  return fmt::format(R"(x = {} parameter(0)
y = {} parameter(1)
ROOT z = {} dot(x, y), {})",
                     lhs, rhs, result, attributes);
}

std::string SquareDot(const std::string& type, const std::string& result, int m, int k, int n) {
  return Dot(fmt::format("{}[{},{}]", type, m, k), fmt::format("{}[{},{}]", type, k, n),
             fmt::format("{}[{},{}]", result, m, n));
}

}  // namespace

TEST_CASE("native dot: every draw, odd shapes", "[native][dot]") {
  CheckAgainstReference(SquareDot("f32", "f32", 29, 67, 35), kAllDraws);
  CheckAgainstReference(SquareDot("f32", "f32", 69, 67, 75), kAllDraws);
  CheckAgainstReference(SquareDot("f32", "f32", 1, 2000, 3), kAllDraws);
  CheckAgainstReference(SquareDot("f32", "f32", 50, 1, 40), kAllDraws);
  CheckAgainstReference(SquareDot("f32", "f32", 3, 700, 19), kAllDraws);
}

// Row blocks of every size by one, two and four vectors, columns in place and packed, of either operand.
TEST_CASE("native dot: few products in every layout", "[native][dot]") {
  struct Sizes {
    int m, k, n;
  };
  for (const Sizes& size : std::initializer_list<Sizes>{{1, 1, 1},
                                                        {1, 17, 75},
                                                        {2, 9, 33},
                                                        {3, 64, 40},
                                                        {5, 33, 17},
                                                        {8, 64, 24},
                                                        {13, 3, 29},
                                                        {15, 70, 9},
                                                        {31, 5, 7},
                                                        {37, 31, 19},
                                                        {200, 6, 10},
                                                        {7, 300, 23},
                                                        {25, 512, 16}}) {
    for (int side = 0; side < 4; ++side) {
      const bool left = (side & 1) != 0, right = (side & 2) != 0;
      const auto body = [&](const char* type, const char* result) {
        return Dot(fmt::format("{}[{},{}]", type, left ? size.k : size.m, left ? size.m : size.k),
                   fmt::format("{}[{},{}]", type, right ? size.n : size.k, right ? size.k : size.n),
                   fmt::format("{}[{},{}]", result, size.m, size.n),
                   fmt::format("lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}", left ? 0 : 1,
                               right ? 1 : 0));
      };
      CheckAgainstReference(body("f32", "f32"), kAllDraws);
      CheckAgainstReference(body("bf16", "bf16"),
                            {Draw::kNormal, Draw::kTies, Draw::kIntegers, Draw::kSpecials});
      CheckAgainstReference(body("bf16", "f32"), {Draw::kNormal, Draw::kWide});
      CheckAgainstReference(body("f16", "f16"), {Draw::kNormal, Draw::kSmall});
    }
  }
}

TEST_CASE("native dot: few products, results beyond the format's range", "[native][dot]") {
  const NativePlans plans(SquareDot("f32", "f32", 4, 2, 18));
  constexpr double kLargest = 0x1.fffffep127, kHalfUnit = 0x1p103;
  std::vector<double> x = {kLargest, 1, -kLargest, -1, 0x1p-75, 0, -0.0, 0x1p-149}, y;
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 18; ++j) {
      const double high = j % 3 == 0 ? 1.0 : j % 3 == 1 ? 0x1p-75 : -0x1.8p-74;
      const double low = j % 2 == 0 ? kHalfUnit : 0x1.fffffep102;
      y.push_back(k == 0 ? high : j < 12 ? low : -0.0);
    }
  }
  const auto array = [](std::vector<int64_t> sizes, std::span<const double> values) {
    return Literal::FromDoubles(ElementType::kF32, sizes, values);
  };
  plans.Check({array({4, 2}, x), array({2, 18}, y)});
  // The largest plus half a unit is a tie, and infinite; a bit less is the largest.
  const absl::StatusOr<Literal> result = RunPlan(plans.reference(), {array({4, 2}, x), array({2, 18}, y)});
  REQUIRE(result.ok());
  CHECK(result->GetDouble(0) == HUGE_VAL);
  CHECK(result->GetDouble(3) == kLargest);
}

TEST_CASE("native dot: float types of operands and results", "[native][dot]") {
  for (const char* type : {"bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f8e8m0fnu", "f4e2m1fn"}) {
    CheckAgainstReference(SquareDot(type, type, 17, 40, 18), kAllDraws);
    CheckAgainstReference(SquareDot(type, "f32", 13, 21, 18), kAllDraws);
    CheckAgainstReference(SquareDot(type, type, 70, 60, 66), {Draw::kNormal, Draw::kSpecials});
  }
  CheckAgainstReference(SquareDot("f32", "bf16", 17, 40, 18), kAllDraws);
  CheckAgainstReference(SquareDot("f32", "f64", 17, 40, 18), kAllDraws);
  CheckAgainstReference(SquareDot("f32", "f8e4m3fn", 17, 40, 18), kAllDraws);
  CheckAgainstReference(SquareDot("f64", "f64", 17, 140, 18), kAllDraws);
  CheckAgainstReference(SquareDot("f64", "f32", 17, 40, 18), kAllDraws);
  CheckAgainstReference(Dot("f32[20,30]", "bf16[30,9]", "f32[20,9]"), kAllDraws);
  CheckAgainstReference(Dot("f32[20,30]", "f64[30,9]", "f64[20,9]"), kAllDraws);
}

// x = [u, u] and y = [v; -v (1 + d)]: each sum of products is about d of its terms, or 0.
// Some elements are `special`.
TEST_CASE("native dot: tiles where every element cancels", "[native][dot]") {
  struct Case {
    const char* type;
    double remainder;
    int spread;  // of exponents
    double special = 1;
  };
  for (const Case& c : std::initializer_list<Case>{{"f32", 0, 0},
                                                   {"f32", 0x1p-20, 0},
                                                   {"f32", 0x1p-22, 40},
                                                   {"f32", 0, 100},
                                                   {"f32", 0, 0, 0.0},
                                                   {"f32", 0x1p-20, 0, HUGE_VAL},
                                                   {"f64", 0x1p-40, 10},
                                                   {"f64", 0, 30},
                                                   {"f64", 0x1p-30, 0, std::nan("")},
                                                   {"f64", 0x1p-30, 800, -0.0}}) {
    for (int half : {9, 70, 150}) {
      constexpr int kRows = 31, kColumns = 70;
      const NativePlans plans(SquareDot(c.type, c.type, kRows, 2 * half, kColumns));
      const ElementType type = *ElementTypeFromName(c.type);
      std::mt19937_64 random(5);
      std::normal_distribution<double> normal;
      const auto draw = [&] {
        const int exponent = c.spread == 0 ? 0 : static_cast<int>(random() % c.spread) - c.spread / 2;
        return random() % 200 == 0 && c.special != 1 ? c.special : std::ldexp(normal(random), exponent);
      };
      std::vector<Literal> arguments = DrawnArguments(plans.reference(), Draw::kNormal, 1);
      const auto set = [&](int argument, int64_t i, double value) {
        const int64_t bytes = Bytes(type);
        StoreStrip(type, &value, 1, arguments[argument].MutableBytes().data() + i * bytes, bytes);
      };
      for (int k = 0; k < half; ++k) {
        for (int i = 0; i < kRows; ++i) {
          const double u = draw();
          set(0, i * 2 * half + k, u);
          set(0, i * 2 * half + half + k, u);
        }
        for (int j = 0; j < kColumns; ++j) {
          const double v = draw();
          set(1, k * kColumns + j, v);
          set(1, (half + k) * kColumns + j, -v * (1 + c.remainder * normal(random)));
        }
      }
      INFO(c.type << " " << c.remainder << " " << c.spread << " " << c.special << " " << half);
      plans.Check(arguments);
    }
  }
}

TEST_CASE("native dot: integers", "[native][dot]") {
  for (const char* type : {"s8", "u8", "s4", "u4", "u2", "s16", "s32", "u32", "s64", "u64", "pred"}) {
    CheckAgainstReference(SquareDot(type, type, 29, 67, 35), {Draw::kNormal, Draw::kIntegers});
    CheckAgainstReference(SquareDot(type, type, 2, 700, 3), {Draw::kNormal, Draw::kIntegers});
  }
  CheckAgainstReference(SquareDot("s32", "s64", 29, 67, 35), {Draw::kNormal});
  CheckAgainstReference(Dot("s8[29,67]", "s32[67,35]", "s32[29,35]"), {Draw::kNormal});
}

// With the matrix registers, where there are some, and as on machines without them.
TEST_CASE("native dot: bytes of either sign in every layout", "[native][dot]") {
  for (bool forbidden : {false, true}) {
    native::ForbidByteTiles(forbidden);
    for (const char* lhs : {"s8", "u8", "s4"}) {
      for (const char* rhs : {"s8", "u8", "u4"}) {
        for (int side = 0; side < 4; ++side) {
          const bool left = (side & 1) != 0, right = (side & 2) != 0;
          const auto body = [&](int m, int k, int n, const char* result) {
            return Dot(fmt::format("{}[{},{}]", lhs, left ? k : m, left ? m : k),
                       fmt::format("{}[{},{}]", rhs, right ? n : k, right ? k : n),
                       fmt::format("{}[{},{}]", result, m, n),
                       fmt::format("lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}", left ? 0 : 1,
                                   right ? 1 : 0));
          };
          CheckAgainstReference(body(33, 67, 65, "s32"), {Draw::kNormal});
          CheckAgainstReference(body(64, 129, 32, "s32"), {Draw::kNormal});
          CheckAgainstReference(body(13, 64, 31, "s8"), {Draw::kNormal});
        }
      }
    }
    CheckAgainstReference(SquareDot("pred", "pred", 33, 67, 66), {Draw::kNormal});
    // More columns than the L2 cache holds.
    CheckAgainstReference(SquareDot("s8", "s32", 70, 4200, 290), {Draw::kNormal});
    for (const char* result : {"s4", "u8", "s16", "u32", "s64"}) {
      CheckAgainstReference(SquareDot("s8", result, 33, 67, 66), {Draw::kNormal});
      CheckAgainstReference(Dot("s8[5,21,33]", "u8[33,5,40]", std::string(result) + "[5,21,40]",
                                "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
                                "rhs_contracting_dims={0}"),
                            {Draw::kNormal});
    }
  }
  native::ForbidByteTiles(false);
}

TEST_CASE("native dot: sums of bytes do not saturate", "[native][dot]") {
  constexpr int kLength = 40000;  // 40000 * 255 * 255 > 2^31
  for (bool forbidden : {false, true}) {
    native::ForbidByteTiles(forbidden);
    for (const char* type : {"s8", "u8"}) {
      const bool is_signed = type[0] == 's';
      const Plan reference = ReferencePlan(SquareDot(type, "s32", 33, kLength, 34));
      const int64_t extreme = is_signed ? -128 : 255;
      std::vector<Literal> arguments = DrawnArguments(reference, Draw::kNormal, 1);
      for (Literal& argument : arguments) {
        const std::span<std::byte> bytes = argument.MutableBytes();
        std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(extreme));
      }
      const auto sum = static_cast<int32_t>(static_cast<uint32_t>(extreme * extreme * kLength));
      for (Isa isa : MachineIsas()) {
        int kernels = 0;
        const absl::StatusOr<Literal> result = RunPlan(NativePlan(reference, isa, &kernels), arguments, 2);
        REQUIRE(result.ok());
        int wrong = 0;
        for (int64_t i = 0; i < result->shape().num_elements(); ++i) {
          int32_t element;
          std::memcpy(&element, result->data() + 4 * i, sizeof(element));
          wrong += element != sum;
        }
        CHECK(wrong == 0);
      }
    }
  }
  native::ForbidByteTiles(false);
}

TEST_CASE("native dot: rows too long to pack", "[native][dot]") {
  CheckAgainstReference(Dot("f32[2,70001]", "f32[70001,3]", "f32[2,3]"), kAllDraws);
  CheckAgainstReference(
      Dot("bf16[70001]", "bf16[70001]", "bf16[]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
      kAllDraws);
  CheckAgainstReference(
      Dot("f32[70001]", "f32[70001]", "f64[]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
      {Draw::kNormal, Draw::kWide, Draw::kZeros, Draw::kSpecials});
}

TEST_CASE("native dot: complex", "[native][dot]") {
  CheckAgainstReference(SquareDot("c64", "c64", 17, 40, 18), kAllDraws);
  CheckAgainstReference(SquareDot("c128", "c128", 9, 33, 18), kAllDraws);
  CheckAgainstReference(SquareDot("c64", "c64", 3, 600, 5), kAllDraws);
}

TEST_CASE("native dot: dimension numbers", "[native][dot]") {
  CheckAgainstReference(
      Dot("f32[5,17,12]", "f32[5,12,23]", "f32[5,17,23]",
          "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
      kAllDraws);
  CheckAgainstReference(
      Dot("f32[40,31]", "f32[40,18]", "f32[31,18]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
      kAllDraws);
  CheckAgainstReference(
      Dot("f32[31,40]", "f32[18,40]", "f32[31,18]", "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
      kAllDraws);
  CheckAgainstReference(
      Dot("f32[6,5,7,3]", "f32[3,9,6,7]", "f32[7,6,5,9]",
          "lhs_batch_dims={2,0}, rhs_batch_dims={3,2}, lhs_contracting_dims={3}, rhs_contracting_dims={0}"),
      kAllDraws);
  CheckAgainstReference(Dot("f32[7,5,11,3]", "f32[3,9,5,8]", "f32[7,11,9,8]",
                            "lhs_contracting_dims={1,3}, rhs_contracting_dims={2,0}"),
                        kAllDraws);
  CheckAgainstReference(
      Dot("f32[40]", "f32[60]", "f32[40,60]", "lhs_contracting_dims={}, rhs_contracting_dims={}"), kAllDraws);
  CheckAgainstReference(
      Dot("f32[3000]", "f32[3000]", "f32[]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
      kAllDraws);
}

TEST_CASE("native dot: dimension numbers of tiles", "[native][dot]") {
  CheckAgainstReference(
      Dot("f32[5,67,41]", "f32[5,41,23]", "f32[5,67,23]",
          "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"),
      {Draw::kNormal, Draw::kWide});
  CheckAgainstReference(
      Dot("f32[70,91]", "f32[70,48]", "f32[91,48]", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
      {Draw::kNormal, Draw::kWide});
  CheckAgainstReference(
      Dot("f32[91,70]", "f32[48,70]", "f32[91,48]", "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
      {Draw::kNormal, Draw::kWide});
  CheckAgainstReference(Dot("f32[17,5,21,13]", "f32[13,9,5,18]", "f32[17,21,9,18]",
                            "lhs_contracting_dims={1,3}, rhs_contracting_dims={2,0}"),
                        {Draw::kNormal, Draw::kWide});
}

TEST_CASE("native dot: an element is the rational sum, rounded once, whatever the order", "[native][dot]") {
  for (const auto& [name, kRows] :
       {std::pair("f32", 14), {"f32", 61}, {"bf16", 14}, {"bf16", 61}, {"f64", 14}}) {
    constexpr int64_t kLength = 301, kColumns = 19;
    const ElementType type = *ElementTypeFromName(name);
    int kernels = 0;
    const Plan plan =
        NativePlan(ReferencePlan(SquareDot(name, name, kRows, kLength, kColumns)), MachineIsa(), &kernels);
    for (Draw draw : {Draw::kNormal, Draw::kWide, Draw::kCancelling, Draw::kTies, Draw::kSmall, Draw::kLarge,
                      Draw::kIntegers, Draw::kZeros}) {
      const std::vector<Literal> arguments = DrawnArguments(plan, draw, 77);
      const absl::StatusOr<Literal> result = RunPlan(plan, arguments, 2);
      REQUIRE(result.ok());
      int wrong = 0;
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < kColumns; ++j) {
          RationalSum sum;
          sum.Add(0.0);  // where a contraction starts
          for (int64_t k = kLength; k-- > 0;)
            sum.AddProduct(arguments[0].GetDouble(i * kLength + k), arguments[1].GetDouble(k * kColumns + j));
          wrong += !SameBits(result->GetDouble(i * kColumns + j), sum.Round(type));
        }
      }
      INFO(name << " draw " << static_cast<int>(draw));
      CHECK(wrong == 0);
    }
  }
}

}  // namespace assay::testing
