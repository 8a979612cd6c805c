// Statistics are feature_sums.h's; the elementwise part runs over pieces of the array, each of one feature or
// of neighbouring ones, in the element type where the machine has it.
#include "engines/native/linalg/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/parallel.h"
#include "engines/native/linalg/feature_sums.h"
#include "engines/native/sums/row_source.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar/real.h"

namespace assay::native {
namespace {

constexpr int64_t kFeaturesOfPart = 1 << 15;  // worth a task

// What the formulas need of each feature, in the type of the arithmetic.
template <class T>
struct FeatureValues {
  explicit FeatureValues(int64_t count) : a(count), b(count), c(count), d(count) {}
  void Set(int64_t feature, double va, double vb, double vc, double vd) {
    a[feature] = static_cast<T>(va), b[feature] = static_cast<T>(vb);
    c[feature] = static_cast<T>(vc), d[feature] = static_cast<T>(vd);
  }
  std::vector<T> a, b, c, d;
};

// fn(offset, stride, n, feature, step) over all elements: those of features feature, feature + step, ….
template <class Fn>
void ForEachPiece(const BatchNormFeatures& f, const Fn& fn) {
  const std::vector<int64_t> outer = OffsetsOf(f.others, 0);
  const bool columns = f.stride == 1 && f.run.strides[0] != 1;
  const int64_t turns = columns ? f.run.size : f.count, length = columns ? f.count : f.run.size;
  const int64_t turn_stride = columns ? f.run.strides[0] : f.stride;
  const int64_t stride = columns ? 1 : f.run.strides[0];
  const int64_t pieces = static_cast<int64_t>(outer.size()) * turns;
  f.context.parallel().For(pieces, kFeaturesOfPart / (length + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t turn = i % turns, base = outer[i / turns] + turn * turn_stride;
      for (int64_t done = 0; done < length; done += kStrip) {
        const int64_t n = std::min(kStrip, length - done);
        fn(base + done * stride, stride, n, columns ? done : turn, columns ? 1 : 0);
      }
    }
  });
}

// Arithmetic of a type: double with a rounding behind each operation, or the machine's own.
template <class T>
struct Arithmetic {
  explicit Arithmetic(const BatchNormFeatures& f) : type(f.type), format(f.format) {}
  void Load(const std::byte* src, int64_t stride, int64_t n, T* dst) const {
    if constexpr (std::is_same_v<T, double>) {
      LoadStrip(type, src, stride, n, dst);
    } else {
      for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i, src + i * stride, sizeof(T));
    }
  }
  void Round(T* v, int64_t n) const {
    if constexpr (std::is_same_v<T, double>) RoundStripToFormat(v, n, format);
  }
  void Store(T* v, int64_t n, std::byte* dst, int64_t stride) const {
    if constexpr (std::is_same_v<T, double>) return StoreStrip(type, v, n, dst, stride);
    const T nan = static_cast<T>(CanonicalNaN(format));
    for (int64_t i = 0; i < n; ++i) {
      const T value = std::isnan(v[i]) ? nan : v[i];
      std::memcpy(dst + i * stride, &value, sizeof(T));
    }
  }
  const ElementType type;
  const FloatFormat& format;
};

// y = RN(RN(RN(RN(x - a) * b) * c) + d)
template <class T>
void NormalizeAs(const BatchNormFeatures& f, const FeatureValues<T>& k, const Literal& x, std::byte* out) {
  const Arithmetic<T> arithmetic(f);
  const int64_t bytes = Bytes(f.type);
  ForEachPiece(f, [&](int64_t at, int64_t stride, int64_t n, int64_t c, int64_t step) {
    alignas(64) T v[kStrip];
    arithmetic.Load(x.data() + at * bytes, stride * bytes, n, v);
    for (int64_t i = 0; i < n; ++i) v[i] -= k.a[c + i * step];
    arithmetic.Round(v, n);
    for (int64_t i = 0; i < n; ++i) v[i] *= k.b[c + i * step];
    arithmetic.Round(v, n);
    for (int64_t i = 0; i < n; ++i) v[i] *= k.c[c + i * step];
    arithmetic.Round(v, n);
    for (int64_t i = 0; i < n; ++i) v[i] += k.d[c + i * step];
    arithmetic.Round(v, n);
    arithmetic.Store(v, n, out + at * bytes, stride * bytes);
  });
}

// RN(b * RN(RN(g - d) - RN(c * RN(x - a))))
template <class T>
void GradientAs(const BatchNormFeatures& f, const FeatureValues<T>& k, const Literal& x, const Literal& g,
                std::byte* out) {
  const Arithmetic<T> arithmetic(f);
  const int64_t bytes = Bytes(f.type);
  ForEachPiece(f, [&](int64_t at, int64_t stride, int64_t n, int64_t c, int64_t step) {
    alignas(64) T v[kStrip], w[kStrip];
    arithmetic.Load(x.data() + at * bytes, stride * bytes, n, v);
    arithmetic.Load(g.data() + at * bytes, stride * bytes, n, w);
    for (int64_t i = 0; i < n; ++i) v[i] -= k.a[c + i * step];
    arithmetic.Round(v, n);
    for (int64_t i = 0; i < n; ++i) v[i] *= k.c[c + i * step];
    arithmetic.Round(v, n);
    for (int64_t i = 0; i < n; ++i) w[i] -= k.d[c + i * step];
    arithmetic.Round(w, n);
    for (int64_t i = 0; i < n; ++i) v[i] = w[i] - v[i];
    arithmetic.Round(v, n);
    for (int64_t i = 0; i < n; ++i) v[i] *= k.b[c + i * step];
    arithmetic.Round(v, n);
    arithmetic.Store(v, n, out + at * bytes, stride * bytes);
  });
}

template <class Fn>
void WithArithmetic(ElementType type, const Fn& fn) {
  type == ElementType::kF32 ? fn(float()) : fn(double());
}

// y for the moments given.
void Normalize(const BatchNormFeatures& f, const Literal& x, const Literal& scale, const Literal& offset,
               const std::vector<FeatureMoments>& moments, Literal& y) {
  if (f.count == 0 || f.n == 0) return;
  std::byte* const out = y.MutableBytes().data();
  WithArithmetic(f.type, [&](auto zero) {
    FeatureValues<decltype(zero)> values(f.count);
    for (int64_t c = 0; c < f.count; ++c) {
      values.Set(c, moments[c].mean, InverseDeviation(moments[c].variance, f.epsilon, f.format),
                 f.Load(scale, c), f.Load(offset, c));
    }
    NormalizeAs(f, values, x, out);
  });
}

absl::StatusOr<Literal> RunTraining(EvalContext& context, const SumKernels& kernels,
                                    std::span<Literal> operands) {
  const Literal& x = operands[0];
  const BatchNormFeatures f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckBatchNormVectors(context, f.count, operands.subspan(1)));
  const bool zero = HasDynamicDimension(context.result_shape());
  ASSAY_ASSIGN_OR_RETURN(Literal y, context.NewResultElement(0, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal means, context.NewResultElement(1, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal variances, context.NewResultElement(2, zero));
  ASSAY_RETURN_IF_ERROR(context.Charge(2 * f.count * f.n));
  const std::vector<FeatureMoments> moments = NativeMoments(kernels, f, x);
  for (int64_t c = 0; c < f.count; ++c) {
    f.Store(means, c, moments[c].mean);
    f.Store(variances, c, moments[c].variance);
  }
  ASSAY_RETURN_IF_ERROR(context.Charge(0));
  Normalize(f, x, operands[1], operands[2], moments, y);
  SetRuntimeSizes(y, x.runtime_sizes());
  SetRuntimeSizes(means, {&f.count, 1});
  SetRuntimeSizes(variances, {&f.count, 1});
  return Literal::Tuple(context.shared_result_shape(),
                        {std::move(y), std::move(means), std::move(variances)});
}

absl::StatusOr<Literal> RunInference(EvalContext& context, const SumKernels&, std::span<Literal> operands) {
  const Literal& x = operands[0];
  const BatchNormFeatures f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckBatchNormVectors(context, f.count, operands.subspan(1)));
  ASSAY_ASSIGN_OR_RETURN(Literal y, context.NewResult(HasDynamicDimension(context.result_shape())));
  ASSAY_RETURN_IF_ERROR(context.Charge(f.count * f.n));
  std::vector<FeatureMoments> moments(f.count);
  for (int64_t c = 0; c < f.count; ++c) moments[c] = {f.Load(operands[3], c), f.Load(operands[4], c)};
  Normalize(f, x, operands[1], operands[2], moments, y);
  SetRuntimeSizes(y, x.runtime_sizes());
  return y;
}

absl::StatusOr<Literal> RunGrad(EvalContext& context, const SumKernels& kernels,
                                std::span<Literal> operands) {
  const Literal& x = operands[0];
  const Literal& g = operands[4];
  const BatchNormFeatures f(context, x);
  ASSAY_RETURN_IF_ERROR(CheckBatchNormVectors(context, f.count, operands.subspan(1, 3)));
  const Literal same[] = {x, g};
  ASSAY_RETURN_IF_ERROR(CheckSameRuntimeSizes(context, same));
  const bool zero = HasDynamicDimension(context.result_shape());
  ASSAY_ASSIGN_OR_RETURN(Literal grad_operand, context.NewResultElement(0, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal grad_scale, context.NewResultElement(1, zero));
  ASSAY_ASSIGN_OR_RETURN(Literal grad_offset, context.NewResultElement(2, zero));
  ASSAY_RETURN_IF_ERROR(context.Charge(2 * f.count * f.n));
  std::vector<double> means(f.count);
  for (int64_t c = 0; c < f.count; ++c) means[c] = f.Load(operands[2], c);
  const std::vector<FeatureSums> sums = NativeFeatureSums(kernels, f, x, g, means);
  std::byte* const out = grad_operand.MutableBytes().data();
  WithArithmetic(f.type, [&](auto type) {
    FeatureValues<decltype(type)> values(f.count);
    const double n = static_cast<double>(f.n);
    for (int64_t c = 0; c < f.count; ++c) {
      const double v = RealAdd(f.Load(operands[3], c), f.epsilon, f.format), r = RealRsqrt(v, f.format);
      f.Store(grad_offset, c, sums[c].gradient);
      f.Store(grad_scale, c, RealMultiply(sums[c].product, r, f.format));
      values.Set(c, means[c], RealMultiply(f.Load(operands[1], c), r, f.format),
                 RealDivide(RealDivide(sums[c].product, n, f.format), v, f.format),
                 RealDivide(sums[c].gradient, n, f.format));
    }
    if (f.count > 0 && f.n > 0) GradientAs(f, values, x, g, out);
  });
  ASSAY_RETURN_IF_ERROR(context.Charge(0));
  SetRuntimeSizes(grad_operand, x.runtime_sizes());
  SetRuntimeSizes(grad_scale, {&f.count, 1});
  SetRuntimeSizes(grad_offset, {&f.count, 1});
  return Literal::Tuple(context.shared_result_shape(),
                        {std::move(grad_operand), std::move(grad_scale), std::move(grad_offset)});
}

class BatchNorm final : public Kernel {
 public:
  using RunFn = absl::StatusOr<Literal> (*)(EvalContext&, const SumKernels&, std::span<Literal>);
  BatchNorm(RunFn run, const SumKernels& kernels) : run_(run), kernels_(kernels) {}
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return run_(context, kernels_, operands);
  }

 private:
  const RunFn run_;
  const SumKernels& kernels_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareBatchNorm(const StepView& step, Isa isa) {
  const Opcode opcode = step.instruction.opcode;
  const auto run = opcode == Opcode::kBatchNormTraining    ? RunTraining
                   : opcode == Opcode::kBatchNormInference ? RunInference
                                                           : RunGrad;
  return std::make_shared<BatchNorm>(run, SumKernelsOf(isa));
}

}  // namespace assay::native
