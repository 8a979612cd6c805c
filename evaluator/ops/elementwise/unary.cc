// Unary elementwise ops that are exact, or that round once in plain arithmetic: abs, negate, sign, not,
// popcnt, count-leading-zeros, ceil, floor and the two rounds (docs/spec/operations-elementwise.md, "Unary,
// rounding-exact functions"). Roots, logarithms and their like are in transcendental.cc, is-finite in
// select.cc, real and imag in convert.cc.
#include <cmath>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/map_elements.h"
#include "evaluator/scalar/complex.h"
#include "evaluator/scalar/integer.h"
#include "evaluator/strips.h"
#include "literal/float_format.h"

namespace assay {
namespace {

template <typename F>
void MapExactReal(const StripParams& params, int64_t n, const void* const* in, void* out, F f) {
  MapStrip<double, double>(n, in[0], out, f);
  RoundResult(params, n, out);
}

template <Complex (*fn)(Complex, const FloatFormat&)>
void MapExactComplex(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<Complex, Complex>(n, in[0], out, [&](Complex z) { return fn(z, *params.format); });
}

template <int64_t (*fn)(int64_t, int)>
void MapSigned(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const int bits = Bits(params.operand);
  MapStrip<int64_t, int64_t>(n, in[0], out, [bits](int64_t a) { return fn(a, bits); });
}

template <uint64_t (*fn)(uint64_t, int)>
void MapUnsigned(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const int bits = Bits(params.operand);
  MapStrip<uint64_t, uint64_t>(n, in[0], out, [bits](uint64_t a) { return fn(a, bits); });
}

// Negation and complement are the same on signed and unsigned patterns.
void NegateInteger(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<uint64_t, uint64_t>(n, in[0], out, [](uint64_t a) { return uint64_t{0} - a; });
  WrapResult(params, n, out);
}

// The result shape of abs: the operand's, complex types becoming their component type.
absl::StatusOr<Shape> InferAbs(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, InferUnary(context, kSignedTypes | kFloatTypes | kComplexTypes));
  ASSAY_ASSIGN_OR_RETURN(shape, WithElementType(shape, ComponentType(shape.element_type())));
  ASSAY_RETURN_IF_ERROR(CheckDeclared(context, shape, "UNARY-C3"));
  return shape;
}

void AbsSigned(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<uint64_t, int64_t>(n, in[0], out, [](int64_t a) {
    return a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  });
  WrapResult(params, n, out);
}

void AbsReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapExactReal(params, n, in, out, [](double x) { return std::fabs(x); });
}

void AbsComplex(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, Complex>(n, in[0], out, [&](Complex z) { return ComplexAbs(z, *params.format); });
}

constexpr KindStrips kAbsStrips = {
    .signed_integer = AbsSigned,
    .real = AbsReal,
    .complex = AbsComplex,
};

}  // namespace

// abs: result[i] = |operand[i]|. The smallest signed integer is its own absolute value; complex: the exact
// modulus rounded once.
constinit const OpDef ops::Abs = {
    .operands = Exactly(1),
    .types = kSignedTypes | kFloatTypes | kComplexTypes,
    .infer = InferAbs,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Abs,
    .audit = audit::Nothing,
    .strip = ByKind<kAbsStrips>,
};

namespace {

void NegateReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapExactReal(params, n, in, out, [](double x) { return -x; });
}

constexpr KindStrips kNegateStrips = {
    .signed_integer = NegateInteger,
    .unsigned_integer = NegateInteger,
    .real = NegateReal,
    .complex = MapExactComplex<ComplexNegate>,
};

}  // namespace

// negate: result[i] = -operand[i]; integers mod 2^w, unsigned ones too; floats flip the sign, of zeros too.
constinit const OpDef ops::Negate = {
    .operands = Exactly(1),
    .types = kIntegralTypes | kFloatTypes | kComplexTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Passed,
    .audit = audit::Nothing,
    .strip = ByKind<kNegateStrips>,
};

namespace {

void SignSigned(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip<int64_t, int64_t>(n, in[0], out, [](int64_t a) { return int64_t{a > 0} - int64_t{a < 0}; });
}

void SignReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapExactReal(params, n, in, out, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; });
}

constexpr KindStrips kSignStrips = {
    .signed_integer = SignSigned,
    .real = SignReal,
    .complex = MapExactComplex<ComplexSign>,
};

}  // namespace

// sign: result[i] = -1, 0 or 1; zeros keep their sign, NaN gives NaN. Complex: z / |z|, 0 for 0. s1 has no 1,
// and no positive value that would need it.
constinit const OpDef ops::Sign = {
    .operands = Exactly(1),
    .types = kSignedTypes | kFloatTypes | kComplexTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Stepwise,
    .audit = audit::Computes,
    .strip = ByKind<kSignStrips>,
};

namespace {

void NotPred(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip<uint8_t, uint8_t>(n, in[0], out, [](uint8_t a) { return static_cast<uint8_t>(a ^ 1); });
}

void NotInteger(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<uint64_t, uint64_t>(n, in[0], out, [](uint64_t a) { return ~a; });
  WrapResult(params, n, out);
}

constexpr KindStrips kNotStrips = {
    .boolean = NotPred,
    .signed_integer = NotInteger,
    .unsigned_integer = NotInteger,
};

constexpr KindStrips kPopulationCountStrips = {
    .signed_integer = MapSigned<SignedPopulationCount>,
    .unsigned_integer = MapUnsigned<UnsignedPopulationCount>,
};

constexpr KindStrips kClzStrips = {
    .signed_integer = MapSigned<SignedCountLeadingZeros>,
    .unsigned_integer = MapUnsigned<UnsignedCountLeadingZeros>,
};

}  // namespace

// not: logical for pred, the bitwise complement in w bits for integers.
constinit const OpDef ops::Not = {
    .operands = Exactly(1),
    .types = kPredTypes | kIntegralTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Nothing,
    .strip = ByKind<kNotStrips>,
};

// popcnt: how many of the w bits are one, mod 2^w in the operand's type.
constinit const OpDef ops::PopulationCount = {
    .operands = Exactly(1),
    .types = kIntegralTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Nothing,
    .strip = ByKind<kPopulationCountStrips>,
};

// count-leading-zeros: of the w-bit pattern; w for 0; mod 2^w in the operand's type.
constinit const OpDef ops::Clz = {
    .operands = Exactly(1),
    .types = kIntegralTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Nothing,
    .strip = ByKind<kClzStrips>,
};

namespace {

void CeilReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapExactReal(params, n, in, out, [](double x) { return std::ceil(x); });
}

void FloorReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapExactReal(params, n, in, out, [](double x) { return std::floor(x); });
}

void RoundAwayReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapExactReal(params, n, in, out, [](double x) { return std::round(x); });
}

void RoundEvenReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapExactReal(params, n, in, out, [](double x) { return std::nearbyint(x); });
}

constexpr KindStrips kCeilStrips = {.real = CeilReal};
constexpr KindStrips kFloorStrips = {.real = FloorReal};
constexpr KindStrips kRoundAwayStrips = {.real = RoundAwayReal};
constexpr KindStrips kRoundEvenStrips = {.real = RoundEvenReal};

}  // namespace

// ceil: the smallest integral value >= operand[i]. In formats whose largest value is not integral (f8e3m4,
// f6e2m3fn) it may be out of range and is rounded as any result (NUM-1).
constinit const OpDef ops::Ceil = {
    .operands = Exactly(1),
    .types = kFloatTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Stepwise,
    .audit = audit::Computes,
    .strip = ByKind<kCeilStrips>,
};

// floor: the largest integral value <= operand[i].
constinit const OpDef ops::Floor = {
    .operands = Exactly(1),
    .types = kFloatTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Stepwise,
    .audit = audit::Computes,
    .strip = ByKind<kFloorStrips>,
};

// round-nearest-afz: the nearest integral value, ties away from zero; a zero result keeps the sign.
constinit const OpDef ops::RoundNearestAfz = {
    .operands = Exactly(1),
    .types = kFloatTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Stepwise,
    .audit = audit::Computes,
    .strip = ByKind<kRoundAwayStrips>,
};

// round-nearest-even: the nearest integral value, ties to even.
constinit const OpDef ops::RoundNearestEven = {
    .operands = Exactly(1),
    .types = kFloatTypes,
    .infer = InferUnaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Stepwise,
    .audit = audit::Computes,
    .strip = ByKind<kRoundEvenStrips>,
};

}  // namespace assay
