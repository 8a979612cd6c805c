// batch-norm-training, -inference and -grad (docs/spec/operations-linalg.md, "Normalisation"). Each RN of the
// formulas is one rounding to the element type; sums, means and variances are exact until then.
#include "evaluator/ops/reduction/batch_norm.h"

#include "base/checked.h"
#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/op.h"
#include "evaluator/open_sizes.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar/exact_sum.h"
#include "evaluator/scalar/real.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

absl::Status InvalidBatchNorm(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("BN-C{}: {}", c, message));
}

// BN-C1 to BN-C5: operands 1 .. vectors are of size C = size(operand 0, feature_index).
absl::Status CheckBatchNorm(const InferContext& context, int64_t vectors) {
  const Shape& x = context.operand(0);
  const int64_t feature = context.attributes().Int(Attr::kFeatureIndex);
  if (!x.IsArray() || feature < 0 || feature >= x.rank()) {
    return InvalidBatchNorm(
        context, 1, fmt::format("feature_index {} is out of range for operand {}", feature, x.ToString()));
  }
  if (!IsFloat(x.element_type())) {
    return InvalidBatchNorm(context, 2,
                            fmt::format("the operand is {}, wanted floating elements", x.ToString()));
  }
  for (int64_t i = 1; i <= vectors; ++i) {
    const Shape& v = context.operand(i);
    if (v.IsArray() && v.rank() == 1 && v.size(0) == x.size(feature) && v.element_type() == x.element_type())
      continue;
    return InvalidBatchNorm(context, 3,
                            fmt::format("operand {} is {}, wanted {}[{}]", i, v.ToString(),
                                        Name(x.element_type()), x.size(feature)));
  }
  const double epsilon = context.attributes().Float(Attr::kEpsilon);
  if (!(epsilon >= 0))
    return InvalidBatchNorm(context, 5, fmt::format("epsilon is {}, wanted at least 0", epsilon));
  return absl::OkStatus();
}

Shape FeatureShape(const Shape& x, int64_t feature) {
  const int64_t size = x.size(feature);
  Shape result = Shape::ArrayOrDie(x.element_type(), {&size, 1});
  result.set_dynamic(0, x.is_dynamic(feature));
  return result;
}

// The elements of an array by features.
class Features {
 public:
  Features(EvalContext& context, const Literal& x)
      : type(x.shape().element_type()),
        format(*Info(type).format),
        epsilon(BatchNormEpsilon(context, format)),
        feature_(context.attributes().Int(Attr::kFeatureIndex)),
        others_(x.runtime_sizes()),
        meter_(context) {
    count = others_[feature_];
    others_[feature_] = 1;
    n = CheckedProduct(others_).value_or(0);
  }

  // fn(i) for every index i of the array with i[feature_index] = c.
  template <typename Fn>
  absl::Status ForEach(int64_t c, Fn fn) {
    for (IndexWalk i(others_); !i.done(); i.Next()) {
      DimVector index(i.index().begin(), i.index().end());
      index[feature_] = c;
      fn(index);
      ASSAY_RETURN_IF_ERROR(meter_.Add(1));
    }
    return meter_.Flush();
  }

  double Load(const ArrayView& array, Index i) const {
    double value;
    LoadStrip(type, array.At(i), 0, 1, &value);
    return value;
  }
  void Store(double value, Index i, const MutableArrayView& array) const {
    StoreStrip(type, &value, 1, array.At(i), 0);
  }
  // Element c of a vector.
  double Load(const Literal& vector, int64_t c) const { return Load(ArrayView(vector), {&c, 1}); }
  void Store(double value, int64_t c, Literal& vector) const {
    Store(value, {&c, 1}, MutableArrayView(vector));
  }

  const ElementType type;
  const FloatFormat& format;
  const double epsilon;
  int64_t count, n = 0;  // features; elements of each

 private:
  const int64_t feature_;
  DimVector others_;  // sizes, 1 along feature_index
  Meter meter_;
};

// y = RN(RN(RN(RN(x - mean) * r) * scale) + offset)
absl::Status Normalize(Features& f, int64_t c, const Literal& x, Literal& y, double mean, double variance,
                       double scale, double offset) {
  const double r = InverseDeviation(variance, f.epsilon, f.format);
  const ArrayView in(x);
  const MutableArrayView out(y);
  return f.ForEach(c, [&](Index i) {
    const double normal = RealMultiply(RealSubtract(f.Load(in, i), mean, f.format), r, f.format);
    f.Store(RealAdd(RealMultiply(normal, scale, f.format), offset, f.format), i, out);
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

absl::StatusOr<FeatureMoments> MomentsOf(Features& f, int64_t c, const Literal& x) {
  ExactSum sum, squares;
  const ArrayView in(x);
  ASSAY_RETURN_IF_ERROR(f.ForEach(c, [&](Index i) {
    const double v = f.Load(in, i);
    sum.Add(v);
    squares.AddProduct(v, v);
  }));
  if (f.n == 0) return FeatureMoments{CanonicalNaN(f.format), CanonicalNaN(f.format)};
  return FeatureMoments{sum.RoundQuotient(f.n, f.format), RoundVariance(sum, squares, f.n, f.format)};
}

absl::StatusOr<Literal> EvalBatchNormTraining(EvalContext& context, std::span<Literal> operands) {
  const Literal& x = operands[0];
  Features f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckBatchNormVectors(context, f.count, operands.subspan(1)));
  const bool zero = HasDynamicDimension(context.result_shape());
  ASSAY_ASSIGN_OR_RETURN(Literal y, context.NewResultElement(0, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal means, context.NewResultElement(1, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal variances, context.NewResultElement(2, zero));
  for (int64_t c = 0; c < f.count; ++c) {
    ASSAY_ASSIGN_OR_RETURN(const FeatureMoments moments, MomentsOf(f, c, x));
    f.Store(moments.mean, c, means);
    f.Store(moments.variance, c, variances);
    ASSAY_RETURN_IF_ERROR(Normalize(f, c, x, y, moments.mean, moments.variance, f.Load(operands[1], c),
                                    f.Load(operands[2], c)));
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
  Features f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckBatchNormVectors(context, f.count, operands.subspan(1)));
  ASSAY_ASSIGN_OR_RETURN(Literal y, context.NewResult(HasDynamicDimension(context.result_shape())));
  for (int64_t c = 0; c < f.count; ++c) {
    ASSAY_RETURN_IF_ERROR(Normalize(f, c, x, y, f.Load(operands[3], c), f.Load(operands[4], c),
                                    f.Load(operands[1], c), f.Load(operands[2], c)));
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
    return InvalidBatchNorm(context, 4,
                            fmt::format("grad_output is {}, wanted {}", gradient.ToString(), x.ToString()));
  }
  const Shape vector = FeatureShape(x, context.attributes().Int(Attr::kFeatureIndex));
  return Shape::Tuple({x, vector, vector});
}

absl::StatusOr<FeatureSums> SumsOf(Features& f, int64_t c, const Literal& x, const Literal& g, double mean) {
  ExactSum sum, products;
  const ArrayView in(x), gradient(g);
  ASSAY_RETURN_IF_ERROR(f.ForEach(c, [&](Index i) {
    const double v = f.Load(gradient, i);
    sum.Add(v);
    products.AddProduct(v, RealSubtract(f.Load(in, i), mean, f.format));
  }));
  return FeatureSums{sum.Round(f.format), products.Round(f.format)};
}

absl::Status GradOperand(Features& f, int64_t c, const Literal& x, const Literal& g, Literal& grad_operand,
                         double mean, double factor, double q, double m) {
  const ArrayView in(x), gradient(g);
  const MutableArrayView out(grad_operand);
  return f.ForEach(c, [&](Index i) {
    const double d = RealSubtract(f.Load(in, i), mean, f.format);
    const double v = RealSubtract(f.Load(gradient, i), m, f.format);
    f.Store(RealMultiply(factor, RealSubtract(v, RealMultiply(q, d, f.format), f.format), f.format), i, out);
  });
}

absl::StatusOr<Literal> EvalBatchNormGrad(EvalContext& context, std::span<Literal> operands) {
  const Literal& x = operands[0];
  const Literal& g = operands[4];
  Features f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckBatchNormVectors(context, f.count, operands.subspan(1, 3)));
  const Literal same[] = {x, g};
  ASSAY_RETURN_IF_ERROR(CheckSameRuntimeSizes(context, same));
  const bool zero = HasDynamicDimension(context.result_shape());
  ASSAY_ASSIGN_OR_RETURN(Literal grad_operand, context.NewResultElement(0, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal grad_scale, context.NewResultElement(1, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal grad_offset, context.NewResultElement(2, zero));
  for (int64_t c = 0; c < f.count; ++c) {
    const double mean = f.Load(operands[2], c);
    ASSAY_ASSIGN_OR_RETURN(const FeatureSums sums, SumsOf(f, c, x, g, mean));
    const double v = RealAdd(f.Load(operands[3], c), f.epsilon, f.format);
    const double r = RealRsqrt(v, f.format);
    f.Store(sums.gradient, c, grad_offset);
    f.Store(RealMultiply(sums.product, r, f.format), c, grad_scale);
    // n is exact as a double: an array has fewer than 2^53 elements. RN(S / n) rounds once, whatever n.
    const double n = static_cast<double>(f.n);
    const double q = RealDivide(RealDivide(sums.product, n, f.format), v, f.format);
    const double m = RealDivide(sums.gradient, n, f.format);
    const double factor = RealMultiply(f.Load(operands[1], c), r, f.format);
    ASSAY_RETURN_IF_ERROR(GradOperand(f, c, x, g, grad_operand, mean, factor, q, m));
  }
  SetRuntimeSizes(grad_operand, x.runtime_sizes());
  SetRuntimeSizes(grad_scale, {&f.count, 1});
  SetRuntimeSizes(grad_offset, {&f.count, 1});
  return Literal::Tuple(context.shared_result_shape(),
                        {std::move(grad_operand), std::move(grad_scale), std::move(grad_offset)});
}

constexpr AttrSpec kBatchNormAttributes[] = {Required(Attr::kEpsilon), Required(Attr::kFeatureIndex)};

// Means are over the sizes of operand 0, which its gradient may say; inference computes element by element.
absl::Status OpenSizesOfBatchNorm(OpenSizes& sizes) {
  const int64_t feature = sizes.context().attributes().Int(Attr::kFeatureIndex);
  const bool is_gradient = sizes.context().instruction().opcode == Opcode::kBatchNormGrad;
  const bool is_inference = sizes.context().instruction().opcode == Opcode::kBatchNormInference;
  for (int64_t d = 0; d < sizes.shape(0).rank(); ++d) {
    std::vector<OperandDimension> met = {{0, d}};
    if (is_gradient) met.push_back({4, d});
    for (int64_t i = 1; d == feature && i < (is_gradient ? 4 : sizes.num_operands()); ++i)
      met.push_back({i, 0});
    if (!sizes.Meet(met)) continue;
    if (!is_inference || d == feature) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    sizes.Open(d);
  }
  return absl::OkStatus();
}

}  // namespace

double BatchNormEpsilon(const EvalContext& context, const FloatFormat& format) {
  return RoundToFormat(static_cast<float>(context.attributes().Float(Attr::kEpsilon)), format);
}

double InverseDeviation(double variance, double epsilon, const FloatFormat& format) {
  return RealRsqrt(RealAdd(variance, epsilon, format), format);
}

absl::Status CheckBatchNormVectors(const EvalContext& context, int64_t features,
                                   std::span<const Literal> vectors) {
  for (const Literal& vector : vectors) {
    if (vector.dynamic_size(0) == features) continue;
    return EvalError(
        context.instruction().position,
        fmt::format("DYN-4: {}: {}, but an operand has run-time size {}", Name(context.instruction().opcode),
                    Counted(features, "feature"), vector.dynamic_size(0)));
  }
  return absl::OkStatus();
}

constinit const OpDef ops::BatchNormTraining = {
    .operands = Exactly(3),
    .types = kFloatTypes,
    .attributes = kBatchNormAttributes,
    .infer = InferBatchNormTraining,
    .eval = EvalBatchNormTraining,
    .work = work::Move,
    .bound = bound::BatchNormTraining,
    .audit = audit::Computes,
    .open_sizes = OpenSizesOfBatchNorm,
};

constinit const OpDef ops::BatchNormInference = {
    .operands = Exactly(5),
    .types = kFloatTypes,
    .attributes = kBatchNormAttributes,
    .infer = InferBatchNormInference,
    .eval = EvalBatchNormInference,
    .work = work::Move,
    .bound = bound::BatchNormInference,
    .audit = audit::Computes,
    .open_sizes = OpenSizesOfBatchNorm,
};

constinit const OpDef ops::BatchNormGrad = {
    .operands = Exactly(5),
    .types = kFloatTypes,
    .attributes = kBatchNormAttributes,
    .infer = InferBatchNormGrad,
    .eval = EvalBatchNormGrad,
    .work = work::Move,
    .bound = bound::BatchNormGrad,
    .audit = audit::Computes,
    .open_sizes = OpenSizesOfBatchNorm,
};

}  // namespace assay
