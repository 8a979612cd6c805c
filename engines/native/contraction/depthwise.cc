// Each output position is the sum, over the window offsets that meet the image (WindowTaps), of a row of
// image features times a row of weights, feature by feature: exact products in doubles, with the bound
// (n + 16) 2^-53 sum |x w| for n offsets (product_bounds.h). What it leaves open is summed by itself.
#include "engines/native/contraction/depthwise.h"

#include <utility>
#include <vector>

#include "base/parallel.h"
#include "engines/native/contraction/depthwise_kernels.h"
#include "engines/native/contraction/round_products.h"
#include "engines/native/sums/product_bounds.h"
#include "engines/native/sums/tiers.h"
#include "engines/native/walk/loops.h"
#include "engines/native/walk/window_taps.h"
#include "evaluator/eval_context.h"
#include "evaluator/runtime_sizes.h"

namespace assay::native {
namespace {

constexpr int64_t kMostTaps = 1 << 10;         // of a window; more are longer sums than one chain is good for
constexpr int64_t kProductsOfPart = 1 << 15;   // worth a task
constexpr int64_t kProductsOfRound = 1 << 30;  // between two charges

const ConvDimensionNumbers& DimensionNumbers(const AttributeMap& attributes) {
  return *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
}

WindowTaps TapsOf(const StepView& step) {
  const AttributeMap& attributes = step.instruction.attributes;
  const ConvDimensionNumbers& dn = DimensionNumbers(attributes);
  const Window& window = attributes.WindowOf();
  const DimVector image = RowMajorStrides(step.operand_shape(0).sizes()),
                  weights = RowMajorStrides(step.operand_shape(1).sizes());
  std::vector<WindowTaps::Dimension> dimensions;
  for (size_t d = 0; d < window.size(); ++d) {
    const WindowAxis axis(step.operand_shape(0).size(dn.input_spatial[d]), window[d],
                          step.result_shape().size(dn.output_spatial[d]));
    const int64_t stride = weights[dn.kernel_spatial[d]];
    dimensions.push_back({axis, image[dn.input_spatial[d]], window[d].reversal ? -stride : stride});
  }
  return WindowTaps(std::move(dimensions));
}

// Where the weights of window offset 0 lie: at the far end of dimensions that are reversed.
int64_t FirstWeight(const StepView& step) {
  const AttributeMap& attributes = step.instruction.attributes;
  const ConvDimensionNumbers& dn = DimensionNumbers(attributes);
  const Window& window = attributes.WindowOf();
  const DimVector strides = RowMajorStrides(step.operand_shape(1).sizes());
  int64_t first = 0;
  for (size_t d = 0; d < window.size(); ++d) {
    if (window[d].reversal) first += (window[d].size - 1) * strides[dn.kernel_spatial[d]];
  }
  return first;
}

class DepthwiseKernel final : public Kernel {
 public:
  DepthwiseKernel(const StepView& step, Isa isa)
      : kernels_(DepthwiseKernelsOf(isa)), taps_(TapsOf(step)), first_weight_(FirstWeight(step)) {
    const ConvDimensionNumbers& dn = DimensionNumbers(step.instruction.attributes);
    const Shape &image = step.operand_shape(0), &result = step.result_shape();
    const DimVector x = RowMajorStrides(image.sizes()), y = RowMajorStrides(result.sizes());
    features_ = result.size(dn.output_feature);
    batches_ = result.size(dn.output_batch);
    image_batch_ = x[dn.input_batch], result_batch_ = y[dn.output_batch];
    for (int64_t d : dn.output_spatial) rows_.push_back({result.size(d), {y[d]}});
    result_step_ = TakeInnermostLoop(rows_).strides[0];
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const Arrays arrays{reinterpret_cast<const float*>(operands[0].data()),
                        reinterpret_cast<const float*>(operands[1].data()) + first_weight_,
                        reinterpret_cast<float*>(result.MutableBytes().data())};
    const int64_t outputs = batches_ * taps_.rows() * taps_.length(), products = features_ * taps_.most();
    const int64_t most = kProductsOfRound / products + 1, grain = kProductsOfPart / products + 1;
    for (int64_t done = 0; done < outputs; done += most) {
      const int64_t some = std::min(most, outputs - done);
      context.parallel().For(some, grain, [&](int64_t begin, int64_t end) {
        Convolve(context.parallel(), arrays, done + begin, done + end);
      });
      ASSAY_RETURN_IF_ERROR(context.Charge(some * products));
    }
    return result;
  }
  std::string_view algorithm() const override { return "depthwise"; }

 private:
  struct Arrays {
    const float* image;
    const float* weights;  // of window offset 0
    float* result;
  };

  // Outputs [begin, end): position by position, the last spatial dimension fastest.
  void Convolve(const Parallel& parallel, const Arrays& arrays, int64_t begin, int64_t end) const {
    const FloatFormat& format = *Info(ElementType::kF32).format;
    TierCounts counts;
    std::vector<Tap> of_row, taps(static_cast<size_t>(taps_.most()));
    std::vector<int64_t> open(static_cast<size_t>(features_ + kernels_.lanes));
    const float* image = nullptr;
    float* row = nullptr;
    for (int64_t at = begin; at < end; ++at) {
      const int64_t l = at % taps_.length();
      if (at == begin || l == 0) {
        parallel.Poll();
        const int64_t r = at / taps_.length(), batch = r / taps_.rows();
        taps_.OfRow(r % taps_.rows(), of_row);
        image = arrays.image + batch * image_batch_;
        row = arrays.result + batch * result_batch_ + ResultRow(r % taps_.rows());
      }
      const int64_t n = taps_.OfOutput(of_row, l, taps.data());
      float* const out = row + l * result_step_;
      const int64_t opens =
          kernels_.f32(features_, taps.data(), n, image, arrays.weights, DoublesFactor(n), out, open.data());
      for (int64_t i = 0; i < opens; ++i) {
        const int64_t j = open[static_cast<size_t>(i)];
        const auto x = [&](int64_t k) -> double { return image[taps[static_cast<size_t>(k)].base + j]; };
        const auto w = [&](int64_t k) -> double {
          return arrays.weights[taps[static_cast<size_t>(k)].window + j];
        };
        double sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += x(k) * w(k);
        out[j] = static_cast<float>(RoundProducts(n, x, w, sum, format, counts));
      }
    }
    counts.sums += (end - begin) * features_;
    CountTiers(counts);
  }

  // Where a row of outputs starts in its batch entry.
  int64_t ResultRow(int64_t row) const {
    int64_t at = 0;
    for (size_t d = rows_.size(); d-- > 0;) {
      at += row % rows_[d].size * rows_[d].strides[0];
      row /= rows_[d].size;
    }
    return at;
  }

  const DepthwiseKernels& kernels_;
  const WindowTaps taps_;
  const int64_t first_weight_;
  int64_t features_ = 0, batches_ = 0;
  int64_t image_batch_ = 0, result_batch_ = 0;  // strides
  LoopDims rows_;                               // of the result's spatial dimensions but the last
  int64_t result_step_ = 0;                     // from one output of a row to the next
};

}  // namespace

std::string_view WhyNotDepthwise(const StepView& step, Isa isa) {
  const AttributeMap& attributes = step.instruction.attributes;
  const ConvDimensionNumbers& dn = DimensionNumbers(attributes);
  const Shape &image = step.operand_shape(0), &kernel = step.operand_shape(1), &result = step.result_shape();
  for (const Shape* shape : {&image, &kernel, &result}) {
    if (shape->element_type() != ElementType::kF32) return "other types than f32";
  }
  const int64_t features = image.size(dn.input_feature);
  if (attributes.Int(Attr::kFeatureGroupCount, 1) != features || result.size(dn.output_feature) != features)
    return "features that are not convolved one by one";
  if (dn.input_feature != image.rank() - 1 || dn.kernel_output_feature != kernel.rank() - 1 ||
      dn.output_feature != result.rank() - 1)
    return "features that are not the minor dimension";
  if (features < DepthwiseKernelsOf(isa).lanes) return "features that fill no vector";
  const Window& window = attributes.WindowOf();
  if (window.empty()) return "no window";
  int64_t taps = 1;
  for (const WindowDimension& d : window) {
    if (d.size > kMostTaps / taps) return "a large window";
    taps *= d.size;
  }
  return "";
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDepthwise(const StepView& step, Isa isa) {
  if (const std::string_view why = WhyNotDepthwise(step, isa); !why.empty()) return NotSupported({}, why);
  return std::make_shared<DepthwiseKernel>(step, isa);
}

}  // namespace assay::native
