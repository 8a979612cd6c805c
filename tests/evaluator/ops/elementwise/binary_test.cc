// Binary arithmetic, bitwise ops and shifts. The numbers are those of docs/spec/operations-elementwise.md;
// all pairs of 8-bit integers are compared with arithmetic in int.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

// All pairs of values of an 8-bit type as two operands, and f of them.
void CheckAllPairs(const std::string& op, ElementType type, const std::function<int(int, int)>& f) {
  const bool is_signed = IsSignedIntegral(type);
  std::vector<int64_t> lhs, rhs, wanted;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const int x = is_signed ? static_cast<int8_t>(a) : a;
      const int y = is_signed ? static_cast<int8_t>(b) : b;
      lhs.push_back(x);
      rhs.push_back(y);
      const int result = f(x, y);
      wanted.push_back(is_signed ? static_cast<int8_t>(result) : static_cast<uint8_t>(result));
    }
  }
  const int64_t n = 65536;
  const std::string shape = std::string(Name(type)) + "[65536]";
  const Program program = ProgramOf(OpProgram(op, {shape + " ", shape + " "}, shape));
  const absl::StatusOr<Literal> result =
      program.Run({Literal::FromInts(type, {&n, 1}, lhs), Literal::FromInts(type, {&n, 1}, rhs)});
  REQUIRE(result.ok());
  INFO(op << " of " << Name(type));
  CHECK(Literal::BitwiseEqual(*result, Literal::FromInts(type, {&n, 1}, wanted)));
}

TEST_CASE("binary: every pair of 8-bit integers agrees with arithmetic in int", "[binary]") {
  for (ElementType type : {ElementType::kS8, ElementType::kU8}) {
    const bool is_signed = type == ElementType::kS8;
    CheckAllPairs("add", type, [](int a, int b) { return a + b; });
    CheckAllPairs("subtract", type, [](int a, int b) { return a - b; });
    CheckAllPairs("multiply", type, [](int a, int b) { return a * b; });
    CheckAllPairs("mulhi", type, [](int a, int b) { return (a * b) >> 8; });
    CheckAllPairs("divide", type, [](int a, int b) { return b == 0 ? -1 : a / b; });
    CheckAllPairs("remainder", type, [](int a, int b) { return b == 0 ? a : a % b; });
    CheckAllPairs("maximum", type, [](int a, int b) { return a > b ? a : b; });
    CheckAllPairs("minimum", type, [](int a, int b) { return a < b ? a : b; });
    CheckAllPairs("and", type, [](int a, int b) { return a & b; });
    CheckAllPairs("or", type, [](int a, int b) { return a | b; });
    CheckAllPairs("xor", type, [](int a, int b) { return a ^ b; });
    CheckAllPairs("shift-left", type, [](int a, int b) { return (b & 255) >= 8 ? 0 : a * (1 << (b & 7)); });
    CheckAllPairs("shift-right-logical", type,
                  [](int a, int b) { return (b & 255) >= 8 ? 0 : (a & 255) >> (b & 7); });
    CheckAllPairs("shift-right-arithmetic", type,
                  [](int a, int b) { return static_cast<int8_t>(a) >> ((b & 255) >= 8 ? 7 : b & 7); });
    CheckAllPairs("power", type, [is_signed](int a, int b) {
      if (is_signed && b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
      unsigned product = 1;
      for (int i = 0; i < b; ++i) product *= static_cast<unsigned>(a);
      return static_cast<int>(product & 255);
    });
  }
}

TEST_CASE("add: pred is OR, sub-byte integers wrap in their own width", "[add]") {
  CHECK(Gives("add", {"pred[4] {0, 0, 1, 1}", "pred[4] {0, 1, 0, 1}"}, "pred[4] {0, 1, 1, 1}"));
  CHECK(Gives("add", {"s4[2] {7, -8}", "s4[2] {7, -8}"}, "s4[2] {-2, 0}"));
  CHECK(Gives("multiply", {"pred[4] {0, 0, 1, 1}", "pred[4] {0, 1, 0, 1}"}, "pred[4] {0, 0, 0, 1}"));
}

TEST_CASE("add: one rounding, NaN is canonical, zeros follow IEEE", "[add]") {
  CHECK(Gives("add", {"f32[4] {inf, 1.5, -0.0, -nan}", "f32[4] {-inf, -1.5, -0.0, 1}"},
              "f32[4] {nan, 0, -0.0, nan}"));
  // 1 + 2^-8 is a tie in bf16 and 1 + 2^-8 + 2^-30 is above it: the sum of the latter must not be rounded
  // twice.
  CHECK(Gives("add", {"bf16[2] {1, 1}", "bf16[2] {0x1p-8, 0x1.02p-8}"}, "bf16[2] {1, 0x1.02p+0}"));
  CHECK(Gives("add", {"f8e4m3fn[2] {448, 448}", "f8e4m3fn[2] {16, 32}"}, "f8e4m3fn[2] {448, nan}"));
  CHECK(Gives("add", {"f4e2m1fn[1] {6}", "f4e2m1fn[1] {6}"}, "f4e2m1fn[1] {6}"));
}

TEST_CASE("f64 arithmetic keeps subnormals", "[binary]") {
  CHECK(Gives("multiply", {"f64[1] {0x1p-1022}", "f64[1] {0x1p-52}"}, "f64[1] {0x1p-1074}"));
  CHECK(Gives("divide", {"f64[1] {0x1p-1022}", "f64[1] {2}"}, "f64[1] {0x1p-1023}"));
}

TEST_CASE("divide and remainder: integers by zero, smallest by -1", "[divide]") {
  CHECK(Gives("divide", {"s32[5] {5, -2147483648, 7, -7, -2147483648}", "s32[5] {0, -1, 2, 2, 0}"},
              "s32[5] {-1, -2147483648, 3, -3, -1}"));
  CHECK(
      Gives("remainder", {"s32[4] {5, -2147483648, 7, -7}", "s32[4] {0, -1, 2, 2}"}, "s32[4] {5, 0, 1, -1}"));
  CHECK(Gives("remainder", {"f32[6] {5.5, -5.5, 5.5, inf, 5, -0.0}", "f32[6] {2, 2, -2, 2, inf, 3}"},
              "f32[6] {1.5, -1.5, 1.5, nan, 5, -0.0}"));
}

TEST_CASE("power: integers and special values", "[power]") {
  CHECK(Gives("power", {"s32[9] {2, 0, -1, -1, 2, 1, 0, 3, -2}", "s32[9] {-1, 0, -1, -2, 31, -5, -1, 21, 3}"},
              "s32[9] {0, 1, -1, 1, -2147483648, 1, 0, 1870418611, -8}"));
}

TEST_CASE("maximum and minimum: NaN wins, zeros are ordered, in both orders", "[maximum]") {
  CHECK(
      Gives("maximum", {"f32[4] {-0.0, 0, nan, 1}", "f32[4] {0, -0.0, 1, -nan}"}, "f32[4] {0, 0, nan, nan}"));
  CHECK(Gives("minimum", {"f32[4] {-0.0, 0, nan, 1}", "f32[4] {0, -0.0, 1, -nan}"},
              "f32[4] {-0.0, -0.0, nan, nan}"));
}

TEST_CASE("shifts: the amount is unsigned, too much shifts everything out", "[shift-left]") {
  CHECK(Gives("shift-left", {"s32[4] {1, 1, 1, -1}", "s32[4] {31, 32, -1, 1}"},
              "s32[4] {-2147483648, 0, 0, -2}"));
  CHECK(Gives("shift-right-arithmetic", {"u8[1] {128}", "u8[1] {1}"}, "u8[1] {192}"));
}

TEST_CASE("binary: operand types and dimensions must agree", "[BINARY-C2][BINARY-C3][BINARY-C4]") {
  CHECK(Refusal("add", {"f32[2]", "f64[2]"}, "f32[2]").find("BINARY-C2") != std::string::npos);
  CHECK(Refusal("add", {"f32[2]", "f32[]"}, "f32[2]").find("BINARY-C3") != std::string::npos);
  CHECK(Refusal("subtract", {"pred[2]", "pred[2]"}, "pred[2]").find("BINARY-C4") != std::string::npos);
  CHECK(Refusal("remainder", {"c64[2]", "c64[2]"}, "c64[2]").find("BINARY-C4") != std::string::npos);
}

}  // namespace
}  // namespace assay
