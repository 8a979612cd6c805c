#include "custom/config_dictionary.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstring>

#include "fmt/format.h"

namespace assay::custom {
namespace {

using Catch::Contains;

ConfigDictionary Parsed(std::string_view text) {
  absl::StatusOr<ConfigDictionary> dictionary = ParseConfigDictionary(text);
  INFO(dictionary.status().ToString());
  REQUIRE(dictionary.ok());
  return *std::move(dictionary);
}

// The value of {v = text}.
template <typename T>
T ValueIn(std::string_view text) {
  const ConfigDictionary dictionary = Parsed(fmt::format("{{v = {}}}", text));
  REQUIRE(dictionary.size() == 1);
  REQUIRE(std::holds_alternative<T>(dictionary[0].second.value));
  return std::get<T>(dictionary[0].second.value);
}

template <typename T>
T JsonValue(std::string_view text) {
  const absl::StatusOr<ConfigDictionary> dictionary = ParseJsonConfig(fmt::format("{{\"v\": {}}}", text));
  INFO(text << ": " << dictionary.status().ToString());
  REQUIRE(dictionary.ok());
  REQUIRE(std::holds_alternative<T>((*dictionary)[0].second.value));
  return std::get<T>((*dictionary)[0].second.value);
}

std::string Refusal(const absl::StatusOr<ConfigDictionary>& parsed) {
  REQUIRE_FALSE(parsed.ok());
  CHECK(ExitCodeOf(parsed.status()) == 3);
  return std::string(parsed.status().message());
}

TEST_CASE("config dictionary: what JAX prints is read, and printed again as it was", "[custom]") {
  // The attributes of an ffi_call as jax 0.10.2 lowers them, dense arrays aside.
  const std::string text =
      R"({a = 3 : i32, b = 1.500000e+00 : f64, c = 0x7FC00000 : f32, d = "a\22b\0A\09\\\C3\A9", f = true, )"
      R"(f1 = 0xFF800000 : f32, f2 = -1.000000e-05 : f64, f4 = -0.000000e+00 : f64, f5 = 1.000000e-01 : f32, )"
      R"(i = {x = 1 : i64, y = 2.000000e+00 : f32}, k = 200 : ui8, n = -3 : i64, o = 1.500000e+00 : f16, )"
      R"(t = bf16, z = [1, "a", 1.500000e+00, 2 : i8]})";
  const ConfigDictionary dictionary = Parsed(text);
  CHECK(dictionary.size() == 15);
  CHECK(dictionary[0].first == "a");
  // A quote is escaped by a backslash where MLIR writes its code.
  std::string printed = text;
  printed.replace(printed.find("\\22"), 3, "\\\"");
  CHECK(ConfigText(dictionary) == printed);
  CHECK(ConfigText(Parsed(printed)) == printed);
  CHECK(std::get<std::string>(dictionary[3].second.value) == "a\"b\n\t\\\xC3\xA9");
}

TEST_CASE("config dictionary: empty text and an empty dictionary are none", "[custom]") {
  CHECK(Parsed("").empty());
  CHECK(Parsed(" \n").empty());
  CHECK(Parsed("{ }").empty());
  CHECK(ParseJsonConfig("")->empty());
  CHECK(ParseJsonConfig("{}")->empty());
  CHECK(ConfigText({}) == "{}");
}

TEST_CASE("config dictionary: a name without a value is true, names may be quoted", "[custom]") {
  const ConfigDictionary dictionary = Parsed(R"({flag, "a b" = unit, c.d$_1 = false})");
  REQUIRE(dictionary.size() == 3);
  CHECK(dictionary[0].first == "flag");
  CHECK(std::get<bool>(dictionary[0].second.value));
  CHECK(dictionary[1].first == "a b");
  CHECK(std::get<bool>(dictionary[1].second.value));
  CHECK(dictionary[2].first == "c.d$_1");
  CHECK_FALSE(std::get<bool>(dictionary[2].second.value));
}

TEST_CASE("config dictionary: integers have their type and must fit in it", "[custom]") {
  struct Row {
    std::string_view text;
    ElementType type;
    int64_t value;
  };
  for (const Row& row : {Row{"5", ElementType::kS64, 5}, Row{"-5 : i32", ElementType::kS32, -5},
                         Row{"200 : i8", ElementType::kS8, -56}, Row{"200 : ui8", ElementType::kU8, 200},
                         Row{"-128 : si8", ElementType::kS8, -128}, Row{"1 : i1", ElementType::kPred, 1},
                         Row{"0xff : i16", ElementType::kS16, 255}, Row{"7 : index", ElementType::kS64, 7},
                         Row{"18446744073709551615 : ui64", ElementType::kU64, -1},
                         Row{"-9223372036854775808 : i64", ElementType::kS64, INT64_MIN},
                         Row{"3 : ui4", ElementType::kU4, 3}, Row{"-8 : i4", ElementType::kS4, -8}}) {
    const ConfigInt value = ValueIn<ConfigInt>(row.text);
    INFO(row.text);
    CHECK(value.type == row.type);
    CHECK(value.value == row.value);
    const ConfigDictionary whole = {{"v", ConfigValue{value}}};
    CHECK(ConfigText(Parsed(ConfigText(whole))) == ConfigText(whole));
  }
  for (const std::string_view text : {"256 : i8", "-129 : i8", "128 : si8", "-1 : ui8", "2 : i1",
                                      "18446744073709551616", "-9223372036854775809"}) {
    CHECK_THAT(Refusal(ParseConfigDictionary(fmt::format("{{v = {}}}", text))), Contains("does not fit in"));
  }
  CHECK_THAT(Refusal(ParseConfigDictionary("{v = 1.5 : i32}")), Contains("found a number with a point"));
  CHECK_THAT(Refusal(ParseConfigDictionary("{v = 1 : i7}")),
             Contains("byte 9: found 'i7', want the number's type"));
}

TEST_CASE("config dictionary: floats are rounded to their type, hexadecimal ones are bits", "[custom]") {
  CHECK(ValueIn<ConfigFloat>("0.1 : f32").value == 0.1f);
  CHECK(ValueIn<ConfigFloat>("0.1").value == 0.1);
  CHECK(ValueIn<ConfigFloat>("0.1").type == ElementType::kF64);
  CHECK(ValueIn<ConfigFloat>("1.00390625 : bf16").value == 1.0);  // 1 + 2^-8: half way, to even
  CHECK(ValueIn<ConfigFloat>("2. : f32").value == 2);
  CHECK(std::signbit(ValueIn<ConfigFloat>("-0.0 : f32").value));
  CHECK(ValueIn<ConfigFloat>("0xFF800000 : f32").value == -INFINITY);
  CHECK(std::isnan(ValueIn<ConfigFloat>("0x7FC00000 : f32").value));
  CHECK(ValueIn<ConfigFloat>("0x3FF8000000000000 : f64").value == 1.5);
  CHECK(ValueIn<ConfigFloat>("0x3C00 : f16").value == 1);
  CHECK(ValueIn<ConfigFloat>("1.5 : f8E5M2").type == ElementType::kF8E5M2);
  CHECK_THAT(Refusal(ParseConfigDictionary("{v = 0x1FF800000 : f32}")), Contains("does not fit in f32"));
  CHECK_THAT(Refusal(ParseConfigDictionary("{v = 1 : f32}")), Contains("want a number with a point"));
  CHECK_THAT(Refusal(ParseConfigDictionary("{v = 1.0e999 : f32}")), Contains("does not fit in f64"));
  // Every float's text is read back to its bits.
  for (const uint32_t bits :
       {0u, 0x80000000u, 1u, 0x3f800001u, 0x7f800000u, 0x7fc00001u, 0xffc12345u, 0x7f7fffffu}) {
    float value = 0;
    std::memcpy(&value, &bits, 4);
    const ConfigDictionary whole = {{"v", ConfigValue{ConfigFloat{ElementType::kF32, value}}}};
    const auto back =
        static_cast<float>(std::get<ConfigFloat>(Parsed(ConfigText(whole))[0].second.value).value);
    uint32_t read = 0;
    std::memcpy(&read, &back, 4);
    CHECK(read == bits);
  }
}

TEST_CASE("config dictionary: arrays, and dense tensors of any rank as arrays", "[custom]") {
  CHECK(ValueIn<ConfigArray>("array<i64: 1, -2>").ints == std::vector<int64_t>{1, -2});
  CHECK(ValueIn<ConfigArray>("array<i32>").type == ElementType::kS32);
  CHECK(ValueIn<ConfigArray>("array<i1: true, false>").ints == std::vector<int64_t>{1, 0});
  CHECK(ValueIn<ConfigArray>("array<f32: 1.5, 0x7F800000>").floats == std::vector<double>{1.5, INFINITY});
  CHECK(ValueIn<ConfigArray>("dense<[1, 2]> : tensor<2xi64>").ints == std::vector<int64_t>{1, 2});
  CHECK(ValueIn<ConfigArray>("dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>").ints ==
        std::vector<int64_t>{1, 2, 3, 4});
  CHECK(ValueIn<ConfigArray>("dense<3> : tensor<i64>").ints == std::vector<int64_t>{3});
  CHECK(ValueIn<ConfigArray>("dense<200> : tensor<3xui8>").ints == std::vector<int64_t>{200, 200, 200});
  CHECK(ValueIn<ConfigArray>("dense<> : tensor<0xf32>").floats.empty());
  CHECK(ValueIn<ConfigArray>("dense<[true, false]> : tensor<2xi1>").type == ElementType::kPred);
  CHECK(ValueIn<ConfigArray>("dense<[1.5, -2.0]> : tensor<2xbf16>").floats == std::vector<double>{1.5, -2});
  CHECK(ValueIn<ConfigArray>("dense<(1.0,-2.0)> : tensor<2xcomplex<f64>>").floats ==
        std::vector<double>{1, -2, 1, -2});
  CHECK(ValueIn<ConfigArray>("dense<\"0x0100000002000000\"> : tensor<2xi32>").ints ==
        std::vector<int64_t>{1, 2});
  CHECK(ValueIn<ConfigArray>("dense<\"0x0000C03F\"> : tensor<2xf32>").floats ==
        std::vector<double>{1.5, 1.5});
  for (const std::string_view text :
       {"array<i64: 1, -2>", "array<i32>", "array<i1: true, false>", "array<f32: 1.500000e+00, 0x7F800000>",
        "array<ui64: 18446744073709551615>",
        "dense<[(1.000000e+00,-2.000000e+00)]> : tensor<1xcomplex<f32>>"}) {
    CHECK(ConfigText({{"v", ConfigValue{ValueIn<ConfigArray>(text)}}}) == fmt::format("{{v = {}}}", text));
  }
  for (const std::string_view text :
       {"dense<[1, 2]> : tensor<3xi64>", "dense<[1, 2]> : tensor<2x1xi64>", "dense<> : tensor<2xi64>",
        "dense<[[1], [2, 3]]> : tensor<2x1xi64>", "dense<\"0x01\"> : tensor<2xi32>", "dense<1> : f32",
        "dense<1 2> : tensor<2xi32>", "dense<1",
        "dense<1> : tensor<9223372036854775807x9223372036854775807xi8>", "array<i64: 1", "array<i64: >",
        "array<i64 1>", "dense<[]> : tensor<1xi32>"}) {
    INFO(text);
    CHECK(Refusal(ParseConfigDictionary(fmt::format("{{v = {}}}", text))) != "");
  }
}

TEST_CASE("config dictionary: element types are values, by MLIR's names and by HLO's", "[custom]") {
  for (const auto& [text, type] :
       {std::pair{"f32", ElementType::kF32}, std::pair{"i1", ElementType::kPred},
        std::pair{"si32", ElementType::kS32}, std::pair{"ui8", ElementType::kU8},
        std::pair{"i32", ElementType::kS32}, std::pair{"s32", ElementType::kS32},
        std::pair{"pred", ElementType::kPred}, std::pair{"bf16", ElementType::kBF16},
        std::pair{"f8E4M3FN", ElementType::kF8E4M3FN}, std::pair{"complex<f32>", ElementType::kC64},
        std::pair{"c128", ElementType::kC128}}) {
    INFO(text);
    CHECK(ValueIn<ConfigType>(text).type == type);
  }
  for (int i = 0; i < kNumElementTypes; ++i) {
    const ConfigDictionary whole = {{"v", ConfigValue{ConfigType{static_cast<ElementType>(i)}}}};
    INFO(ConfigText(whole));
    CHECK(std::get<ConfigType>(Parsed(ConfigText(whole))[0].second.value).type ==
          static_cast<ElementType>(i));
  }
}

TEST_CASE("config dictionary: errors name the byte and what is wanted there", "[custom]") {
  struct Row {
    std::string_view text, message;
  };
  for (const Row& row :
       {Row{"x", "byte 0: found 'x', want '{'"}, Row{"{a = }", "byte 5: found '}', want a value"},
        Row{"{a = 1", "byte 6: the text ends, want ',' or the '}' of byte 0"},
        Row{"{a = 1} b", "byte 8: found 'b', want the end behind the dictionary"},
        Row{"{a = 1, a = 2}", "byte 8: the name 'a' stands twice"},
        Row{"{1 = 2}", "byte 1: found '1', want a name"}, Row{"{a = \"b", "byte 5: the string does not end"},
        Row{"{a = \"\\q\"}", "byte 7: found 'q', want an escape"},
        Row{"{a = #x.y}", "byte 5: found '#', want a value"},
        Row{"{a = frob}", "byte 5: found 'frob', want a value"},
        Row{"{a = @f}", "byte 5: found '@', want a value"}, Row{"{a = 1,}", "byte 7: found '}', want a name"},
        Row{"{a = \x01}", "byte 5: found '\\01', want a value"},
        Row{"{a = - x}", "byte 7: found 'x', want a number"}}) {
    INFO(row.text);
    CHECK_THAT(Refusal(ParseConfigDictionary(row.text)), Contains(std::string(row.message)));
  }
}

TEST_CASE("config dictionary: 100 levels are read, more are refused, in either form", "[custom]") {
  const auto nested = [](int levels, std::string_view name) {
    std::string text;
    for (int i = 0; i < levels - 1; ++i) text += fmt::format("{{{}", name);
    text += "{}";
    return text + std::string(static_cast<size_t>(levels - 1), '}');
  };
  CHECK(ParseConfigDictionary(nested(100, "a=")).ok());
  CHECK_THAT(Refusal(ParseConfigDictionary(nested(101, "a="))), Contains("101"));
  CHECK(ParseJsonConfig(nested(100, "\"a\":")).ok());
  CHECK_THAT(Refusal(ParseJsonConfig(nested(101, "\"a\":"))), Contains("101"));
  CHECK_THAT(Refusal(ParseConfigDictionary("{a = " + std::string(1000000, '['))), Contains("101"));
  CHECK_THAT(Refusal(ParseJsonConfig("{\"a\": " + std::string(1000000, '['))), Contains("101"));
}

TEST_CASE("config dictionary: long text takes time by its length, repeated elements have a limit",
          "[custom]") {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) text += fmt::format("{}n{} = {}", i == 0 ? "" : ", ", i, i);
  const auto start = std::chrono::steady_clock::now();
  CHECK(Parsed(text + "}").size() == 200000);
  std::string dense = "{a = [";
  for (int i = 0; i < 20000; ++i) dense += fmt::format("{}dense<[1, 2]> : tensor<2xi8>", i == 0 ? "" : ", ");
  CHECK(ParseConfigDictionary(dense + "]}").ok());
  CHECK_FALSE(ParseConfigDictionary(dense).ok());
  CHECK_FALSE(ParseConfigDictionary("{a = dense<" + std::string(1000000, '"')).ok());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));  // quadratic time takes minutes
  CHECK(ParseConfigDictionary("{v = dense<0> : tensor<1048576xi8>}").ok());
  CHECK_THAT(Refusal(ParseConfigDictionary("{v = dense<0> : tensor<1048577xi8>}")), Contains("1048577"));
  CHECK_THAT(Refusal(ParseConfigDictionary("{v = dense<0> : tensor<999999999999xi8>}")),
             Contains("999999999999"));
  CHECK_THAT(
      Refusal(ParseConfigDictionary("{v = dense<0> : tensor<1048576xi8>, w = dense<0> : tensor<2xi8>}")),
      Contains("1048578"));
}

TEST_CASE("JSON config: every kind of value, strictly", "[custom]") {
  CHECK(JsonValue<ConfigInt>("-5").value == -5);
  CHECK(JsonValue<ConfigInt>("5").type == ElementType::kS64);
  CHECK(JsonValue<ConfigInt>("9223372036854775808").type == ElementType::kU64);
  CHECK(JsonValue<ConfigFloat>("5.0").value == 5);
  CHECK(JsonValue<ConfigFloat>("5e-1").value == 0.5);
  CHECK(JsonValue<ConfigFloat>("1E+2").type == ElementType::kF64);
  CHECK(JsonValue<bool>("true"));
  CHECK(JsonValue<std::string>(R"("a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u0000")") ==
        std::string("a\"\\/\b\f\n\r\t\xC3\xA9\xF0\x9F\x98\x80\0", 16));
  CHECK(JsonValue<ConfigList>("[1, [2], {}]").size() == 3);
  CHECK(JsonValue<ConfigDictionary>("{ \"a\" : 1 , \"b\" : 2 }").size() == 2);
  for (const std::string_view text : {"01",
                                      "-",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "+1",
                                      "nul",
                                      "null",
                                      "True",
                                      "[1,]",
                                      "{\"a\" 1}",
                                      "{a: 1}",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\ud800\"",
                                      "\"\\udc00\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"a\nb\"",
                                      "\"a",
                                      "18446744073709551616",
                                      "-9223372036854775809",
                                      "1e999",
                                      "{\"a\": 1, \"a\": 2}",
                                      "0x10",
                                      "NaN",
                                      "'a'",
                                      "1 2"}) {
    INFO(text);
    CHECK(Refusal(ParseJsonConfig(fmt::format("{{\"v\": {}}}", text))) != "");
  }
  CHECK_THAT(Refusal(ParseJsonConfig("[1]")), Contains("byte 0: found '[', want '{'"));
  CHECK_THAT(Refusal(ParseJsonConfig("{} x")), Contains("byte 3: found 'x', want the end behind the object"));
}

}  // namespace
}  // namespace assay::custom
