#include "gpu/ptx/element.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "fmt/format.h"
#include "literal/float_format.h"

namespace assay::gpu {
namespace {

constexpr uint32_t kNaN32 = 0x7fc00000;
constexpr uint64_t kNaN64 = 0x7ff8000000000000;
constexpr uint64_t kSign64 = uint64_t{1} << 63;
constexpr uint64_t kInfinity64 = uint64_t{0x7ff} << 52;

bool IsHalf(ElementType type) { return type == ElementType::kF16 || type == ElementType::kBF16; }

}  // namespace

Register Elements::Choose(Register predicate, Register a, Register b) {
  if (a.width == Width::k64) return w.Choose64(a, b, predicate);
  if (a.width == Width::k32) return w.Choose32(a, b, predicate);
  return w.OrPred(w.AndPred(predicate, a), w.AndPred(w.NotPred(predicate), b));
}

Register Elements::CanonicalNaN32(Register f32) {
  return w.Choose32(w.Constant32(kNaN32), f32, w.NaNF32(f32, f32));
}
Register Elements::CanonicalNaN64(Register f64) {
  return w.Choose64(w.Constant64(kNaN64), f64, w.NaNF64(f64, f64));
}

Element Elements::OfPattern(ElementType type, Register pattern) {
  Element element{.type = type, .pattern = pattern};
  if (type == ElementType::kF32) element.single = pattern;
  if (type == ElementType::kF64) element.twice = pattern;
  return element;
}

Register Elements::Pattern(Element& element) {
  if (!element.pattern.known()) element.pattern = Encode(element);
  return element.pattern;
}

Register Elements::Single(Element& element) {
  if (element.single.known()) return element.single;
  if (element.type == ElementType::kF64) {
    ASSAY_CHECK(false);
  } else if (element.twice.known()) {
    element.single = w.NarrowToF32(element.twice);
  } else if (element.type == ElementType::kF16) {
    element.single = w.WidenF16(w.HalfOf32(element.pattern));
  } else if (element.type == ElementType::kBF16) {
    element.single = w.Shl32(element.pattern, w.Constant32(16));
  } else {
    element.single = DecodeNarrow(element.type, element.pattern);
  }
  return element.single;
}

Register Elements::Double(Element& element) {
  if (!element.twice.known()) element.twice = w.WidenF32(Single(element));
  return element.twice;
}

// Of 256 patterns at most: a table of the f32 values.
Register Elements::DecodeNarrow(ElementType type, Register pattern) {
  const FloatFormat& format = *Info(type).format;
  std::vector<uint32_t> values;
  for (uint64_t bits = 0; bits < uint64_t{1} << format.bits; ++bits) {
    const double value = DecodeFloat(bits, format);
    values.push_back(std::isnan(value) ? kNaN32 : std::bit_cast<uint32_t>(static_cast<float>(value)));
  }
  const Register table = w.Table(fmt::format("values_{}", Name(type)), std::span<const uint32_t>(values));
  return LookUp("b32", 4, table, pattern);
}

Register Elements::LookUp(std::string_view what, int bytes, Register table, Register index) {
  Register offset = w.ExtendU32(index);
  if (bytes > 1)
    offset = w.Shl64(offset, w.Constant32(static_cast<uint32_t>(std::countr_zero(uint32_t(bytes)))));
  return w.Load(what, w.Add64(table, offset));
}

Register Elements::AddressOf(ElementType type, Register base, Register index) {
  Register offset = index.width == Width::k32 ? w.ExtendU32(index) : index;
  const auto shift = static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(Bytes(type))));
  if (shift != 0) offset = w.Shl64(offset, w.Constant32(shift));
  return w.Add64(base, offset);
}

Element Elements::Load(ElementType type, Register address) {
  const int bytes = Bytes(type);
  const bool is_signed = IsSignedIntegral(type);
  const Register loaded = w.Load(bytes == 8   ? "b64"
                                 : bytes == 4 ? "b32"
                                 : bytes == 2 ? (is_signed ? "s16" : "u16")
                                              : (is_signed ? "s8" : "u8"),
                                 address);
  return OfPattern(type, type == ElementType::kPred ? w.Ne32(loaded, w.Constant32(0)) : loaded);
}

void Elements::Store(Element& element, Register address) {
  const int bytes = Bytes(element.type);
  Register value = Pattern(element);
  if (element.type == ElementType::kPred) value = w.Choose32(w.Constant32(1), w.Constant32(0), value);
  w.Store(bytes == 8 ? "b64" : bytes == 4 ? "b32" : bytes == 2 ? "u16" : "u8", address, value);
}

Element Elements::Wrapped(ElementType type, Register integer) {
  const auto bits = static_cast<uint32_t>(Bits(type));
  if (bits >= 32) return OfPattern(type, integer);
  if (IsSignedIntegral(type)) {
    const Register shift = w.Constant32(32 - bits);
    return OfPattern(type, w.ShrS32(w.Shl32(integer, shift), shift));
  }
  return OfPattern(type, w.And32(integer, w.Constant32((1u << bits) - 1)));
}

// ---- rounding ----

// literal/float_format.h's RN: adding 2^(e + bits to be dropped) to a magnitude of exponent e, and taking it
// away again, rounds it at the format's last place; e is not below that of the smallest normal value.
Register Elements::RoundNarrow(const FloatFormat& format, Register f64) {
  if (format.specials == FloatSpecials::kE8M0) return RoundToPower(format, f64);
  const double beyond = std::ldexp(1.0, format.max_exponent + 2);
  const double overflow = RoundToFormat(beyond, format);
  const Register sign_mask = w.Constant64(kSign64);
  Register magnitude = w.And64(f64, w.Constant64(~kSign64));
  magnitude = w.Choose64(w.Double(beyond), magnitude, w.GtF64(magnitude, w.Double(beyond)));
  const Register smallest = w.Double(std::ldexp(1.0, format.min_exponent));
  Register power = w.And64(magnitude, w.Constant64(kInfinity64));
  power = w.Choose64(power, smallest, w.GtF64(power, smallest));
  power = w.MulF64(power, w.Double(std::ldexp(1.0, 52 - format.mantissa_bits)));
  const Register rounded = w.SubF64(w.AddF64(magnitude, power), power);
  const Register over = w.GtF64(rounded, w.Double(format.max_finite));
  const Register limited = w.Choose64(w.Double(std::fabs(overflow)), rounded, over);
  Register sign = w.And64(f64, sign_mask);
  if (std::isnan(overflow)) sign = w.Choose64(w.Constant64(0), sign, over);
  if (!format.has_negative_zero())
    sign = w.Choose64(w.Constant64(0), sign, w.EqF64(rounded, w.Constant64(0)));
  return w.Choose64(w.Double(CanonicalNaN(format)), w.Or64(limited, sign), w.NaNF64(f64, f64));
}

// Powers of two alone: ties go up, what is not above zero is NaN, and so is what is too large.
Register Elements::RoundToPower(const FloatFormat& format, Register f64) {
  const Register least = w.Double(format.min_subnormal);
  const Register half = w.Constant64(uint64_t{1} << 51);
  const Register up = w.And64(w.Add64(f64, half), w.Constant64(kInfinity64));
  const Register rounded = w.Choose64(least, up, w.LtF64(f64, least));
  const Register fits =
      w.AndPred(w.GtF64(f64, w.Constant64(0)), w.LeF64(rounded, w.Double(format.max_finite)));
  return w.Choose64(rounded, w.Constant64(kNaN64), fits);
}

Element Elements::Rounded(ElementType type, Register f64) {
  if (type == ElementType::kF64) return OfPattern(type, CanonicalNaN64(f64));
  if (type == ElementType::kF32) return OfPattern(type, CanonicalNaN32(w.NarrowToF32(f64)));
  return {.type = type, .twice = RoundNarrow(*Info(type).format, f64)};
}

Element Elements::RoundedSingle(ElementType type, Register f32) {
  if (type == ElementType::kF32) return OfPattern(type, CanonicalNaN32(f32));
  if (!IsHalf(type)) return Rounded(type, w.WidenF32(f32));
  const Register half = type == ElementType::kF16 ? w.NarrowToF16(f32) : w.NarrowToBF16(f32);
  const auto nan = static_cast<uint32_t>(Info(type).format->nan_bits);
  return OfPattern(type, w.Choose32(w.Constant32(nan), w.ExtendU16(half), w.NaNF32(f32, f32)));
}

Element Elements::Exact(ElementType type, Register f32) {
  if (type == ElementType::kF32) return OfPattern(type, CanonicalNaN32(f32));
  if (IsHalf(type)) return {.type = type, .single = f32};
  return Rounded(type, w.WidenF32(f32));
}

// ---- encoding ----

Register Elements::Encode(Element& element) {
  if (element.type == ElementType::kBF16) return w.ShrU32(CanonicalNaN32(Single(element)), w.Constant32(16));
  if (element.type != ElementType::kF16) return EncodeNarrow(element);
  const Register single = Single(element);
  const auto nan = static_cast<uint32_t>(Info(element.type).format->nan_bits);
  return w.Choose32(w.Constant32(nan), w.ExtendU16(w.NarrowToF16(single)), w.NaNF32(single, single));
}

// The fields of an f64 that is a value of the format: those of a normal value are a part of its own; a
// subnormal one is so many times the smallest.
Register Elements::EncodeNarrow(Element& element) {
  const FloatFormat& format = *Info(element.type).format;
  const Register value = Double(element);
  const Register magnitude = w.And64(value, w.Constant64(~kSign64));
  const uint64_t rebias = static_cast<uint64_t>(1023 - format.bias) << 52;
  const Register moved = w.ShrU64(w.Sub64(magnitude, w.Constant64(rebias)),
                                  w.Constant32(static_cast<uint32_t>(52 - format.mantissa_bits)));
  Register field = w.Low32(moved);
  if (format.specials != FloatSpecials::kE8M0) {
    const Register count = w.U32OfF64(w.MulF64(magnitude, w.Double(1 / format.min_subnormal)));
    const Register subnormal = w.LtF64(magnitude, w.Double(std::ldexp(1.0, format.min_exponent)));
    field = w.Choose32(count, field, subnormal);
    const Register sign = w.Low32(w.ShrU64(w.And64(value, w.Constant64(kSign64)),
                                           w.Constant32(static_cast<uint32_t>(64 - format.bits))));
    if (format.has_infinity()) {
      const uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
      field = w.Choose32(w.Constant32(infinity), field, w.Eq64(magnitude, w.Constant64(kInfinity64)));
    }
    field = w.Or32(field, sign);
  }
  const auto nan = static_cast<uint32_t>(format.nan_bits);
  return w.Choose32(w.Constant32(nan), field, w.NaNF64(value, value));
}

}  // namespace assay::gpu
