// convert, reduce-precision, stochastic-convert, complex, real, imag (docs/spec/operations-elementwise.md,
// "Conversions", "Real, Imag", "Complex"). bitcast-convert is in bitcast_convert.cc.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/map_elements.h"
#include "evaluator/strips.h"
#include "fmt/format.h"
#include "literal/float_format.h"

namespace assay {
namespace {

using Complex = std::complex<double>;

absl::StatusOr<Shape> InferConvert(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const Shape declared, context.Declared());
  if (!context.operand(0).IsArray() || !declared.IsArray()) {
    return InvalidProgram({}, fmt::format("ConvertElementType-C1: operand is {} and result is {}, wanted "
                                          "arrays",
                                          context.operand(0).ToString(), declared.ToString()));
  }
  if (!SameOrUnboundedDimensions(context.operand(0), declared)) {
    return InvalidProgram({}, fmt::format("ConvertElementType-C2: operand is {} and result is {}, wanted the "
                                          "same dimensions",
                                          context.operand(0).ToString(), declared.ToString()));
  }
  return WithElementType(context.operand(0), declared.element_type());
}

// The same type: a move.
void CopyStrip(const StripParams& params, int64_t n, const void* const* in, void* out) {
  if (in[0] != out) std::memmove(out, in[0], n * KindBytes(KindOf(params.result)));
}

// x rounded toward zero at 53 bits, its last bit one where anything was cut off (float_format.h).
double MagnitudeRoundedToOdd(uint64_t x) {
  const int excess = std::bit_width(x) - 53;
  if (excess <= 0) return static_cast<double>(x);
  const uint64_t rounded_to_odd = (x >> excess) | ((x & ((uint64_t{1} << excess) - 1)) != 0);
  return std::ldexp(static_cast<double>(rounded_to_odd), excess);
}

// A conversion of up to 53 bits is exact and that to f64 rounds once by itself.
void SignedToReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  if (Bits(params.operand) <= 32 || params.format->mantissa_bits == 52) {
    MapStrip<double, int64_t>(n, in[0], out, [](int64_t x) { return static_cast<double>(x); });
  } else {
    MapStrip<double, int64_t>(n, in[0], out, [](int64_t x) {
      return x < 0 ? -MagnitudeRoundedToOdd(uint64_t{0} - static_cast<uint64_t>(x))
                   : MagnitudeRoundedToOdd(static_cast<uint64_t>(x));
    });
  }
  RoundResult(params, n, out);
}

void UnsignedToReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  if (Bits(params.operand) <= 32 || params.format->mantissa_bits == 52) {
    MapStrip<double, uint64_t>(n, in[0], out, [](uint64_t x) { return static_cast<double>(x); });
  } else {
    MapStrip<double, uint64_t>(n, in[0], out, MagnitudeRoundedToOdd);
  }
  RoundResult(params, n, out);
}

void PredToReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, uint8_t>(n, in[0], out, [](uint8_t x) { return static_cast<double>(x); });
  RoundResult(params, n, out);
}

// It is also the real half of ToComplex, so the result's kind is not asked.
void RealToReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, double>(n, in[0], out, [](double x) { return x; });
  RoundResult(params, n, out);
}

// Truncated toward zero, saturated to the type's range, NaN to 0.
void RealToSigned(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const int bits = Bits(params.result);
  const double limit = std::ldexp(1.0, bits - 1);
  const int64_t max = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  const int64_t min = -max - 1;
  MapStrip<int64_t, double>(n, in[0], out, [=](double x) {
    if (x >= limit) return max;
    if (x <= -limit) return min;
    return std::isnan(x) ? int64_t{0} : static_cast<int64_t>(x);
  });
}

void RealToUnsigned(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const int bits = Bits(params.result);
  const double limit = std::ldexp(1.0, bits);
  const uint64_t max = std::numeric_limits<uint64_t>::max() >> (64 - bits);
  MapStrip<uint64_t, double>(n, in[0], out, [=](double x) {
    if (x >= limit) return max;
    return x > 0 ? static_cast<uint64_t>(x) : uint64_t{0};
  });
}

template <typename T>
void ToPred(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip<uint8_t, T>(n, in[0], out, [](T x) { return static_cast<uint8_t>(x != T{0}); });
}

// The low bits of the source, in a 64-bit pattern that is the same for both signs.
template <typename T>
void ToInteger(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<uint64_t, T>(n, in[0], out, [](T x) { return static_cast<uint64_t>(x); });
  WrapResult(params, n, out);
}

template <StripFn from_real>
void FromComplex(const StripParams& params, int64_t n, const void* const* in, void* out) {
  double real[kStrip];
  MapStrip<double, Complex>(n, in[0], real, [](Complex z) { return z.real(); });
  const void* reals = real;
  from_real(params, n, &reals, out);
}

template <StripFn to_real>
void ToComplex(const StripParams& params, int64_t n, const void* const* in, void* out) {
  double real[kStrip];
  to_real(params, n, in, real);
  MapStrip<Complex, double>(n, real, out, [](double x) { return Complex(x, 0.0); });
}

void ComplexToComplex(const StripParams& params, int64_t n, const void* const* in, void* out) {
  CopyStrip(params, n, in, out);
  RoundComplexResult(params, n, out);
}

// Rows: the kind of the operand; columns: of the result.
constexpr StripFn kConvertStrips[5][5] = {
    {CopyStrip, ToInteger<uint8_t>, ToInteger<uint8_t>, PredToReal, ToComplex<PredToReal>},
    {ToPred<int64_t>, ToInteger<int64_t>, ToInteger<int64_t>, SignedToReal, ToComplex<SignedToReal>},
    {ToPred<uint64_t>, ToInteger<uint64_t>, ToInteger<uint64_t>, UnsignedToReal, ToComplex<UnsignedToReal>},
    {ToPred<double>, RealToSigned, RealToUnsigned, RealToReal, ToComplex<RealToReal>},
    {FromComplex<ToPred<double>>, FromComplex<RealToSigned>, FromComplex<RealToUnsigned>,
     FromComplex<RealToReal>, ComplexToComplex},
};

StripKernel StripForConvert(const Instruction&, std::span<const ElementType> operands, ElementType result) {
  const int from = static_cast<int>(KindOf(operands[0]));
  const int to = static_cast<int>(KindOf(result));
  return {operands[0] == result ? CopyStrip : kConvertStrips[from][to], ParamsFor(operands, result)};
}

}  // namespace

// convert: result[i] is operand[i] in the result's element type: one rounding from the exact source; integers
// wrap among themselves and saturate from floats; a complex source counts by its real part.
constinit const OpDef ops::Convert = {
    .operands = Exactly(1),
    .types = kArrayTypes,
    .infer = InferConvert,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Convert,
    .audit = audit::Convert,
    .strip = StripForConvert,
    .pass_demand = demand::InPlace<0>,
};

namespace {

constexpr AttrSpec kReducePrecisionAttributes[] = {Required(Attr::kExponentBits),
                                                   Required(Attr::kMantissaBits)};

absl::StatusOr<Shape> InferReducePrecision(const InferContext& context) {
  const Shape& operand = context.operand(0);
  if (!operand.IsArray() || !IsFloat(operand.element_type())) {
    return InvalidProgram(
        {}, fmt::format("ReducePrecision-C1: operand is {}, wanted a floating array", operand.ToString()));
  }
  const int64_t exponent_bits = context.attributes().Int(Attr::kExponentBits);
  if (exponent_bits < 1) {
    return InvalidProgram(
        {}, fmt::format("ReducePrecision-C2: exponent_bits is {}, wanted at least 1", exponent_bits));
  }
  const int64_t mantissa_bits = context.attributes().Int(Attr::kMantissaBits);
  if (mantissa_bits < 0) {
    return InvalidProgram(
        {}, fmt::format("ReducePrecision-C3: mantissa_bits is {}, wanted at least 0", mantissa_bits));
  }
  return WithElementType(operand, operand.element_type());
}

// x > 0 finite, with the low `dropped` bits of its pattern rounded away, ties to the even kept bit. The
// patterns of positive finite values count up without gaps, so a carry out of the mantissa is right; one
// beyond the largest finite value is an overflow.
double RoundMantissa(double x, int dropped, const FloatFormat& format) {
  uint64_t pattern = EncodeFloat(x, format);
  const uint64_t last = (pattern >> dropped) & 1;
  pattern += (uint64_t{1} << (dropped - 1)) - 1 + last;
  pattern = pattern >> dropped << dropped;
  if (pattern > EncodeFloat(format.max_finite, format)) return std::numeric_limits<double>::infinity();
  return DecodeFloat(pattern, format);
}

// x > 0 finite, without what exponents of `exponent_bits` bits can't hold: 0 below the smallest normal.
double LimitExponent(double x, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = std::ilogb(x);
  if (exponent > bias) return std::numeric_limits<double>::infinity();
  return exponent <= -bias ? 0.0 : x;
}

double ReducePrecisionOf(double x, const StripParams& params) {
  const FloatFormat& format = *params.format;
  if (x == 0 || !std::isfinite(x)) return x;
  double magnitude = std::fabs(x);
  if (params.b < format.mantissa_bits) {
    magnitude = RoundMantissa(magnitude, static_cast<int>(format.mantissa_bits - params.b), format);
  }
  if (params.a < format.exponent_bits && magnitude != 0 && std::isfinite(magnitude)) {
    magnitude = LimitExponent(magnitude, static_cast<int>(params.a));
  }
  return std::copysign(magnitude, x);
}

void ReducePrecisionReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, double>(n, in[0], out, [&](double x) { return ReducePrecisionOf(x, params); });
  RoundResult(params, n, out);
}

constexpr KindStrips kReducePrecisionStrips = {.real = ReducePrecisionReal};

StripKernel StripForReducePrecision(const Instruction& instruction, std::span<const ElementType> operands,
                                    ElementType result) {
  StripKernel kernel = KernelFor(kReducePrecisionStrips, operands, result);
  kernel.params.a = instruction.attributes.Int(Attr::kExponentBits);
  kernel.params.b = instruction.attributes.Int(Attr::kMantissaBits);
  return kernel;
}

}  // namespace

// reduce-precision: operand[i] rounded to `mantissa_bits` mantissa bits, then what needs more than
// `exponent_bits` exponent bits becomes an infinity, and what is below their smallest normal a zero.
// Decision: reduce-precision-nan. A NaN is the canonical NaN, with no mantissa bits too.
// Decision: reduce-precision-no-infinity. An infinity in a format without one is rounded as any infinity.
constinit const OpDef ops::ReducePrecision = {
    .operands = Exactly(1),
    .types = kFloatTypes,
    .attributes = kReducePrecisionAttributes,
    .infer = InferReducePrecision,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::ReducePrecision,
    .audit = audit::Computes,
    .strip = StripForReducePrecision,
};

namespace {

absl::StatusOr<Shape> InferStochasticConvert(const InferContext& context) {
  const Shape& operand = context.operand(0);
  const Shape& random = context.operand(1);
  if (!operand.IsArray() || !IsFloat(operand.element_type())) {
    return InvalidProgram({}, fmt::format("StochasticConvertType-C1: operand is {}, wanted a floating array",
                                          operand.ToString()));
  }
  if (!random.IsArray() || !IsUnsignedIntegral(random.element_type()) ||
      Bits(random.element_type()) != Bits(operand.element_type()) ||
      !SameOrUnboundedDimensions(operand, random)) {
    return InvalidProgram({}, fmt::format("StochasticConvertType-C2: random is {}, wanted unsigned integers "
                                          "of the width and dimensions of {}",
                                          random.ToString(), operand.ToString()));
  }
  ASSAY_ASSIGN_OR_RETURN(const Shape declared, context.Declared());
  if (!declared.IsArray() || !IsSignedIntegral(declared.element_type())) {
    return NotSupported({}, fmt::format("StochasticConvertType-C3: result is {}, wanted signed integers",
                                        declared.ToString()));
  }
  ASSAY_ASSIGN_OR_RETURN(const Shape joined, JoinDimensions(operand, random));
  return WithElementType(joined, declared.element_type());
}

int64_t StochasticConvertOf(double x, uint64_t random, int width, int result_bits) {
  const double limit = std::ldexp(1.0, result_bits - 1);  // max + 1 = -min
  const int64_t max = static_cast<int64_t>((uint64_t{1} << (result_bits - 1)) - 1);
  if (std::isnan(x)) return 0;
  if (x >= limit || x >= static_cast<double>(max)) return max;
  if (x <= -limit) return -max - 1;
  const double t = std::trunc(std::fabs(x));
  const double threshold = std::floor(std::ldexp(std::fabs(x) - t, width));
  const uint64_t magnitude = static_cast<uint64_t>(t) + (random < static_cast<uint64_t>(threshold));
  return static_cast<int64_t>(x < 0 ? uint64_t{0} - magnitude : magnitude);
}

void StochasticConvertReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const double* operand = static_cast<const double*>(in[0]);
  const uint64_t* random = static_cast<const uint64_t*>(in[1]);
  int64_t* result = static_cast<int64_t*>(out);
  const int width = Bits(params.operand);
  const int result_bits = Bits(params.result);
  for (int64_t i = 0; i < n; ++i) result[i] = StochasticConvertOf(operand[i], random[i], width, result_bits);
}

constexpr KindStrips kStochasticConvertStrips = {.real = StochasticConvertReal};

}  // namespace

// stochastic-convert: |operand[i]| truncated, plus one where random[i] < floor(fraction * 2^w), with the sign
// of operand[i]: the fraction is rounded up with its own probability. Saturates; NaN gives 0.
constinit const OpDef ops::StochasticConvert = {
    .operands = Exactly(2),
    .types = kFloatTypes,
    .infer = InferStochasticConvert,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::StochasticConvert,
    .audit = audit::Convert,
    .strip = ByKind<kStochasticConvertStrips>,
};

namespace {

absl::StatusOr<Shape> InferComplex(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, InferBinary(context, kFloatTypes));
  const ElementType part = shape.element_type();
  if (part != ElementType::kF32 && part != ElementType::kF64) {
    return NotSupported({}, fmt::format("Complex: there is no complex type of {} parts", Name(part)));
  }
  const ElementType type = part == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
  ASSAY_ASSIGN_OR_RETURN(shape, WithElementType(shape, type));
  ASSAY_RETURN_IF_ERROR(CheckDeclared(context, shape, "BINARY-C5"));
  return shape;
}

void ComplexOfReals(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip2<Complex, double>(n, in, out, [](double re, double im) { return Complex(re, im); });
}

constexpr KindStrips kComplexStrips = {.real = ComplexOfReals};

absl::StatusOr<Shape> InferPart(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, InferUnary(context, kFloatTypes | kComplexTypes));
  ASSAY_ASSIGN_OR_RETURN(shape, WithElementType(shape, ComponentType(shape.element_type())));
  ASSAY_RETURN_IF_ERROR(CheckDeclared(context, shape, "UNARY-C3"));
  return shape;
}

void RealOfComplex(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip<double, Complex>(n, in[0], out, [](Complex z) { return z.real(); });
}
void ImagOfComplex(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip<double, Complex>(n, in[0], out, [](Complex z) { return z.imag(); });
}
void ImagOfReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, double>(n, in[0], out, [](double) { return 0.0; });
  RoundResult(params, n, out);
}

constexpr KindStrips kRealStrips = {.real = CopyStrip, .complex = RealOfComplex};
constexpr KindStrips kImagStrips = {.real = ImagOfReal, .complex = ImagOfComplex};

}  // namespace

// complex: result[i] = lhs[i] + rhs[i] i, a composition of bits.
constinit const OpDef ops::Complex = {
    .operands = Exactly(2),
    .types = TypeSet::Of(ElementType::kF32) | TypeSet::Of(ElementType::kF64),
    .infer = InferComplex,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Complex,
    .audit = audit::Nothing,
    .strip = ByKind<kComplexStrips>,
};

// real: the real part, bit for bit; of a real type the operand itself.
constinit const OpDef ops::Real = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .infer = InferPart,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Passed,
    .audit = audit::Nothing,
    .strip = ByKind<kRealStrips>,
};

// imag: the imaginary part, bit for bit; of a real type +0.
// Decision: imag-without-zero. f8e8m0fnu has no zero: +0 is rounded to it as any zero and gives its NaN.
constinit const OpDef ops::Imag = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .infer = InferPart,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Passed,
    .audit = audit::Nothing,
    .strip = ByKind<kImagStrips>,
};

}  // namespace assay
