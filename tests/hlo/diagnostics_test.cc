#include "hlo/diagnostics.h"

#include <catch2/catch.hpp>

namespace assay {
namespace {

absl::Status At(int32_t line, int32_t column, std::string_view message = "wrong") {
  return InvalidProgram({line, column}, message);
}

TEST_CASE("diagnostics: position, message, source line and caret", "[diagnostics]") {
  CHECK(RenderDiagnostic(At(2, 3), "a.hlo", "first\nse#ond\nthird") ==
        "a.hlo:2:3: error: wrong\n  se#ond\n    ^\n");
  CHECK(RenderDiagnostic(At(1, 1), "a.hlo", "x") == "a.hlo:1:1: error: wrong\n  x\n  ^\n");
}

TEST_CASE("diagnostics: an error at the end of a line points behind it", "[diagnostics]") {
  CHECK(RenderDiagnostic(At(1, 4), "f", "abc\nd") == "f:1:4: error: wrong\n  abc\n     ^\n");
  CHECK(RenderDiagnostic(At(1, 40), "f", "abc\nd") == "f:1:40: error: wrong\n  abc\n     ^\n");
}

TEST_CASE("diagnostics: without position or source the message stands alone", "[diagnostics]") {
  CHECK(RenderDiagnostic(BadInput("no such file"), "f", "abc") == "f: error: no such file\n");
  CHECK(RenderDiagnostic(At(1, 1), "f", "") == "f:1:1: error: wrong\n");
  CHECK(RenderDiagnostic(At(7, 1), "f", "abc") == "f:7:1: error: wrong\n");
}

TEST_CASE("diagnostics: nothing reaches the terminal that steers it", "[diagnostics]") {
  // Escape sequences, C1 controls in UTF-8 and bare, right-to-left override, stray bytes.
  CHECK(EscapeControls("a\x1b[31mb\x07") == "a\\x1b[31mb\\x07");
  CHECK(EscapeControls("\xc2\x9b\x9b\xe2\x80\xae") == "\\xc2\\x9b\\x9b\\xe2\\x80\\xae");
  CHECK(EscapeControls("\xc0\xaf\xed\xa0\x80\xff") == "\\xc0\\xaf\\xed\\xa0\\x80\\xff");
  CHECK(EscapeControls("\xc3\xa9\xe0\xa6\x95") == "\xc3\xa9\xe0\xa6\x95");
  CHECK(RenderDiagnostic(At(1, 3, "m\x1b"), "f\x1b", "\x1b[x") ==
        "f\\x1b:1:3: error: m\\x1b\n   [x\n    ^\n");
  // A character of several bytes takes one column.
  CHECK(RenderDiagnostic(At(1, 5), "f", "\"\xc3\xa9\"!") == "f:1:5: error: wrong\n  \"\xc3\xa9\"!\n     ^\n");
}

TEST_CASE("diagnostics: of a long line the part around the caret is shown", "[diagnostics]") {
  const std::string line = std::string(500, 'a') + "!" + std::string(500, 'b');
  const std::string text = RenderDiagnostic(At(1, 501), "f", line);
  CHECK(text == "f:1:501: error: wrong\n  " + std::string(60, 'a') + "!" + std::string(39, 'b') + "\n  " +
                    std::string(60, ' ') + "^\n");
}

}  // namespace
}  // namespace assay
