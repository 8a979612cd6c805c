// convolution (spec/operations-linalg.md, Conv to ConvGeneralDilated). Window arithmetic is window_axis.h,
// sums of products contraction.h.

#include <algorithm>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/ops/contraction.h"
#include "evaluator/ops/loops.h"
#include "evaluator/ops/window_axis.h"
#include "fmt/format.h"

namespace assay {
namespace {

// Fi = lhs features / fgc, Fo = out features / fgc, Bo = lhs batch / bgc, Po = out features / bgc:
//   out[b, o, X] = sum over i in [0, Fi) and K in the kernel's space of
//       lhs[b + (o div Po) * Bo, (o div Fo) * Fi + i, q] * rhs[o, i, reversed ? size - 1 - K : K]
//   p = X * stride + K * rhs_dilation - low;  used iff p >= 0, p mod lhs_dilation == 0,
//   q = p div lhs_dilation < size
//
// Decision: convolution-padding-contributes-nothing

constexpr std::string_view kOp = "ConvGeneralDilated";

absl::Status Invalid(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("{}-C{}: {}", kOp, c, message));
}

const ConvDimensionNumbers& DimensionNumbers(const AttributeMap& attributes) {
  return *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
}

// C2: the three roles of an operand are a permutation of 0..n+1.
absl::Status CheckRoles(const InferContext& context, std::string_view name, int64_t a, int64_t b,
                        const Ints& spatial) {
  std::vector<bool> seen(spatial.size() + 2);
  DimVector dims = {a, b};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  for (int64_t d : dims) {
    if (d >= 0 && d < static_cast<int64_t>(seen.size()) && !seen[d]) {
      seen[d] = true;
      continue;
    }
    return Invalid(context, 2,
                   fmt::format("dimension numbers of {} are {{{}}}, wanted a permutation of 0..{}", name,
                               fmt::join(dims, ","), seen.size() - 1));
  }
  return absl::OkStatus();
}

// C1 and C2.
absl::Status CheckDimensionNumbers(const InferContext& context) {
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const size_t n = dn.input_spatial.size();
  for (int64_t i = 0; i < 2; ++i) {
    const Shape& operand = context.operand(i);
    if (operand.IsArray() && operand.rank() == static_cast<int64_t>(n) + 2) continue;
    return Invalid(context, 1,
                   fmt::format("operand {} is {}, wanted an array of rank {}", i, operand.ToString(), n + 2));
  }
  if (dn.kernel_spatial.size() != n || dn.output_spatial.size() != n) {
    return Invalid(context, 2,
                   fmt::format("dim_labels have {}, {} and {} spatial dimensions, wanted as many in each", n,
                               dn.kernel_spatial.size(), dn.output_spatial.size()));
  }
  ASSAY_RETURN_IF_ERROR(CheckRoles(context, "lhs", dn.input_batch, dn.input_feature, dn.input_spatial));
  ASSAY_RETURN_IF_ERROR(
      CheckRoles(context, "rhs", dn.kernel_output_feature, dn.kernel_input_feature, dn.kernel_spatial));
  return CheckRoles(context, "the result", dn.output_batch, dn.output_feature, dn.output_spatial);
}

struct Groups {
  int64_t features = 1, batches = 1;
};
Groups GroupsOf(const AttributeMap& attributes) {
  return {attributes.Int(Attr::kFeatureGroupCount, 1), attributes.Int(Attr::kBatchGroupCount, 1)};
}

// C4 to C7.
absl::Status CheckGroups(const InferContext& context) {
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const Groups groups = GroupsOf(context.attributes());
  if (groups.features < 1 || groups.batches < 1 || (groups.features > 1 && groups.batches > 1)) {
    return Invalid(context, 4,
                   fmt::format("feature_group_count is {} and batch_group_count {}, wanted at least 1 and "
                               "not both above",
                               groups.features, groups.batches));
  }
  const int64_t in = context.operand(0).size(dn.input_feature);
  const int64_t kernel_in = context.operand(1).size(dn.kernel_input_feature);
  if (in % groups.features != 0 || in / groups.features != kernel_in) {
    return Invalid(context, 5,
                   fmt::format("lhs has {} features, rhs {} input features, feature_group_count is {}", in,
                               kernel_in, groups.features));
  }
  const int64_t out = context.operand(1).size(dn.kernel_output_feature);
  if (out % groups.features != 0 || out % groups.batches != 0) {
    return Invalid(context, 6,
                   fmt::format("rhs has {} output features, wanted a multiple of {}", out,
                               std::max(groups.features, groups.batches)));
  }
  const int64_t batch = context.operand(0).size(dn.input_batch);
  if (batch % groups.batches != 0) {
    return Invalid(context, 7,
                   fmt::format("lhs has batch size {}, wanted a multiple of batch_group_count {}", batch,
                               groups.batches));
  }
  return absl::OkStatus();
}

DimVector SpatialSizes(std::span<const int64_t> sizes, const Ints& spatial) {
  DimVector result;
  for (int64_t d : spatial) result.push_back(sizes[d]);
  return result;
}

// C3. Returns the spatial sizes of the result.
absl::StatusOr<DimVector> CheckWindow(const InferContext& context) {
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const Window& window = context.attributes().WindowOf();
  const DimVector sizes = SpatialSizes(context.operand(0).sizes(), dn.input_spatial);
  if (window.size() != sizes.size()) {
    return Invalid(context, 3,
                   fmt::format("the window has {} dimensions, wanted {}", window.size(), sizes.size()));
  }
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t kernel = context.operand(1).size(dn.kernel_spatial[d]);
    if (window[d].size == kernel) continue;
    return Invalid(context, 3,
                   fmt::format("window size {} is {}, the kernel's is {}", d, window[d].size, kernel));
  }
  return WindowOutputSizes(context, kOp, 3, sizes, window);
}

absl::StatusOr<Shape> InferConvolution(const InferContext& context) {
  ASSAY_RETURN_IF_ERROR(CheckDimensionNumbers(context));
  ASSAY_RETURN_IF_ERROR(CheckPrecision(context, 2, 2));
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const Shape& lhs = context.operand(0);
  const Shape& rhs = context.operand(1);
  ASSAY_ASSIGN_OR_RETURN(const DimVector spatial, CheckWindow(context));
  ASSAY_RETURN_IF_ERROR(CheckGroups(context));
  ASSAY_ASSIGN_OR_RETURN(const ElementType type,
                         ContractionResultType(context, lhs.element_type(), rhs.element_type()));
  DimVector sizes(spatial.size() + 2);
  sizes[dn.output_batch] = lhs.size(dn.input_batch) / GroupsOf(context.attributes()).batches;
  sizes[dn.output_feature] = rhs.size(dn.kernel_output_feature);
  for (size_t d = 0; d < spatial.size(); ++d) sizes[dn.output_spatial[d]] = spatial[d];
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, sizes));
  result.set_dynamic(dn.output_batch, lhs.is_dynamic(dn.input_batch));
  result.set_dynamic(dn.output_feature, rhs.is_dynamic(dn.kernel_output_feature));
  for (size_t d = 0; d < spatial.size(); ++d) {
    result.set_dynamic(dn.output_spatial[d], lhs.is_dynamic(dn.input_spatial[d]));
  }
  return result;
}

// An array as the convolution sees it: batch/feature (kernel: output/input feature) and spatial dimensions.
struct ConvArray {
  int64_t outer_size = 0, outer_stride = 0;  // batch; of the kernel: output feature
  int64_t inner_size = 0, inner_stride = 0;  // feature; of the kernel: input feature
  DimVector spatial_sizes, spatial_strides;
};
ConvArray ArrayOf(const Literal& literal, int64_t outer, int64_t inner, const Ints& spatial) {
  const DimVector strides = StridesOf(literal);
  const DimVector sizes = literal.runtime_sizes();
  return {sizes[outer],
          strides[outer],
          sizes[inner],
          strides[inner],
          SpatialSizes(sizes, spatial),
          SpatialSizes(strides, spatial)};
}

// One evaluation. The operands are in panels, in their own element order, but for the kernel: its slots are
// [output feature][K, row-major][input feature], reversed dimensions already turned. For each output
// position X the contributing K are a box, and a patch of lhs is the box times Fi features.
class Convolver {
 public:
  Convolver(EvalContext& context, const Literal& lhs, const Literal& rhs, Literal& result,
            const DimVector& out_spatial)
      : meter_(context),
        dn_(DimensionNumbers(context.attributes())),
        groups_(GroupsOf(context.attributes())),
        contraction_(lhs.shape().element_type(), rhs.shape().element_type(), result.shape().element_type()),
        lhs_(ArrayOf(lhs, dn_.input_batch, dn_.input_feature, dn_.input_spatial)),
        rhs_(ArrayOf(rhs, dn_.kernel_output_feature, dn_.kernel_input_feature, dn_.kernel_spatial)),
        out_(ArrayOf(result, dn_.output_batch, dn_.output_feature, dn_.output_spatial)),
        out_spatial_(out_spatial),
        image_(contraction_, Side::kLhs),
        kernel_(contraction_, Side::kRhs),
        patch_(contraction_, Side::kLhs),
        cut_kernel_(contraction_, Side::kRhs),
        sum_(contraction_),
        dst_(result.MutableBytes().data()),
        dst_bytes_(Bytes(result.shape().element_type())) {
    const Window& window = context.attributes().WindowOf();
    for (size_t d = 0; d < window.size(); ++d) {
      axes_.emplace_back(lhs_.spatial_sizes[d], window[d], out_spatial[d]);
      kernel_positions_ *= window[d].size;
    }
    LoadImage(lhs);
    LoadKernel(rhs, window);
  }

  absl::Status Run() {
    if (lhs_.outer_size / groups_.batches == 0 || rhs_.outer_size == 0) return absl::OkStatus();
    LoopDims positions;
    for (size_t d = 0; d < axes_.size(); ++d)
      positions.push_back({out_spatial_[d], {0, 0, out_.spatial_strides[d]}});
    for (Loop x(positions); !x.done(); x.Next()) ASSAY_RETURN_IF_ERROR(Position(x));
    return meter_.Flush();
  }

 private:
  void LoadImage(const Literal& lhs) {
    const int64_t bytes = Bytes(lhs.shape().element_type());
    image_.Resize(lhs.shape().num_elements());
    image_.Load(0, lhs.data(), bytes, lhs.shape().num_elements());
  }

  void LoadKernel(const Literal& rhs, const Window& window) {
    const int64_t bytes = Bytes(rhs.shape().element_type());
    LoopDims loops = {{rhs_.outer_size, {rhs_.outer_stride}}};
    int64_t base = 0;
    for (size_t d = 0; d < window.size(); ++d) {
      const int64_t stride = rhs_.spatial_strides[d];
      if (window[d].reversal) base += (window[d].size - 1) * stride;
      loops.push_back({window[d].size, {window[d].reversal ? -stride : stride}});
    }
    loops.push_back({rhs_.inner_size, {rhs_.inner_stride}});
    kernel_.Resize(LoopCount(loops));
    loops = MergeLoops(loops);
    const LoopDim run = TakeInnermostLoop(loops);
    int64_t at = 0;
    for (Loop k(loops); !k.done(); k.Next(), at += run.size) {
      kernel_.Load(at, rhs.data() + (base + k.offset(0)) * bytes, run.strides[0] * bytes, run.size);
    }
  }

  // All result elements at one output position.
  absl::Status Position(const Loop& x) {
    box_.clear();
    image_base_ = 0;
    int64_t kernel_base = 0, kernel_stride = rhs_.inner_size;
    box_count_ = 1;
    for (size_t i = axes_.size(); i-- > 0;) {
      const Progression k = axes_[i].AtOutput(x.index(static_cast<int64_t>(i)));
      image_base_ += k.base * lhs_.spatial_strides[i];
      kernel_base += k.first * kernel_stride;
      box_count_ *= k.count;
      box_.push_back(
          {k.count,
           {axes_[i].base_step() * lhs_.spatial_strides[i], axes_[i].window_step() * kernel_stride}});
      kernel_stride *= axes_[i].window_size();
    }
    std::reverse(box_.begin(), box_.end());
    const bool whole = box_count_ == kernel_positions_;
    const int64_t length = box_count_ * rhs_.inner_size;
    if (!whole) CutKernel(kernel_base, length);
    const Panel& kernel = whole ? kernel_ : cut_kernel_;
    patch_.Resize(length);
    // Result features that share a patch: those of one feature group, or of one batch group.
    const int64_t shared = rhs_.outer_size / (groups_.features * groups_.batches);
    const int64_t batches = lhs_.outer_size / groups_.batches;
    for (int64_t b = 0; b < batches; ++b) {
      for (int64_t first = 0; first < rhs_.outer_size; first += shared) {
        const int64_t group = first / shared;
        const int64_t image_batch = groups_.batches > 1 ? b + group * batches : b;
        const int64_t image_feature = groups_.features > 1 ? group * rhs_.inner_size : 0;
        GatherPatch(image_batch * lhs_.outer_stride + image_feature * lhs_.inner_stride);
        ASSAY_RETURN_IF_ERROR(meter_.Add(length));
        for (int64_t o = first; o < first + shared; ++o) {
          sum_.Clear();
          sum_.Add(patch_, 0, kernel, o * length, length);
          sum_.Store(dst_ + (b * out_.outer_stride + o * out_.inner_stride + x.offset(2)) * dst_bytes_);
          ASSAY_RETURN_IF_ERROR(meter_.Add(length + 1));
        }
      }
    }
    return absl::OkStatus();
  }

  // The kernel's part that meets the image at this position, for every output feature.
  void CutKernel(int64_t kernel_base, int64_t length) {
    cut_kernel_.Resize(rhs_.outer_size * length);
    const int64_t feature_slots = kernel_positions_ * rhs_.inner_size;
    int64_t at = 0;
    for (int64_t o = 0; o < rhs_.outer_size; ++o) {
      for (Loop k(box_); !k.done(); k.Next(), at += rhs_.inner_size) {
        cut_kernel_.Copy(at, kernel_, o * feature_slots + kernel_base + k.offset(1), 1, rhs_.inner_size);
      }
    }
  }

  void GatherPatch(int64_t image_start) {
    int64_t at = 0;
    for (Loop k(box_); !k.done(); k.Next(), at += rhs_.inner_size) {
      patch_.Copy(at, image_, image_start + image_base_ + k.offset(0), lhs_.inner_stride, rhs_.inner_size);
    }
  }

  Meter meter_;
  const ConvDimensionNumbers& dn_;
  const Groups groups_;
  const Contraction contraction_;
  const ConvArray lhs_, rhs_, out_;  // out_: outer is batch, inner the output feature
  const DimVector out_spatial_;
  std::vector<WindowAxis> axes_;
  int64_t kernel_positions_ = 1;
  Panel image_, kernel_, patch_, cut_kernel_;
  ProductSum sum_;
  std::byte* const dst_;
  const int64_t dst_bytes_;
  // Of the current position: contributing K with offsets into the image (0) and the kernel panel (1).
  LoopDims box_;
  int64_t box_count_ = 0, image_base_ = 0;
};

absl::StatusOr<Literal> EvalConvolution(EvalContext& context, std::span<Literal> operands) {
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const Groups groups = GroupsOf(context.attributes());
  const DimVector sizes = operands[0].runtime_sizes(), kernel_sizes = operands[1].runtime_sizes();
  if (sizes[dn.input_batch] % groups.batches != 0 ||
      sizes[dn.input_feature] != kernel_sizes[dn.kernel_input_feature] * groups.features ||
      SpatialSizes(kernel_sizes, dn.kernel_spatial) !=
          SpatialSizes(operands[1].shape().sizes(), dn.kernel_spatial)) {
    return EvalError(context.instruction().position,
                     fmt::format("DYN-3: convolution: run-time sizes of lhs [{}] and rhs [{}] do not fit",
                                 fmt::join(sizes, ","), fmt::join(kernel_sizes, ",")));
  }
  ASSAY_ASSIGN_OR_RETURN(const DimVector spatial,
                         RuntimeOutputSizes(context.instruction(), SpatialSizes(sizes, dn.input_spatial),
                                            context.attributes().WindowOf()));
  // Without input features every sum is empty: +0.
  const bool empty_sums = kernel_sizes[dn.kernel_input_feature] == 0;
  ASSAY_ASSIGN_OR_RETURN(Literal result,
                         context.NewResult(empty_sums || context.result_shape().HasDynamic()));
  DimVector result_sizes(sizes.size());
  result_sizes[dn.output_batch] = sizes[dn.input_batch] / groups.batches;
  result_sizes[dn.output_feature] = kernel_sizes[dn.kernel_output_feature];
  for (size_t d = 0; d < spatial.size(); ++d) result_sizes[dn.output_spatial[d]] = spatial[d];
  if (!empty_sums && std::find(result_sizes.begin(), result_sizes.end(), 0) == result_sizes.end()) {
    ASSAY_ASSIGN_OR_RETURN(const Literal image,
                           ReserveScratch(context, operands[0].shape().num_elements(), 24));
    ASSAY_ASSIGN_OR_RETURN(const Literal kernel,
                           ReserveScratch(context, operands[1].shape().num_elements(), 32));
    ASSAY_RETURN_IF_ERROR(Convolver(context, operands[0], operands[1], result, spatial).Run());
  }
  SetRuntimeSizes(result, result_sizes);
  return result;
}

constexpr AttrSpec kConvolutionAttributes[] = {
    Optional(Attr::kWindow),          Required(Attr::kDimLabels),       Optional(Attr::kFeatureGroupCount),
    Optional(Attr::kBatchGroupCount), Optional(Attr::kConvolutionKind), Optional(Attr::kOperandPrecision),
    Optional(Attr::kAlgorithm),       Optional(Attr::kSparsityConfig),
};

}  // namespace

constinit const OpDef ops::Convolution = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kConvolutionAttributes,
    .infer = InferConvolution,
    .eval = EvalConvolution,
};

}  // namespace assay
