// The table of element types: docs/spec/shapes.md sections 2 and 2.1. One row a type, in the order of the
// enum.
#include "shape/element_type.h"

#include "base/error.h"

namespace assay {
namespace {

using S = FloatSpecials;
using C = TypeClass;

// exponent bits, mantissa bits, bias, specials, width, exponent of the smallest normal, exponent of the
// largest finite value, largest finite value, smallest positive value, pattern of a NaN result
constexpr FloatFormat kF16 = {5, 10, 15, S::kIeee, 16, -14, 15, 65504.0, 0x1p-24, 0x7e00};
constexpr FloatFormat kF32 = {8, 23, 127, S::kIeee, 32, -126, 127, 0x1.fffffep127, 0x1p-149, 0x7fc00000};
constexpr FloatFormat kF64 = {
    11, 52, 1023, S::kIeee, 64, -1022, 1023, 0x1.fffffffffffffp1023, 0x1p-1074, 0x7ff8000000000000};
constexpr FloatFormat kBF16 = {8, 7, 127, S::kIeee, 16, -126, 127, 0x1.fep127, 0x1p-133, 0x7fc0};
constexpr FloatFormat kF8E5M2 = {5, 2, 15, S::kIeee, 8, -14, 15, 57344.0, 0x1p-16, 0x7e};
constexpr FloatFormat kF8E4M3 = {4, 3, 7, S::kIeee, 8, -6, 7, 240.0, 0x1p-9, 0x7c};
constexpr FloatFormat kF8E4M3FN = {4, 3, 7, S::kFn, 8, -6, 8, 448.0, 0x1p-9, 0x7f};
constexpr FloatFormat kF8E4M3B11FNUZ = {4, 3, 11, S::kFnuz, 8, -10, 4, 30.0, 0x1p-13, 0x80};
constexpr FloatFormat kF8E3M4 = {3, 4, 3, S::kIeee, 8, -2, 3, 15.5, 0x1p-6, 0x78};
constexpr FloatFormat kF8E5M2FNUZ = {5, 2, 16, S::kFnuz, 8, -15, 15, 57344.0, 0x1p-17, 0x80};
constexpr FloatFormat kF8E4M3FNUZ = {4, 3, 8, S::kFnuz, 8, -7, 7, 240.0, 0x1p-10, 0x80};
constexpr FloatFormat kF8E8M0FNU = {8, 0, 127, S::kE8M0, 8, -127, 127, 0x1p127, 0x1p-127, 0xff};
constexpr FloatFormat kF6E3M2FN = {3, 2, 3, S::kFinite, 6, -2, 4, 28.0, 0.0625, 0x20};
constexpr FloatFormat kF6E2M3FN = {2, 3, 1, S::kFinite, 6, 0, 2, 7.5, 0.125, 0x20};
constexpr FloatFormat kF4E2M1FN = {2, 1, 1, S::kFinite, 4, 0, 2, 6.0, 0.5, 0x8};

constexpr ElementTypeInfo kTable[kNumElementTypes] = {
    {"pred", 1, 1, C::kPred, nullptr, "|b1"},
    {"s1", 1, 1, C::kSigned, nullptr, "|V1"},
    {"s2", 2, 1, C::kSigned, nullptr, "|V1"},
    {"s4", 4, 1, C::kSigned, nullptr, "|V1"},
    {"s8", 8, 1, C::kSigned, nullptr, "|i1"},
    {"s16", 16, 2, C::kSigned, nullptr, "<i2"},
    {"s32", 32, 4, C::kSigned, nullptr, "<i4"},
    {"s64", 64, 8, C::kSigned, nullptr, "<i8"},
    {"u1", 1, 1, C::kUnsigned, nullptr, "|V1"},
    {"u2", 2, 1, C::kUnsigned, nullptr, "|V1"},
    {"u4", 4, 1, C::kUnsigned, nullptr, "|V1"},
    {"u8", 8, 1, C::kUnsigned, nullptr, "|u1"},
    {"u16", 16, 2, C::kUnsigned, nullptr, "<u2"},
    {"u32", 32, 4, C::kUnsigned, nullptr, "<u4"},
    {"u64", 64, 8, C::kUnsigned, nullptr, "<u8"},
    {"f16", 16, 2, C::kFloat, &kF16, "<f2"},
    {"f32", 32, 4, C::kFloat, &kF32, "<f4"},
    {"f64", 64, 8, C::kFloat, &kF64, "<f8"},
    {"bf16", 16, 2, C::kFloat, &kBF16, "|V2"},
    {"f8e5m2", 8, 1, C::kFloat, &kF8E5M2, "|V1"},
    {"f8e4m3", 8, 1, C::kFloat, &kF8E4M3, "|V1"},
    {"f8e4m3fn", 8, 1, C::kFloat, &kF8E4M3FN, "|V1"},
    {"f8e4m3b11fnuz", 8, 1, C::kFloat, &kF8E4M3B11FNUZ, "|V1"},
    {"f8e3m4", 8, 1, C::kFloat, &kF8E3M4, "|V1"},
    {"f8e5m2fnuz", 8, 1, C::kFloat, &kF8E5M2FNUZ, "|V1"},
    {"f8e4m3fnuz", 8, 1, C::kFloat, &kF8E4M3FNUZ, "|V1"},
    {"f8e8m0fnu", 8, 1, C::kFloat, &kF8E8M0FNU, "|V1"},
    {"f6e3m2fn", 6, 1, C::kFloat, &kF6E3M2FN, "|V1"},
    {"f6e2m3fn", 6, 1, C::kFloat, &kF6E2M3FN, "|V1"},
    {"f4e2m1fn", 4, 1, C::kFloat, &kF4E2M1FN, "|V1"},
    {"c64", 64, 8, C::kComplex, &kF32, "<c8"},
    {"c128", 128, 16, C::kComplex, &kF64, "<c16"},
};

// A row for each enumerator, among those of its class.
consteval bool RowsFitEnumerators() {
  for (int i = 0; i < kNumElementTypes; ++i) {
    const auto type = static_cast<ElementType>(i);
    const TypeClass row = kTable[i].type_class;
    if (kTable[i].name.empty() || (row == C::kPred) != kPredTypes.Has(type) ||
        (row == C::kSigned) != kSignedTypes.Has(type) || (row == C::kUnsigned) != kUnsignedTypes.Has(type) ||
        (row == C::kFloat) != kFloatTypes.Has(type) || (row == C::kComplex) != kComplexTypes.Has(type)) {
      return false;
    }
  }
  return true;
}
static_assert(RowsFitEnumerators());

// Names start with the letter of their part of the table, so a look-up compares few rows.
struct RowRange {
  ElementType first, last;
};
constexpr RowRange RowsOfLetter(char letter) {
  switch (letter) {
    case 'f':
    case 'b':
      return {ElementType::kF16, ElementType::kF4E2M1FN};
    case 's':
      return {ElementType::kS1, ElementType::kS64};
    case 'u':
      return {ElementType::kU1, ElementType::kU64};
    case 'c':
      return {ElementType::kC64, ElementType::kC128};
    default:
      return {ElementType::kPred, ElementType::kPred};
  }
}

}  // namespace

const ElementTypeInfo& Info(ElementType type) { return kTable[static_cast<int>(type)]; }

std::optional<ElementType> ElementTypeFromName(std::string_view name) {
  if (name.empty()) return std::nullopt;
  const RowRange rows = RowsOfLetter(name[0]);
  for (int i = static_cast<int>(rows.first); i <= static_cast<int>(rows.last); ++i) {
    if (kTable[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

ElementType ComponentType(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  if (type == ElementType::kC128) return ElementType::kF64;
  return type;
}

ElementType HigherPrecision(ElementType a, ElementType b) {
  ASSAY_CHECK(IsFloat(a) && IsFloat(b));
  const FloatFormat& fa = *Info(a).format;
  const FloatFormat& fb = *Info(b).format;
  if (fa.mantissa_bits != fb.mantissa_bits) return fa.mantissa_bits > fb.mantissa_bits ? a : b;
  return fb.exponent_bits > fa.exponent_bits ? b : a;
}

std::optional<ElementType> UnsignedOfWidth(int bits) {
  for (int i = static_cast<int>(ElementType::kU1); i <= static_cast<int>(ElementType::kU64); ++i) {
    if (kTable[i].bits == bits) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

}  // namespace assay
