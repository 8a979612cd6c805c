#include "literal/leaves.h"

#include <string>

#include "catch2/catch.hpp"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

std::string PathsOf(const Literal& value) {
  std::string text;
  ForEachLeaf(value, [&](const ShapeIndex& path, const Literal& leaf) {
    text += fmt::format("{}:{} ", fmt::join(path, "."), leaf.shape().ToString());
  });
  return text;
}

TEST_CASE("leaves: arrays and tokens depth first, empty tuples have none", "[literal][leaves]") {
  const Literal a = Literal::ScalarInt(ElementType::kS32, 1), b = Literal::ScalarInt(ElementType::kU8, 2);
  const Literal value = Literal::Tuple({a, Literal::Tuple({Literal(), Literal::Token(), b}), a});
  CHECK(PathsOf(value) == "0:s32[] 1.1:token[] 1.2:u8[] 2:s32[] ");
  CHECK(PathsOf(b) == ":u8[] ");
  CHECK(PathsOf(Literal()).empty());
  const std::vector<Literal> leaves = LeavesOf(value);
  REQUIRE(leaves.size() == 4);
  CHECK(leaves[0].SharesStorageWith(a));
  CHECK(leaves[1].shape().IsToken());
  CHECK(leaves[2].SharesStorageWith(b));
  CHECK(leaves[3].SharesStorageWith(a));
}

TEST_CASE("leaves: those of a tuple without another owner stay unshared", "[literal][leaves]") {
  Literal value = Literal::Tuple({Literal::Tuple({Literal::ScalarInt(ElementType::kS32, 1)})});
  const Literal copy = value;
  CHECK_FALSE(LeavesOf(value)[0].IsUnique());
  CHECK(copy.tuple_size() == 1);
  Literal own = Literal::Tuple({Literal::Tuple({Literal::ScalarInt(ElementType::kS32, 1)})});
  CHECK(LeavesOf(std::move(own))[0].IsUnique());
}

TEST_CASE("leaves: a value from its leaves, which are taken one after the other", "[literal][leaves]") {
  const auto shape = std::make_shared<const Shape>(*ParseShape("(s32[], (), (u8[], token[]))"));
  std::vector<Literal> leaves;
  for (int64_t i = 0; i < 2; ++i) {
    leaves.push_back(Literal::ScalarInt(ElementType::kS32, i));
    leaves.push_back(Literal::ScalarInt(ElementType::kU8, i + 10));
    leaves.push_back(Literal::Token());
  }
  std::span<Literal> next = leaves;
  const Literal first = FromLeaves(shape, next);
  CHECK(next.size() == 3);
  const Literal second = FromLeaves(shape, next);
  CHECK(next.empty());
  CHECK(first.shape().ToString() == shape->ToString());
  CHECK(first.element(0).GetInt(0) == 0);
  CHECK(first.element(1).tuple_size() == 0);
  CHECK(second.element(2).element(0).GetInt(0) == 11);
  CHECK(second.element(2).element(0).IsUnique());
}

}  // namespace
}  // namespace assay
