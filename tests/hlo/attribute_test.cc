#include "hlo/attribute.h"

#include <catch2/catch.hpp>
#include <vector>

#include "hlo/module.h"

namespace assay {
namespace {

TEST_CASE("attributes: every name of the table is found, with its form", "[attribute]") {
  for (int i = 0; i < kNumAttrs; ++i) {
    const Attr attr = static_cast<Attr>(i);
    REQUIRE(AttrFromName(Name(attr)) == attr);
  }
  CHECK(FormOf(Attr::kWindow) == AttrForm::kWindow);
  CHECK(FormOf(Attr::kSliceSizes) == AttrForm::kIntsOrIntLists);
  CHECK(Name(Attr::kLiteralValue) == "literal");
  CHECK(!AttrFromName("no_such_attribute").has_value());
  CHECK(!AttrFromName("").has_value());
}

TEST_CASE("attributes: entries are sorted whatever the order of setting", "[attribute]") {
  AttributeMap map;
  map.Set(Attr::kWindow, Window{});
  map.Set(Attr::kDimensions, Ints{1, 2});
  map.Set(Attr::kLower, true);
  map.Set(Attr::kDimensions, Ints{3});
  REQUIRE(map.entries().size() == 3);
  CHECK(map.entries()[0].attr == Attr::kDimensions);
  CHECK(map.entries()[1].attr == Attr::kLower);
  CHECK(map.entries()[2].attr == Attr::kWindow);
  REQUIRE(map.List(Attr::kDimensions).size() == 1);
  CHECK(map.List(Attr::kDimensions)[0] == 3);
  map.Erase(Attr::kLower);
  map.Erase(Attr::kLower);
  CHECK(!map.Has(Attr::kLower));
  CHECK(map.entries().size() == 2);
}

TEST_CASE("attributes: a copy shares the entries until one of the two is changed", "[attribute]") {
  AttributeMap map;
  map.Set(Attr::kDimensions, Ints{1, 2});
  map.Set(Attr::kLower, true);
  AttributeMap set = map, erased = map, changed = map;
  CHECK(set.entries().data() == map.entries().data());
  set.Set(Attr::kDimensions, Ints{3});
  erased.Erase(Attr::kLower);
  AttrValue* const lower = changed.FindMutable(Attr::kLower);
  REQUIRE(lower != nullptr);
  *lower = false;
  CHECK(set.List(Attr::kDimensions)[0] == 3);
  CHECK(!erased.Has(Attr::kLower));
  CHECK(!changed.Bool(Attr::kLower, true));
  CHECK(map.List(Attr::kDimensions).size() == 2);
  CHECK(map.Bool(Attr::kLower));
  const AttributeMap::Entry* const own = set.entries().data();
  set.Set(Attr::kDimensions, Ints{4});  // shared with no other now
  CHECK(set.entries().data() == own);
}

TEST_CASE("attributes: entries given together are sorted", "[attribute]") {
  AttributeMap::Entry entries[] = {
      {Attr::kWindow, Window{}}, {Attr::kDimensions, Ints{1}}, {Attr::kLower, true}};
  SharedPool<AttributeMap::Entries> pool;
  const AttributeMap map(entries, pool);
  REQUIRE(map.entries().size() == 3);
  CHECK(map.entries()[0].attr == Attr::kDimensions);
  CHECK(map.entries()[1].attr == Attr::kLower);
  CHECK(map.entries()[2].attr == Attr::kWindow);
}

TEST_CASE("attributes: maps of one pool are changed each for itself", "[attribute]") {
  std::vector<AttributeMap> maps;
  {
    SharedPool<AttributeMap::Entries> pool;
    for (int64_t i = 0; i < 300; ++i) {
      AttributeMap::Entry entries[] = {{Attr::kIndex, i}};
      maps.emplace_back(entries, pool);
    }
  }
  const AttributeMap copy = maps[7];
  maps[7].Set(Attr::kIndex, int64_t{-1});
  maps[8].Erase(Attr::kIndex);
  CHECK(copy.Int(Attr::kIndex) == 7);
  for (int64_t i = 0; i < 300; ++i) {
    const int64_t wanted = i == 7 ? -1 : i == 8 ? 0 : i;
    REQUIRE(maps[static_cast<size_t>(i)].Int(Attr::kIndex) == wanted);
  }
}

TEST_CASE("attributes: getters return the default where the attribute is absent", "[attribute]") {
  AttributeMap map;
  CHECK(map.Bool(Attr::kLower, true));
  CHECK(map.Int(Attr::kIndex, 7) == 7);
  CHECK(map.Float(Attr::kEpsilon, 0.5) == 0.5);
  CHECK(map.Text(Attr::kMode, "x") == "x");
  CHECK(map.List(Attr::kDimensions).empty());
  CHECK(map.Lists(Attr::kSourceTargetPairs).empty());
  CHECK(map.WindowOf().empty());
  CHECK(!map.Computation(Attr::kToApply).has_value());
  CHECK(map.Computations(Attr::kToApply).empty());
  CHECK(map.Find(Attr::kToApply) == nullptr);
}

TEST_CASE("attributes: Text reads words and strings, Computations one or many", "[attribute]") {
  AttributeMap map;
  map.Set(Attr::kMode, Word{"flattened_id"});
  map.Set(Attr::kCustomCallTarget, std::string("target"));
  map.Set(Attr::kToApply, ComputationId{4});
  map.Set(Attr::kBranchComputations, std::vector<ComputationId>{{1}, {2}});
  CHECK(map.Text(Attr::kMode) == "flattened_id");
  CHECK(map.Text(Attr::kCustomCallTarget) == "target");
  REQUIRE(map.Computations(Attr::kToApply).size() == 1);
  CHECK(map.Computations(Attr::kToApply)[0] == ComputationId{4});
  CHECK(map.Computations(Attr::kBranchComputations).size() == 2);
}

TEST_CASE("module: called computations come in the order of printing", "[module]") {
  Instruction loop;
  loop.attributes.Set(Attr::kBody, ComputationId{1});
  loop.attributes.Set(Attr::kCondition, ComputationId{2});
  CHECK(CalledComputations(loop) == std::vector<ComputationId>{{2}, {1}});
  Instruction branches;
  branches.attributes.Set(Attr::kBranchComputations, std::vector<ComputationId>{{3}, {1}, {3}});
  CHECK(CalledComputations(branches) == std::vector<ComputationId>{{3}, {1}, {3}});
  CHECK(CalledComputations(Instruction()).empty());
}

}  // namespace
}  // namespace assay
