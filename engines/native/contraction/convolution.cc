// A convolution as a matrix product for each group: the left rows are the patches of the image, one for every
// batch entry and output position, the right rows the kernel's output features.
#include "engines/native/contraction/convolution.h"

#include <algorithm>
#include <utility>

#include "engines/native/contraction/bf16_product.h"
#include "engines/native/contraction/depthwise.h"
#include "engines/native/contraction/product_kernel.h"
#include "engines/native/walk/window_axis.h"
#include "evaluator/eval_context.h"
#include "evaluator/registry.h"

namespace assay::native {
namespace {

// Offset tables of more entries are not made: such windows are left to the reference.
constexpr int64_t kMaxTableEntries = 1 << 22;
constexpr int64_t kFewConvolutionProducts = 1 << 9;  // fewer take longer to pack than to add

struct Geometry {
  int64_t groups = 1, group_features = 0;                     // features of the kernel's rows of one group
  LoopDims group, batch, position, output, kernel, features;  // loops of array 0 image, 1 kernel, 2 result
  int64_t kernel_base = 0;                                    // where reversed dimensions start
};

// Where element K of a patch lies in one spatial dimension, for each output index: an offset into the image,
// or kGap.
constexpr int64_t kGap = INT64_MIN;
struct Axis {
  int64_t outputs = 0, window = 0;
  std::vector<int64_t> at;  // [output][window]
};

template <class T>
class Patches final : public RowSource<T> {
 public:
  Patches(const SumKernels& kernels, const Literal& image, const Geometry& geometry,
          const std::vector<Axis>& axes)
      : kernels_(kernels),
        type_(image.shape().element_type()),
        data_(image.data()),
        bytes_(Bytes(type_)),
        axes_(axes),
        group_at_(OffsetsOf(geometry.group, 0)),
        batch_at_(OffsetsOf(geometry.batch, 0)),
        features_(geometry.features.back()) {
    for (const Axis& axis : axes) {
      positions_ *= axis.outputs;
      window_ *= axis.window;
      gaps_ = gaps_ || std::find(axis.at.begin(), axis.at.end(), kGap) != axis.at.end();
    }
  }

  void Pack(int64_t batch, int64_t first, int64_t count, int width, T* panel) const override {
    constexpr int64_t kPiece = 128;  // with the piece of the panel, in the L1 cache
    alignas(64) T rows[kMaxPanelWidth][kPiece];
    std::vector<int64_t> starts(window_ * count);
    for (int64_t r = 0; r < count; ++r) Starts(first + r, starts.data() + r * window_);
    const int64_t stride = features_.strides[0];
    // Several window positions of few features are interleaved together.
    const int64_t together = std::max<int64_t>(kPiece / features_.size, 1);
    for (int64_t w = 0; w < window_; w += together) {
      const int64_t positions = std::min(together, window_ - w);
      for (int64_t done = 0; done < features_.size; done += kPiece) {
        const int64_t n = std::min(kPiece, features_.size - done);
        for (int64_t r = 0; r < count; ++r) {
          const int64_t base = group_at_[batch] + batch_at_[(first + r) / positions_] + done * stride;
          for (int64_t p = 0; p < positions; ++p) {
            const int64_t start = starts[r * window_ + w + p];
            LoadRun(start == kGap ? kGap : base + start, stride, n, rows[r] + p * n);
          }
        }
        Interleave(rows[0], kPiece, n * positions, count, width, panel);
        panel += n * positions * width;
      }
    }
  }

  void Rows(int64_t batch, int64_t first, int64_t count, T* rows, int64_t stride) const override {
    std::vector<int64_t> starts(window_);
    for (int64_t r = first; r < first + count; ++r, rows += stride) {
      Starts(r, starts.data());
      const int64_t base = group_at_[batch] + batch_at_[r / positions_];
      for (int64_t w = 0; w < window_; ++w) {
        LoadRun(starts[w] == kGap ? kGap : base + starts[w], features_.strides[0], features_.size,
                rows + w * features_.size);
      }
    }
  }
  bool ByRows() const override { return true; }

  bool has_gaps() const override { return gaps_; }
  bool IsTerm(int64_t /*batch*/, int64_t row, int64_t k) const override {
    int64_t position = row % positions_, w = k / features_.size;
    for (size_t d = axes_.size(); d-- > 0;) {
      const Axis& axis = axes_[d];
      if (axis.at[position % axis.outputs * axis.window + w % axis.window] == kGap) return false;
      position /= axis.outputs;
      w /= axis.window;
    }
    return true;
  }

 private:
  // The start of each window position's features relative to the batch entry, or kGap.
  void Starts(int64_t row, int64_t* starts) const {
    int64_t position = row % positions_, divisor = positions_;
    starts[0] = 0;
    int64_t filled = 1;
    for (const Axis& axis : axes_) {
      divisor /= axis.outputs;
      const int64_t* const at = axis.at.data() + position / divisor * axis.window;
      position %= divisor;
      for (int64_t i = filled; i-- > 0;) {
        const int64_t outer = starts[i];
        for (int64_t w = axis.window; w-- > 0;)
          starts[i * axis.window + w] = outer == kGap || at[w] == kGap ? kGap : outer + at[w];
      }
      filled *= axis.window;
    }
  }

  void LoadRun(int64_t start, int64_t stride, int64_t n, T* dst) const {
    if (start == kGap) {
      std::fill_n(dst, n, T(0));
    } else {
      WidenRun(kernels_, type_, data_ + start * bytes_, stride * bytes_, n, dst);
    }
  }

  const SumKernels& kernels_;
  const ElementType type_;
  const std::byte* const data_;
  const int64_t bytes_;
  const std::vector<Axis>& axes_;
  const std::vector<int64_t> group_at_, batch_at_;
  const LoopDim features_;
  int64_t positions_ = 1, window_ = 1;
  bool gaps_ = false;
};

Geometry GeometryOf(const AttributeMap& attributes, const Literal& lhs, const Literal& rhs,
                    const Literal& result) {
  const ConvDimensionNumbers& dn =
      *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
  const Window& window = attributes.WindowOf();
  const int64_t feature_groups = attributes.Int(Attr::kFeatureGroupCount, 1);
  const int64_t batch_groups = attributes.Int(Attr::kBatchGroupCount, 1);
  const DimVector x = StridesOf(lhs), k = StridesOf(rhs), y = StridesOf(result);
  Geometry g;
  g.groups = feature_groups * batch_groups;
  g.group_features = rhs.shape().size(dn.kernel_output_feature) / g.groups;
  const int64_t in_features = rhs.shape().size(dn.kernel_input_feature);
  const int64_t batches = lhs.shape().size(dn.input_batch) / batch_groups;
  const int64_t image_step =
      batch_groups > 1 ? batches * x[dn.input_batch] : in_features * x[dn.input_feature];
  g.group = {{g.groups,
              {image_step, g.group_features * k[dn.kernel_output_feature],
               g.group_features * y[dn.output_feature]}}};
  g.batch = {{batches, {x[dn.input_batch], 0, y[dn.output_batch]}}};
  g.output = {{g.group_features, {0, k[dn.kernel_output_feature], y[dn.output_feature]}}};
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t stride = k[dn.kernel_spatial[d]];
    if (window[d].reversal) g.kernel_base += (window[d].size - 1) * stride;
    g.kernel.push_back({window[d].size, {0, window[d].reversal ? -stride : stride, 0}});
    g.position.push_back({result.shape().size(dn.output_spatial[d]), {0, 0, y[dn.output_spatial[d]]}});
  }
  g.features = {{in_features, {x[dn.input_feature], k[dn.kernel_input_feature], 0}}};
  return g;
}

std::vector<Axis> AxesOf(const AttributeMap& attributes, const Literal& lhs, const Literal& result) {
  const ConvDimensionNumbers& dn =
      *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
  const Window& window = attributes.WindowOf();
  const DimVector strides = StridesOf(lhs);
  std::vector<Axis> axes;
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t outputs = result.shape().size(dn.output_spatial[d]);
    const WindowAxis meet(lhs.shape().size(dn.input_spatial[d]), window[d], outputs);
    Axis axis{outputs, window[d].size, std::vector<int64_t>(outputs * window[d].size, kGap)};
    for (int64_t o = 0; o < outputs; ++o) {
      const Progression p = meet.AtOutput(o);
      for (int64_t i = 0; i < p.count; ++i) {
        axis.at[o * axis.window + p.first + i * meet.window_step()] =
            (p.base + i * meet.base_step()) * strides[dn.input_spatial[d]];
      }
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

class ConvolutionKernel final : public Kernel {
 public:
  ConvolutionKernel(const ProductKind& kind, const Bf16Kernels* bf16) : kind_(kind), bf16_(bf16) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    if (kind_.bytes()) {
      ASSAY_RETURN_IF_ERROR(MultiplyPatches<uint8_t>(context, operands[0], operands[1], result));
    } else if (kind_.integers != nullptr) {
      ASSAY_RETURN_IF_ERROR(MultiplyPatches<int64_t>(context, operands[0], operands[1], result));
    } else {
      ASSAY_ASSIGN_OR_RETURN(const bool done, MultiplyBf16(context, operands[0], operands[1], result));
      if (!done) ASSAY_RETURN_IF_ERROR(MultiplyPatches<double>(context, operands[0], operands[1], result));
    }
    return result;
  }

 private:
  absl::StatusOr<bool> MultiplyBf16(EvalContext& context, const Literal& lhs, const Literal& rhs,
                                    Literal& result) const {
    bool done = false;
    if (bf16_ == nullptr) return done;
    ASSAY_RETURN_IF_ERROR(AsProduct<float>(
        context.attributes(), *kind_.sums, lhs, rhs, result,
        [&](const RowSource<float>& patches, const RowSource<float>& kernel, int64_t length,
            ResultLayout layout) -> absl::Status {
          if (!IsWorthBf16Product(std::ssize(layout.batch_at), std::ssize(layout.row_at),
                                  std::ssize(layout.column_at), length))
            return absl::OkStatus();
          ASSAY_ASSIGN_OR_RETURN(done, RunBf16Product(context, *bf16_, patches, kernel, length, layout));
          return absl::OkStatus();
        }));
    return done;
  }

  template <class T>
  absl::Status MultiplyPatches(EvalContext& context, const Literal& lhs, const Literal& rhs,
                               Literal& result) const {
    return AsProduct<T>(
        context.attributes(), *kind_.sums, lhs, rhs, result,
        [&](const RowSource<T>& patches, const RowSource<T>& kernel, int64_t length, ResultLayout layout) {
          return Multiply(context, kind_, patches, kernel, length, std::move(layout));
        });
  }

  const ProductKind kind_;
  const Bf16Kernels* const bf16_;
};

}  // namespace

template <class T>
absl::Status AsProduct(const AttributeMap& attributes, const SumKernels& kernels, const Literal& lhs,
                       const Literal& rhs, Literal& result, ConvolutionProductFn<T> multiply) {
  const Geometry geometry = GeometryOf(attributes, lhs, rhs, result);
  const std::vector<Axis> axes = AxesOf(attributes, lhs, result);
  const Patches<T> patches(kernels, lhs, geometry, axes);
  LoopDims rows = geometry.batch, elements = geometry.kernel;
  rows.insert(rows.end(), geometry.position.begin(), geometry.position.end());
  elements.push_back(geometry.features.back());
  const ElementType type = rhs.shape().element_type();
  const StridedRows<T> kernel(kernels, type, rhs.data() + geometry.kernel_base * Bytes(type),
                              {geometry.group, geometry.output, elements, 1});
  return multiply(patches, kernel, LoopCount(elements),
                  {result.MutableBytes().data(), result.shape().element_type(), OffsetsOf(geometry.group, 2),
                   OffsetsOf(rows, 2), OffsetsOf(geometry.output, 2)});
}

template absl::Status AsProduct(const AttributeMap&, const SumKernels&, const Literal&, const Literal&,
                                Literal&, ConvolutionProductFn<double>);
template absl::Status AsProduct(const AttributeMap&, const SumKernels&, const Literal&, const Literal&,
                                Literal&, ConvolutionProductFn<float>);
template absl::Status AsProduct(const AttributeMap&, const SumKernels&, const Literal&, const Literal&,
                                Literal&, ConvolutionProductFn<int64_t>);
template absl::Status AsProduct(const AttributeMap&, const SumKernels&, const Literal&, const Literal&,
                                Literal&, ConvolutionProductFn<uint8_t>);

// Not for few products, nor for a table of positions that is too large.
std::string_view WhyNotConvolution(const StepView& step) {
  const Shape &lhs = step.operand_shape(0), &rhs = step.operand_shape(1), &result = step.result_shape();
  for (const Shape* shape : {&lhs, &rhs, &result}) {
    if (shape->HasDynamic() || shape->HasUnbounded()) return "dynamic dimensions";
    if (shape->num_elements() == 0) return "no elements";
  }
  const AttributeMap& attributes = step.instruction.attributes;
  const ConvDimensionNumbers& dn =
      *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
  const int64_t length = rhs.num_elements() / rhs.size(dn.kernel_output_feature);
  const Window& window = attributes.WindowOf();
  for (size_t d = 0; d < window.size(); ++d) {
    if (result.size(dn.output_spatial[d]) > kMaxTableEntries / window[d].size) return "a large window";
  }
  if (length > kLongestRow) return "long sums";
  return result.num_elements() < kFewConvolutionProducts / length ? "too few products" : "";
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareConvolution(const StepView& step, Isa isa) {
  ASSAY_ASSIGN_OR_RETURN(const ProductKind kind, ProductKindOf(step.operand_shape(0).element_type(),
                                                               step.operand_shape(1).element_type(),
                                                               step.result_shape().element_type(), isa));
  if (kind.complex) return NotSupported({}, "complex convolution");
  if (const std::string_view why = WhyNotConvolution(step); !why.empty()) return NotSupported({}, why);
  if (auto depthwise = PrepareDepthwise(step, isa); depthwise.ok()) return depthwise;
  const Bf16Kernels* const bf16 =
      Bf16ProductKernels(step.operand_shape(0).element_type(), step.operand_shape(1).element_type(),
                         step.result_shape().element_type(), isa);
  return std::make_shared<ConvolutionKernel>(kind, bf16);
}

}  // namespace assay::native
