#include "hlo/name_index.h"

#include <catch2/catch.hpp>
#include <string>

namespace assay {
namespace {

struct Row {
  int number;
  std::string_view name;
};

TEST_CASE("a name index finds the rows of a table and nothing else", "[name_index]") {
  static constexpr Row kRows[] = {{1, "add"}, {2, "and"}, {3, "dot"},
                                  {4, "a"},   {5, "add"}, {6, "get-tuple-element"}};
  static constexpr NameIndex kIndex(kRows, &Row::name);
  CHECK(kIndex.Find("add") == 0);  // of equal names the first
  CHECK(kIndex.Find("and") == 1);
  CHECK(kIndex.Find("dot") == 2);
  CHECK(kIndex.Find("a") == 3);
  CHECK(kIndex.Find(std::string("get-tuple-element")) == 5);
  for (const char* name : {"", "ad", "addd", "Add", "aXd", "get-tuple-elemenT", "get-tuple_element"})
    CHECK(kIndex.Find(name) == -1);
  CHECK(kIndex.Find(std::string_view("add\0", 4)) == -1);
}

TEST_CASE("a name index of names that differ only where it does not look finds each", "[name_index]") {
  // Same length, first, last and middle characters: they lie one behind the other.
  static constexpr Row kRows[] = {{1, "xaxxxxxx"}, {2, "xbxxxxxx"}, {3, "xcxxxxxx"}, {4, "xdxxxxxx"}};
  static constexpr NameIndex kIndex(kRows, &Row::name);
  for (int i = 0; i < 4; ++i) CHECK(kIndex.Find(kRows[i].name) == i);
  CHECK(kIndex.Find("xexxxxxx") == -1);
}

}  // namespace
}  // namespace assay
