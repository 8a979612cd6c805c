// Unary elementwise ops that take `result_accuracy` (UNARY-C4): roots, exponentials, logarithms, circular and
// hyperbolic functions and their inverses, erf (docs/spec/operations-elementwise.md, "Unary,
// transcendental").
//
// Each is result[i] = RN(f(operand[i])): the exact function value rounded once, by evaluator/scalar/real and
// complex, which also hold the special values. A correctly rounded result meets every accuracy that a program
// can ask for, so the attribute is checked (NUM-12) and changes nothing.
#include <cmath>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/map_elements.h"
#include "evaluator/scalar/complex.h"
#include "evaluator/scalar/real.h"
#include "evaluator/strips.h"
#include "fmt/format.h"
#include "literal/float_format.h"

namespace assay {
namespace {

constexpr AttrSpec kAccuracyAttribute[] = {Optional(Attr::kResultAccuracy)};

absl::Status CheckAccuracy(const InferContext& context) {
  const AttrValue* value = context.attributes().Find(Attr::kResultAccuracy);
  if (value == nullptr) return absl::OkStatus();
  const ResultAccuracy* accuracy = std::get_if<ResultAccuracy>(value);
  if (accuracy == nullptr || accuracy->mode != ResultAccuracy::Mode::kTolerance) return absl::OkStatus();
  const struct {
    std::string_view name;
    double value;
  } parts[] = {{"atol", accuracy->atol}, {"rtol", accuracy->rtol}, {"ulps", accuracy->ulps}};
  for (const auto& part : parts) {
    if (!(part.value >= 0) || std::isinf(part.value)) {
      return InvalidProgram({}, fmt::format("NUM-12: result_accuracy {} is {}, wanted a finite number >= 0",
                                            part.name, part.value));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> InferAccurate(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(Shape shape, InferUnaryOp(context));
  ASSAY_RETURN_IF_ERROR(CheckAccuracy(context));
  return shape;
}

template <RealFn1 fn>
void MapReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, double>(n, in[0], out, [&](double x) { return fn(x, *params.format); });
}

template <ComplexFn1 fn>
void MapComplex(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<Complex, Complex>(n, in[0], out, [&](Complex z) { return fn(z, *params.format); });
}

// The double nearest the root lies on the right side of every rounding boundary of a format of at most 25
// bits precision, so one more rounding gives the root rounded once.
void SqrtReal(const StripParams& params, int64_t n, const void* const* in, void* out) {
  MapStrip<double, double>(n, in[0], out, [](double x) { return std::sqrt(x); });
  RoundResult(params, n, out);
}

constexpr KindStrips kCbrtStrips = {.real = MapReal<RealCbrt>};
constexpr KindStrips kSqrtStrips = {.real = SqrtReal, .complex = MapComplex<ComplexSqrt>};
constexpr KindStrips kRsqrtStrips = {.real = MapReal<RealRsqrt>, .complex = MapComplex<ComplexRsqrt>};
constexpr KindStrips kExpStrips = {.real = MapReal<RealExp>, .complex = MapComplex<ComplexExp>};
constexpr KindStrips kExpm1Strips = {.real = MapReal<RealExpm1>, .complex = MapComplex<ComplexExpm1>};
constexpr KindStrips kLogStrips = {.real = MapReal<RealLog>, .complex = MapComplex<ComplexLog>};
constexpr KindStrips kLog1pStrips = {.real = MapReal<RealLog1p>, .complex = MapComplex<ComplexLog1p>};
constexpr KindStrips kLogisticStrips = {.real = MapReal<RealLogistic>,
                                        .complex = MapComplex<ComplexLogistic>};
constexpr KindStrips kSinStrips = {.real = MapReal<RealSin>, .complex = MapComplex<ComplexSin>};
constexpr KindStrips kCosStrips = {.real = MapReal<RealCos>, .complex = MapComplex<ComplexCos>};
constexpr KindStrips kTanStrips = {.real = MapReal<RealTan>, .complex = MapComplex<ComplexTan>};
constexpr KindStrips kSinhStrips = {.real = MapReal<RealSinh>, .complex = MapComplex<ComplexSinh>};
constexpr KindStrips kCoshStrips = {.real = MapReal<RealCosh>, .complex = MapComplex<ComplexCosh>};
constexpr KindStrips kTanhStrips = {.real = MapReal<RealTanh>, .complex = MapComplex<ComplexTanh>};
constexpr KindStrips kAsinStrips = {.real = MapReal<RealAsin>, .complex = MapComplex<ComplexAsin>};
constexpr KindStrips kAcosStrips = {.real = MapReal<RealAcos>, .complex = MapComplex<ComplexAcos>};
constexpr KindStrips kAtanhStrips = {.real = MapReal<RealAtanh>, .complex = MapComplex<ComplexAtanh>};
constexpr KindStrips kAsinhStrips = {.real = MapReal<RealAsinh>, .complex = MapComplex<ComplexAsinh>};
constexpr KindStrips kAcoshStrips = {.real = MapReal<RealAcosh>, .complex = MapComplex<ComplexAcosh>};
constexpr KindStrips kErfStrips = {.real = MapReal<RealErf>};

}  // namespace

// cbrt: the real cube root.
constinit const OpDef ops::Cbrt = {
    .operands = Exactly(1),
    .types = kFloatTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Cbrt,
    .audit = audit::Computes,
    .strip = ByKind<kCbrtStrips>,
};

// sqrt: the square root; x < 0 gives NaN, -0 gives -0. Complex: the principal root, cut along (-inf, 0].
constinit const OpDef ops::Sqrt = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Sqrt,
    .audit = audit::Computes,
    .strip = ByKind<kSqrtStrips>,
};

// rsqrt: 1 / sqrt(x) with one rounding.
constinit const OpDef ops::Rsqrt = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Rsqrt,
    .audit = audit::Computes,
    .strip = ByKind<kRsqrtStrips>,
};

// exponential: e^x.
constinit const OpDef ops::Exp = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Exp,
    .audit = audit::Computes,
    .strip = ByKind<kExpStrips>,
};

// exponential-minus-one: e^x - 1.
constinit const OpDef ops::Expm1 = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Expm1,
    .audit = audit::Computes,
    .strip = ByKind<kExpm1Strips>,
};

// log: ln x. Complex: (ln |z|, atan2(y, x)).
constinit const OpDef ops::Log = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Log,
    .audit = audit::Computes,
    .strip = ByKind<kLogStrips>,
};

// log-plus-one: ln(1 + x).
constinit const OpDef ops::Log1p = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Log1p,
    .audit = audit::Computes,
    .strip = ByKind<kLog1pStrips>,
};

// logistic: 1 / (1 + e^-x) with one rounding.
constinit const OpDef ops::Logistic = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Logistic,
    .audit = audit::Computes,
    .strip = ByKind<kLogisticStrips>,
};

// sine: sin x.
constinit const OpDef ops::Sin = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Sin,
    .audit = audit::Computes,
    .strip = ByKind<kSinStrips>,
};

// cosine: cos x.
constinit const OpDef ops::Cos = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Cos,
    .audit = audit::Computes,
    .strip = ByKind<kCosStrips>,
};

// tan: tan x.
constinit const OpDef ops::Tan = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Tan,
    .audit = audit::Computes,
    .strip = ByKind<kTanStrips>,
};

// sinh: (e^x - e^-x) / 2.
constinit const OpDef ops::Sinh = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Sinh,
    .audit = audit::Computes,
    .strip = ByKind<kSinhStrips>,
};

// cosh: (e^x + e^-x) / 2.
constinit const OpDef ops::Cosh = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Cosh,
    .audit = audit::Computes,
    .strip = ByKind<kCoshStrips>,
};

// tanh: sinh x / cosh x.
constinit const OpDef ops::Tanh = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Tanh,
    .audit = audit::Computes,
    .strip = ByKind<kTanhStrips>,
};

// asin: the inverse of sin in [-pi/2, pi/2].
constinit const OpDef ops::Asin = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Asin,
    .audit = audit::Computes,
    .strip = ByKind<kAsinStrips>,
};

// acos: the inverse of cos in [0, pi].
constinit const OpDef ops::Acos = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Acos,
    .audit = audit::Computes,
    .strip = ByKind<kAcosStrips>,
};

// atanh: (ln(1 + x) - ln(1 - x)) / 2.
constinit const OpDef ops::Atanh = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Atanh,
    .audit = audit::Computes,
    .strip = ByKind<kAtanhStrips>,
};

// asinh: ln(x + sqrt(x^2 + 1)).
constinit const OpDef ops::Asinh = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Asinh,
    .audit = audit::Computes,
    .strip = ByKind<kAsinhStrips>,
};

// acosh: ln(x + sqrt(x + 1) sqrt(x - 1)).
constinit const OpDef ops::Acosh = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Acosh,
    .audit = audit::Computes,
    .strip = ByKind<kAcoshStrips>,
};

// erf: 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
constinit const OpDef ops::Erf = {
    .operands = Exactly(1),
    .types = kFloatTypes,
    .attributes = kAccuracyAttribute,
    .infer = InferAccurate,
    .eval = EvalElementwise,
    .work = work::Function,
    .bound = bound::Erf,
    .audit = audit::Computes,
    .strip = ByKind<kErfStrips>,
};

}  // namespace assay
