// How every element type is stored (spec/shapes.md section 2), as strips of compute kinds. Float formats one
// value at a time are in float_format.cc.
//
// Contiguous runs go through blocks of a constant length, which is what -O2 turns into vector code. NaNs
// would lose signalling bits in a conversion between float and double, so a block that has one is done again
// element by element through DecodeFloat and EncodeFloat.
#include "literal/element_io.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "literal/float_format.h"

namespace assay {
namespace {

constexpr int64_t kBlock = 16;

template <class T>
T Read(const std::byte* src) {
  T value;
  std::memcpy(&value, src, sizeof(T));
  return value;
}
template <class T>
void Write(std::byte* dst, T value) {
  std::memcpy(dst, &value, sizeof(T));
}

// Calls fn(src, dst, count) for whole blocks (count is kBlock), staging strided elements, then for the rest.
// `fn` sees contiguous elements of type T only.
template <class T, class K, class Fn>
void ForBlocksIn(const std::byte* src, int64_t stride, int64_t n, K* dst, Fn fn) {
  T block[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    const std::byte* from = src + i * stride;
    if (count == kBlock && stride == static_cast<int64_t>(sizeof(T))) {
      std::memcpy(block, from, sizeof(block));
      fn(block, dst + i);
      continue;
    }
    for (int64_t j = 0; j < count; ++j) block[j] = Read<T>(from + j * stride);
    for (int64_t j = count; j < kBlock; ++j) block[j] = T{};
    K staged[kBlock];
    fn(block, staged);
    std::memcpy(dst + i, staged, sizeof(K) * count);
  }
}
// The same for stores: fn(src, block) fills a block of T.
template <class T, class K, class Fn>
void ForBlocksOut(const K* src, int64_t n, std::byte* dst, int64_t stride, Fn fn) {
  T block[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    std::byte* to = dst + i * stride;
    if (count == kBlock) {
      fn(src + i, block);
    } else {
      K staged[kBlock] = {};
      std::memcpy(staged, src + i, sizeof(K) * count);
      fn(staged, block);
    }
    if (count == kBlock && stride == static_cast<int64_t>(sizeof(T))) {
      std::memcpy(to, block, sizeof(block));
    } else {
      for (int64_t j = 0; j < count; ++j) Write(to + j * stride, block[j]);
    }
  }
}

// Integers as wide as their storage.
template <class T, class K>
void LoadPlain(const std::byte* src, int64_t stride, int64_t n, void* dst) {
  ForBlocksIn<T>(src, stride, n, static_cast<K*>(dst), [](const T* from, K* to) {
    for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<K>(from[j]);
  });
}
template <class T, class K>
void StorePlain(const void* src, int64_t n, std::byte* dst, int64_t stride) {
  ForBlocksOut<T>(static_cast<const K*>(src), n, dst, stride, [](const K* from, T* to) {
    for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<T>(from[j]);
  });
}

void LoadPred(const std::byte* src, int64_t stride, int64_t n, void* dst) {
  ForBlocksIn<uint8_t>(src, stride, n, static_cast<uint8_t*>(dst), [](const uint8_t* from, uint8_t* to) {
    for (int64_t j = 0; j < kBlock; ++j) to[j] = from[j] != 0;
  });
}
void StorePred(const void* src, int64_t n, std::byte* dst, int64_t stride) {
  ForBlocksOut<uint8_t>(static_cast<const uint8_t*>(src), n, dst, stride,
                        [](const uint8_t* from, uint8_t* to) {
                          for (int64_t j = 0; j < kBlock; ++j) to[j] = from[j] != 0;
                        });
}

// Integers of 1, 2 or 4 bits in a byte: sign bits above where signed, else zeros.
void StoreSubByte(int bits, bool is_signed, const void* src, int64_t n, std::byte* dst, int64_t stride) {
  const int drop = 8 - bits;
  ForBlocksOut<uint8_t>(static_cast<const uint64_t*>(src), n, dst, stride,
                        [&](const uint64_t* from, uint8_t* to) {
                          for (int64_t j = 0; j < kBlock; ++j) {
                            const auto high = static_cast<uint8_t>(from[j] << drop);
                            to[j] = is_signed ? static_cast<uint8_t>(static_cast<int8_t>(high) >> drop)
                                              : static_cast<uint8_t>(high >> drop);
                          }
                        });
}

void LoadF32Block(const uint32_t* from, double* to) {
  uint32_t nans = 0;
  for (int64_t j = 0; j < kBlock; ++j) nans |= 0x7f800000u - (from[j] & 0x7fffffffu);
  for (int64_t j = 0; j < kBlock; ++j) to[j] = std::bit_cast<float>(from[j]);
  if (nans >> 31 == 0) return;
  const FloatFormat& format = *Info(ElementType::kF32).format;
  for (int64_t j = 0; j < kBlock; ++j) to[j] = DecodeFloat(from[j], format);
}
void StoreF32Block(const double* from, uint32_t* to) {
  for (int64_t j = 0; j < kBlock; ++j) to[j] = std::bit_cast<uint32_t>(static_cast<float>(from[j]));
  uint32_t nans = 0;
  for (int64_t j = 0; j < kBlock; ++j) nans |= 0x7f800000u - (to[j] & 0x7fffffffu);
  if (nans >> 31 == 0) return;
  const FloatFormat& format = *Info(ElementType::kF32).format;
  for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<uint32_t>(EncodeFloat(from[j], format));
}

// bf16 is the upper half of an f32.
void LoadBF16(const std::byte* src, int64_t stride, int64_t n, double* dst) {
  ForBlocksIn<uint16_t>(src, stride, n, dst, [](const uint16_t* from, double* to) {
    uint32_t wide[kBlock];
    for (int64_t j = 0; j < kBlock; ++j) wide[j] = static_cast<uint32_t>(from[j]) << 16;
    LoadF32Block(wide, to);
  });
}
void StoreBF16(const double* src, int64_t n, std::byte* dst, int64_t stride) {
  ForBlocksOut<uint16_t>(src, n, dst, stride, [](const double* from, uint16_t* to) {
    uint32_t wide[kBlock];
    StoreF32Block(from, wide);
    for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<uint16_t>(wide[j] >> 16);
  });
}

// f16 and the floats of at most 8 bits. Numbers are taken apart as DecodeFloat does, without its branches;
// patterns at or above `first_special` (infinities, NaNs, fnuz' only NaN) go to DecodeFloat.
struct NarrowFormat {
  explicit NarrowFormat(const FloatFormat& f)
      : format(&f),
        sign(f.specials == FloatSpecials::kE8M0 ? 0 : 1u << (f.bits - 1)),
        mantissa_shift(52 - f.mantissa_bits),
        rebias(static_cast<uint64_t>(1023 - f.bias) << 52),
        first_normal(f.specials == FloatSpecials::kE8M0 ? 0 : 1u << f.mantissa_bits),
        min_normal(std::ldexp(1.0, f.min_exponent)),
        subnormal_shift(std::ldexp(1.0, f.min_exponent - f.mantissa_bits + 52)) {
    const uint32_t all = (1u << f.bits) - 1;
    first_special = all + 1;
    if (f.specials == FloatSpecials::kIeee) first_special = (sign - 1) >> f.mantissa_bits << f.mantissa_bits;
    if (f.specials == FloatSpecials::kFn) first_special = sign - 1;
    if (f.specials == FloatSpecials::kE8M0) first_special = all;
  }
  const FloatFormat* format;
  uint32_t sign;
  int mantissa_shift;
  uint64_t rebias;
  uint32_t first_normal;
  uint32_t first_special;
  double min_normal;
  double subnormal_shift;  // one unit in its last place is the smallest subnormal
};

double DecodeNarrow(uint32_t pattern, const NarrowFormat& f) {
  const uint32_t magnitude = pattern & ~f.sign;
  if (magnitude >= f.first_special || (magnitude == 0 && pattern != 0))
    return DecodeFloat(pattern, *f.format);
  const double normal =
      std::bit_cast<double>((static_cast<uint64_t>(magnitude) << f.mantissa_shift) + f.rebias);
  const double subnormal = static_cast<double>(static_cast<int32_t>(magnitude)) * f.format->min_subnormal;
  const double value = magnitude >= f.first_normal ? normal : subnormal;
  return (pattern & f.sign) != 0 ? -value : value;
}
uint32_t EncodeNarrow(double value, const NarrowFormat& f) {
  const double magnitude = std::fabs(value);
  if (!(magnitude <= f.format->max_finite) || magnitude == 0) {
    return static_cast<uint32_t>(EncodeFloat(value, *f.format));
  }
  const uint64_t normal = (std::bit_cast<uint64_t>(magnitude) - f.rebias) >> f.mantissa_shift;
  const uint64_t subnormal =
      std::bit_cast<uint64_t>(magnitude + f.subnormal_shift) - std::bit_cast<uint64_t>(f.subnormal_shift);
  const auto field = static_cast<uint32_t>(magnitude >= f.min_normal ? normal : subnormal);
  return std::signbit(value) ? field | f.sign : field;
}

template <class T>
void LoadNarrow(const FloatFormat& format, const std::byte* src, int64_t stride, int64_t n, double* dst) {
  const NarrowFormat narrow(format);
  const uint32_t mask = (1u << format.bits) - 1;
  for (int64_t i = 0; i < n; ++i) dst[i] = DecodeNarrow(Read<T>(src + i * stride) & mask, narrow);
}
template <class T>
void StoreNarrow(const FloatFormat& format, const double* src, int64_t n, std::byte* dst, int64_t stride) {
  const NarrowFormat narrow(format);
  for (int64_t i = 0; i < n; ++i) Write(dst + i * stride, static_cast<T>(EncodeNarrow(src[i], narrow)));
}

void LoadReal(ElementType type, const std::byte* src, int64_t stride, int64_t n, double* dst) {
  if (type == ElementType::kF64) return LoadPlain<uint64_t, uint64_t>(src, stride, n, dst);
  if (type == ElementType::kF32) return ForBlocksIn<uint32_t>(src, stride, n, dst, LoadF32Block);
  if (type == ElementType::kBF16) return LoadBF16(src, stride, n, dst);
  const FloatFormat& format = *Info(type).format;
  return Bytes(type) == 2 ? LoadNarrow<uint16_t>(format, src, stride, n, dst)
                          : LoadNarrow<uint8_t>(format, src, stride, n, dst);
}
void StoreReal(ElementType type, const double* src, int64_t n, std::byte* dst, int64_t stride) {
  if (type == ElementType::kF64) return StorePlain<uint64_t, uint64_t>(src, n, dst, stride);
  if (type == ElementType::kF32) return ForBlocksOut<uint32_t>(src, n, dst, stride, StoreF32Block);
  if (type == ElementType::kBF16) return StoreBF16(src, n, dst, stride);
  const FloatFormat& format = *Info(type).format;
  return Bytes(type) == 2 ? StoreNarrow<uint16_t>(format, src, n, dst, stride)
                          : StoreNarrow<uint8_t>(format, src, n, dst, stride);
}

// Complex: both components of one element lie side by side, in the kind as in storage.
void LoadComplex(ElementType component, const std::byte* src, int64_t stride, int64_t n, double* dst) {
  const int64_t bytes = Bytes(component);
  if (stride == 2 * bytes) return LoadReal(component, src, bytes, 2 * n, dst);
  for (int64_t i = 0; i < n; ++i) LoadReal(component, src + i * stride, bytes, 2, dst + 2 * i);
}
void StoreComplex(ElementType component, const double* src, int64_t n, std::byte* dst, int64_t stride) {
  const int64_t bytes = Bytes(component);
  if (stride == 2 * bytes) return StoreReal(component, src, 2 * n, dst, bytes);
  for (int64_t i = 0; i < n; ++i) StoreReal(component, src + 2 * i, 2, dst + i * stride, bytes);
}

}  // namespace

ComputeKind KindOf(ElementType type) {
  switch (ClassOf(type)) {
    case TypeClass::kPred:
      return ComputeKind::kBool;
    case TypeClass::kSigned:
      return ComputeKind::kInt64;
    case TypeClass::kUnsigned:
      return ComputeKind::kUint64;
    case TypeClass::kFloat:
      return ComputeKind::kReal;
    case TypeClass::kComplex:
      return ComputeKind::kComplex;
  }
  return ComputeKind::kInt64;
}

int KindBytes(ComputeKind kind) {
  return kind == ComputeKind::kBool ? 1 : kind == ComputeKind::kComplex ? 16 : 8;
}

void LoadStrip(ElementType type, const std::byte* src, int64_t stride, int64_t n, void* dst) {
  switch (type) {
    case ElementType::kPred:
      return LoadPred(src, stride, n, dst);
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
      LoadPlain<int8_t, int64_t>(src, stride, n, dst);
      return WrapStrip(type, static_cast<int64_t*>(dst), n);
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
      LoadPlain<uint8_t, uint64_t>(src, stride, n, dst);
      return WrapStrip(type, static_cast<uint64_t*>(dst), n);
    case ElementType::kS8:
      return LoadPlain<int8_t, int64_t>(src, stride, n, dst);
    case ElementType::kS16:
      return LoadPlain<int16_t, int64_t>(src, stride, n, dst);
    case ElementType::kS32:
      return LoadPlain<int32_t, int64_t>(src, stride, n, dst);
    case ElementType::kU8:
      return LoadPlain<uint8_t, uint64_t>(src, stride, n, dst);
    case ElementType::kU16:
      return LoadPlain<uint16_t, uint64_t>(src, stride, n, dst);
    case ElementType::kU32:
      return LoadPlain<uint32_t, uint64_t>(src, stride, n, dst);
    case ElementType::kS64:
    case ElementType::kU64:
      return LoadPlain<uint64_t, uint64_t>(src, stride, n, dst);
    case ElementType::kC64:
    case ElementType::kC128:
      return LoadComplex(ComponentType(type), src, stride, n, static_cast<double*>(dst));
    default:
      return LoadReal(type, src, stride, n, static_cast<double*>(dst));
  }
}

void StoreStrip(ElementType type, const void* src, int64_t n, std::byte* dst, int64_t stride) {
  switch (type) {
    case ElementType::kPred:
      return StorePred(src, n, dst, stride);
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
      return StoreSubByte(Bits(type), IsSignedIntegral(type), src, n, dst, stride);
    case ElementType::kS8:
    case ElementType::kU8:
      return StorePlain<uint8_t, uint64_t>(src, n, dst, stride);
    case ElementType::kS16:
    case ElementType::kU16:
      return StorePlain<uint16_t, uint64_t>(src, n, dst, stride);
    case ElementType::kS32:
    case ElementType::kU32:
      return StorePlain<uint32_t, uint64_t>(src, n, dst, stride);
    case ElementType::kS64:
    case ElementType::kU64:
      return StorePlain<uint64_t, uint64_t>(src, n, dst, stride);
    case ElementType::kC64:
    case ElementType::kC128:
      return StoreComplex(ComponentType(type), static_cast<const double*>(src), n, dst, stride);
    default:
      return StoreReal(type, static_cast<const double*>(src), n, dst, stride);
  }
}

int64_t WrapSigned(int64_t value, int bits) {
  const int drop = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << drop) >> drop;
}
uint64_t WrapUnsigned(uint64_t value, int bits) {
  const int drop = 64 - bits;
  return value << drop >> drop;
}
void WrapStrip(ElementType type, int64_t* values, int64_t n) {
  const int bits = Bits(type);
  if (bits == 64) return;
  for (int64_t i = 0; i < n; ++i) values[i] = WrapSigned(values[i], bits);
}
void WrapStrip(ElementType type, uint64_t* values, int64_t n) {
  const int bits = Bits(type);
  if (bits == 64) return;
  for (int64_t i = 0; i < n; ++i) values[i] = WrapUnsigned(values[i], bits);
}

ScalarValue LoadElement(ElementType type, const std::byte* src) {
  ScalarValue value;
  value.kind = KindOf(type);
  switch (value.kind) {
    case ComputeKind::kBool:
      LoadStrip(type, src, 0, 1, &value.b);
      break;
    case ComputeKind::kInt64:
      LoadStrip(type, src, 0, 1, &value.i);
      break;
    case ComputeKind::kUint64:
      LoadStrip(type, src, 0, 1, &value.u);
      break;
    case ComputeKind::kReal:
      LoadStrip(type, src, 0, 1, &value.r);
      break;
    case ComputeKind::kComplex:
      LoadStrip(type, src, 0, 1, &value.c);
      break;
  }
  return value;
}

void StoreElement(ElementType type, const ScalarValue& value, std::byte* dst) {
  switch (KindOf(type)) {
    case ComputeKind::kBool:
      return StoreStrip(type, &value.b, 1, dst, 0);
    case ComputeKind::kInt64:
      return StoreStrip(type, &value.i, 1, dst, 0);
    case ComputeKind::kUint64:
      return StoreStrip(type, &value.u, 1, dst, 0);
    case ComputeKind::kReal:
      return StoreStrip(type, &value.r, 1, dst, 0);
    case ComputeKind::kComplex:
      return StoreStrip(type, &value.c, 1, dst, 0);
  }
}

int64_t LoadIndex(ElementType integral, const std::byte* src) {
  const ScalarValue value = LoadElement(integral, src);
  if (value.kind == ComputeKind::kInt64) return value.i;
  if (value.kind == ComputeKind::kBool) return value.b;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(value.u, kMax));
}

}  // namespace assay
