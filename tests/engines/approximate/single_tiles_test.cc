// The engine "rounded-sums", its tiles of f32: every element within the bound that the kernel states, on
// every instruction set, in every layout, on odd shapes and hostile values.
#include <catch2/catch.hpp>

#include "engines/approximate/rounded_sums.h"
#include "engines/native/contraction/digit_kernels.h"
#include "tests/engines/approximate/bounds_testing.h"
#include "tests/engines/engine_testing.h"

namespace assay::testing {
namespace {

void CheckTiles(const std::string& body, std::initializer_list<Draw> draws) {
  for (Isa isa : MachineIsas())
    CheckWithinBounds(Only<approximate::EagerTilesEngine>(isa), "rounded-sums", body, draws);
}

TEST_CASE("tiles of f32: dots of odd shapes and hostile values are within their bounds",
          "[approximate][dot]") {
  struct Sizes {
    int m, k, n;
  };
  for (const Sizes& size :
       std::initializer_list<Sizes>{{1, 1, 1}, {7, 17, 75}, {13, 300, 29}, {31, 5, 7}, {101, 9, 270}}) {
    for (int sides = 0; sides < 4; ++sides)
      CheckTiles(DotOf("f32", "f32", size.m, size.k, size.n, sides), kAllDraws);
  }
}

TEST_CASE("tiles of f32: rows longer than a block, and columns in batches that a task takes whole",
          "[approximate][dot]") {
  CheckTiles(DotOf("f32", "f32", 5, 20000, 3, 0), {Draw::kNormal, Draw::kCancelling});
  CheckTiles(DotsOfManyDimensions("f32", "f32")[0], kAllDraws);
}

TEST_CASE("tiles of f32: convolutions with padding, strides, dilation, groups and few features",
          "[approximate][convolution]") {
  CheckTiles(R"(x = f32[2,9,11,5] parameter(0)
k = f32[3,2,5,19] parameter(1)
ROOT r = f32[2,9,6,19] convolution(x, k), window={size=3x2 stride=1x2 pad=1_1x1_0}, dim_labels=b01f_01io->b01f)",
             {Draw::kNormal, Draw::kCancelling});
  CheckTiles(R"(x = f32[2,6,8,10] parameter(0)
k = f32[12,2,3,3] parameter(1)
ROOT r = f32[2,12,6,8] convolution(x, k), window={size=3x3 rhs_dilate=2x2 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01, feature_group_count=3)",
             {Draw::kNormal, Draw::kCancelling});
  CheckTiles(R"(x = f32[2,9,11,5] parameter(0)
k = f32[3,2,5,19] parameter(1)
ROOT r = f32[2,7,10,19] convolution(x, k), window={size=3x2}, dim_labels=b01f_01io->b01f)",
             kAllDraws);
}

TEST_CASE("tiles of f32: bf16 and f16, to themselves and to f32", "[approximate][dot]") {
  // Where there are matrix registers they do the dots of 16 bits.
  const bool has_digits = native::DigitKernelsOf(MachineIsa()) != nullptr;
  for (const char* type : {"bf16", "f16"}) {
    for (const char* to : {type, "f32"}) {
      if (!has_digits) {
        for (int sides = 0; sides < 4; ++sides) CheckTiles(DotOf(type, to, 13, 71, 29, sides), kAllDraws);
        CheckTiles(DotOf(type, to, 25, 600, 66, 1), {Draw::kNormal, Draw::kCancelling});
      }
      CheckTiles(fmt::format(R"(x = {0}[2,9,11,5] parameter(0)
k = {0}[3,2,5,19] parameter(1)
ROOT r = {1}[2,7,10,19] convolution(x, k), window={{size=3x2}}, dim_labels=b01f_01io->b01f)",
                             type, to),
                 {Draw::kNormal, Draw::kCancelling});
    }
  }
}

TEST_CASE("tiles of f32: an infinite kernel beside padding is left to the exact kernels",
          "[approximate][convolution]") {
  const Plan plan = PlanBy(Only<approximate::EagerTilesEngine>(MachineIsa()), R"(x = f32[1,400,1] parameter(0)
k = f32[3,1,1] constant({{{1}},{{inf}},{{1}}})
ROOT r = f32[1,400,1] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f)");
  REQUIRE(IsTakenBy(plan, "rounded-sums"));
  Executor executor(plan, {.crosscheck = Crosscheck::kFull});
  const absl::StatusOr<Literal> result = executor.Run(DrawnArguments(plan, Draw::kNormal, 1));
  CHECK(result.ok());
  CHECK(executor.statistics().crosschecked == 0);
}

}  // namespace
}  // namespace assay::testing
