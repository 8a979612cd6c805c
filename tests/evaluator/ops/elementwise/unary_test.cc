// abs … round-nearest-even on the numbers of docs/spec/operations-elementwise.md; goldens have the rest.
#include <catch2/catch.hpp>

#include "tests/run/run_text.h"

namespace assay {
namespace {

TEST_CASE("abs: the smallest signed integer maps to itself, complex to its modulus", "[abs]") {
  CHECK(Gives("abs", {"s8[2] {-128, -5}"}, "s8[2] {-128, 5}"));
  CHECK(Gives("abs", {"s64[1] {-9223372036854775808}"}, "s64[1] {-9223372036854775808}"));
  CHECK(Gives("abs", {"c64[] (3, 4)"}, "f32[] 5"));
  CHECK(Gives("abs", {"c64[] (3e38, 3e38)"}, "f32[] inf"));
  CHECK(Gives("abs", {"f32[3] {-0.0, -inf, -nan}"}, "f32[3] {0, inf, nan}"));
  CHECK(Refusal("abs", {"u8[2]"}, "u8[2]").find("UNARY-C2") != std::string::npos);
}

TEST_CASE("negate: integers wrap, zeros change sign", "[negate]") {
  CHECK(Gives("negate", {"u8[2] {1, 0}"}, "u8[2] {255, 0}"));
  CHECK(Gives("negate", {"s4[2] {-8, 7}"}, "s4[2] {-8, -7}"));
  CHECK(Gives("negate", {"f32[3] {0, -0.0, nan}"}, "f32[3] {-0.0, 0, nan}"));
  CHECK(Refusal("negate", {"pred[2]"}, "pred[2]").find("UNARY-C2") != std::string::npos);
}

TEST_CASE("sign: zeros keep their sign and NaN stays NaN", "[sign]") {
  CHECK(Gives("sign", {"f32[5] {-3, -0.0, 0, nan, 7}"}, "f32[5] {-1, -0.0, 0, nan, 1}"));
  CHECK(Gives("sign", {"s1[2] {-1, 0}"}, "s1[2] {-1, 0}"));
}

TEST_CASE("popcnt and count-leading-zeros see the pattern of the type's width",
          "[popcnt][count-leading-zeros]") {
  CHECK(Gives("popcnt", {"s8[4] {0, 1, -1, 64}"}, "s8[4] {0, 1, 8, 1}"));
  CHECK(Gives("popcnt", {"s2[1] {-1}"}, "s2[1] {-2}"));
  CHECK(Gives("count-leading-zeros", {"s8[4] {0, 1, -1, 64}"}, "s8[4] {8, 7, 0, 1}"));
  CHECK(Gives("count-leading-zeros", {"s4[1] {0}"}, "s4[1] {4}"));
}

TEST_CASE("not: logical for pred, complement for integers", "[not]") {
  CHECK(Gives("not", {"pred[2] {true, false}"}, "pred[2] {false, true}"));
  CHECK(Gives("not", {"u4[2] {0, 9}"}, "u4[2] {15, 6}"));
}

TEST_CASE("rounding to integral values: ties, signs of zero, infinities", "[round]") {
  CHECK(Gives("round-nearest-afz", {"f32[6] {0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997}"},
              "f32[6] {1, 2, 3, -1, -2, 0}"));
  CHECK(Gives("round-nearest-even", {"f32[6] {0.5, 1.5, 2.5, -0.5, -1.5, -2.5}"},
              "f32[6] {0, 2, 2, -0.0, -2, -2}"));
  CHECK(Gives("ceil", {"f64[3] {-0.5, 1.25, inf}"}, "f64[3] {-0.0, 2, inf}"));
  CHECK(Gives("floor", {"bf16[3] {-0.5, 1.25, nan}"}, "bf16[3] {-1, 1, nan}"));
  CHECK(Refusal("ceil", {"s32[2]"}, "s32[2]").find("UNARY-C2") != std::string::npos);
}

TEST_CASE("ceil: above the largest value of a format it is rounded as any result", "[ceil]") {
  CHECK(Gives("ceil", {"f8e3m4[1] {15.5}"}, "f8e3m4[1] {inf}"));
  CHECK(Gives("ceil", {"f6e2m3fn[1] {7.5}"}, "f6e2m3fn[1] {7.5}"));
}

TEST_CASE("result_accuracy: only where the spec has it, and with numbers that make sense", "[UNARY-C4]") {
  CHECK(Refusal("abs", {"f32[2]"}, "f32[2]", ", result_accuracy={mode=highest}").find("result_accuracy") !=
        std::string::npos);
  CHECK(Gives("sqrt", {"f32[2] {4, -0.0}"}, "f32[2] {2, -0.0}", ", result_accuracy={mode=highest}"));
  CHECK(Gives("sqrt", {"f32[1] {2}"}, "f32[1] {0x1.6a09e6p+0}",
              ", result_accuracy={tolerance={atol=0,rtol=1e-3,ulps=2}}"));
  CHECK(Refusal("sqrt", {"f32[2]"}, "f32[2]", ", result_accuracy={tolerance={atol=-1,rtol=0,ulps=0}}") != "");
}

TEST_CASE("unary: the declared shape must be the operand's", "[UNARY-C3]") {
  CHECK(Refusal("negate", {"f32[2]"}, "f32[3]").find("UNARY-C3") != std::string::npos);
  CHECK(Refusal("negate", {"f32[2]"}, "f64[2]").find("UNARY-C3") != std::string::npos);
  CHECK(Refusal("abs", {"c64[2]"}, "c64[2]").find("UNARY-C3") != std::string::npos);
}

}  // namespace
}  // namespace assay
