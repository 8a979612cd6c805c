#include "base/quoted.h"

#include "catch2/catch.hpp"

namespace assay {
namespace {

TEST_CASE("quoted: text for messages is short and printable", "[base][quoted]") {
  CHECK(ShownText("a b~", 4) == "'a b~'");
  CHECK(ShownText("a b~", 3) == "'a b...'");
  CHECK(ShownText("\n\x7f\xe2", 9) == "'\\x0a\\x7f\\xe2'");
  CHECK(ShownText("", 0) == "''");
}

TEST_CASE("quoted: the shell reads a word as it was", "[base][quoted]") {
  CHECK(ShellWord("a $b") == "'a $b'");
  CHECK(ShellWord("it's") == "'it'\\''s'");
  CHECK(ShellWord("") == "''");
  CHECK(ShellArgument("a/b-c_1.npz") == "a/b-c_1.npz");
  CHECK(ShellArgument("a b") == "'a b'");
  CHECK(ShellArgument("") == "''");
  CHECK(ShellArgument("{program}") == "'{program}'");
}

}  // namespace
}  // namespace assay
