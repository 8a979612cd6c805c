// Dots and convolutions by the engine "gpu" on the emulated driver.
#include "gpu/product.h"

#include "fmt/format.h"
#include "tests/gpu/device_programs.h"

namespace assay::gpu {
namespace {

struct Conv {
  const char *lhs, *rhs, *result, *window, *attributes;
};

std::string ConvText(const Conv& conv, std::string_view type, std::string_view kernel_type,
                     std::string_view result_type) {
  return fmt::format(R"(HloModule m
ENTRY e {{
  x = {}{} parameter(0)
  w = {}{} parameter(1)
  ROOT r = {}{} convolution(x, w), window={{{}}}, {}
}}
)",
                     type, conv.lhs, kernel_type, conv.rhs, result_type, conv.result, conv.window,
                     conv.attributes);
}

constexpr Conv kConvs[] = {
    // No padding: the image as it stands.
    {"[2,9,7,3]", "[3,2,3,5]", "[2,7,6,5]", "size=3x2", "dim_labels=b01f_01io->b01f"},
    // Padding on all sides, strides.
    {"[2,9,7,3]", "[3,3,3,5]", "[2,5,4,5]", "size=3x3 stride=2x2 pad=1_1x1_1", "dim_labels=b01f_01io->b01f"},
    // Other orders of dimensions; a reversed window; padding that takes elements away.
    {"[3,2,9,7]", "[5,3,3,3]", "[2,5,8,6]", "size=3x3 pad=2_-1x-1_2 rhs_reversal=1x0",
     "dim_labels=fb01_oi01->bf01"},
    // Holes in image and window.
    {"[1,4,5,2]", "[3,2,2,4]", "[1,5,13,4]", "size=3x2 pad=1_1x2_3 lhs_dilate=2x2 rhs_dilate=2x1",
     "dim_labels=b01f_01io->b01f"},
    // Groups of features, one a channel, and groups of batches.
    {"[2,6,6,4]", "[3,3,2,6]", "[2,6,6,6]", "size=3x3 pad=1_1x1_1",
     "dim_labels=b01f_01io->b01f, feature_group_count=2"},
    {"[2,6,6,4]", "[2,2,1,4]", "[2,5,5,4]", "size=2x2", "dim_labels=b01f_01io->b01f, feature_group_count=4"},
    {"[4,6,6,3]", "[2,2,3,6]", "[2,6,6,6]", "size=2x2 pad=1_0x0_1",
     "dim_labels=b01f_01io->b01f, batch_group_count=2"},
    // One and three dimensions of space, and none.
    {"[1,33,1]", "[7,1,1]", "[1,33,1]", "size=7 pad=3_3", "dim_labels=b0f_0io->b0f"},
    {"[1,4,3,5,2]", "[2,2,2,2,3]", "[1,3,4,4,3]", "size=2x2x2 pad=0_0x1_1x0_0",
     "dim_labels=b012f_012io->b012f"},
    {"[5,6]", "[6,4]", "[5,4]", "", "dim_labels=bf_io->bf"},
};

}  // namespace

TEST_CASE("convolutions of every geometry have the reference's bits", "[gpu][convolution]") {
  for (const Conv& conv : kConvs) {
    for (const char* type : {"f32", "f64", "s8"})
      CheckOnDevice(ConvText(conv, type, type, type[0] == 's' ? "s32" : type));
  }
}

TEST_CASE("convolutions of every type that dots have", "[gpu][convolution]") {
  const Conv& padded = kConvs[1];
  for (const char* type : {"bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz", "f4e2m1fn"}) {
    CheckOnDevice(ConvText(padded, type, type, "f32"));
    CheckOnDevice(ConvText(padded, type, type, "bf16"), 1);
  }
  CheckOnDevice(ConvText(padded, "f32", "bf16", "f32"));
  CheckOnDevice(ConvText(padded, "f16", "f32", "f64"));
  CheckOnDevice(ConvText(padded, "u8", "s8", "s32"));
  CheckOnDevice(ConvText(padded, "s8", "u8", "s16"));
  CheckOnDevice(ConvText(padded, "s4", "s4", "s32"));
  CheckOnDevice(ConvText(padded, "u4", "s4", "s8"));
}

// Beside padding an infinite or NaN element of the kernel is no term: with a zero of the image it is.
TEST_CASE("padding of a convolution is no term, zeros of the image are", "[gpu][convolution]") {
  for (const char* type : {"f32", "f64", "bf16"}) {
    const std::string text = fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[1,4,1] constant({{ {{ {{-0.0}}, {{0.0}}, {{2}}, {{-0.0}} }} }})
  w = {0}[3,1,2] constant({{ {{ {{inf, 1}} }}, {{ {{1, nan}} }}, {{ {{-0.0, -inf}} }} }})
  ROOT r = {0}[1,8,2] convolution(x, w), window={{size=3 pad=3_3}}, dim_labels=b0f_0io->b0f
}}
)",
                                         type);
    CheckOnDevice(text, 0);
  }
}

TEST_CASE("an image with more padding than the device has memory for is the CPU's", "[gpu][convolution]") {
  const Conv far{"[1,4,1]", "[2,1,1]", "[1,3,1]", "size=2 pad=2000000000_2000000000 stride=2000000000",
                 "dim_labels=b0f_0io->b0f"};
  CHECK_THAT(PlanToText(PlanOf(ProgramOf(ConvText(far, "f32", "f32", "f32")), Emulated())),
             Catch::Contains("the padded image exceeds the device's memory"));
}

TEST_CASE("dots of integers of fewer than eight bits", "[gpu][dot]") {
  for (const char* type : {"s4", "u4", "s2", "u2"}) {
    for (const char* result : {"s32", "u32", "s8", "s4", "u4"}) {
      CheckOnDevice(fmt::format(R"(HloModule m
ENTRY e {{
  x = {0}[3,33,70] parameter(0)
  w = {0}[3,70,17] parameter(1)
  ROOT r = {1}[3,33,17] dot(x, w), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}
}}
)",
                                type, result),
                    1);
    }
  }
}

TEST_CASE("dots and convolutions of integers of 16 bits and more", "[gpu][dot][convolution]") {
  const std::array<const char*, 3> types[] = {
      {"s16", "s16", "s16"}, {"s16", "s16", "s32"}, {"u16", "s16", "u32"}, {"u16", "u16", "u8"},
      {"s32", "s32", "s32"}, {"u32", "s32", "u32"}, {"s8", "s32", "s32"},  {"u4", "s16", "s16"},
      {"s32", "s32", "s4"},  {"s64", "s64", "s64"}, {"u64", "u64", "u64"}, {"s32", "s32", "s64"},
      {"u32", "s8", "u64"},  {"s64", "u16", "s64"}, {"s64", "s64", "s32"}, {"u64", "s4", "s16"},
      {"s4", "s4", "s64"}};
  for (const auto& [lhs, rhs, result] : types) {
    CheckOnDevice(fmt::format(R"(HloModule m
ENTRY e {{
  x = {}[3,33,70] parameter(0)
  w = {}[3,70,17] parameter(1)
  ROOT r = {}[3,33,17] dot(x, w), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}
}}
)",
                              lhs, rhs, result),
                  1);
    for (const Conv& conv : {kConvs[2], kConvs[3]}) CheckOnDevice(ConvText(conv, lhs, rhs, result), 1);
  }
}

}  // namespace assay::gpu
