// Numbers of docs/spec/shapes.md section 2.
#include "shape/element_type.h"

#include <cmath>

#include "catch2/catch.hpp"

namespace assay {
namespace {

ElementType TypeNamed(std::string_view name) {
  const auto type = ElementTypeFromName(name);
  REQUIRE(type.has_value());
  return *type;
}

TEST_CASE("element types: every row is found by its name and only by it", "[element_type]") {
  for (int i = 0; i < kNumElementTypes; ++i) {
    const ElementType type = static_cast<ElementType>(i);
    CHECK(ElementTypeFromName(Name(type)) == type);
  }
  for (std::string_view name : {"", "F32", "f33", "f32x", "f3", "token", "tuple", "opaque", "buffer", "b"}) {
    CAPTURE(name);
    CHECK_FALSE(ElementTypeFromName(name).has_value());
  }
}

TEST_CASE("element types: widths and bytes are those of the specification", "[element_type]") {
  struct Row {
    std::string_view name;
    int bits, bytes;
  };
  const Row rows[] = {
      {"pred", 1, 1},       {"s1", 1, 1},        {"s2", 2, 1},         {"s4", 4, 1},
      {"s8", 8, 1},         {"s16", 16, 2},      {"s32", 32, 4},       {"s64", 64, 8},
      {"u1", 1, 1},         {"u2", 2, 1},        {"u4", 4, 1},         {"u8", 8, 1},
      {"u16", 16, 2},       {"u32", 32, 4},      {"u64", 64, 8},       {"f16", 16, 2},
      {"f32", 32, 4},       {"f64", 64, 8},      {"bf16", 16, 2},      {"f8e5m2", 8, 1},
      {"f8e4m3", 8, 1},     {"f8e4m3fn", 8, 1},  {"f8e3m4", 8, 1},     {"f8e4m3b11fnuz", 8, 1},
      {"f8e5m2fnuz", 8, 1}, {"f8e8m0fnu", 8, 1}, {"f8e4m3fnuz", 8, 1}, {"f6e3m2fn", 6, 1},
      {"f6e2m3fn", 6, 1},   {"f4e2m1fn", 4, 1},  {"c64", 64, 8},       {"c128", 128, 16},
  };
  CHECK(std::size(rows) == kNumElementTypes);
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(Bits(TypeNamed(row.name)) == row.bits);
    CHECK(Bytes(TypeNamed(row.name)) == row.bytes);
  }
}

TEST_CASE("element types: float formats are consistent with their fields", "[element_type]") {
  for (int i = 0; i < kNumElementTypes; ++i) {
    const ElementType type = static_cast<ElementType>(i);
    const FloatFormat* format = Info(type).format;
    CAPTURE(Name(type));
    CHECK((format != nullptr) == (IsFloat(type) || IsComplex(type)));
    if (!IsFloat(type)) continue;
    const bool e8m0 = format->specials == FloatSpecials::kE8M0;
    CHECK(format->bits == Bits(type));
    CHECK(format->bits == format->exponent_bits + format->mantissa_bits + (e8m0 ? 0 : 1));
    CHECK(format->min_exponent == (e8m0 ? 0 : 1) - format->bias);
    CHECK(format->min_subnormal == std::ldexp(1.0, format->min_exponent - format->mantissa_bits));
    CHECK(std::ilogb(format->max_finite) == format->max_exponent);
  }
}

TEST_CASE("element types: extreme values are those of the table", "[element_type]") {
  struct Row {
    std::string_view name;
    double max, min_normal, min_subnormal;
    uint64_t nan;
  };
  const Row rows[] = {
      {"f16", 65504, 0x1p-14, 0x1p-24, 0x7e00},
      {"bf16", 0x1.fep127, 0x1p-126, 0x1p-133, 0x7fc0},
      {"f32", 3.4028234663852886e38, 0x1p-126, 0x1p-149, 0x7fc00000},
      {"f64", 1.7976931348623157e308, 0x1p-1022, 0x1p-1074, 0x7ff8000000000000},
      {"f8e5m2", 57344, 0x1p-14, 0x1p-16, 0x7e},
      {"f8e4m3", 240, 0x1p-6, 0x1p-9, 0x7c},
      {"f8e3m4", 15.5, 0.25, 0x1p-6, 0x78},
      {"f8e4m3fn", 448, 0x1p-6, 0x1p-9, 0x7f},
      {"f8e4m3b11fnuz", 30, 0x1p-10, 0x1p-13, 0x80},
      {"f8e5m2fnuz", 57344, 0x1p-15, 0x1p-17, 0x80},
      {"f8e4m3fnuz", 240, 0x1p-7, 0x1p-10, 0x80},
      {"f8e8m0fnu", 0x1p127, 0x1p-127, 0x1p-127, 0xff},
      {"f6e3m2fn", 28, 0.25, 0.0625, 0x20},
      {"f6e2m3fn", 7.5, 1, 0.125, 0x20},
      {"f4e2m1fn", 6, 1, 0.5, 0x8},
  };
  size_t floats = 0;
  for (int i = 0; i < kNumElementTypes; ++i) floats += IsFloat(static_cast<ElementType>(i));
  CHECK(std::size(rows) == floats);
  for (const Row& row : rows) {
    const FloatFormat& format = *Info(TypeNamed(row.name)).format;
    CAPTURE(row.name);
    CHECK(format.max_finite == row.max);
    CHECK(std::ldexp(1.0, format.min_exponent) == row.min_normal);
    CHECK(format.min_subnormal == row.min_subnormal);
    CHECK(format.nan_bits == row.nan);
  }
}

TEST_CASE("element types: the higher precision type has more mantissa, then more exponent bits",
          "[element_type]") {
  const auto higher = [](std::string_view a, std::string_view b) {
    return Name(HigherPrecision(TypeNamed(a), TypeNamed(b)));
  };
  CHECK(higher("bf16", "f16") == "f16");
  CHECK(higher("f16", "f32") == "f32");
  CHECK(higher("f64", "f32") == "f64");
  CHECK(higher("f32", "f32") == "f32");
  CHECK(higher("f8e5m2", "f8e4m3") == "f8e4m3");
  CHECK(higher("f6e2m3fn", "f8e4m3") == "f8e4m3");
  CHECK(higher("f8e4m3", "f6e2m3fn") == "f8e4m3");
  CHECK(higher("f8e4m3fn", "f8e4m3fnuz") == "f8e4m3fn");
}

TEST_CASE("element types: components and unsigned types of a width", "[element_type]") {
  CHECK(ComponentType(ElementType::kC64) == ElementType::kF32);
  CHECK(ComponentType(ElementType::kC128) == ElementType::kF64);
  CHECK(ComponentType(ElementType::kBF16) == ElementType::kBF16);
  CHECK(UnsignedOfWidth(1) == ElementType::kU1);
  CHECK(UnsignedOfWidth(4) == ElementType::kU4);
  CHECK(UnsignedOfWidth(64) == ElementType::kU64);
  CHECK_FALSE(UnsignedOfWidth(6).has_value());
  CHECK_FALSE(UnsignedOfWidth(128).has_value());
}

TEST_CASE("element types: sets hold what their names say", "[element_type]") {
  for (int i = 0; i < kNumElementTypes; ++i) {
    const ElementType type = static_cast<ElementType>(i);
    CAPTURE(Name(type));
    CHECK(kIntegralTypes.Has(type) == IsIntegral(type));
    CHECK(kFloatTypes.Has(type) == IsFloat(type));
    CHECK(kComplexTypes.Has(type) == IsComplex(type));
    CHECK(kArrayTypes.Has(type));
    CHECK_FALSE(kNoTypes.Has(type));
  }
}

}  // namespace
}  // namespace assay
