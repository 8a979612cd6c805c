// The table of element types: docs/spec/shapes.md section 2. Adding an element type: docs/adding_an_op.md.
#ifndef ASSAY_SHAPE_ELEMENT_TYPE_H_
#define ASSAY_SHAPE_ELEMENT_TYPE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace assay {

enum class ElementType : uint8_t {
  kPred,
  kS1,
  kS2,
  kS4,
  kS8,
  kS16,
  kS32,
  kS64,
  kU1,
  kU2,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kF32,
  kF64,
  kBF16,
  kF8E5M2,
  kF8E4M3,
  kF8E4M3FN,
  kF8E4M3B11FNUZ,
  kF8E3M4,
  kF8E5M2FNUZ,
  kF8E4M3FNUZ,
  kF8E8M0FNU,
  kF6E3M2FN,
  kF6E2M3FN,
  kF4E2M1FN,
  kC64,
  kC128,
};
inline constexpr int kNumElementTypes = static_cast<int>(ElementType::kC128) + 1;

enum class TypeClass : uint8_t { kPred, kSigned, kUnsigned, kFloat, kComplex };

// What a float format does beyond its finite values (docs/spec/shapes.md 2.1).
enum class FloatSpecials : uint8_t {
  kIeee,    // infinities, NaNs with payload
  kFn,      // no infinity; all ones (with either sign) is NaN; overflow gives NaN
  kFnuz,    // no infinity, no -0; the pattern of -0 is the only NaN; overflow gives NaN
  kE8M0,    // powers of two only: no sign, zero or infinity; 0xff is NaN
  kFinite,  // 4- and 6-bit: neither infinity nor NaN; overflow saturates; a NaN becomes -0
};

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;  // stored bits; precision is mantissa_bits + 1
  int bias;
  FloatSpecials specials;
  int bits;          // whole width
  int min_exponent;  // of the smallest normal: 1 - bias (-bias for e8m0)
  int max_exponent;  // of the largest finite value
  double max_finite;
  double min_subnormal;  // smallest positive value (2^-127 for e8m0)
  uint64_t nan_bits;     // what a NaN result is written as
  bool has_infinity() const { return specials == FloatSpecials::kIeee; }
  bool has_nan() const { return specials != FloatSpecials::kFinite; }
  bool has_negative_zero() const {
    return specials != FloatSpecials::kFnuz && specials != FloatSpecials::kE8M0;
  }
};

struct ElementTypeInfo {
  std::string_view name;  // "bf16"
  int bits;               // logical width
  int bytes;              // of one element in a dense literal
  TypeClass type_class;
  const FloatFormat* format;     // floats; for complex types the component's; else null
  std::string_view numpy_descr;  // "<f4"; "|V1" and "|V2" where NumPy has no such type
};

const ElementTypeInfo& Info(ElementType type);
inline std::string_view Name(ElementType type) { return Info(type).name; }
inline int Bits(ElementType type) { return Info(type).bits; }
inline int Bytes(ElementType type) { return Info(type).bytes; }
std::optional<ElementType> ElementTypeFromName(std::string_view name);

inline TypeClass ClassOf(ElementType type) { return Info(type).type_class; }
inline bool IsSignedIntegral(ElementType t) { return ClassOf(t) == TypeClass::kSigned; }
inline bool IsUnsignedIntegral(ElementType t) { return ClassOf(t) == TypeClass::kUnsigned; }
inline bool IsIntegral(ElementType t) { return IsSignedIntegral(t) || IsUnsignedIntegral(t); }
inline bool IsFloat(ElementType t) { return ClassOf(t) == TypeClass::kFloat; }
inline bool IsComplex(ElementType t) { return ClassOf(t) == TypeClass::kComplex; }
// f32 for c64, f64 for c128; the type itself otherwise.
ElementType ComponentType(ElementType type);
// The floating type with more mantissa bits, ties by more exponent bits (docs/spec/shapes.md section 7).
ElementType HigherPrecision(ElementType a, ElementType b);
// The unsigned integral type of the same width; pred counts as 8 bits wide. None for 6- and 128-bit types.
std::optional<ElementType> UnsignedOfWidth(int bits);

// A set of element types, as the op table states them.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr explicit TypeSet(uint64_t mask) : mask_(mask) {}
  constexpr static TypeSet Of(ElementType t) { return TypeSet(uint64_t{1} << static_cast<int>(t)); }
  constexpr static TypeSet Range(ElementType first, ElementType last) {
    uint64_t mask = 0;
    for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) mask |= uint64_t{1} << i;
    return TypeSet(mask);
  }
  constexpr bool Has(ElementType t) const { return (mask_ >> static_cast<int>(t)) & 1; }
  constexpr friend TypeSet operator|(TypeSet a, TypeSet b) { return TypeSet(a.mask_ | b.mask_); }
  constexpr friend bool operator==(TypeSet, TypeSet) = default;

 private:
  static_assert(kNumElementTypes <= 64, "a set has a bit for each element type");
  uint64_t mask_ = 0;
};
inline constexpr TypeSet kPredTypes = TypeSet::Of(ElementType::kPred);
inline constexpr TypeSet kSignedTypes = TypeSet::Range(ElementType::kS1, ElementType::kS64);
inline constexpr TypeSet kUnsignedTypes = TypeSet::Range(ElementType::kU1, ElementType::kU64);
inline constexpr TypeSet kIntegralTypes = kSignedTypes | kUnsignedTypes;
inline constexpr TypeSet kFloatTypes = TypeSet::Range(ElementType::kF16, ElementType::kF4E2M1FN);
inline constexpr TypeSet kComplexTypes = TypeSet::Range(ElementType::kC64, ElementType::kC128);
inline constexpr TypeSet kArrayTypes = kPredTypes | kIntegralTypes | kFloatTypes | kComplexTypes;
inline constexpr TypeSet kNoTypes;

}  // namespace assay

#endif  // ASSAY_SHAPE_ELEMENT_TYPE_H_
