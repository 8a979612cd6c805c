#include "engines/native/elementwise/stored_arithmetic.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay::native {
namespace {

constexpr int64_t kBlock = 16;

// NUM-3: every NaN is the canonical one.
constexpr auto kCanonical = [](float x) { return x == x ? x : std::numeric_limits<float>::quiet_NaN(); };

// Whole blocks of a constant length are what -O2 vectorises; the last, short one is padded with zeros.
template <typename T, typename F>
void Binary(int64_t n, const std::byte* const* in, std::byte* out, F f) {
  T a[kBlock] = {}, b[kBlock] = {}, result[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t bytes = (n - i < kBlock ? n - i : kBlock) * static_cast<int64_t>(sizeof(T));
    const int64_t offset = i * static_cast<int64_t>(sizeof(T));
    if (bytes == sizeof(a)) {
      std::memcpy(a, in[0] + offset, sizeof(a));
      std::memcpy(b, in[1] + offset, sizeof(b));
      for (int64_t j = 0; j < kBlock; ++j) result[j] = f(a[j], b[j]);
      std::memcpy(out + offset, result, sizeof(result));
    } else {
      std::memcpy(a, in[0] + offset, bytes);
      std::memcpy(b, in[1] + offset, bytes);
      for (int64_t j = 0; j < kBlock; ++j) result[j] = f(a[j], b[j]);
      std::memcpy(out + offset, result, bytes);
    }
  }
}

template <typename T, typename F>
void Unary(int64_t n, const std::byte* const* in, std::byte* out, F f) {
  T a[kBlock] = {}, result[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t bytes = (n - i < kBlock ? n - i : kBlock) * static_cast<int64_t>(sizeof(T));
    const int64_t offset = i * static_cast<int64_t>(sizeof(T));
    if (bytes == sizeof(a)) {
      std::memcpy(a, in[0] + offset, sizeof(a));
      for (int64_t j = 0; j < kBlock; ++j) result[j] = f(a[j]);
      std::memcpy(out + offset, result, sizeof(result));
    } else {
      std::memcpy(a, in[0] + offset, bytes);
      for (int64_t j = 0; j < kBlock; ++j) result[j] = f(a[j]);
      std::memcpy(out + offset, result, bytes);
    }
  }
}

template <const auto& f>
void Floats(int64_t n, const std::byte* const* in, std::byte* out) {
  Binary<float>(n, in, out, [](float a, float b) { return kCanonical(f(a, b)); });
}
template <const auto& f>
void Doubles(int64_t n, const std::byte* const* in, std::byte* out) {
  Binary<double>(n, in, out, [](double a, double b) {
    const double x = f(a, b);
    return x == x ? x : std::numeric_limits<double>::quiet_NaN();
  });
}
template <typename T, const auto& f>
void OneOf(int64_t n, const std::byte* const* in, std::byte* out) {
  Unary<T>(n, in, out, [](T a) {
    const T x = f(a);
    return x == x ? x : std::numeric_limits<T>::quiet_NaN();
  });
}
// IEEE 754 maximum and minimum: of zeros the positive one, or the negative one.
template <typename T, typename Bits, bool largest>
void Extremes(int64_t n, const std::byte* const* in, std::byte* out) {
  Binary<T>(n, in, out, [](T a, T b) {
    const Bits x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
    const Bits equal = largest ? x & y : x | y;
    const Bits other = (largest ? a > b : a < b) ? x : y;
    const T result = std::bit_cast<T>(a == b ? equal : other);
    return a == a && b == b ? result : std::numeric_limits<T>::quiet_NaN();
  });
}
// Mod 2^32, signed and unsigned alike.
template <const auto& f>
void Patterns(int64_t n, const std::byte* const* in, std::byte* out) {
  Binary<uint32_t>(n, in, out, f);
}

constexpr auto kPlus = [](auto a, auto b) { return a + b; };
constexpr auto kMinus = [](auto a, auto b) { return a - b; };
constexpr auto kTimes = [](auto a, auto b) { return a * b; };
constexpr auto kOver = [](auto a, auto b) { return a / b; };
constexpr auto kMagnitude = [](auto a) { return std::fabs(a); };
constexpr auto kNegative = [](auto a) { return -a; };

// The functions of an opcode by element type; x32 is for s32 and u32.
struct StoredStrips {
  Opcode opcode;
  ElementwiseFn f32, f64, x32;
};
constexpr StoredStrips kStoredStrips[] = {
    {Opcode::kAdd, Floats<kPlus>, Doubles<kPlus>, Patterns<kPlus>},
    {Opcode::kSubtract, Floats<kMinus>, Doubles<kMinus>, Patterns<kMinus>},
    {Opcode::kMultiply, Floats<kTimes>, Doubles<kTimes>, Patterns<kTimes>},
    {Opcode::kDivide, Floats<kOver>, Doubles<kOver>, nullptr},
    {Opcode::kAbs, OneOf<float, kMagnitude>, OneOf<double, kMagnitude>, nullptr},
    {Opcode::kNegate, OneOf<float, kNegative>, OneOf<double, kNegative>, nullptr},
    {Opcode::kMaximum, Extremes<float, uint32_t, true>, Extremes<double, uint64_t, true>, nullptr},
    {Opcode::kMinimum, Extremes<float, uint32_t, false>, Extremes<double, uint64_t, false>, nullptr},
};

}  // namespace

ElementwiseFn StoredArithmeticFor(Opcode opcode, ElementType type) {
  for (const StoredStrips& strips : kStoredStrips) {
    if (strips.opcode != opcode) continue;
    if (type == ElementType::kF32) return strips.f32;
    if (type == ElementType::kF64) return strips.f64;
    return type == ElementType::kS32 || type == ElementType::kU32 ? strips.x32 : nullptr;
  }
  return nullptr;
}

}  // namespace assay::native
