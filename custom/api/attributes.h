// Attributes of a call, and element types, as authors of operations see them.
#ifndef ASSAY_CUSTOM_API_ATTRIBUTES_H_
#define ASSAY_CUSTOM_API_ATTRIBUTES_H_

#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "custom/api/status.h"

namespace assay {
namespace op ASSAY_OP_API {

// A size, or a rank, that is not known.
constexpr int64_t kUnknown = ASSAY_UNKNOWN;

// XLA's PrimitiveType codes.
enum class Type : int32_t {
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kC64 = 15,
  kBF16 = 16,
  kC128 = 18,
};

// The bits of a bf16 element; arithmetic goes through float. From a float it is rounded to nearest,
// ties to even.
struct bfloat16 {
  uint16_t bits = 0;
  bfloat16() = default;
  explicit bfloat16(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    bits =
        value != value ? uint16_t{0x7fc0} : static_cast<uint16_t>((word + 0x7fff + ((word >> 16) & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

// The bits of an f16 element, likewise.
struct float16 {
  uint16_t bits = 0;
  float16() = default;
  explicit float16(float value) : bits(Rounded(value)) {}
  operator float() const {
    const uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0) {
      const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const uint32_t wide = exponent == 0x1f ? 0xff : exponent + 112;
    return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
  }

 private:
  static uint16_t Rounded(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>((word >> 16) & 0x8000);
    const uint32_t magnitude = word & 0x7fffffff;
    if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
    if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // from 65520 on
    if (magnitude < 0x38800000) {  // below 2^-14: the sum's last place is 2^-24, to which the hardware rounds
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000));
    }
    const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    return static_cast<uint16_t>(sign | ((rounded >> 13) - (112 << 10)));
  }
};

template <typename T>
struct TypeTraits;
template <Type kType>
struct TypeOfCode {
  static constexpr Type kValue = kType;
};
template <>
struct TypeTraits<bool> : TypeOfCode<Type::kPred> {};
template <>
struct TypeTraits<int8_t> : TypeOfCode<Type::kS8> {};
template <>
struct TypeTraits<int16_t> : TypeOfCode<Type::kS16> {};
template <>
struct TypeTraits<int32_t> : TypeOfCode<Type::kS32> {};
template <>
struct TypeTraits<int64_t> : TypeOfCode<Type::kS64> {};
template <>
struct TypeTraits<uint8_t> : TypeOfCode<Type::kU8> {};
template <>
struct TypeTraits<uint16_t> : TypeOfCode<Type::kU16> {};
template <>
struct TypeTraits<uint32_t> : TypeOfCode<Type::kU32> {};
template <>
struct TypeTraits<uint64_t> : TypeOfCode<Type::kU64> {};
template <>
struct TypeTraits<float16> : TypeOfCode<Type::kF16> {};
template <>
struct TypeTraits<float> : TypeOfCode<Type::kF32> {};
template <>
struct TypeTraits<double> : TypeOfCode<Type::kF64> {};
template <>
struct TypeTraits<std::complex<float>> : TypeOfCode<Type::kC64> {};
template <>
struct TypeTraits<bfloat16> : TypeOfCode<Type::kBF16> {};
template <>
struct TypeTraits<std::complex<double>> : TypeOfCode<Type::kC128> {};
template <typename T>
constexpr Type TypeOf() {
  return TypeTraits<T>::kValue;
}

// A shape of which not all may be known.
struct PartialShape {
  bool has_rank = false;
  std::vector<int64_t> sizes;  // kUnknown: not known
};

inline PartialShape PartialShapeOf(const AssayShape& shape) {
  PartialShape partial;
  partial.has_rank = shape.rank >= 0;
  if (partial.has_rank) partial.sizes.assign(shape.sizes, shape.sizes + shape.rank);
  return partial;
}

// The attributes of a call by name. GetAttr's types: std::string, int64_t, int32_t, float, double, bool,
// Type, PartialShape, and std::vector of these.
class Attributes {
 public:
  Attributes(const AssayAttr* attrs, size_t count) : attrs_(attrs), count_(count) {}

  const AssayAttr* Find(std::string_view name) const {
    for (size_t i = 0; i < count_; ++i) {
      if (std::string_view(attrs_[i].name.data, attrs_[i].name.size) == name) return &attrs_[i];
    }
    return nullptr;
  }

  template <typename T>
  Status Get(std::string_view name, T* value) const {
    const AssayAttr* const attr = Find(name);
    if (attr == nullptr) return InvalidArgument("no attr '", name, "'");
    if (!Read(*attr, value)) return InvalidArgument("attr '", name, "' has another type");
    return Ok();
  }

 private:
  static bool Read(const AssayAttr& attr, std::string* value) {
    if (attr.kind != ASSAY_ATTR_STRING) return false;
    *value = StringOf(attr.text);
    return true;
  }
  static bool Read(const AssayAttr& attr, bool* value) {
    *value = attr.integer != 0;
    return attr.kind == ASSAY_ATTR_BOOL;
  }
  static bool Read(const AssayAttr& attr, int64_t* value) {
    *value = attr.integer;
    return attr.kind == ASSAY_ATTR_INT;
  }
  static bool Read(const AssayAttr& attr, int32_t* value) {
    *value = static_cast<int32_t>(attr.integer);
    return attr.kind == ASSAY_ATTR_INT && *value == attr.integer;
  }
  static bool Read(const AssayAttr& attr, float* value) {
    *value = static_cast<float>(attr.number);
    return attr.kind == ASSAY_ATTR_FLOAT;
  }
  static bool Read(const AssayAttr& attr, double* value) {
    *value = attr.number;
    return attr.kind == ASSAY_ATTR_FLOAT;
  }
  static bool Read(const AssayAttr& attr, Type* value) {
    *value = static_cast<Type>(attr.integer);
    return attr.kind == ASSAY_ATTR_TYPE;
  }
  static bool Read(const AssayAttr& attr, PartialShape* value) {
    if (attr.kind != ASSAY_ATTR_SHAPE) return false;
    *value = PartialShapeOf(attr.shape);
    return true;
  }
  static bool Read(const AssayAttr& attr, AssayArray* value) {
    *value = attr.tensor;
    return attr.kind == ASSAY_ATTR_TENSOR;
  }
  template <typename T>
  static bool Read(const AssayAttr& attr, std::vector<T>* values) {
    if (attr.kind != ASSAY_ATTR_LIST) return false;
    values->clear();
    for (size_t i = 0; i < attr.count; ++i) {
      T value;
      if (!Read(attr.items[i], &value)) return false;
      values->push_back(std::move(value));
    }
    return true;
  }

  const AssayAttr* attrs_;
  size_t count_;
};

// Which values of a call are the input, or output, of this name.
inline const AssayArgument* FindArgument(const AssayArgument* arguments, size_t count,
                                         std::string_view name) {
  for (size_t i = 0; i < count; ++i) {
    if (std::string_view(arguments[i].name.data, arguments[i].name.size) == name) return &arguments[i];
  }
  return nullptr;
}

}  // namespace ASSAY_OP_API
}  // namespace assay

#endif  // ASSAY_CUSTOM_API_ATTRIBUTES_H_
