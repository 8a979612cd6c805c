#include "base/text_cursor.h"

#include <cstdint>

#include "catch2/catch.hpp"

namespace assay {
namespace {

TEST_CASE("text cursor: what stands here, and behind space", "[base][text_cursor]") {
  TextCursor in(" \t\r\nab12,0");
  CHECK_FALSE(in.Take('a'));
  CHECK(in.TakeNext('a'));
  CHECK_FALSE(in.Take("b2"));
  CHECK(in.Take("b1"));
  CHECK(in.Peek() == '2');
  CHECK(in.Peek(1) == ',');
  CHECK(in.Peek(3) == '\0');
  CHECK(in.TakeDigits() == "2");
  CHECK(in.rest() == ",0");
  in.Skip();
  CHECK(in.TakeWhile(absl::ascii_isdigit) == "0");
  CHECK(in.AtEnd());
  CHECK_FALSE(in.Take('\0'));
  CHECK_FALSE(TextCursor("").TakeNext('\0'));
  CHECK(TextCursor(std::string_view("\0", 1)).Take('\0'));
}

TEST_CASE("text cursor: comments, and one that is not closed", "[base][text_cursor]") {
  TextCursor in("/* a // b\n */ // c */\n /d");
  CHECK(in.SkipSpaceAndComments());
  CHECK(in.rest() == "/d");
  TextCursor line("// to the end");
  CHECK(line.SkipSpaceAndComments());
  CHECK(line.AtEnd());
  TextCursor open(" /*/");
  CHECK_FALSE(open.SkipSpaceAndComments());
  CHECK(open.rest() == "/*/");
}

TEST_CASE("text cursor: a number that does not fit is not gone past", "[base][text_cursor]") {
  int64_t value = 0;
  TextCursor in("-9223372036854775808x9223372036854775808");
  CHECK(in.ReadNumber(value).ec == std::errc());
  CHECK(value == INT64_MIN);
  CHECK(in.ReadNumber(value).ec == std::errc::invalid_argument);
  in.Skip();
  CHECK(in.ReadNumber(value).ec == std::errc::result_out_of_range);
  CHECK(in.Peek() == '9');
  uint64_t bits = 0;
  CHECK(in.ReadNumber(bits, 16).ec == std::errc::result_out_of_range);
  CHECK(in.ReadNumber(bits).ec == std::errc());
  CHECK(bits == uint64_t{1} << 63);
  CHECK(in.AtEnd());
}

TEST_CASE("text cursor: lines and columns count from where the text starts", "[base][text_cursor]") {
  const std::string_view text = "ab\n\ncd";
  CHECK(PositionAt(text, 0) == SourcePosition{1, 1});
  CHECK(PositionAt(text, 2) == SourcePosition{1, 3});
  CHECK(PositionAt(text, 3) == SourcePosition{2, 1});
  CHECK(PositionAt(text, 5) == SourcePosition{3, 2});
  CHECK(PositionAt(text, 1, {7, 5}) == SourcePosition{7, 6});
  CHECK(PositionAt(text, 5, {7, 5}) == SourcePosition{9, 2});
}

TEST_CASE("text cursor: values of hexadecimal digits", "[base][text_cursor]") {
  for (int v = 0; v < 16; ++v) {
    CHECK(HexDigitValue("0123456789abcdef"[v]) == v);
    CHECK(HexDigitValue("0123456789ABCDEF"[v]) == v);
  }
  for (const char c : {'/', ':', '@', 'G', '`', 'g', '\0', '\xb5'}) CHECK(HexDigitValue(c) == -1);
}

}  // namespace
}  // namespace assay
