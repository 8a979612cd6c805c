#include "literal/literal_text.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "base/limits.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

Shape ShapeOf(std::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  REQUIRE(shape.ok());
  return *std::move(shape);
}
// The value printed again, or "line:column: message" of the refusal.
std::string Reprint(std::string_view shape, std::string_view text, LiteralTextOptions options = {}) {
  absl::StatusOr<Literal> literal = ParseLiteral(ShapeOf(shape), text, options);
  if (literal.ok()) return LiteralToText(*literal, options);
  REQUIRE(ExitCodeOf(literal.status()) == 3);
  const auto where = PositionOf(literal.status());
  REQUIRE(where.has_value());
  return std::to_string(where->line) + ":" + std::to_string(where->column) + ": " +
         std::string(literal.status().message());
}
uint64_t BitsOf(std::string_view shape, std::string_view text) {
  absl::StatusOr<Literal> literal = ParseLiteral(ShapeOf(shape), text);
  INFO(shape << " " << text << " " << literal.status());
  REQUIRE(literal.ok());
  uint64_t bits = 0;
  std::memcpy(&bits, literal->data(), std::min<size_t>(8, literal->bytes().size()));
  return bits;
}
const LiteralTextOptions kHex{.hex_floats = true};

}  // namespace

// What jaxlib 0.10.2 prints after reading the text (print_large_constants).
TEST_CASE("literal text: values print as XLA prints them", "[literal_text]") {
  struct Row {
    const char *shape, *text, *printed;
  };
  const Row kRows[] = {
      {"f32[1,1,1]", "{{{0}}}", "{ { {0} } }"},
      {"f32[2,2,2]", "{{{1,2},{3,4}},{{5,6},{7,8}}}", "{ { { 1, 2 }, { 3, 4 } }, { { 5, 6 }, { 7, 8 } } }"},
      {"s32[2,1,2,2]", "{{{{1,2},{3,4}}},{{{5,6},{7,8}}}}",
       "{ { /*i0=0*/ { /*i1=0*/ { 1, 2 }, { 3, 4 } } }, { /*i0=1*/ { /*i1=0*/ { 5, 6 }, { 7, 8 } } } }"},
      {"s32[1,2,1,2,1]", "{{{{{1},{2}}},{{{3},{4}}}}}",
       "{ { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ {1}, {2} } }, { /*i1=1*/ { /*i2=0*/ {3}, {4} } } } }"},
      {"s32[2,0]", "{{},{}}", "{ {}, {} }"},
      {"s32[0,2]", "{}", "{  }"},
      {"s32[0]", "{}", "{}"},
      {"s32[1]", "{7}", "{7}"},
      {"s32[3]", "{7,8,9}", "{7, 8, 9}"},
      {"s32[1,1]", "{{7}}", "{ {7} }"},
      {"()", "()", "(  )"},
      {"(s32[])", "(1)", "( 1 )"},
      {"(s32[],(s32[2],()))", "(1,({1,2},()))", "( 1, ( {1, 2}, (  ) ) )"},
      {"pred[]", "true", "true"},
      {"pred[]", "5", "true"},
      {"pred[2]", "{true,0}", "{1, 0}"},
      {"pred[2,2]", "{{1,0},{0,1}}", "{ { 1, 0 }, { 0, 1 } }"},
      {"f4e2m1fn[]", "1e10", "6"},
      {"f4e2m1fn[]", "7", "6"},
      {"f6e3m2fn[]", "100", "28"},
      {"f4e2m1fn[]", "-inf", "-6"},
      {"f4e2m1fn[]", "-nan", "0"},
      {"f8e8m0fnu[]", "inf", "nan"},
      {"f8e8m0fnu[]", "-inf", "nan"},
      {"f8e8m0fnu[]", "1e-50", "5.9e-39"},
      {"f8e8m0fnu[]", "3", "4"},
      {"f8e8m0fnu[]", "nan", "nan"},
      {"f8e4m3fn[]", "-nan", "-nan"},
      {"f8e4m3fn[]", "-inf", "nan"},  // the canonical NaN of a cast; XLA keeps the sign
      {"f8e4m3fnuz[]", "-0.0", "0"},
      {"c64[]", "(nan, inf)", "(nan, nan)"},
      {"c64[]", "(inf, -inf)", "(inf, -inf)"},
      {"c64[2]", "{(1,2)(3,4)}", "{(1, 2), (3, 4)}"},
      {"c64[]", "(nan(0x5), 1)", "(nan(0x5), nan(0x5))"},
      {"s32[2]", "{1-2}", "{1, -2}"},
      {"s8[]", "18446744073709551615", "-1"},
      {"s64[]", "18446744073709551615", "-1"},
      {"u64[]", "-1", "18446744073709551615"},
      {"f32[]", "18446744073709551615", "-1"},
      {"f32[]", "-0", "0"},
      {"f32[]", "-.5", "-0.5"},
      {"f32[]", "5.", "5"},
      {"f32[]", "1e-400", "0"},
      {"f32[2]", "{,1,2}", "{1, 2}"},
      {"f32[2]", "{1,,2,}", "{1, 2}"},
      {"f32[2]", " { 1 /* one */ 2 // two\n } ", "{1, 2}"},
      {"f32[]", "nan(0x400000)", "nan"},
      {"f32[]", "-nan(0x1)", "-nan(0x1)"},
      {"f32[]", "nan(0xA)", "nan(0xa)"},
      {"f8e5m2[]", "nan(0x1)", "nan(0x1)"},
      {"f16[]", "65519", "65504"},
      {"bf16[]", "3.39e38", "3.39e+38"},
      {"s1[2]", "{-1,0}", "{-1, 0}"},
      {"f64[]", "0.1", "0.1"},
      {"f64[]", "0.30000000000000004", "0.30000000000000004"},
      {"f32[]", "16777217", "16777216"},
      {"f32[]", "0.1", "0.1"},
      {"f32[]", "1e38", "1e+38"},
      {"f32[]", "1.4013e-45", "1.4013e-45"},
  };
  for (const Row& row : kRows) {
    INFO(row.shape << " " << row.text);
    CHECK(Reprint(row.shape, row.text) == row.printed);
  }
}

TEST_CASE("literal text: negative zero keeps its sign", "[literal_text]") {
  CHECK(Reprint("f32[]", "-0.0") == "-0.0");
  CHECK(Reprint("c128[]", "(-0.0, 0)") == "(-0.0, 0)");
  CHECK(Reprint("f4e2m1fn[]", "nan") == "-0.0");
  CHECK(BitsOf("f32[]", "-0.0") == 0x80000000);
}

TEST_CASE("literal text: rounding goes through f64", "[literal_text]") {
  CHECK(BitsOf("f8e4m3fn[]", "464") == 0x7e);
  CHECK(BitsOf("f16[]", "65519") == 0x7bff);
  // 1 + 2^-24 + 2^-60: above f32's midpoint, but its nearest f64 is the midpoint itself.
  CHECK(BitsOf("f32[]", "1.000000059604644775392") == 0x3f800000);
  CHECK(BitsOf("f32[]", "1.0000000596046449") == 0x3f800001);
  CHECK(BitsOf("f64[]", "2.2250738585072011e-308") == 0x000fffffffffffff);
  CHECK(BitsOf("f64[]", "4.9406564584124654e-324") == 1);
  CHECK(BitsOf("f64[]", "2.4703282292062327e-324") == 0);
  CHECK(BitsOf("f64[]", "0.00000000000000000000000001e-99999999999999999999999") == 0);
  CHECK(BitsOf("f64[]", "9007199254740993.0") == std::bit_cast<uint64_t>(9007199254740992.0));
  CHECK(BitsOf("f32[]", "3.4028235677973362e38") == 0x7f7fffff);  // below the midpoint to 2^128
}

TEST_CASE("literal text: complex components may be as large as printing makes them", "[literal_text]") {
  CHECK(Reprint("c64[]", "(3.40282347e+38, -3.40282347e+38)") == "(3.40282347e+38, -3.40282347e+38)");
}

TEST_CASE("literal text: what can't be read is refused with its place", "[literal_text]") {
  struct Row {
    const char *shape, *text, *message;
  };
  const Row kRows[] = {
      {"f32[]", "3.4028236e38", "1:1: LIT-2: 3.4028236e+38 is out of range for f32"},
      {"f16[]", "65520", "1:1: LIT-2: 65520 is out of range for f16"},
      {"f8e4m3fn[]", "465", "1:1: LIT-2: 465 is out of range for f8e4m3fn"},
      {"f8e8m0fnu[]", "0", "1:1: LIT-2: 0 is out of range for f8e8m0fnu"},
      {"f8e8m0fnu[]", "-1", "1:1: LIT-2: -1 is out of range for f8e8m0fnu"},
      {"f8e8m0fnu[]", "1e39", "1:1: LIT-2: 1e+39 is out of range for f8e8m0fnu"},
      {"c64[]", "(3.4028236e38, 0)", "1:2: LIT-2: 3.4028236e+38 is out of range for f32"},
      {"f32[]", "1e400", "1:1: LIT-2: the number overflows f64"},
      {"f64[]", "-1e999999999999999999999", "1:2: LIT-2: the number overflows f64"},
      {"u8[]", "-1", "1:1: LIT-2: -1 is out of range for u8"},
      {"u8[]", "256", "1:1: LIT-2: 256 is out of range for u8"},
      {"s2[1]", "{-3}", "1:2: LIT-2: -3 is out of range for s2"},
      {"s1[]", "1", "1:1: LIT-2: 1 is out of range for s1"},
      {"s64[]", "18446744073709551616", "1:1: LIT-2: the integer does not fit 64 bits"},
      {"s64[]", "-9223372036854775809", "1:2: LIT-2: the integer does not fit 64 bits"},
      {"s32[]", "1.0", "1:1: LIT-2: an element of type s32 is an integer"},
      {"s32[]", "nan", "1:1: LIT-2: an element of type s32 is an integer"},
      {"pred[]", "1.0", "1:1: LIT-2: an element of type pred is true, false or an integer"},
      {"f32[]", "true", "1:1: LIT-1: found 'true', wanted an element"},
      {"f32[]", ".5", "1:1: LIT-1: found '.5', wanted an element"},
      {"f32[]", "+5", "1:1: LIT-1: found '+', wanted an element"},
      {"f32[]", "-", "1:1: LIT-1: found '-', wanted an element"},
      {"f32[]", "", "1:1: LIT-1: found the end of the text, wanted an element"},
      {"f32[]", "infinity", "1:1: LIT-1: found 'infinity', wanted an element"},
      {"f32[]", "0x1p3", "1:2: literal: text after the value"},
      {"f32[]", "1e", "1:2: literal: text after the value"},
      {"f32[]", "5,", "1:2: literal: text after the value"},
      {"f32[]", ",5", "1:1: LIT-1: found ',', wanted an element"},
      {"f32[]", "1 2", "1:3: literal: text after the value"},
      {"f32[2]", "{1.5.5}", "1:5: LIT-1: found '.5', wanted an element"},
      {"f32[2]", "5", "1:1: LIT-1: found '5', but an array of rank 1 starts with '{'"},
      {"f32[2]", ",{1,2}", "1:1: LIT-1: found ',', but an array of rank 1 starts with '{'"},
      {"f32[2]", "{1}", "1:3: LIT-1: found 1 entry, but dimension 0 has size 2"},
      {"f32[2]", "{1,2,\n3}", "2:1: LIT-1: more than 2 entries in dimension 0"},
      {"f32[2]", "{{1,2}}", "1:2: LIT-1: found '{', wanted an element"},
      {"f32[2]", "{1,2", "1:5: LIT-1: more than 2 entries in dimension 0"},
      {"f32[2,2]", "{1,2,3,4}", "1:2: LIT-1: found '1', but 1 level of braces are open of 2"},
      {"f32[2,0]", "{}", "1:2: LIT-1: found 0 entries, but dimension 0 has size 2"},
      {"f32[0,2]", "{{1,2}}", "1:2: LIT-1: more than 0 entries in dimension 0"},
      {"f32[9]", "{...}", "1:2: LIT-3: the value is elided, '{...}' stands for no particular value"},
      {"f32[1152921504606846976]", "{1}",
       "1:3: LIT-1: found 1 entry, but dimension 0 has size 1152921504606846976"},
      {"(f32[],s32[])", "(1 2)", "1:4: LIT-1: found '2' after element 0 of a tuple of 2"},
      {"(f32[],s32[])", "(1,2,)", "1:5: LIT-1: found ',' after all 2 elements of a tuple"},
      {"(f32[])", "1", "1:1: LIT-1: found '1', but a tuple starts with '('"},
      {"token[]", "1", "1:1: literal: a value of shape token[] can't be written"},
      {"c64[]", "5", "1:1: LIT-2: found '5', but an element of type c64 is written (re, im)"},
      {"c64[]", "(1 2)", "1:4: literal: found '2' after the real part, wanted ','"},
      {"c64[]", "(1,2,)", "1:5: literal: found ',' after the imaginary part, wanted ')'"},
      {"f32[]", "nan(0x800000)", "1:1: LIT-2: nan(0x800000) has a payload that f32 can't hold"},
      {"f8e4m3fn[]", "nan(0x1)", "1:1: LIT-2: nan(0x1) has a payload that f8e4m3fn can't hold"},
      {"f64[]", "nan(0x0)", "1:4: LIT-2: a nan payload is at least 1 and has at most 52 bits"},
      {"f64[]", "nan(0x10000000000000)", "1:4: LIT-2: a nan payload is at least 1 and has at most 52 bits"},
      {"f64[]", "nan(0xfffffffffffffffffffffff)",
       "1:4: LIT-2: a nan payload is at least 1 and has at most 52 bits"},
      {"f64[]", "nan(0x)", "1:4: literal: a nan payload is written (0x..) in hexadecimal digits"},
      {"f64[]", "nan(0x1", "1:4: literal: a nan payload is written (0x..) in hexadecimal digits"},
      {"f64[]", "nan (0x1)", "1:5: literal: text after the value"},
      {"f32[1]", "{1 /* }", "1:4: literal: a comment is not closed"},
  };
  for (const Row& row : kRows) {
    INFO(row.shape << " " << row.text);
    CHECK(Reprint(row.shape, row.text) == row.message);
  }
}

TEST_CASE("literal text: a NUL byte is no element and no space", "[literal_text]") {
  CHECK(Reprint("f32[1]", std::string_view("{\0}", 3)) == "1:2: LIT-1: found '\\x00', wanted an element");
}

TEST_CASE("literal text: consumed says where the value ended", "[literal_text]") {
  size_t consumed = 0;
  REQUIRE(ParseLiteral(ShapeOf("f32[2]"), " {1, 2} , rest", {}, &consumed).ok());
  CHECK(consumed == 7);
  REQUIRE(ParseLiteral(ShapeOf("s32[]"), "12)", {}, &consumed).ok());
  CHECK(consumed == 2);
}

TEST_CASE("literal text: hex floats are read only where asked for", "[literal_text]") {
  CHECK(Reprint("f32[3]", "{0x1.8p+1, -0x0p+0, nan(0x1)}", kHex) == "{0x1.8p+1, -0x0p+0, nan(0x1)}");
  CHECK(Reprint("c64[]", "(0x1p-149, 2.5)", kHex) == "(0x1p-149, 0x1.4p+1)");
  // Our own form keeps both components of a complex NaN.
  CHECK(Reprint("c64[]", "(nan, 1)", kHex) == "(nan, 0x1p+0)");
  CHECK(Reprint("f32[]", "0x", kHex) == "1:1: literal: malformed hexadecimal float, or beyond f64");
  CHECK(Reprint("f32[]", "0x-1p3", kHex) == "1:1: literal: malformed hexadecimal float, or beyond f64");
  CHECK(Reprint("f32[]", "0xinf", kHex) == "1:1: literal: malformed hexadecimal float, or beyond f64");
  CHECK(Reprint("f16[]", "0x1p16", kHex) == "1:1: LIT-2: 65536 is out of range for f16");
}

TEST_CASE("literal text: every pattern of up to 16 bits survives printing and reading", "[literal_text]") {
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (Bits(type) > 16 || Bits(type) < 4) continue;
    const int64_t count = int64_t{1} << Bits(type);
    Literal literal = *Literal::Make(Shape::ArrayOrDie(type, std::vector<int64_t>{count}));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t pattern = IsSignedIntegral(type) ? WrapSigned(i, Bits(type)) : i;
      std::memcpy(literal.MutableBytes().data() + i * Bytes(type), &pattern, Bytes(type));
    }
    for (const bool hex : {false, true}) {
      const LiteralTextOptions options{.hex_floats = hex};
      const absl::StatusOr<Literal> back =
          ParseLiteral(literal.shape(), LiteralToText(literal, options), options);
      INFO(Name(type) << " " << back.status());
      REQUIRE(back.ok());
      CHECK(Literal::BitwiseEqual(literal, *back));
    }
  }
}

TEST_CASE("literal text: random patterns of wide types survive printing and reading", "[literal_text]") {
  std::mt19937_64 random(20261121);
  for (ElementType type : {ElementType::kF32, ElementType::kF64, ElementType::kS32, ElementType::kS64,
                           ElementType::kU32, ElementType::kU64}) {
    Literal literal = *Literal::Make(Shape::ArrayOrDie(type, std::vector<int64_t>{20000}));
    for (std::byte& b : literal.MutableBytes()) b = std::byte(random());
    const std::string text = LiteralToText(literal);
    const absl::StatusOr<Literal> back = ParseLiteral(literal.shape(), text);
    INFO(Name(type) << " " << back.status());
    REQUIRE(back.ok());
    CHECK(Literal::BitwiseEqual(literal, *back));
  }
}

TEST_CASE("literal text: tuples nested too deeply are refused, not followed", "[literal_text]") {
  Shape shape = Shape::Scalar(ElementType::kF32);
  for (int i = 0; i < kMaxNesting + 2; ++i) shape = Shape::Tuple({shape});
  const std::string text = fmt::format("{0:(>{2}}1{1:)>{2}}", "", "", kMaxNesting + 2);
  const absl::StatusOr<Literal> literal = ParseLiteral(shape, text);
  REQUIRE_FALSE(literal.ok());
  CHECK(literal.status().message() == "literal: tuples nest deeper than 512");
}

TEST_CASE("literal text: an array of endless empty rows is elided", "[literal_text]") {
  Literal literal = *Literal::Make(ShapeOf("s8[1000000000000,0]"));
  CHECK(LiteralToText(literal) == "{...}");
}

TEST_CASE("literal text: run-time sizes limit what is printed", "[literal_text]") {
  Literal literal = *Literal::Make(ShapeOf("s32[<=3,2]"));
  literal.set_dynamic_size(0, 1);
  CHECK(LiteralToText(literal) == "{ { 0, 0 } }");
}

TEST_CASE("literal display: arrays look as NumPy prints them", "[literal_text]") {
  const auto display = [](std::string_view shape, std::string_view text) {
    return LiteralToDisplay(*ParseLiteral(ShapeOf(shape), text));
  };
  CHECK(display("f32[]", "1.5") == "1.5");
  CHECK(display("f32[2,2]", "{{1,2.5},{-0.0,nan}}") == "[[ 1. 2.5]\n [-0. nan]]");
  CHECK(display("s32[2,1,2]", "{{{1,2}},{{3,44}}}") == "[[[ 1  2]]\n\n [[ 3 44]]]");
  CHECK(display("(s32[],(pred[2],()))", "(7,({true,false},()))") ==
        "0: s32[]\n7\n1.0: pred[2]\n[ true false]\n1.1: ()");
  CHECK(display("c64[]", "(1,-2)") == "1.-2.j");
  CHECK(display("f32[0,3]", "{}") == "[]");
  std::vector<int64_t> values(2000);
  for (int64_t i = 0; i < 2000; ++i) values[i] = i;
  CHECK(LiteralToDisplay(Literal::FromInts(ElementType::kS32, std::vector<int64_t>{2000}, values)) ==
        "[   0    1    2 ... 1997 1998 1999]");
  CHECK(LiteralToDisplay(Literal::FromInts(ElementType::kS32, std::vector<int64_t>{200, 10}, values)) ==
        "[[   0    1    2 ...    7    8    9]\n"
        " [  10   11   12 ...   17   18   19]\n"
        " [  20   21   22 ...   27   28   29]\n"
        " ...\n"
        " [1970 1971 1972 ... 1977 1978 1979]\n"
        " [1980 1981 1982 ... 1987 1988 1989]\n"
        " [1990 1991 1992 ... 1997 1998 1999]]");
}

TEST_CASE("literal display: many short dimensions are cut off", "[literal_text]") {
  const std::vector<int64_t> sizes(22, 2);
  const Literal literal = *Literal::Make(Shape::ArrayOrDie(ElementType::kPred, sizes));
  CHECK(LiteralToDisplay(literal).size() < 4000000);
}

}  // namespace assay
