// Values of attributes as text. The texts on both sides are written by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "custom/op_interface.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

using Catch::Contains;

OpAttrDef AttrOfKind(OpAttrKind kind, bool is_list = false) {
  OpAttrDef attr;
  attr.name = "a";
  attr.kind = kind;
  attr.is_list = is_list;
  return attr;
}

OpAttrValue ReadValueText(const OpAttrDef& attr, std::string_view text) {
  const absl::StatusOr<OpAttrValue> value = ParseValue(attr, text);
  INFO(text << ": " << value.status().ToString());
  REQUIRE(value.ok());
  return *value;
}

void CheckValueTextRefused(const OpAttrDef& attr, std::string_view text, const std::string& message) {
  INFO(text);
  const absl::StatusOr<OpAttrValue> value = ParseValue(attr, text);
  REQUIRE_FALSE(value.ok());
  CHECK(ExitCodeOf(value.status()) == 3);
  CHECK_THAT(std::string(value.status().message()), Contains(message));
}

template <class T>
T ReadValueAs(OpAttrKind kind, std::string_view text) {
  return std::get<T>(ReadValueText(AttrOfKind(kind), text).value);
}

}  // namespace

TEST_CASE("attribute values: every kind reads its literal, and prints it in one form", "[custom]") {
  struct Row {
    OpAttrKind kind;
    bool is_list;
    std::string text, printed;
  };
  const std::vector<Row> rows = {
      {OpAttrKind::kString, false, "'foo'", "'foo'"},
      {OpAttrKind::kString, false, R"('a\'b\\\n\x00\xFF')", R"('a\'b\\\n\x00\xff')"},
      {OpAttrKind::kString, false, "''", "''"},
      {OpAttrKind::kInt, false, " -3 ", "-3"},
      {OpAttrKind::kInt, false, "9223372036854775807", "9223372036854775807"},
      {OpAttrKind::kInt, false, "-9223372036854775808", "-9223372036854775808"},
      {OpAttrKind::kFloat, false, "1", "1.0"},
      {OpAttrKind::kFloat, false, "1.5e3", "1500.0"},
      {OpAttrKind::kFloat, false, "0.1", "0.1"},
      {OpAttrKind::kFloat, false, "-0.0", "-0.0"},
      {OpAttrKind::kFloat, false, "1e-60", "0.0"},
      {OpAttrKind::kFloat, false, "inf", "inf"},
      {OpAttrKind::kFloat, false, "-inf", "-inf"},
      {OpAttrKind::kFloat, false, "nan", "nan"},
      {OpAttrKind::kBool, false, "true", "true"},
      {OpAttrKind::kBool, false, "false", "false"},
      {OpAttrKind::kType, false, "bf16", "bf16"},
      {OpAttrKind::kShape, false, "[1, 2]", "[1,2]"},
      {OpAttrKind::kShape, false, "[?,3]", "[?,3]"},
      {OpAttrKind::kShape, false, "[]", "[]"},
      {OpAttrKind::kShape, false, "?", "?"},
      {OpAttrKind::kTensor, false, "s32[2] {1,2}", "s32[2] {1, 2}"},
      {OpAttrKind::kTensor, false, "f32[] 1.5", "f32[] 1.5"},
      {OpAttrKind::kTensor, false, "s32[2,1] {{1}, {2}}", "s32[2,1] { {1}, {2} }"},
      {OpAttrKind::kTensor, false, "s8[0] {}", "s8[0] {}"},
      {OpAttrKind::kInt, true, "[2,3,5]", "[2, 3, 5]"},
      {OpAttrKind::kInt, true, "[]", "[]"},
      {OpAttrKind::kString, true, "['a,]', 'b']", "['a,]', 'b']"},
      {OpAttrKind::kShape, true, "[[1,2], ?, [?]]", "[[1,2], ?, [?]]"},
      {OpAttrKind::kTensor, true, "[ s32[2] {1,2}, f32[] 3 ]", "[s32[2] {1, 2}, f32[] 3]"},
      {OpAttrKind::kType, true, "[f32, f64]", "[f32, f64]"},
  };
  for (const Row& row : rows) {
    const OpAttrDef attr = AttrOfKind(row.kind, row.is_list);
    const OpAttrValue value = ReadValueText(attr, row.text);
    CHECK(ValueText(value) == row.printed);
    CHECK(ValueText(ReadValueText(attr, row.printed)) == row.printed);
  }
}

TEST_CASE("attribute values: the values that texts mean", "[custom]") {
  CHECK(ReadValueAs<std::string>(OpAttrKind::kString, R"('a\'\\\n\r\t\x00b')") ==
        std::string("a'\\\n\r\t\0b", 8));
  CHECK(ReadValueAs<float>(OpAttrKind::kFloat, "0.1") == 0x1.99999ap-4F);
  CHECK(ReadValueAs<float>(OpAttrKind::kFloat, "1e-45") == 0x1p-149F);
  CHECK(std::signbit(ReadValueAs<float>(OpAttrKind::kFloat, "-1e-60")));
  CHECK(std::isnan(ReadValueAs<float>(OpAttrKind::kFloat, "nan")));
  CHECK(ReadValueAs<PartialShape>(OpAttrKind::kShape, "?").dims == std::nullopt);
  CHECK(*ReadValueAs<PartialShape>(OpAttrKind::kShape, "[?, 0]").dims == std::vector<int64_t>{-1, 0});
  const auto tensor = ReadValueAs<Literal>(OpAttrKind::kTensor, "s32[2,2] {{1, 2}, {3, 4}}");
  CHECK(tensor.shape().ToString() == "s32[2,2]");
  CHECK(tensor.GetInt(2) == 3);
  // Every f32 prints so that it reads back: a few that lie where decimals are hard.
  for (const float value :
       {0x1.fffffep127F, 0x1p-126F, 0x1.fffffcp-127F, 0x1.000002p0F, 16777217.0F, 8.5e9F}) {
    CHECK(ReadValueAs<float>(OpAttrKind::kFloat, ValueText({value})) == value);
  }
}

TEST_CASE("attribute values: what is none is refused", "[custom]") {
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kInt), "x3",
                        "attr 'a', value 'x3': found 'x3', wanted an integer, as -3");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kInt), "1.5", "found '1.5', wanted an integer");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kInt), "", "found the end of the text, wanted an integer");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kInt), "9223372036854775808",
                        "out of range, wanted a value of s64");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kInt), "3 4", "found '4', wanted the end of the value");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kFloat), "1e39", "out of range, wanted a value of f32");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kFloat), "one", "found 'one', wanted a float, as 1.5");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kBool), "1", "found '1', wanted true or false");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kType), "f33", "found 'f33', wanted an element type, as f32");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kString), "foo", "found 'foo', wanted a string, as 'foo'");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kString), "'foo", "a string is not closed");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kString), R"('\q')",
                        R"(found the escape '\q', wanted one of)");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kString), R"('\x1')",
                        R"(found the escape '\x', wanted one of)");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kShape), "2", "found '2', wanted a shape, as [2,?] or ?");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kShape), "[-1]",
                        "found the size -1, wanted one of at least 0, or ?");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kShape), "[1 2]", "found '2', wanted ',' or ']' in a shape");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kShape), "[1",
                        "found the end of the text, wanted ',' or ']' in a shape");
  std::string sizes = "[1";
  for (int i = 0; i < 64; ++i) sizes += ",1";
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kShape), sizes + "]", "a shape has more than 64 sizes");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kTensor), "{1,2}",
                        "found '{', wanted a tensor, as s32[2] {1, 2}");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kTensor), "s32[2",
                        "a tensor's sizes are not closed, wanted ']'");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kTensor), "s32[<=2] {1, 2}",
                        "wanted sizes that are all known");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kTensor), "s32[2] {1, 2, 3}", "LIT-1: more than 2 entries");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kTensor), "s8[1] {300}", "LIT-2: 300 is out of range for s8");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kTensor), "s32[1000000000000] {1}", "LIT-1");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kInt, true), "2",
                        "found '2', wanted a list of ints, in brackets");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kInt, true), "[2 3]",
                        "found '3', wanted ',' or ']' in a list");
  CheckValueTextRefused(AttrOfKind(OpAttrKind::kInt, true), "[2,",
                        "found the end of the text, wanted an integer");
}

TEST_CASE("attribute values: long texts are cut in messages", "[custom]") {
  const std::string text(100000, 'x');
  const absl::StatusOr<OpAttrValue> value = ParseValue(AttrOfKind(OpAttrKind::kInt), text);
  CHECK(std::string(value.status().message()).size() < 600);
}

}  // namespace assay::custom
