// How every element type is stored (docs/spec/shapes.md section 2), as strips of compute kinds. Float formats
// one value at a time are in float_format.cc.
//
// Contiguous runs go through blocks of a constant length, which is what -O2 turns into vector code.
// Signalling NaNs would become quiet in a conversion between float and double, so a strip that has one
// (or, on its way to float, any NaN but the canonical one) is done again element by element through
// DecodeFloat and EncodeFloat.
#include "literal/element_io.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "literal/float_format.h"

namespace assay {
namespace {

constexpr int64_t kBlock = 32;
// Fewer elements than this go one by one: compiled scalar functions often have a strip of one.
constexpr int64_t kFew = 4;

// Four lanes of 32 bits, as GCC and clang spell them for any target.
using U32x4 = uint32_t __attribute__((vector_size(16)));
using I32x4 = int32_t __attribute__((vector_size(16)));
using U64x2 = uint64_t __attribute__((vector_size(16)));
using F32x4 = float __attribute__((vector_size(16)));
using F64x4 = double __attribute__((vector_size(32)));

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
U32x4 ChooseBits(I32x4 mask, U32x4 a, U32x4 b) {
  const U32x4 m = std::bit_cast<U32x4>(mask);
  return (a & m) | (b & ~m);
}
bool AnyBit(U32x4 v) {
  const U64x2 halves = std::bit_cast<U64x2>(v);
  return (halves[0] | halves[1]) != 0;
}

// Calls fn(from, to) for blocks of kBlock elements of type T; a shorter last block is padded with zeros.
template <class T, class K, class Fn>
void LoadBlocks(const std::byte* src, int64_t n, K* dst, Fn fn) {
  T block[kBlock];
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    std::memcpy(block, src + i * sizeof(T), sizeof(block));
    fn(block, dst + i);
  }
  if (i == n) return;
  K staged[kBlock];
  std::memset(block, 0, sizeof(block));
  std::memcpy(block, src + i * sizeof(T), sizeof(T) * (n - i));
  fn(block, staged);
  std::memcpy(dst + i, staged, sizeof(K) * (n - i));
}
template <class T, class K, class Fn>
void StoreBlocks(const K* src, int64_t n, std::byte* dst, Fn fn) {
  T block[kBlock];
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    fn(src + i, block);
    std::memcpy(dst + i * sizeof(T), block, sizeof(block));
  }
  if (i == n) return;
  K staged[kBlock] = {};
  std::memcpy(staged, src + i, sizeof(K) * (n - i));
  fn(staged, block);
  std::memcpy(dst + i * sizeof(T), block, sizeof(T) * (n - i));
}

// Integers as wide as their storage.
template <class T, class K>
void LoadPlain(const std::byte* src, int64_t n, void* dst) {
  if (n < kFew) {
    for (int64_t i = 0; i < n; ++i) static_cast<K*>(dst)[i] = static_cast<K>(Read<T>(src + i * sizeof(T)));
    return;
  }
  LoadBlocks<T>(src, n, static_cast<K*>(dst), [](const T* from, K* to) {
    for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<K>(from[j]);
  });
}
template <class T, class K>
void StorePlain(const void* src, int64_t n, std::byte* dst) {
  if (n < kFew) {
    for (int64_t i = 0; i < n; ++i) Write(dst + i * sizeof(T), static_cast<T>(static_cast<const K*>(src)[i]));
    return;
  }
  StoreBlocks<T>(static_cast<const K*>(src), n, dst, [](const K* from, T* to) {
    for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<T>(from[j]);
  });
}

// One byte that is 0 or 1, in storage as in the kind.
void CopyPred(const std::byte* src, int64_t n, std::byte* dst) {
  if (n < kFew) {
    for (int64_t i = 0; i < n; ++i) dst[i] = std::byte(src[i] != std::byte(0));
    return;
  }
  LoadBlocks<uint8_t>(src, n, reinterpret_cast<uint8_t*>(dst), [](const uint8_t* from, uint8_t* to) {
    for (int64_t j = 0; j < kBlock; ++j) to[j] = from[j] != 0;
  });
}

// Integers of 1, 2 or 4 bits in a byte: sign bits above where signed, else zeros.
void StoreSubByte(int bits, bool is_signed, const void* src, int64_t n, std::byte* dst) {
  const int drop = 8 - bits;
  const auto* values = static_cast<const uint64_t*>(src);
  for (int64_t i = 0; i < n; ++i) {
    const auto high = static_cast<uint8_t>(values[i] << drop);
    dst[i] = is_signed ? std::byte(static_cast<int8_t>(high) >> drop) : std::byte(high >> drop);
  }
}

// Lanes of f32 patterns that are NaNs, and which of them conversions change: signalling ones on their way to
// double; on their way from double the result shows only that it is the canonical NaN, with either sign, as
// EncodeFloat would have made it of such a double too.
I32x4 SignallingNaNs(F32x4 values) {
  return (values != values) & ((std::bit_cast<I32x4>(values) & 0x400000) == 0);
}
I32x4 OtherNaNs(F32x4 values) {
  return (values != values) & ((std::bit_cast<I32x4>(values) & 0x7fffffff) != 0x7fc00000);
}

// f32 by conversion, and once more through float_format.cc where a strip has a NaN that this changes.
void LoadF32(const std::byte* src, int64_t n, double* dst) {
  I32x4 nans = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const F32x4 values = Read<F32x4>(src + 4 * i);
    nans |= SignallingNaNs(values);
    const F64x4 wide = __builtin_convertvector(values, F64x4);
    std::memcpy(dst + i, &wide, sizeof(wide));
  }
  bool tail_nan = false;
  for (; i < n; ++i) {
    const auto value = Read<float>(src + 4 * i);
    tail_nan |= value != value;
    dst[i] = value;
  }
  if (!tail_nan && !AnyBit(std::bit_cast<U32x4>(nans))) return;
  const FloatFormat& format = *Info(ElementType::kF32).format;
  for (i = 0; i < n; ++i) dst[i] = DecodeFloat(Read<uint32_t>(src + 4 * i), format);
}
void StoreF32(const double* src, int64_t n, std::byte* dst) {
  I32x4 nans = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    F64x4 wide;
    std::memcpy(&wide, src + i, sizeof(wide));
    const F32x4 values = __builtin_convertvector(wide, F32x4);
    nans |= OtherNaNs(values);
    Write(dst + 4 * i, values);
  }
  bool tail_nan = false;
  for (; i < n; ++i) {
    tail_nan |= src[i] != src[i];
    Write(dst + 4 * i, static_cast<float>(src[i]));
  }
  if (!tail_nan && !AnyBit(std::bit_cast<U32x4>(nans))) return;
  const FloatFormat& format = *Info(ElementType::kF32).format;
  for (i = 0; i < n; ++i) Write(dst + 4 * i, static_cast<uint32_t>(EncodeFloat(src[i], format)));
}

// bf16 is the upper half of an f32.
void LoadBF16Block(const uint16_t* from, double* to) {
  std::byte wide[4 * kBlock];
  for (int64_t j = 0; j < kBlock; ++j) Write(wide + 4 * j, static_cast<uint32_t>(from[j]) << 16);
  LoadF32(wide, kBlock, to);
}
void StoreBF16Block(const double* from, uint16_t* to) {
  std::byte wide[4 * kBlock];
  StoreF32(from, kBlock, wide);
  for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<uint16_t>(Read<uint32_t>(wide + 4 * j) >> 16);
}

// f16 and the floats of at most 8 bits, all of whose values an f32 holds. Four patterns at a time are
// turned into f32 patterns; a block with something rarer (NaN, e8m0's 2^-127) goes to float_format.cc.
constexpr uint32_t kNoPattern = 0x7fffffff;
constexpr uint32_t kF32Infinity = 0x7f800000;

struct NarrowFormat {
  explicit NarrowFormat(const FloatFormat& f) : format(f) {
    const bool e8m0 = f.specials == FloatSpecials::kE8M0;
    sign = e8m0 ? 0 : 1u << (f.bits - 1);
    magnitude_mask = ((1u << f.bits) - 1) & ~sign;
    shift = 23 - f.mantissa_bits;
    rebias = static_cast<uint32_t>(127 - f.bias) << 23;
    unit = e8m0 ? 0.0f : static_cast<float>(f.min_subnormal);
    first_normal = e8m0 ? 0 : 1u << f.mantissa_bits;
    min_normal = std::bit_cast<uint32_t>(static_cast<float>(e8m0 ? 0.0 : std::ldexp(1.0, f.min_exponent)));
    unit_shift = e8m0 ? 0.0f : std::ldexp(1.0f, f.min_exponent - f.mantissa_bits + 23);
    if (f.has_infinity()) infinity = magnitude_mask >> f.mantissa_bits << f.mantissa_bits;
    if (f.specials == FloatSpecials::kFn || e8m0) first_nan = magnitude_mask;
    if (f.has_infinity()) first_nan = infinity + 1;
    if (f.specials == FloatSpecials::kFnuz) odd_pattern = sign;
    if (e8m0) odd_pattern = 0;
  }
  const FloatFormat& format;
  uint32_t sign;
  uint32_t magnitude_mask;
  int shift;        // from the format's mantissa to f32's
  uint32_t rebias;  // added to an f32's exponent
  uint32_t first_normal;
  uint32_t infinity = kNoPattern;
  uint32_t first_nan = kNoPattern;    // this magnitude and above
  uint32_t odd_pattern = kNoPattern;  // the one pattern that is special besides
  uint32_t min_normal;                // as f32
  float unit;                         // smallest subnormal
  float unit_shift;                   // an f32 whose last bit is worth the smallest subnormal
};

// The f32 patterns of four patterns of `f`; lanes that need DecodeFloat are marked in `rare`.
U32x4 DecodeNarrow(U32x4 pattern, const NarrowFormat& f, U32x4* rare) {
  const U32x4 magnitude = pattern & f.magnitude_mask;
  const auto ordered = std::bit_cast<I32x4>(magnitude);
  const U32x4 normal = (magnitude << f.shift) + f.rebias;
  const F32x4 scaled = __builtin_convertvector(ordered, F32x4) * f.unit;
  U32x4 bits =
      ChooseBits(ordered < static_cast<int32_t>(f.first_normal), std::bit_cast<U32x4>(scaled), normal);
  bits = ChooseBits(ordered == static_cast<int32_t>(f.infinity), U32x4{} + kF32Infinity, bits);
  *rare |= std::bit_cast<U32x4>(ordered >= static_cast<int32_t>(f.first_nan)) |
           std::bit_cast<U32x4>(std::bit_cast<I32x4>(pattern) == static_cast<int32_t>(f.odd_pattern));
  return bits | ((pattern & f.sign) << (32 - f.format.bits));
}
// The patterns of four values of `f` given as f32; lanes that need EncodeFloat are marked in `rare`.
U32x4 EncodeNarrow(U32x4 value, const NarrowFormat& f, U32x4* rare) {
  const U32x4 magnitude = value & 0x7fffffffu;
  const auto ordered = std::bit_cast<I32x4>(magnitude);
  const U32x4 normal = (magnitude - f.rebias) >> f.shift;
  const F32x4 shifted = std::bit_cast<F32x4>(magnitude) + f.unit_shift;
  const U32x4 subnormal = std::bit_cast<U32x4>(shifted) - std::bit_cast<uint32_t>(f.unit_shift);
  U32x4 field = ChooseBits(ordered < static_cast<int32_t>(f.min_normal), subnormal, normal);
  field = ChooseBits(ordered == static_cast<int32_t>(kF32Infinity), U32x4{} + f.infinity, field);
  *rare |= std::bit_cast<U32x4>(ordered > static_cast<int32_t>(kF32Infinity)) |
           (std::bit_cast<U32x4>(field == 0u) & (f.format.has_negative_zero() ? 0u : ~0u) & value);
  return field | ((value >> 31) * f.sign);
}

template <class T>
void LoadNarrow(const FloatFormat& format, const std::byte* src, int64_t n, double* dst) {
  const NarrowFormat narrow(format);
  LoadBlocks<T>(src, n, dst, [&](const T* from, double* to) {
    uint32_t patterns[kBlock];
    float values[kBlock];
    U32x4 rare = {};
    for (int64_t j = 0; j < kBlock; ++j) patterns[j] = from[j];
    for (int64_t j = 0; j < kBlock; j += 4) {
      U32x4 four;
      std::memcpy(&four, patterns + j, sizeof(four));
      four = DecodeNarrow(four, narrow, &rare);
      std::memcpy(values + j, &four, sizeof(four));
    }
    for (int64_t j = 0; j < kBlock; ++j) to[j] = values[j];
    if (!AnyBit(rare)) return;
    for (int64_t j = 0; j < kBlock; ++j) to[j] = DecodeFloat(from[j], format);
  });
}
template <class T>
void StoreNarrow(const FloatFormat& format, const double* src, int64_t n, std::byte* dst) {
  const NarrowFormat narrow(format);
  StoreBlocks<T>(src, n, dst, [&](const double* from, T* to) {
    uint32_t patterns[kBlock];
    float values[kBlock];
    U32x4 rare = {};
    for (int64_t j = 0; j < kBlock; ++j) values[j] = static_cast<float>(from[j]);
    for (int64_t j = 0; j < kBlock; j += 4) {
      U32x4 four;
      std::memcpy(&four, values + j, sizeof(four));
      four = EncodeNarrow(four, narrow, &rare);
      std::memcpy(patterns + j, &four, sizeof(four));
    }
    for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<T>(patterns[j]);
    if (!AnyBit(rare)) return;
    for (int64_t j = 0; j < kBlock; ++j) to[j] = static_cast<T>(EncodeFloat(from[j], format));
  });
}

// f32 needs care only for NaNs, whose payload a conversion could change.
void LoadOneF32(const std::byte* src, void* dst) {
  const auto bits = Read<uint32_t>(src);
  const double value = (bits & 0x7fffffffu) <= kF32Infinity
                           ? std::bit_cast<float>(bits)
                           : DecodeFloat(bits, *Info(ElementType::kF32).format);
  std::memcpy(dst, &value, sizeof(value));
}
void StoreOneF32(const void* src, std::byte* dst) {
  double value;
  std::memcpy(&value, src, sizeof(value));
  Write(dst, value == value ? std::bit_cast<uint32_t>(static_cast<float>(value))
                            : static_cast<uint32_t>(EncodeFloat(value, *Info(ElementType::kF32).format)));
}

void LoadFewReals(ElementType type, const std::byte* src, int64_t n, double* dst) {
  const FloatFormat& format = *Info(type).format;
  for (int64_t i = 0; i < n; ++i) {
    if (type == ElementType::kF32) {
      LoadOneF32(src + 4 * i, dst + i);
    } else {
      dst[i] = DecodeFloat(Bytes(type) == 2 ? Read<uint16_t>(src + 2 * i) : Read<uint8_t>(src + i), format);
    }
  }
}
void StoreFewReals(ElementType type, const double* src, int64_t n, std::byte* dst) {
  const FloatFormat& format = *Info(type).format;
  for (int64_t i = 0; i < n; ++i) {
    if (type == ElementType::kF32) {
      StoreOneF32(src + i, dst + 4 * i);
    } else if (Bytes(type) == 2) {
      Write(dst + 2 * i, static_cast<uint16_t>(EncodeFloat(src[i], format)));
    } else {
      Write(dst + i, static_cast<uint8_t>(EncodeFloat(src[i], format)));
    }
  }
}

void LoadReal(ElementType type, const std::byte* src, int64_t n, double* dst) {
  if (type == ElementType::kF64) {
    if (n > 0) std::memcpy(dst, src, 8 * n);
    return;
  }
  if (n < kFew) return LoadFewReals(type, src, n, dst);
  if (type == ElementType::kF32) return LoadF32(src, n, dst);
  if (type == ElementType::kBF16) return LoadBlocks<uint16_t>(src, n, dst, LoadBF16Block);
  const FloatFormat& format = *Info(type).format;
  return Bytes(type) == 2 ? LoadNarrow<uint16_t>(format, src, n, dst)
                          : LoadNarrow<uint8_t>(format, src, n, dst);
}
void StoreReal(ElementType type, const double* src, int64_t n, std::byte* dst) {
  if (type == ElementType::kF64) {
    if (n > 0) std::memcpy(dst, src, 8 * n);
    return;
  }
  if (n < kFew) return StoreFewReals(type, src, n, dst);
  if (type == ElementType::kF32) return StoreF32(src, n, dst);
  if (type == ElementType::kBF16) return StoreBlocks<uint16_t>(src, n, dst, StoreBF16Block);
  const FloatFormat& format = *Info(type).format;
  return Bytes(type) == 2 ? StoreNarrow<uint16_t>(format, src, n, dst)
                          : StoreNarrow<uint8_t>(format, src, n, dst);
}

void LoadContiguous(ElementType type, const std::byte* src, int64_t n, void* dst) {
  switch (type) {
    case ElementType::kPred:
      return CopyPred(src, n, static_cast<std::byte*>(dst));
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
      LoadPlain<int8_t, int64_t>(src, n, dst);
      return WrapStrip(type, static_cast<int64_t*>(dst), n);
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
      LoadPlain<uint8_t, uint64_t>(src, n, dst);
      return WrapStrip(type, static_cast<uint64_t*>(dst), n);
    case ElementType::kS8:
      return LoadPlain<int8_t, int64_t>(src, n, dst);
    case ElementType::kS16:
      return LoadPlain<int16_t, int64_t>(src, n, dst);
    case ElementType::kS32:
      return LoadPlain<int32_t, int64_t>(src, n, dst);
    case ElementType::kU8:
      return LoadPlain<uint8_t, uint64_t>(src, n, dst);
    case ElementType::kU16:
      return LoadPlain<uint16_t, uint64_t>(src, n, dst);
    case ElementType::kU32:
      return LoadPlain<uint32_t, uint64_t>(src, n, dst);
    case ElementType::kS64:
    case ElementType::kU64:
      return LoadReal(ElementType::kF64, src, n, static_cast<double*>(dst));
    case ElementType::kC64:
    case ElementType::kC128:
      return LoadReal(ComponentType(type), src, 2 * n, static_cast<double*>(dst));
    default:
      return LoadReal(type, src, n, static_cast<double*>(dst));
  }
}

void StoreContiguous(ElementType type, const void* src, int64_t n, std::byte* dst) {
  switch (type) {
    case ElementType::kPred:
      return CopyPred(static_cast<const std::byte*>(src), n, dst);
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
      return StoreSubByte(Bits(type), IsSignedIntegral(type), src, n, dst);
    case ElementType::kS8:
    case ElementType::kU8:
      return StorePlain<uint8_t, uint64_t>(src, n, dst);
    case ElementType::kS16:
    case ElementType::kU16:
      return StorePlain<uint16_t, uint64_t>(src, n, dst);
    case ElementType::kS32:
    case ElementType::kU32:
      return StorePlain<uint32_t, uint64_t>(src, n, dst);
    case ElementType::kS64:
    case ElementType::kU64:
      return StoreReal(ElementType::kF64, static_cast<const double*>(src), n, dst);
    case ElementType::kC64:
    case ElementType::kC128:
      return StoreReal(ComponentType(type), static_cast<const double*>(src), 2 * n, dst);
    default:
      return StoreReal(type, static_cast<const double*>(src), n, dst);
  }
}

template <class T, class K>
void LoadOnePlain(const std::byte* src, void* dst) {
  const K value = static_cast<K>(Read<T>(src));
  std::memcpy(dst, &value, sizeof(value));
}
template <class T, class K>
void StoreOnePlain(const void* src, std::byte* dst) {
  K value;
  std::memcpy(&value, src, sizeof(value));
  Write(dst, static_cast<T>(value));
}
template <int type>
void LoadOneAny(const std::byte* src, void* dst) {
  LoadContiguous(static_cast<ElementType>(type), src, 1, dst);
}
template <int type>
void StoreOneAny(const void* src, std::byte* dst) {
  StoreContiguous(static_cast<ElementType>(type), src, 1, dst);
}
template <int... types>
LoadOneFn LoadOneByIndex(int type, std::integer_sequence<int, types...>) {
  static constexpr LoadOneFn kTable[] = {LoadOneAny<types>...};
  return kTable[type];
}
template <int... types>
StoreOneFn StoreOneByIndex(int type, std::integer_sequence<int, types...>) {
  static constexpr StoreOneFn kTable[] = {StoreOneAny<types>...};
  return kTable[type];
}
using AllTypes = std::make_integer_sequence<int, kNumElementTypes>;

struct Bytes16 {
  uint64_t half[2];
};
template <class T>
void CopyStrided(const std::byte* src, int64_t src_stride, int64_t n, std::byte* dst, int64_t dst_stride) {
  for (int64_t i = 0; i < n; ++i) Write(dst + i * dst_stride, Read<T>(src + i * src_stride));
}
// Moves n elements of 1, 2, 4, 8 or 16 bytes.
void MoveElements(int bytes, const std::byte* src, int64_t src_stride, int64_t n, std::byte* dst,
                  int64_t dst_stride) {
  switch (bytes) {
    case 1:
      return CopyStrided<uint8_t>(src, src_stride, n, dst, dst_stride);
    case 2:
      return CopyStrided<uint16_t>(src, src_stride, n, dst, dst_stride);
    case 4:
      return CopyStrided<uint32_t>(src, src_stride, n, dst, dst_stride);
    case 8:
      return CopyStrided<uint64_t>(src, src_stride, n, dst, dst_stride);
    default:
      return CopyStrided<Bytes16>(src, src_stride, n, dst, dst_stride);
  }
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
  const int bytes = Bytes(type);
  const int kind_bytes = KindBytes(KindOf(type));
  auto* out = static_cast<std::byte*>(dst);
  if (stride == bytes || n <= 1) return LoadContiguous(type, src, n, dst);
  if (stride == 0) {
    LoadContiguous(type, src, 1, out);
    return MoveElements(kind_bytes, out, 0, n - 1, out + kind_bytes, kind_bytes);
  }
  alignas(64) std::byte gathered[kStripBytes];
  for (int64_t i = 0; i < n; i += kStrip) {
    const int64_t count = std::min(kStrip, n - i);
    MoveElements(bytes, src + i * stride, stride, count, gathered, bytes);
    LoadContiguous(type, gathered, count, out + i * kind_bytes);
  }
}

void StoreStrip(ElementType type, const void* src, int64_t n, std::byte* dst, int64_t stride) {
  const int bytes = Bytes(type);
  if (stride == bytes || n <= 1) return StoreContiguous(type, src, n, dst);
  const auto* in = static_cast<const std::byte*>(src);
  alignas(64) std::byte encoded[kStripBytes];
  for (int64_t i = 0; i < n; i += kStrip) {
    const int64_t count = std::min(kStrip, n - i);
    StoreContiguous(type, in + i * KindBytes(KindOf(type)), count, encoded);
    MoveElements(bytes, encoded, bytes, count, dst + i * stride, stride);
  }
}

LoadOneFn LoadOneFor(ElementType type) {
  switch (type) {
    case ElementType::kPred:
      return LoadOnePlain<uint8_t, uint8_t>;
    case ElementType::kS32:
      return LoadOnePlain<int32_t, int64_t>;
    case ElementType::kU32:
      return LoadOnePlain<uint32_t, uint64_t>;
    case ElementType::kS64:
    case ElementType::kU64:
    case ElementType::kF64:
      return LoadOnePlain<uint64_t, uint64_t>;
    case ElementType::kF32:
      return LoadOneF32;
    default:
      return LoadOneByIndex(static_cast<int>(type), AllTypes());
  }
}

StoreOneFn StoreOneFor(ElementType type) {
  switch (type) {
    case ElementType::kPred:
      return StoreOnePlain<uint8_t, uint8_t>;
    case ElementType::kS32:
    case ElementType::kU32:
      return StoreOnePlain<uint32_t, uint64_t>;
    case ElementType::kS64:
    case ElementType::kU64:
    case ElementType::kF64:
      return StoreOnePlain<uint64_t, uint64_t>;
    case ElementType::kF32:
      return StoreOneF32;
    default:
      return StoreOneByIndex(static_cast<int>(type), AllTypes());
  }
}

}  // namespace assay
