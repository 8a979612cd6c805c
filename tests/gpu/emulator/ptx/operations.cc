// What the instructions compute, by the PTX ISA (its chapters "Floating-Point Instructions",
// "Data Movement and Conversion").
//
// A NaN that an f32 operation gives is 0x7fffffff, and one of a conversion to f16 or bf16 is 0x7fff. f64
// operations hand on the first NaN operand, quieted; a new NaN is negative, as devices have it. What the ISA
// leaves open (a quotient by zero, a float beyond the integers) is a number that no right program shows.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "tests/gpu/emulator/ptx/program.h"

namespace assay::emulated {
namespace {

constexpr uint64_t kAnything = 0x5a5a5a5a5a5a5a5a;

// ---- slots as values ----

template <typename T>
T As(uint64_t slot) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(slot));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(slot);
  } else {
    return static_cast<T>(slot);
  }
}

template <typename T>
uint64_t Quieted(T value) {
  return std::bit_cast<uint64_t>(value) | (uint64_t{1} << 51);
}

// A float result, of operands that may be NaN.
uint64_t Bits(float result, float, float) {
  return std::isnan(result) ? 0x7fffffff : std::bit_cast<uint32_t>(result);
}
uint64_t Bits(double result, double a, double b) {
  if (!std::isnan(result)) return std::bit_cast<uint64_t>(result);
  if (std::isnan(a)) return Quieted(a);
  if (std::isnan(b)) return Quieted(b);
  return 0xfff8000000000000;
}

template <typename T, T (*f)(T, T)>
void Real2(uint64_t* s, const Op& op) {
  const T a = As<T>(s[op.a]), b = As<T>(s[op.b]);
  s[op.d] = Bits(f(a, b), a, b);
}
template <typename T, T (*f)(T)>
void Real1(uint64_t* s, const Op& op) {
  const T a = As<T>(s[op.a]);
  s[op.d] = Bits(f(a), a, a);
}
void FusedMultiplyAdd(uint64_t* s, const Op& op) {
  const double a = As<double>(s[op.a]), b = As<double>(s[op.b]), c = As<double>(s[op.c]);
  const double result = std::fma(a, b, c);
  s[op.d] = std::isnan(result) && !std::isnan(a) && !std::isnan(b) ? Bits(result, c, c) : Bits(result, a, b);
}
void FusedMultiplyAdd32(uint64_t* s, const Op& op) {
  const float result = std::fma(As<float>(s[op.a]), As<float>(s[op.b]), As<float>(s[op.c]));
  s[op.d] = Bits(result, result, result);
}
template <typename T, bool (*f)(T, T)>
void Test2(uint64_t* s, const Op& op) {
  s[op.d] = f(As<T>(s[op.a]), As<T>(s[op.b])) ? 1 : 0;
}
// Integers: the result's low bits count.
template <typename T, uint64_t (*f)(T, T)>
void Int2(uint64_t* s, const Op& op) {
  s[op.d] = sizeof(T) == 4 ? static_cast<uint32_t>(f(As<T>(s[op.a]), As<T>(s[op.b])))
                           : f(As<T>(s[op.a]), As<T>(s[op.b]));
}
template <uint64_t (*f)(uint64_t)>
void Convert(uint64_t* s, const Op& op) {
  s[op.d] = f(s[op.a]);
}
template <typename T, uint64_t (*f)(T, uint32_t)>
void Shift(uint64_t* s, const Op& op) {
  constexpr uint32_t kWidth = 8 * sizeof(T);
  const uint64_t result = f(As<T>(s[op.a]), std::min(static_cast<uint32_t>(s[op.b]), kWidth));
  s[op.d] = sizeof(T) == 4 ? static_cast<uint32_t>(result) : result;
}
void Select(uint64_t* s, const Op& op) { s[op.d] = s[op.c] != 0 ? s[op.a] : s[op.b]; }
void Move(uint64_t* s, const Op& op) { s[op.d] = s[op.a]; }
void NotPred(uint64_t* s, const Op& op) { s[op.d] = s[op.a] == 0; }

// ---- approximate functions ----

// These may be anything within the errors that the ISA states, and programs may rely on nothing better. So
// results are the right ones with an error that depends on the argument's bits: as large as may be for half
// of them.
double ErrorOf(float x) {
  uint64_t hash = (std::bit_cast<uint32_t>(x) + uint64_t{1}) * 0x9e3779b97f4a7c15;
  hash ^= hash >> 29;
  const double part = std::ldexp(static_cast<double>(hash >> 40 & 0xffff), -15) - 1;  // from -1 to 1
  return (hash >> 20 & 1) != 0 ? part : part < 0 ? -1 : 1;
}
// What is left of an error of 2^log2 when the result is rounded to nearest.
double Left(double log2, double of_rounding) { return std::exp2(log2) - of_rounding; }

float Off(float x, double right, double relative, double absolute) {
  if (std::isnan(x) || std::isnan(right)) return std::nanf("");
  if (std::isinf(right) || right == 0) return static_cast<float>(right);
  return static_cast<float>(right + ErrorOf(x) * (relative * std::fabs(right) + absolute));
}
float Ex2(float x) { return x == 0 ? 1 : Off(x, std::exp2(double{x}), Left(-22, 0x1p-24), 0); }
float Lg2(float x) {
  const bool near_one = x > 0.5 && x < 2;
  return Off(x, std::log2(double{x}), near_one ? 0 : Left(-22, 0x1p-24), near_one ? Left(-22, 0x1p-25) : 0);
}
float Rcp(float x) { return Off(x, 1 / double{x}, 0x1p-24, 0); }
float Rsqrt(float x) { return Off(x, 1 / std::sqrt(double{x}), Left(-22.4, 0x1p-24), 0); }
float Tanh(float x) {
  return std::isinf(x) ? std::copysign(1.0f, x) : Off(x, std::tanh(double{x}), Left(-11, 0x1p-24), 0);
}
// Beyond two pi nothing is promised.
float AngleFunction(float x, double right) {
  if (std::fabs(x) > 0x1.921fb54442d18p+2 && !std::isinf(x)) return As<float>(kAnything);
  return Off(x, right, 0, Left(-20.5, 0x1p-25));
}
float Sin(float x) { return AngleFunction(x, std::sin(double{x})); }
float Cos(float x) { return AngleFunction(x, std::cos(double{x})); }

// ---- conversions ----

uint64_t HalfOfFloat(uint64_t slot) {
  const auto bits = static_cast<uint32_t>(slot), magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  const uint32_t sign = bits >> 16 & 0x8000;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and more
  if (magnitude < 0x38800000) {                       // below 2^-14: multiples of 2^-24
    return sign | static_cast<uint32_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f));
  }
  const uint32_t moved = magnitude - (112u << 23);
  return sign | ((moved + 0xfff + (moved >> 13 & 1)) >> 13);
}
uint64_t FloatOfHalf(uint64_t slot) {
  const auto bits = static_cast<uint32_t>(slot & 0xffff);
  const uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) return fraction != 0 ? 0x7fffffff : sign | 0x7f800000;
  const float magnitude =
      exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                    : std::ldexp(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25);
  return sign | std::bit_cast<uint32_t>(magnitude);
}
uint64_t BFloatOfFloat(uint64_t slot) {
  const auto bits = static_cast<uint32_t>(slot);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (uint64_t{bits} + 0x7fff + (bits >> 16 & 1)) >> 16;
}
uint64_t DoubleOfFloat(uint64_t slot) {
  const auto value = As<float>(slot);
  if (!std::isnan(value)) return std::bit_cast<uint64_t>(static_cast<double>(value));
  return 0x7ff8000000000000 | (slot & 0x80000000) << 32 | (slot & 0x7fffff) << 29;
}
uint64_t FloatOfDouble(uint64_t slot) {
  const auto value = static_cast<float>(As<double>(slot));
  return std::isnan(value) ? 0x7fffffff : std::bit_cast<uint32_t>(value);
}
template <typename To, typename From>
uint64_t RealOf(uint64_t slot) {
  const To value = static_cast<To>(As<From>(slot));
  return Bits(value, value, value);
}
template <typename From>
uint64_t RealTowardZero(uint64_t slot) {
  const From value = As<From>(slot);
  const bool negative = value < 0;
  uint64_t magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int excess = std::bit_width(magnitude) - 53;
  if (excess > 0) magnitude = magnitude >> excess << excess;
  const auto real = static_cast<double>(magnitude);
  return std::bit_cast<uint64_t>(negative ? -real : real);
}
template <typename To>
uint64_t IntegerOfDouble(uint64_t slot) {
  const double whole = std::trunc(As<double>(slot));
  const double limit = std::ldexp(1.0, std::numeric_limits<To>::digits);
  const bool fits = whole < limit && whole >= (std::is_signed_v<To> ? -limit : 0.0);
  if (!fits) return sizeof(To) == 4 ? static_cast<uint32_t>(kAnything) : kAnything;
  return static_cast<std::make_unsigned_t<To>>(static_cast<To>(whole));
}
template <int bits>
uint64_t Low(uint64_t slot) {
  return slot & ((uint64_t{1} << bits) - 1);
}
uint64_t Same(uint64_t slot) { return slot; }
uint64_t SignExtended(uint64_t slot) { return static_cast<uint64_t>(int64_t{static_cast<int32_t>(slot)}); }
template <typename T>
uint64_t PopulationCount(uint64_t slot) {
  return static_cast<uint64_t>(std::popcount(As<T>(slot)));
}
template <typename T>
uint64_t LeadingZeros(uint64_t slot) {
  return static_cast<uint64_t>(std::countl_zero(As<T>(slot)));
}

// ---- arithmetic ----

template <typename T>
T Plus(T a, T b) {
  return a + b;
}
template <typename T>
T Minus(T a, T b) {
  return a - b;
}
template <typename T>
T Times(T a, T b) {
  return a * b;
}
template <typename T>
T Over(T a, T b) {
  return a / b;
}
float Root(float a) { return std::sqrt(a); }
double Root(double a) { return std::sqrt(a); }
template <typename T>
T Floor(T a) {
  return std::floor(a);
}
template <typename T>
T Ceil(T a) {
  return std::ceil(a);
}
template <typename T>
T Nearest(T a) {
  return std::nearbyint(a);
}
template <typename T>
T Trunc(T a) {
  return std::trunc(a);
}
template <typename T>
uint64_t AddInt(T a, T b) {
  return a + b;
}
template <typename T>
uint64_t SubInt(T a, T b) {
  return a - b;
}
template <typename T>
uint64_t MulInt(T a, T b) {
  return a * b;
}
template <typename T>
uint64_t AndInt(T a, T b) {
  return a & b;
}
template <typename T>
uint64_t OrInt(T a, T b) {
  return a | b;
}
template <typename T>
uint64_t XorInt(T a, T b) {
  return a ^ b;
}
template <typename T>
uint64_t MulHigh(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<uint64_t>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
}
template <typename T>
bool Overflows(T a, T b) {
  return std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1);
}
template <typename T>
uint64_t Quotient(T a, T b) {
  return b == 0 || Overflows(a, b) ? kAnything : static_cast<uint64_t>(a / b);
}
template <typename T>
uint64_t Rest(T a, T b) {
  return b == 0 || Overflows(a, b) ? kAnything : static_cast<uint64_t>(a % b);
}
template <typename T>
uint64_t Larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
uint64_t Smaller(T a, T b) {
  return a < b ? a : b;
}
void MulWide(uint64_t* s, const Op& op) {
  s[op.d] = uint64_t{static_cast<uint32_t>(s[op.a])} * static_cast<uint32_t>(s[op.b]);
}
template <typename T>
uint64_t Left(T a, uint32_t n) {
  return n == 8 * sizeof(T) ? 0 : a << n;
}
template <typename T>
uint64_t Right(T a, uint32_t n) {
  if (n == 8 * sizeof(T)) return static_cast<uint64_t>(a < 0 ? -1 : 0);
  return static_cast<uint64_t>(a >> n);
}
template <typename T>
bool Equal(T a, T b) {
  return a == b;
}
template <typename T>
bool Unequal(T a, T b) {
  return a != b;  // of floats: true of a NaN too, as .neu is
}
template <typename T>
bool Less(T a, T b) {
  return a < b;
}
template <typename T>
bool LessEqual(T a, T b) {
  return a <= b;
}
template <typename T>
bool Greater(T a, T b) {
  return a > b;
}
template <typename T>
bool GreaterEqual(T a, T b) {
  return a >= b;
}
template <typename T>
bool Unordered(T a, T b) {
  return std::isnan(a) || std::isnan(b);
}

#define REALS(t, letter, T)                                                                                  \
  {"add.rn." t, letter letter letter, Real2<T, Plus<T>>},                                                    \
      {"sub.rn." t, letter letter letter, Real2<T, Minus<T>>},                                               \
      {"mul.rn." t, letter letter letter, Real2<T, Times<T>>},                                               \
      {"div.rn." t, letter letter letter, Real2<T, Over<T>>}, {"sqrt.rn." t, letter letter, Real1<T, Root>}, \
      {"setp.eq." t, "p" letter letter, Test2<T, Equal<T>>},                                                 \
      {"setp.neu." t, "p" letter letter, Test2<T, Unequal<T>>},                                              \
      {"setp.lt." t, "p" letter letter, Test2<T, Less<T>>},                                                  \
      {"setp.le." t, "p" letter letter, Test2<T, LessEqual<T>>},                                             \
      {"setp.gt." t, "p" letter letter, Test2<T, Greater<T>>},                                               \
      {"setp.ge." t, "p" letter letter, Test2<T, GreaterEqual<T>>},                                          \
      {"setp.nan." t, "p" letter letter, Test2<T, Unordered<T>>},                                            \
      {"cvt.rmi." t "." t, letter letter, Real1<T, Floor<T>>},                                               \
      {"cvt.rpi." t "." t, letter letter, Real1<T, Ceil<T>>},                                                \
      {"cvt.rni." t "." t, letter letter, Real1<T, Nearest<T>>}, {                                           \
    "cvt.rzi." t "." t, letter letter, Real1<T, Trunc<T>>                                                    \
  }
#define ORDERED(t, letter, T)                                       \
  {"setp.lt." t, "p" letter letter, Test2<T, Less<T>>},             \
      {"setp.le." t, "p" letter letter, Test2<T, LessEqual<T>>},    \
      {"setp.gt." t, "p" letter letter, Test2<T, Greater<T>>},      \
      {"setp.ge." t, "p" letter letter, Test2<T, GreaterEqual<T>>}, \
      {"div." t, letter letter letter, Int2<T, Quotient<T>>},       \
      {"rem." t, letter letter letter, Int2<T, Rest<T>>},           \
      {"mul.hi." t, letter letter letter, Int2<T, MulHigh<T>>}, {   \
    "shr." t, letter letter "r", Shift<T, Right<T>>                 \
  }
#define WORDS(n, letter, T)                                                             \
  {"add.s" n, letter letter letter, Int2<T, AddInt<T>>},                                \
      {"sub.s" n, letter letter letter, Int2<T, SubInt<T>>},                            \
      {"mul.lo.s" n, letter letter letter, Int2<T, MulInt<T>>},                         \
      {"and.b" n, letter letter letter, Int2<T, AndInt<T>>},                            \
      {"or.b" n, letter letter letter, Int2<T, OrInt<T>>},                              \
      {"xor.b" n, letter letter letter, Int2<T, XorInt<T>>},                            \
      {"shl.b" n, letter letter "r", Shift<T, Left<T>>},                                \
      {"setp.eq.b" n, "p" letter letter, Test2<T, Equal<T>>},                           \
      {"setp.ne.b" n, "p" letter letter, Test2<T, Unequal<T>>},                         \
      {"selp.b" n, letter letter letter "p", Select}, {"mov.b" n, letter letter, Move}, \
      {"popc.b" n, "r" letter, Convert<PopulationCount<T>>}, {                          \
    "clz.b" n, "r" letter, Convert<LeadingZeros<T>>                                     \
  }

uint64_t Complement32(uint64_t slot) { return static_cast<uint32_t>(~slot); }
uint64_t Complement64(uint64_t slot) { return ~slot; }

constexpr Operation kOperations[] = {
    REALS("f32", "r", float),
    REALS("f64", "d", double),
    ORDERED("s32", "r", int32_t),
    ORDERED("u32", "r", uint32_t),
    ORDERED("s64", "d", int64_t),
    ORDERED("u64", "d", uint64_t),
    WORDS("32", "r", uint32_t),
    WORDS("64", "d", uint64_t),
    {"fma.rn.f64", "dddd", FusedMultiplyAdd},
    {"fma.rn.f32", "rrrr", FusedMultiplyAdd32},
    {"ex2.approx.f32", "rr", Real1<float, Ex2>},
    {"lg2.approx.f32", "rr", Real1<float, Lg2>},
    {"rcp.approx.f32", "rr", Real1<float, Rcp>},
    {"rsqrt.approx.f32", "rr", Real1<float, Rsqrt>},
    {"tanh.approx.f32", "rr", Real1<float, Tanh>},
    {"sin.approx.f32", "rr", Real1<float, Sin>},
    {"cos.approx.f32", "rr", Real1<float, Cos>},
    {"mul.wide.u32", "drr", MulWide},
    {"max.u32", "rrr", Int2<uint32_t, Larger<uint32_t>>},
    {"min.u32", "rrr", Int2<uint32_t, Smaller<uint32_t>>},
    {"not.b32", "rr", Convert<Complement32>},
    {"not.b64", "dd", Convert<Complement64>},
    {"and.pred", "ppp", Int2<uint64_t, AndInt<uint64_t>>},
    {"or.pred", "ppp", Int2<uint64_t, OrInt<uint64_t>>},
    {"xor.pred", "ppp", Int2<uint64_t, XorInt<uint64_t>>},
    {"not.pred", "pp", NotPred},
    {"mov.pred", "pp", Move},
    {"cvt.u16.u32", "hr", Convert<Low<16>>},
    {"cvt.u32.u64", "rd", Convert<Low<32>>},
    {"cvt.u32.u16", "rh", Convert<Same>},
    {"cvt.u64.u32", "dr", Convert<Same>},
    {"cvt.s64.s32", "dr", Convert<SignExtended>},
    {"cvt.f32.f16", "rh", Convert<FloatOfHalf>},
    {"cvt.f64.f32", "dr", Convert<DoubleOfFloat>},
    {"cvt.rn.f32.f64", "rd", Convert<FloatOfDouble>},
    {"cvt.rn.f16.f32", "hr", Convert<HalfOfFloat>},
    {"cvt.rn.bf16.f32", "hr", Convert<BFloatOfFloat>},
    {"cvt.rn.f32.s32", "rr", Convert<RealOf<float, int32_t>>},
    {"cvt.rn.f32.u32", "rr", Convert<RealOf<float, uint32_t>>},
    {"cvt.rn.f32.s64", "rd", Convert<RealOf<float, int64_t>>},
    {"cvt.rn.f32.u64", "rd", Convert<RealOf<float, uint64_t>>},
    {"cvt.rn.f64.s32", "dr", Convert<RealOf<double, int32_t>>},
    {"cvt.rn.f64.u32", "dr", Convert<RealOf<double, uint32_t>>},
    {"cvt.rn.f64.s64", "dd", Convert<RealOf<double, int64_t>>},
    {"cvt.rn.f64.u64", "dd", Convert<RealOf<double, uint64_t>>},
    {"cvt.rz.f64.s64", "dd", Convert<RealTowardZero<int64_t>>},
    {"cvt.rz.f64.u64", "dd", Convert<RealTowardZero<uint64_t>>},
    {"cvt.rzi.s32.f64", "rd", Convert<IntegerOfDouble<int32_t>>},
    {"cvt.rzi.u32.f64", "rd", Convert<IntegerOfDouble<uint32_t>>},
    {"cvt.rzi.s64.f64", "dd", Convert<IntegerOfDouble<int64_t>>},
    {"cvt.rzi.u64.f64", "dd", Convert<IntegerOfDouble<uint64_t>>},
};
#undef REALS
#undef ORDERED
#undef WORDS

}  // namespace

const Operation* FindOperation(std::string_view mnemonic) {
  static const auto& by_name = *[] {
    auto* const map = new std::unordered_map<std::string_view, const Operation*>;
    for (const Operation& operation : kOperations) map->emplace(operation.mnemonic, &operation);
    return map;
  }();
  const auto found = by_name.find(mnemonic);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace assay::emulated
