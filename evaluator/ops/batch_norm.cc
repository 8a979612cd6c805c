// batch-norm-training, -inference and -grad (spec/operations-linalg.md, "Normalisation"). Each RN of the
// formulas is one rounding to the element type; sums, means and variances are exact until then.
#include "evaluator/ops/batch_norm.h"

#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/ops/loops.h"
#include "evaluator/scalar/exact_sum.h"
#include "evaluator/scalar/real.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

using Features = BatchNormFeatures;

absl::Status Invalid(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("BN-C{}: {}", c, message));
}

// BN-C1 to BN-C5: operands 1 .. vectors are of size C = size(operand 0, feature_index).
absl::Status CheckBatchNorm(const InferContext& context, int64_t vectors) {
  const Shape& x = context.operand(0);
  const int64_t feature = context.attributes().Int(Attr::kFeatureIndex);
  if (!x.IsArray() || feature < 0 || feature >= x.rank()) {
    return Invalid(context, 1,
                   fmt::format("feature_index {} is out of range for operand {}", feature, x.ToString()));
  }
  if (!IsFloat(x.element_type())) {
    return Invalid(context, 2, fmt::format("the operand is {}, wanted floating elements", x.ToString()));
  }
  for (int64_t i = 1; i <= vectors; ++i) {
    const Shape& v = context.operand(i);
    if (v.IsArray() && v.rank() == 1 && v.size(0) == x.size(feature) && v.element_type() == x.element_type())
      continue;
    return Invalid(context, 3,
                   fmt::format("operand {} is {}, wanted {}[{}]", i, v.ToString(), Name(x.element_type()),
                               x.size(feature)));
  }
  const double epsilon = context.attributes().Float(Attr::kEpsilon);
  if (!(epsilon >= 0)) return Invalid(context, 5, fmt::format("epsilon is {}, wanted at least 0", epsilon));
  return absl::OkStatus();
}

Shape FeatureShape(const Shape& x, int64_t feature) {
  const int64_t size = x.size(feature);
  Shape result = Shape::ArrayOrDie(x.element_type(), {&size, 1});
  result.set_dynamic(0, x.is_dynamic(feature));
  return result;
}

// y = RN(RN(RN(RN(x - mean) * r) * scale) + offset)
void Normalize(const Features& f, int64_t c, const Literal& x, Literal& y, double mean, double variance,
               double scale, double offset) {
  const double r = InverseDeviation(f, variance);
  std::byte* const dst = y.MutableBytes().data();
  f.ForEachStrip(c, [&](int64_t at, int64_t stride, int64_t count) {
    double v[kStrip];
    LoadStrip(f.type, x.data() + at, stride, count, v);
    for (int64_t i = 0; i < count; ++i) {
      v[i] = RealMultiply(RealSubtract(v[i], mean, f.format), r, f.format);
      v[i] = RealAdd(RealMultiply(v[i], scale, f.format), offset, f.format);
    }
    StoreStrip(f.type, v, count, dst + at, stride);
  });
}

// ---- batch-norm-training ---------------------------------------------------------------------------------
//
// mean_c = RN(sum x / n), var_c = RN(sum x^2 / n - (sum x / n)^2), y as above; (y, mean, var).
//
// Decision: batch-norm-exact-variance

absl::StatusOr<Shape> InferBatchNormTraining(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(CheckBatchNorm(context, 2));
  const Shape& x = context.operand(0);
  const Shape vector = FeatureShape(x, context.attributes().Int(Attr::kFeatureIndex));
  return Shape::Tuple({x, vector, vector});
}

absl::StatusOr<Literal> EvalBatchNormTraining(EvalContext& context, std::span<Literal> operands) {
  const Literal& x = operands[0];
  const Features f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckVectors(context, f, operands.subspan(1)));
  const bool zero = HasDynamicDimension(context.result_shape());
  ASSAY_ASSIGN_OR_RETURN(Literal y, context.NewResultElement(0, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal means, context.NewResultElement(1, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal variances, context.NewResultElement(2, zero));
  for (int64_t c = 0; c < f.count; ++c) {
    const auto [mean, variance] = ExactMoments(f, c, x);
    f.Store(means, c, mean);
    f.Store(variances, c, variance);
    Normalize(f, c, x, y, mean, variance, f.Load(operands[1], c), f.Load(operands[2], c));
    ASSAY_RETURN_IF_ERROR(context.Charge(3 * f.n));
  }
  SetRuntimeSizes(y, x.runtime_sizes());
  SetRuntimeSizes(means, {&f.count, 1});
  SetRuntimeSizes(variances, {&f.count, 1});
  return Literal::Tuple(context.shared_result_shape(),
                        {std::move(y), std::move(means), std::move(variances)});
}

// ---- batch-norm-inference --------------------------------------------------------------------------------
//
// y as above, with the mean and variance given.

absl::StatusOr<Shape> InferBatchNormInference(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(CheckBatchNorm(context, 4));
  return context.operand(0);
}

absl::StatusOr<Literal> EvalBatchNormInference(EvalContext& context, std::span<Literal> operands) {
  const Literal& x = operands[0];
  const Features f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckVectors(context, f, operands.subspan(1)));
  ASSAY_ASSIGN_OR_RETURN(Literal y, context.NewResult(HasDynamicDimension(context.result_shape())));
  for (int64_t c = 0; c < f.count; ++c) {
    Normalize(f, c, x, y, f.Load(operands[3], c), f.Load(operands[4], c), f.Load(operands[1], c),
              f.Load(operands[2], c));
    ASSAY_RETURN_IF_ERROR(context.Charge(2 * f.n));
  }
  SetRuntimeSizes(y, x.runtime_sizes());
  return y;
}

// ---- batch-norm-grad -------------------------------------------------------------------------------------
//
// v' = RN(var + eps); r = RN(1 / sqrt v'); d = RN(x - mean); S = RN(sum g * d)
// grad_offset = RN(sum g); grad_scale = RN(S * r); q = RN(RN(S / n) / v'); m = RN(grad_offset / n)
// grad_operand = RN(RN(scale * r) * RN(RN(g - m) - RN(q * d))); (grad_operand, grad_scale, grad_offset).

absl::StatusOr<Shape> InferBatchNormGrad(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(CheckBatchNorm(context, 3));
  const Shape& x = context.operand(0);
  const Shape& gradient = context.operand(4);
  if (!gradient.IsArray() || !Shape::SameDimensions(x, gradient) ||
      gradient.element_type() != x.element_type()) {
    return Invalid(context, 4,
                   fmt::format("grad_output is {}, wanted {}", gradient.ToString(), x.ToString()));
  }
  const Shape vector = FeatureShape(x, context.attributes().Int(Attr::kFeatureIndex));
  return Shape::Tuple({x, vector, vector});
}

void GradOperand(const Features& f, int64_t c, const Literal& x, const Literal& g, Literal& out, double mean,
                 double factor, double q, double m) {
  std::byte* const dst = out.MutableBytes().data();
  f.ForEachStrip(c, [&](int64_t at, int64_t stride, int64_t count) {
    double d[kStrip], v[kStrip];
    LoadStrip(f.type, x.data() + at, stride, count, d);
    LoadStrip(f.type, g.data() + at, stride, count, v);
    for (int64_t i = 0; i < count; ++i) {
      const double product = RealMultiply(q, RealSubtract(d[i], mean, f.format), f.format);
      v[i] = RealSubtract(RealSubtract(v[i], m, f.format), product, f.format);
      v[i] = RealMultiply(factor, v[i], f.format);
    }
    StoreStrip(f.type, v, count, dst + at, stride);
  });
}

absl::StatusOr<Literal> EvalBatchNormGrad(EvalContext& context, std::span<Literal> operands) {
  const Literal& x = operands[0];
  const Literal& g = operands[4];
  const Features f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckVectors(context, f, operands.subspan(1, 3)));
  const Literal same[] = {x, g};
  ASSAY_RETURN_IF_ERROR(CheckSameRuntimeSizes(context, same));
  const bool zero = HasDynamicDimension(context.result_shape());
  ASSAY_ASSIGN_OR_RETURN(Literal grad_operand, context.NewResultElement(0, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal grad_scale, context.NewResultElement(1, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal grad_offset, context.NewResultElement(2, zero));
  for (int64_t c = 0; c < f.count; ++c) {
    const double mean = f.Load(operands[2], c);
    const FeatureSums sums = ExactFeatureSums(f, c, x, g, mean);
    const double v = RealAdd(f.Load(operands[3], c), f.epsilon, f.format);
    const double r = RealRsqrt(v, f.format);
    f.Store(grad_offset, c, sums.gradient);
    f.Store(grad_scale, c, RealMultiply(sums.product, r, f.format));
    // n is exact as a double: an array has fewer than 2^53 elements. RN(S / n) rounds once, whatever n.
    const double n = static_cast<double>(f.n);
    const double q = RealDivide(RealDivide(sums.product, n, f.format), v, f.format);
    const double m = RealDivide(sums.gradient, n, f.format);
    const double factor = RealMultiply(f.Load(operands[1], c), r, f.format);
    GradOperand(f, c, x, g, grad_operand, mean, factor, q, m);
    ASSAY_RETURN_IF_ERROR(context.Charge(2 * f.n));
  }
  SetRuntimeSizes(grad_operand, x.runtime_sizes());
  SetRuntimeSizes(grad_scale, {&f.count, 1});
  SetRuntimeSizes(grad_offset, {&f.count, 1});
  return Literal::Tuple(context.shared_result_shape(),
                        {std::move(grad_operand), std::move(grad_scale), std::move(grad_offset)});
}

constexpr AttrSpec kBatchNormAttributes[] = {Required(Attr::kEpsilon), Required(Attr::kFeatureIndex)};

}  // namespace

double InverseDeviation(const BatchNormFeatures& f, double variance) {
  return RealRsqrt(RealAdd(variance, f.epsilon, f.format), f.format);
}

// DYN-4: every vector has as many live elements as the operand has features.
absl::Status CheckVectors(const EvalContext& context, const BatchNormFeatures& f,
                          std::span<const Literal> vectors) {
  for (const Literal& vector : vectors) {
    if (vector.dynamic_size(0) == f.count) continue;
    return EvalError(context.instruction().position,
                     fmt::format("DYN-4: {}: {} features, but an operand has run-time size {}",
                                 Name(context.instruction().opcode), f.count, vector.dynamic_size(0)));
  }
  return absl::OkStatus();
}

FeatureMoments ExactMoments(const BatchNormFeatures& f, int64_t c, const Literal& x) {
  ExactSum sum, squares;
  f.ForEachStrip(c, [&](int64_t at, int64_t stride, int64_t count) {
    constexpr double kOne = 1;
    double v[kStrip];
    LoadStrip(f.type, x.data() + at, stride, count, v);
    sum.AddProducts(v, 1, &kOne, 0, count);
    squares.AddProducts(v, 1, v, 1, count);
  });
  if (f.n == 0) return FeatureMoments{CanonicalNaN(f.format), CanonicalNaN(f.format)};
  return FeatureMoments{sum.RoundQuotient(f.n, f.format), RoundVariance(sum, squares, f.n, f.format)};
}

FeatureSums ExactFeatureSums(const BatchNormFeatures& f, int64_t c, const Literal& x, const Literal& g,
                             double mean) {
  ExactSum sum, products;
  f.ForEachStrip(c, [&](int64_t at, int64_t stride, int64_t count) {
    constexpr double kOne = 1;
    double d[kStrip], v[kStrip];
    LoadStrip(f.type, x.data() + at, stride, count, d);
    LoadStrip(f.type, g.data() + at, stride, count, v);
    for (int64_t i = 0; i < count; ++i) d[i] = RealSubtract(d[i], mean, f.format);
    sum.AddProducts(v, 1, &kOne, 0, count);
    products.AddProducts(v, 1, d, 1, count);
  });
  return FeatureSums{sum.Round(f.format), products.Round(f.format)};
}

constinit const OpDef ops::BatchNormTraining = {
    .operands = Exactly(3),
    .types = kFloatTypes,
    .attributes = kBatchNormAttributes,
    .infer = InferBatchNormTraining,
    .eval = EvalBatchNormTraining,
};

constinit const OpDef ops::BatchNormInference = {
    .operands = Exactly(5),
    .types = kFloatTypes,
    .attributes = kBatchNormAttributes,
    .infer = InferBatchNormInference,
    .eval = EvalBatchNormInference,
};

constinit const OpDef ops::BatchNormGrad = {
    .operands = Exactly(5),
    .types = kFloatTypes,
    .attributes = kBatchNormAttributes,
    .infer = InferBatchNormGrad,
    .eval = EvalBatchNormGrad,
};

}  // namespace assay
