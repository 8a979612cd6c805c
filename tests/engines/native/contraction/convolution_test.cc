// Convolutions of the native engine against the reference engine.
#include <catch2/catch.hpp>

#include "engines/native/contraction/integer_kernels.h"
#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

std::string Convolution(const std::string& type, const std::string& lhs, const std::string& rhs,
                        const std::string& result, const std::string& attributes) {
  return fmt::format(
      R"(x = {0}[{1}] parameter(0)
k = {0}[{2}] parameter(1)
ROOT z = {0}[{3}] convolution(x, k), {4})",
      type, lhs, rhs, result, attributes);
}

}  // namespace

TEST_CASE("native convolution: padding, strides, dilations, reversal", "[native][convolution]") {
  CheckAgainstReference(Convolution("f32", "2,9,10,5", "3,2,5,7", "2,9,11,7",
                                    "window={size=3x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
                        kAllDraws);
  CheckAgainstReference(Convolution("f32", "2,5,9,10", "7,5,3,2", "2,7,5,5",
                                    "window={size=3x2 stride=2x2 pad=1_1x0_0}, dim_labels=bf01_oi01->bf01"),
                        kAllDraws);
  CheckAgainstReference(
      Convolution(
          "f32", "2,9,10,5", "3,2,5,7", "2,17,20,7",
          "window={size=3x2 pad=1_1x1_1 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f"),
      kAllDraws);
  CheckAgainstReference(Convolution("f32", "3,20,4", "3,4,6", "3,14,6",
                                    "window={size=3 pad=-1_-1 rhs_dilate=2}, dim_labels=b0f_0io->b0f"),
                        kAllDraws);
  CheckAgainstReference(Convolution("f32", "40,24", "24,13", "40,13", "dim_labels=bf_io->bf"), kAllDraws);
}

TEST_CASE("native convolution: groups", "[native][convolution]") {
  CheckAgainstReference(
      Convolution("f32", "2,9,10,6", "3,2,2,9", "2,9,11,9",
                  "window={size=3x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=3"),
      kAllDraws);
  CheckAgainstReference(
      Convolution("f32", "6,9,10,4", "3,2,4,9", "2,9,11,9",
                  "window={size=3x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, batch_group_count=3"),
      kAllDraws);
  CheckAgainstReference(
      Convolution("f32", "2,9,10,6", "3,2,1,6", "2,9,11,6",
                  "window={size=3x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=6"),
      kAllDraws);
}

TEST_CASE("native convolution: element types", "[native][convolution]") {
  for (const char* type : {"f64", "bf16", "f16", "f8e4m3fn", "s8", "u8", "s4", "s32", "u64", "pred"}) {
    CheckAgainstReference(Convolution(type, "2,9,10,5", "3,2,5,7", "2,9,11,7",
                                      "window={size=3x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
                          kAllDraws);
  }
}

TEST_CASE("native convolution: bytes without matrix registers", "[native][convolution]") {
  native::ForbidByteTiles(true);
  for (const char* type : {"s8", "u8", "pred"}) {
    CheckAgainstReference(Convolution(type, "2,9,10,5", "3,2,5,7", "2,9,11,7",
                                      "window={size=3x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
                          {Draw::kNormal});
  }
  native::ForbidByteTiles(false);
}

TEST_CASE("native convolution: bytes, features not innermost", "[native][convolution]") {
  CheckAgainstReference(Convolution("s8", "2,5,9,10", "7,5,3,2", "2,7,5,5",
                                    "window={size=3x2 stride=2x2 pad=1_1x0_0}, dim_labels=bf01_oi01->bf01"),
                        {Draw::kNormal});
}

}  // namespace assay::testing
