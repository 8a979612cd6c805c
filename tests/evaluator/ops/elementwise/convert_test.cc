// convert, bitcast-convert, reduce-precision, stochastic-convert, complex, real, imag.
#include <catch2/catch.hpp>

#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {
namespace {

TEST_CASE("convert: floats to integers truncate and saturate", "[convert]") {
  const std::string x = "f32[7] {1.9, -1.9, 300, -300, nan, inf, -inf}";
  CHECK(Gives("convert", {x}, "s8[7] {1, -1, 127, -128, 0, 127, -128}"));
  CHECK(Gives("convert", {x}, "u8[7] {1, 0, 255, 0, 0, 255, 0}"));
  CHECK(Gives("convert", {x}, "s1[7] {0, -1, 0, -1, 0, 0, -1}"));
  CHECK(
      Gives("convert", {"f64[4] {0x1p+63, -0x1p+63, 0x1p+64, 0x1.fffffffffffffp+62}"},
            "s64[4] {9223372036854775807, -9223372036854775808, 9223372036854775807, 9223372036854774784}"));
  CHECK(Gives("convert", {"f64[3] {0x1p+64, 0x1p+63, -1}"},
              "u64[3] {18446744073709551615, 9223372036854775808, 0}"));
}

TEST_CASE("convert: integers wrap among themselves and round once to floats", "[convert]") {
  CHECK(Gives("convert", {"s32[3] {300, -129, 127}"}, "s8[3] {44, 127, 127}"));
  CHECK(Gives("convert", {"s32[3] {2049, 70000, 65519}"}, "f16[3] {2048, inf, 65504}"));
  CHECK(Gives("convert", {"pred[2] {1, 0}"}, "s1[2] {-1, 0}"));
  // 2^24 + 1 and a bit far below: through f64 it would be a tie that goes down.
  CHECK(Gives("convert", {"s64[2] {4611686293305294849, 4611686293305294848}"},
              "f32[2] {0x1.000002p+62, 0x1p+62}"));
  CHECK(Gives("convert", {"u64[1] {18446744073709551615}"}, "f64[1] {0x1p+64}"));
}

TEST_CASE("convert: NaN becomes canonical, except to the same type", "[convert]") {
  CHECK(Gives("convert", {"f32[2] {nan(0x1), -nan}"}, "f64[2] {nan, nan}"));
  CHECK(Gives("convert", {"f32[2] {nan(0x1), -nan}"}, "f32[2] {nan(0x1), -nan}"));
  CHECK(Gives("convert", {"f32[3] {0, -0.0, nan}"}, "pred[3] {0, 0, 1}"));
  CHECK(Gives("convert", {"f32[2] {1e10, -0.1}"}, "f8e4m3fn[2] {nan, -0x1.ap-4}"));
}

TEST_CASE("convert: complex counts by its real part, and gets +0 for its imaginary one", "[convert]") {
  CHECK(Gives("convert", {"c64[2] {(1.5, 2), (-3, nan)}"}, "f32[2] {1.5, -3}"));
  CHECK(Gives("convert", {"c64[2] {(0, 2), (nan, 0)}"}, "pred[2] {0, 1}"));
  CHECK(Gives("convert", {"s8[2] {-3, 4}"}, "c128[2] {(-3, 0), (4, 0)}"));
  CHECK(Gives("convert", {"c128[1] {(0x1.0000001p+0, 1e300)}"}, "c64[1] {(1, inf)}"));
}

TEST_CASE("convert: strips of any length, real to complex and back", "[convert]") {
  // More than one strip of the larger kind (a short buffer would be overrun).
  const int64_t n = 700;
  std::vector<double> values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<double>(i) - 350;
  const Program program = ProgramOf(R"(HloModule m
ENTRY e {
  x = f32[700] parameter(0)
  c = c128[700] convert(x)
  ROOT r = f32[700] convert(c)
}
)");
  const Literal x = Literal::FromDoubles(ElementType::kF32, {&n, 1}, values);
  const absl::StatusOr<Literal> result = program.Run({x});
  REQUIRE(result.ok());
  CHECK(Literal::BitwiseEqual(*result, x));
}

TEST_CASE("bitcast-convert: the new index counts from the least significant part", "[bitcast-convert]") {
  CHECK(Gives("bitcast-convert", {"f32[2] {1, -2}"}, "u16[2,2] {{0, 16256}, {0, 49152}}"));
  CHECK(
      Gives("bitcast-convert", {"u8[2,4] {{1, 2, 3, 4}, {0, 0, 0, 128}}"}, "u32[2] {67305985, 2147483648}"));
  CHECK(Gives("bitcast-convert", {"s8[2] {33, -16}"}, "s4[2,2] {{1, 2}, {0, -1}}"));
  CHECK(Gives("bitcast-convert", {"s4[2,2] {{1, 2}, {0, -1}}"}, "s8[2] {33, -16}"));
  CHECK(Gives("bitcast-convert", {"s4[2] {-1, 7}"}, "u4[2] {15, 7}"));
  CHECK(Gives("bitcast-convert", {"f32[1] {nan(0x1)}"}, "u32[1] {2139095041}"));
}

TEST_CASE("bitcast-convert: a byte that is no pred value is refused at run time", "[bitcast-convert]") {
  const auto run = [](const std::string& x) {
    return RunText(OpProgram("bitcast-convert", {x}, "pred[2]"), {x});
  };
  CHECK(run("u8[2] {1, 0}").ok());
  CHECK(ExitCodeOf(run("u8[2] {1, 2}").status()) == 5);
}

TEST_CASE("reduce-precision: rounding before range, no subnormals", "[reduce-precision]") {
  CHECK(Gives("reduce-precision", {"f32[6] {65519, 65520, 1.0009765, 6e-5, 1e-8, nan}"},
              "f32[6] {65504, inf, 0x1.004p+0, 0, 0, nan}", ", exponent_bits=5, mantissa_bits=10"));
  CHECK(Gives("reduce-precision", {"f32[4] {3, 1.5, 2.9, inf}"}, "f32[4] {2, 2, 2, inf}",
              ", exponent_bits=8, mantissa_bits=0"));
  CHECK(Gives("reduce-precision", {"f32[4] {1.5, 2, 0.5, -3}"}, "f32[4] {0, inf, 0, -inf}",
              ", exponent_bits=1, mantissa_bits=23"));
  CHECK(Gives("reduce-precision", {"f32[2] {0x1p-149, -nan}"}, "f32[2] {0x1p-149, nan}",
              ", exponent_bits=100, mantissa_bits=100"));
  CHECK(Refusal("reduce-precision", {"f32[2]"}, "f32[2]", ", exponent_bits=0, mantissa_bits=1")
            .find("ReducePrecision-C2") != std::string::npos);
}

TEST_CASE("stochastic-convert: the fraction is rounded up with its probability", "[stochastic-convert]") {
  CHECK(
      Gives("stochastic-convert",
            {"f32[4] {2.25, 2.25, -2.25, -2.25}", "u32[4] {1073741823, 1073741824, 1073741823, 1073741824}"},
            "s8[4] {3, 2, -3, -2}"));
  CHECK(Gives("stochastic-convert",
              {"f64[2] {0.5, 0.5}", "u64[2] {9223372036854775807, 9223372036854775808}"}, "s32[2] {1, 0}"));
}

TEST_CASE("real, imag, complex move bits", "[complex]") {
  CHECK(Gives("real", {"c64[2] {(1, 2), (nan(0x1), 3)}"}, "f32[2] {1, nan(0x1)}"));
  CHECK(Gives("imag", {"c64[2] {(1, 2), (3, -nan)}"}, "f32[2] {2, -nan}"));
  CHECK(Gives("real", {"f16[2] {-nan, 3}"}, "f16[2] {-nan, 3}"));
  CHECK(Gives("imag", {"f16[2] {-nan, 3}"}, "f16[2] {0, 0}"));
  CHECK(Gives("complex", {"f64[1] {nan(0x1)}", "f64[1] {-0.0}"}, "c128[1] {(nan(0x1), -0.0)}"));
  CHECK(Refusal("complex", {"s32[1]", "s32[1]"}, "c64[1]").find("BINARY-C4") != std::string::npos);
}

}  // namespace
}  // namespace assay
