#include "base/suggestion.h"

#include <catch2/catch.hpp>

namespace assay {
namespace {

const std::vector<std::string> kNames = {"gather",  "scatter",     "all-gather", "dot", "dynamic-slice",
                                         "convert", "convolution", "and",        "abs"};

TEST_CASE("the nearest names by edits are suggested", "[suggestion]") {
  CHECK(NearNames("gahter", kNames) == std::vector<std::string>{"gather"});    // swapped
  CHECK(NearNames("scater", kNames) == std::vector<std::string>{"scatter"});   // one is missing
  CHECK(NearNames("gatherr", kNames) == std::vector<std::string>{"gather"});   // one too many
  CHECK(NearNames("convart", kNames) == std::vector<std::string>{"convert"});  // replaced
  CHECK(NearNames("Dynamic_Slice", kNames) == std::vector<std::string>{"dynamic-slice"});
  CHECK(NearNames("dynmicslice", kNames) == std::vector<std::string>{"dynamic-slice"});  // two edits
}

TEST_CASE("names that a word begins are suggested where none is near", "[suggestion]") {
  CHECK(NearNames("conv", kNames) == std::vector<std::string>{"convert", "convolution"});
  CHECK(NearNames("dyn", kNames) == std::vector<std::string>{"dynamic-slice"});
  CHECK(NearNames("dy", kNames).empty());  // too short
  // Near names count for more.
  CHECK(NearNames("ands", kNames) == std::vector<std::string>{"and"});
}

TEST_CASE("what is like no name, or like too many, has no suggestion", "[suggestion]") {
  CHECK(NearNames("", kNames).empty());
  CHECK(NearNames("x", kNames).empty());
  CHECK(NearNames("transpose", kNames).empty());
  CHECK(NearNames("fly", kNames).empty());
  CHECK(NearNames(std::string(100'000, 'a'), kNames).empty());
  const std::vector<std::string> many = {"out0", "out1", "out2", "out3"};
  CHECK(NearNames("out5", many).empty());
}

TEST_CASE("a suggestion is the end of a message", "[suggestion]") {
  CHECK(DidYouMean("gahter", kNames) == "; did you mean 'gather'?");
  CHECK(DidYouMean("conv", kNames) == "; did you mean 'convert' or 'convolution'?");
  CHECK(DidYouMean("fly", kNames).empty());
}

}  // namespace
}  // namespace assay
