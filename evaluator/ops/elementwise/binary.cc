// Binary arithmetic: add, subtract, multiply, divide, remainder, power, maximum, minimum, atan2, mulhi
// (docs/spec/operations-elementwise.md, "Binary arithmetic"). Bitwise ops and shifts are in bitwise.cc,
// complex in convert.cc.
//
// f32 and narrower formats are computed in double and rounded once more. That is one rounding of the exact
// result: the double is exact (sums of multiples, products of at most 48 bits), or it is a quotient or sum of
// p-bit numbers, p <= 24, which no double nearer than 2^-51 relative to a rounding boundary can stand for
// unless it is that boundary, and 53 >= 2 p + 2.
#include <bit>
#include <cmath>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/map_elements.h"
#include "evaluator/scalar/complex.h"
#include "evaluator/scalar/complex_parts.h"
#include "evaluator/scalar/integer.h"
#include "evaluator/scalar/real.h"
#include "evaluator/strips.h"
#include "literal/float_format.h"

namespace assay {
namespace {

template <typename F>
void MapReals(const StripParams& params, int64_t n, const void* const* in, void* out, F f) {
  MapStrip2<double, double>(n, in, out, f);
  RoundResult(params, n, out);
}

template <RealFn2 fn>
void MapRounded(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip2<double, double>(n, in, out, [&](double x, double y) { return fn(x, y, *params.format); });
}

template <ComplexFn2 fn>
void MapComplexes(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip2<Complex, Complex>(n, in, out, [&](Complex a, Complex b) { return fn(a, b, *params.format); });
}

template <int64_t (*fn)(int64_t, int64_t, int)>
void MapSignedPairs(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const int bits = Bits(params.operand);
  MapStrip2<int64_t, int64_t>(n, in, out, [bits](int64_t a, int64_t b) { return fn(a, b, bits); });
}

template <uint64_t (*fn)(uint64_t, uint64_t, int)>
void MapUnsignedPairs(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const int bits = Bits(params.operand);
  MapStrip2<uint64_t, uint64_t>(n, in, out, [bits](uint64_t a, uint64_t b) { return fn(a, b, bits); });
}

// Sums, differences and products mod 2^w are the same on signed and unsigned patterns.
template <typename F>
void MapPatterns(const StripParams& params, int64_t n, const void* const* in, void* out, F f) {
  MapStrip2<uint64_t, uint64_t>(n, in, out, f);
  WrapResult(params, n, out);
}

void OrPreds(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip2<uint8_t, uint8_t>(n, in, out, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
}

void AndPreds(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip2<uint8_t, uint8_t>(n, in, out, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a & b); });
}

// Components of complex sums are sums of components: 2 n reals.
template <typename F>
void MapComponents(const StripParams& params, int64_t n, const void* const* in, void* out, F f) {
  MapStrip2<double, double>(2 * n, in, out, f);
  RoundComplexResult(params, n, out);
}

constexpr auto kPlus = [](auto a, auto b) { return a + b; };
constexpr auto kMinus = [](auto a, auto b) { return a - b; };
constexpr auto kTimes = [](auto a, auto b) { return a * b; };
constexpr auto kOver = [](double a, double b) { return a / b; };

void AddIntegers(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapPatterns(params, n, in, out, kPlus);
}
void AddReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapReals(params, n, in, out, kPlus);
}
void AddComplexes(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapComponents(params, n, in, out, kPlus);
}

constexpr KindStrips kAddStrips = {
    .boolean = OrPreds,
    .signed_integer = AddIntegers,
    .unsigned_integer = AddIntegers,
    .real = AddReals,
    .complex = AddComplexes,
};

}  // namespace

// add: result[i] = lhs[i] + rhs[i]; integers mod 2^w, pred OR, complex by component.
constinit const OpDef ops::Add = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Add,
    .audit = audit::Computes,
    .strip = ByKind<kAddStrips>,
};

namespace {

void SubtractIntegers(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapPatterns(params, n, in, out, kMinus);
}
void SubtractReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapReals(params, n, in, out, kMinus);
}
void SubtractComplexes(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapComponents(params, n, in, out, kMinus);
}

constexpr KindStrips kSubtractStrips = {
    .signed_integer = SubtractIntegers,
    .unsigned_integer = SubtractIntegers,
    .real = SubtractReals,
    .complex = SubtractComplexes,
};

}  // namespace

// subtract: result[i] = lhs[i] - rhs[i]; not for pred.
constinit const OpDef ops::Subtract = {
    .operands = Exactly(2),
    .types = kIntegralTypes | kFloatTypes | kComplexTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Subtract,
    .audit = audit::Computes,
    .strip = ByKind<kSubtractStrips>,
};

namespace {

void MultiplyIntegers(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapPatterns(params, n, in, out, kTimes);
}
void MultiplyReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapReals(params, n, in, out, kTimes);
}

constexpr KindStrips kMultiplyStrips = {
    .boolean = AndPreds,
    .signed_integer = MultiplyIntegers,
    .unsigned_integer = MultiplyIntegers,
    .real = MultiplyReals,
    .complex = MapComplexes<ComplexMultiply>,
};

}  // namespace

// multiply: result[i] = lhs[i] * rhs[i]; integers mod 2^w, pred AND. Complex: each component is its exact
// expression rounded once.
constinit const OpDef ops::Multiply = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Multiply,
    .audit = audit::Computes,
    .strip = ByKind<kMultiplyStrips>,
};

namespace {

void DivideReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapReals(params, n, in, out, kOver);
}

constexpr KindStrips kDivideStrips = {
    .signed_integer = MapSignedPairs<SignedDivide>,
    .unsigned_integer = MapUnsignedPairs<UnsignedDivide>,
    .real = DivideReals,
    .complex = MapComplexes<ComplexDivide>,
};

}  // namespace

// divide: result[i] = lhs[i] / rhs[i]; integers toward zero.
// Decision: integer-division-by-zero. x / 0 is -1 (signed) or all ones (unsigned); min / -1 is min.
constinit const OpDef ops::Divide = {
    .operands = Exactly(2),
    .types = kIntegralTypes | kFloatTypes | kComplexTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Divide,
    .audit = audit::Divide,
    .strip = ByKind<kDivideStrips>,
};

namespace {

// fmod is exact, and its result is a value of the operands' format.
void RemainderReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapReals(params, n, in, out, [](double x, double y) { return std::fmod(x, y); });
}

constexpr KindStrips kRemainderStrips = {
    .signed_integer = MapSignedPairs<SignedRemainder>,
    .unsigned_integer = MapUnsignedPairs<UnsignedRemainder>,
    .real = RemainderReals,
};

}  // namespace

// remainder: result[i] = lhs[i] - trunc(lhs[i] / rhs[i]) * rhs[i], exact, with the sign of lhs[i]. Integers:
// x rem 0 is x, min rem -1 is 0.
constinit const OpDef ops::Remainder = {
    .operands = Exactly(2),
    .types = kIntegralTypes | kFloatTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Remainder,
    .audit = audit::Divide,
    .strip = ByKind<kRemainderStrips>,
};

namespace {

constexpr KindStrips kPowerStrips = {
    .signed_integer = MapSignedPairs<SignedPower>,
    .unsigned_integer = MapUnsignedPairs<UnsignedPower>,
    .real = MapRounded<RealPower>,
    .complex = MapComplexes<ComplexPower>,
};

constexpr KindStrips kAtan2Strips = {.real = MapRounded<RealAtan2>, .complex = MapComplexes<ComplexAtan2>};

constexpr KindStrips kMulhiStrips = {
    .signed_integer = MapSignedPairs<SignedMultiplyHigh>,
    .unsigned_integer = MapUnsignedPairs<UnsignedMultiplyHigh>,
};

}  // namespace

// power: result[i] = lhs[i] ^ rhs[i]; 0^0 = 1; integer powers mod 2^w.
constinit const OpDef ops::Power = {
    .operands = Exactly(2),
    .types = kIntegralTypes | kFloatTypes | kComplexTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Power,
    .audit = audit::Power,
    .strip = ByKind<kPowerStrips>,
};

// atan2: result[i] is the angle of the point (rhs[i], lhs[i]) in [-pi, pi].
constinit const OpDef ops::Atan2 = {
    .operands = Exactly(2),
    .types = kFloatTypes | kComplexTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Atan2,
    .audit = audit::Computes,
    .strip = ByKind<kAtan2Strips>,
};

// mulhi: result[i] = floor(lhs[i] * rhs[i] / 2^w) of the exact product.
constinit const OpDef ops::Mulhi = {
    .operands = Exactly(2),
    .types = kIntegralTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Nothing,
    .strip = ByKind<kMulhiStrips>,
};

namespace {

template <typename T>
void MaximumIntegers(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip2<T, T>(n, in, out, [](T a, T b) { return a > b ? a : b; });
}
template <typename T>
void MinimumIntegers(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip2<T, T>(n, in, out, [](T a, T b) { return a < b ? a : b; });
}
void MaximumReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapReals(params, n, in, out, MaximumOf);
}
void MinimumReals(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapReals(params, n, in, out, MinimumOf);
}

// The greater (or the lesser) of two by real part, then by imaginary part. Equal numbers differ in the signs
// of zeros alone: then each part is the maximum (minimum) of the two.
// The first operand with a NaN part is the result.
template <bool is_maximum>
Complex ExtremeOf(Complex a, Complex b) {
  if (HasNaN(a) || HasNaN(b)) return HasNaN(a) ? a : b;
  if (a.real() != b.real()) return (a.real() > b.real()) == is_maximum ? a : b;
  if (a.imag() != b.imag()) return (a.imag() > b.imag()) == is_maximum ? a : b;
  const auto part = [](double x, double y) { return is_maximum ? MaximumOf(x, y) : MinimumOf(x, y); };
  return {part(a.real(), b.real()), part(a.imag(), b.imag())};
}
template <bool is_maximum>
void ComplexExtremes(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip2<Complex, Complex>(n, in, out, ExtremeOf<is_maximum>);
  RoundComplexResult(params, n, out);
}

constexpr KindStrips kMaximumStrips = {
    .boolean = OrPreds,
    .signed_integer = MaximumIntegers<int64_t>,
    .unsigned_integer = MaximumIntegers<uint64_t>,
    .real = MaximumReals,
    .complex = ComplexExtremes<true>,
};
constexpr KindStrips kMinimumStrips = {
    .boolean = AndPreds,
    .signed_integer = MinimumIntegers<int64_t>,
    .unsigned_integer = MinimumIntegers<uint64_t>,
    .real = MinimumReals,
    .complex = ComplexExtremes<false>,
};

}  // namespace

// maximum: the larger of lhs[i] and rhs[i]; NaN if either is NaN; -0 < +0; pred OR;
// complex numbers lexicographically.
// Decision: maximum-zeros. IEEE 754 maximum and minimum, in both orders of the operands.
// Decision: complex-maximum.
constinit const OpDef ops::Maximum = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Maximum,
    .audit = audit::Extreme,
    .strip = ByKind<kMaximumStrips>,
    .pass_demand = demand::Moved<0, 1>,
};

// minimum: the smaller of lhs[i] and rhs[i]; NaN if either is NaN; -0 < +0; pred AND;
// complex numbers lexicographically.
constinit const OpDef ops::Minimum = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Minimum,
    .audit = audit::Extreme,
    .strip = ByKind<kMinimumStrips>,
    .pass_demand = demand::Moved<0, 1>,
};

}  // namespace assay
