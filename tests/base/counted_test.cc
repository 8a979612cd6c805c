#include "base/counted.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace assay {
namespace {

TEST_CASE("counted: one is singular, every other count plural", "[counted]") {
  CHECK(Counted(0, "element") == "0 elements");
  CHECK(Counted(1, "element") == "1 element");
  CHECK(Counted(2, "element") == "2 elements");
  CHECK(Counted(-1, "element") == "-1 elements");
  CHECK(Counted(11, "element") == "11 elements");
  CHECK(Counted(uint64_t{1} << 63, "byte") == "9223372036854775808 bytes");
  CHECK(Counted(uint8_t{1}, "byte") == "1 byte");
}

TEST_CASE("counted: plurals of nouns that take more than an s", "[counted]") {
  CHECK(Counted(3, "entry") == "3 entries");
  CHECK(Counted(3, "carry") == "3 carries");
  CHECK(Counted(3, "array") == "3 arrays");
  CHECK(Counted(3, "key") == "3 keys");
  CHECK(Counted(3, "axis") == "3 axes");
  CHECK(Counted(3, "process") == "3 processes");
  CHECK(Counted(3, "mesh") == "3 meshes");
  CHECK(Counted(3, "branch") == "3 branches");
  CHECK(Counted(1, "process") == "1 process");
}

}  // namespace
}  // namespace assay
