// Depthwise convolutions of the native engine against the reference engine.
#include <catch2/catch.hpp>

#include "engines/approximate/rounded_sums.h"
#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

std::string Depthwise(const std::string& image, const std::string& kernel, const std::string& result,
                      const std::string& window, const std::string& labels, int groups,
                      const std::string& type = "f32") {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
k = {0}[{2}] parameter(1)
ROOT z = {0}[{3}] convolution(x, k), window={{{4}}}, dim_labels={5}, feature_group_count={6})",
      type, image, kernel, result, window, labels, groups);
}

// Of the root by the native engine of an instruction set; empty: it declines, or names none.
std::string AlgorithmOf(const std::string& body, Isa isa) {
  const Plan plan = ReferencePlan(body);
  const auto kernel = PrepareRoot(native::NativeEngine(isa), *plan.module);
  INFO(body << kernel.status());
  REQUIRE(kernel.ok());
  return std::string((*kernel)->algorithm());
}

void CheckDepthwise(const std::string& body) {
  for (Isa isa : MachineIsas()) CHECK(AlgorithmOf(body, isa) == "depthwise");
  CheckAgainstReference(body, kAllDraws);
}

}  // namespace

TEST_CASE("native depthwise convolution: features that fill vectors, and some more",
          "[native][convolution][depthwise]") {
  // 32 and 16 are what four vectors of AVX-512 and of AVX2 hold; 77 leaves single vectors and a part of one.
  for (int features : {8, 9, 16, 32, 77}) {
    CheckDepthwise(Depthwise(fmt::format("2,7,6,{}", features), fmt::format("3,2,1,{}", features),
                             fmt::format("2,7,7,{}", features), "size=3x2 pad=1_1x1_1", "b01f_01io->b01f",
                             features));
  }
}

TEST_CASE("native depthwise convolution: strides, dilations, reversal, negative and wide padding",
          "[native][convolution][depthwise]") {
  CheckDepthwise(Depthwise("1,9,10,24", "3,3,1,24", "1,5,5,24", "size=3x3 stride=2x2 pad=1_1x1_1",
                           "b01f_01io->b01f", 24));
  CheckDepthwise(Depthwise("2,9,10,11", "3,2,1,11", "2,17,20,11",
                           "size=3x2 pad=1_1x1_1 lhs_dilate=2x2 rhs_reversal=1x1", "b01f_01io->b01f", 11));
  CheckDepthwise(
      Depthwise("3,20,10", "3,1,10", "3,14,10", "size=3 pad=-1_-1 rhs_dilate=2", "b0f_0io->b0f", 10));
  // The first and the last results have no term at all.
  CheckDepthwise(Depthwise("1,4,90", "2,1,90", "1,11,90", "size=2 pad=4_4", "b0f_0io->b0f", 90));
  CheckDepthwise(Depthwise("1,3,4,9", "2,2,1,9", "1,10,9,9", "size=2x2 pad=4_4x3_3", "b01f_01io->b01f", 9));
  CheckDepthwise(Depthwise("1,3,4,5,8", "2,2,3,1,8", "1,2,4,3,8", "size=2x2x3 pad=0_0x1_0x0_0",
                           "b012f_012io->b012f", 8));
}

TEST_CASE("native depthwise convolution: other orders of the dimensions",
          "[native][convolution][depthwise]") {
  CheckDepthwise(Depthwise("7,2,6,9", "1,3,2,9", "7,7,2,9", "size=3x2 pad=1_1x1_1", "0b1f_i01o->10bf", 9));
  // Features that are not the minor dimension, or of which several make one, are matrix products.
  const std::string transposed =
      Depthwise("2,9,7,6", "9,1,3,2", "2,9,7,7", "size=3x2 pad=1_1x1_1", "bf01_oi01->bf01", 9);
  const std::string two =
      Depthwise("2,7,6,18", "3,2,2,9", "2,7,7,9", "size=3x2 pad=1_1x1_1", "b01f_01io->b01f", 9);
  const std::string halves =
      Depthwise("2,7,6,9", "3,2,1,9", "2,7,7,9", "size=3x2 pad=1_1x1_1", "b01f_01io->b01f", 9, "bf16");
  for (const std::string& body : {transposed, two, halves}) {
    for (Isa isa : MachineIsas()) CHECK(AlgorithmOf(body, isa).empty());
    CheckAgainstReference(body, {Draw::kNormal, Draw::kSpecials});
  }
}

TEST_CASE("native depthwise convolution: long rows are cut among threads",
          "[native][convolution][depthwise]") {
  CheckAgainstReference(Depthwise("1,900,64", "4,1,64", "1,900,64", "size=4 pad=3_0", "b0f_0io->b0f", 64),
                        {Draw::kNormal, Draw::kWide});
}

TEST_CASE("fast leaves depthwise convolutions to the exact kernel", "[convolution][depthwise]") {
  const Plan depthwise = ReferencePlan(
      Depthwise("1,40,40,64", "3,3,1,64", "1,40,40,64", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", 64));
  const Plan grouped = ReferencePlan(
      Depthwise("1,40,40,64", "3,3,2,64", "1,40,40,64", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", 32));
  const Engine& engine = approximate::RoundedSumsEngine(MachineIsa());
  CHECK_FALSE(PrepareRoot(engine, *depthwise.module).ok());
  if (MachineIsa() != Isa::kBaseline) CHECK(PrepareRoot(engine, *grouped.module).ok());
}

}  // namespace assay::testing
