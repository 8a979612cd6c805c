// What both readers promise of their trees, over the fifteen programs.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "base/file_io.h"
#include "hlo/mlir/bytecode/reader.h"
#include "hlo/mlir/text/parser.h"

namespace assay::mlir {
namespace {

// Calls `check` with each program's tree from its text and from its bytecode.
void ForEachTree(const std::function<void(const Tree&)>& check) {
  int trees = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/golden/programs")) {
    const absl::StatusOr<std::string> text = ReadFile(entry.path() / "program.mlir");
    const absl::StatusOr<std::string> bytes = ReadFile(entry.path() / "program.mlirbc");
    INFO(entry.path());
    REQUIRE((text.ok() && bytes.ok()));
    for (const auto& tree : {ParseMlirText(*text), ReadMlirBytecode(*bytes)}) {
      REQUIRE(tree.ok());
      check(**tree);
      ++trees;
    }
  }
  CHECK(trees == 30);
}

void Walk(const Region& region, const std::function<void(const Operation&)>& visit) {
  for (const Operation* operation : region.operations) {
    visit(*operation);
    for (const Region& nested : operation->regions) Walk(nested, visit);
  }
}

TEST_CASE("mlir: the names of operations are numbered, equal ones alike", "[mlir][tree]") {
  ForEachTree([](const Tree& tree) {
    std::map<std::string_view, int32_t> ids;
    std::set<int32_t> seen;
    Walk(*tree.top, [&](const Operation& operation) {
      const auto [known, is_new] = ids.emplace(operation.name, operation.name_id);
      CHECK(known->second == operation.name_id);
      if (is_new) CHECK(seen.insert(operation.name_id).second);
    });
    REQUIRE(static_cast<int32_t>(seen.size()) == tree.num_names());
    CHECK((*seen.begin() == 0 && *seen.rbegin() == tree.num_names() - 1));
  });
}

TEST_CASE("mlir: a body that is not written is numbered like one that is", "[mlir][tree]") {
  const auto tree = ParseMlirText(R"(func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) -> tensor<f32> {
    %c = stablehlo.add %b, %b : tensor<f32>
    %d = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %d : tensor<f32>
  })");
  REQUIRE(tree.ok());
  const auto body = (*tree)->top->operations[0]->regions[0].operations;
  REQUIRE(body.size() == 3);
  const auto reducer = body[1]->regions[0].operations;
  REQUIRE(reducer.size() == 2);
  CHECK(body[0]->name_id == reducer[0]->name_id);
  CHECK(std::set<int32_t>{(*tree)->top->operations[0]->name_id, body[0]->name_id, body[1]->name_id,
                          body[2]->name_id, reducer[1]->name_id}
            .size() == 5);
}

// Every value of outside that operations in the region, or regions in these, have as an operand.
void CheckCaptures(const Region& region) {
  std::set<const Value*> inside, seen;
  std::vector<const Value*> wanted, captures(region.captures.begin(), region.captures.end());
  for (const Value& argument : region.arguments) inside.insert(&argument);
  Walk(region, [&](const Operation& operation) {
    for (const Value& result : operation.results) inside.insert(&result);
    for (const Region& nested : operation.regions) {
      for (const Value& argument : nested.arguments) inside.insert(&argument);
    }
    for (const Value* operand : operation.operands) {
      if (!inside.contains(operand) && seen.insert(operand).second) wanted.push_back(operand);
    }
  });
  CHECK(captures == wanted);
}

TEST_CASE("mlir: a region has the values that it takes from outside", "[mlir][tree]") {
  size_t captures = 0;
  ForEachTree([&](const Tree& tree) {
    Walk(*tree.top, [&](const Operation& operation) {
      for (const Region& region : operation.regions) {
        CheckCaptures(region);
        captures += region.captures.size();
      }
    });
  });
  CHECK(captures > 20);
}

}  // namespace
}  // namespace assay::mlir
