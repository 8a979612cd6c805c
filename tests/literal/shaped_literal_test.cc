#include <catch2/catch.hpp>

#include "literal/literal_text.h"

namespace assay {
namespace {

std::string Read(const std::string& text) {
  const absl::StatusOr<Literal> literal = ParseShapedLiteral(text, {.hex_floats = true});
  if (!literal.ok()) return "error";
  return literal->shape().ToString(true) + " " + LiteralToText(*literal);
}

TEST_CASE("shaped literals: a brace after a blank is the value's, without one the layout's", "[literal]") {
  CHECK(Read("s32[2] {1,0}") == "s32[2]{0} {1, 0}");
  CHECK(Read("s32[2]{0} {1,0}") == "s32[2]{0} {1, 0}");
  CHECK(Read("  s32[2,2]{0,1} {{1,2},{3,4}}") == "s32[2,2]{0,1} { { 1, 2 }, { 3, 4 } }");
  CHECK(Read("f32[] 0x1p-1") == "f32[] 0.5");
  CHECK(Read("(s32[2], (f32[1]{0}, pred[])) ({1,0}, ({2}, true))") ==
        "(s32[2]{0}, (f32[1]{0}, pred[])) ( {1, 0}, ( {2}, true ) )");
  CHECK(Read("() ()") == "() (  )");
  CHECK(Read("s32[2]") == "error");
  CHECK(Read("") == "error");
  CHECK(Read("}}") == "error");
  CHECK(Read("s32[2] {1,0} 3") == "error");
}

}  // namespace
}  // namespace assay
