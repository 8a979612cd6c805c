// convolution (docs/spec/operations-linalg.md, Conv to ConvGeneralDilated). The window's shape rule is
// window_axis.h, the arithmetic contraction.h.

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/eval_context.h"
#include "evaluator/meter.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/contraction/contraction.h"
#include "evaluator/ops/reduction/window_sizes.h"
#include "evaluator/runtime_sizes.h"
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

absl::Status InvalidConvolution(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("{}-C{}: {}", kOp, c, message));
}

const ConvDimensionNumbers& DimensionNumbers(const AttributeMap& attributes) {
  return *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
}

// ConvGeneralDilated-C2: the three roles of an operand are a permutation of 0..n+1.
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
    return InvalidConvolution(context, 2,
                              fmt::format("dimension numbers of {} are {{{}}}, wanted a permutation of 0..{}",
                                          name, fmt::join(dims, ","), seen.size() - 1));
  }
  return absl::OkStatus();
}

// ConvGeneralDilated-C1, ConvGeneralDilated-C2.
absl::Status CheckDimensionNumbers(const InferContext& context) {
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const size_t n = dn.input_spatial.size();
  for (int64_t i = 0; i < 2; ++i) {
    const Shape& operand = context.operand(i);
    if (operand.IsArray() && operand.rank() == static_cast<int64_t>(n) + 2) continue;
    return InvalidConvolution(
        context, 1,
        fmt::format("operand {} is {}, wanted an array of rank {}", i, operand.ToString(), n + 2));
  }
  if (dn.kernel_spatial.size() != n || dn.output_spatial.size() != n) {
    return InvalidConvolution(
        context, 2,
        fmt::format("dim_labels have {}, {} and {} spatial dimensions, wanted as many in each", n,
                    dn.kernel_spatial.size(), dn.output_spatial.size()));
  }
  ASSAY_RETURN_IF_ERROR(CheckRoles(context, "lhs", dn.input_batch, dn.input_feature, dn.input_spatial));
  ASSAY_RETURN_IF_ERROR(
      CheckRoles(context, "rhs", dn.kernel_output_feature, dn.kernel_input_feature, dn.kernel_spatial));
  return CheckRoles(context, "the result", dn.output_batch, dn.output_feature, dn.output_spatial);
}

struct GroupCounts {
  int64_t features = 1, batches = 1;
};
GroupCounts GroupCountsOf(const AttributeMap& attributes) {
  return {attributes.Int(Attr::kFeatureGroupCount, 1), attributes.Int(Attr::kBatchGroupCount, 1)};
}

// ConvGeneralDilated-C4 to ConvGeneralDilated-C7.
absl::Status CheckGroupCounts(const InferContext& context) {
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const GroupCounts groups = GroupCountsOf(context.attributes());
  if (groups.features < 1 || groups.batches < 1 || (groups.features > 1 && groups.batches > 1)) {
    return InvalidConvolution(
        context, 4,
        fmt::format("feature_group_count is {} and batch_group_count {}, wanted at least 1 and "
                    "not both above",
                    groups.features, groups.batches));
  }
  const int64_t in = context.operand(0).size(dn.input_feature);
  const int64_t kernel_in = context.operand(1).size(dn.kernel_input_feature);
  if (in % groups.features != 0 || in / groups.features != kernel_in) {
    return InvalidConvolution(context, 5,
                              fmt::format("lhs has {}, rhs {} input features, feature_group_count is {}",
                                          Counted(in, "feature"), kernel_in, groups.features));
  }
  const int64_t out = context.operand(1).size(dn.kernel_output_feature);
  if (out % groups.features != 0 || out % groups.batches != 0) {
    return InvalidConvolution(context, 6,
                              fmt::format("rhs has {} output features, wanted a multiple of {}", out,
                                          std::max(groups.features, groups.batches)));
  }
  const int64_t batch = context.operand(0).size(dn.input_batch);
  if (batch % groups.batches != 0) {
    return InvalidConvolution(context, 7,
                              fmt::format("lhs has batch size {}, wanted a multiple of batch_group_count {}",
                                          batch, groups.batches));
  }
  return absl::OkStatus();
}

DimVector SpatialSizes(std::span<const int64_t> sizes, const Ints& spatial) {
  DimVector result;
  for (int64_t d : spatial) result.push_back(sizes[d]);
  return result;
}

// ConvGeneralDilated-C3. Returns the spatial sizes of the result.
absl::StatusOr<DimVector> CheckWindow(const InferContext& context) {
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const Window& window = context.attributes().WindowOf();
  const DimVector sizes = SpatialSizes(context.operand(0).sizes(), dn.input_spatial);
  if (window.size() != sizes.size()) {
    return InvalidConvolution(
        context, 3,
        fmt::format("the window has {}, wanted {}", Counted(window.size(), "dimension"), sizes.size()));
  }
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t kernel = context.operand(1).size(dn.kernel_spatial[d]);
    if (window[d].size == kernel) continue;
    return InvalidConvolution(
        context, 3, fmt::format("window size {} is {}, the kernel's is {}", d, window[d].size, kernel));
  }
  return WindowOutputSizes(context, kOp, 3, sizes, window);
}

absl::StatusOr<Shape> InferConvolution(const InferContext& context) {
  // Which elements a sparse operand leaves out is in operands that a convolution of XLA 0.10 does not have.
  if (context.attributes().Has(Attr::kSparsityConfig))
    return NotSupported({}, "sparsity_config of a convolution");
  ASSAY_RETURN_IF_ERROR(CheckDimensionNumbers(context));
  ASSAY_RETURN_IF_ERROR(CheckPrecision(context, 2, 2));
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const Shape& lhs = context.operand(0);
  const Shape& rhs = context.operand(1);
  ASSAY_ASSIGN_OR_RETURN(const DimVector spatial, CheckWindow(context));
  ASSAY_RETURN_IF_ERROR(CheckGroupCounts(context));
  ASSAY_ASSIGN_OR_RETURN(const ElementType type,
                         ContractionResultType(context, lhs.element_type(), rhs.element_type()));
  DimVector sizes(spatial.size() + 2);
  sizes[dn.output_batch] = lhs.size(dn.input_batch) / GroupCountsOf(context.attributes()).batches;
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

// q of one dimension; nullopt where p is padding or a hole.
std::optional<int64_t> BaseIndex(int64_t output_index, int64_t window_index, int64_t size,
                                 const WindowDimension& window) {
  const absl::int128 p = absl::int128(output_index) * window.stride +
                         absl::int128(window_index) * window.window_dilation - window.padding_low;
  if (p < 0 || p >= absl::int128(size) * window.base_dilation) return std::nullopt;
  if (p % window.base_dilation != 0) return std::nullopt;
  return static_cast<int64_t>(p / window.base_dilation);
}

// The sum of one result element. In output_index, (b, o, X) are in the result's order of dimensions.
class Convolver {
 public:
  Convolver(EvalContext& context, const Literal& lhs, const Literal& rhs)
      : dn_(DimensionNumbers(context.attributes())),
        groups_(GroupCountsOf(context.attributes())),
        window_(context.attributes().WindowOf()),
        lhs_(lhs),
        rhs_(rhs),
        sizes_(lhs.runtime_sizes()),
        kernel_sizes_(rhs.runtime_sizes()),
        lhs_index_(sizes_.size()),
        rhs_index_(kernel_sizes_.size()),
        sum_(lhs.shape().element_type(), rhs.shape().element_type(), context.result_shape().element_type()),
        meter_(context) {}

  absl::Status Sum(Index output_index) {
    const int64_t output_feature = output_index[dn_.output_feature];
    const int64_t output_features = kernel_sizes_[dn_.kernel_output_feature];
    const int64_t batch_group = output_feature / (output_features / groups_.batches);
    const int64_t feature_group = output_feature / (output_features / groups_.features);
    const int64_t features = kernel_sizes_[dn_.kernel_input_feature];
    lhs_index_[dn_.input_batch] =
        output_index[dn_.output_batch] + batch_group * (sizes_[dn_.input_batch] / groups_.batches);
    rhs_index_[dn_.kernel_output_feature] = output_feature;
    sum_.Clear();
    if (features == 0) return absl::OkStatus();  // the kernel's space may be of any size
    const DimVector window_sizes = SpatialSizes(kernel_sizes_, dn_.kernel_spatial);
    for (IndexWalk window_index(window_sizes); !window_index.done(); window_index.Next()) {
      ASSAY_RETURN_IF_ERROR(meter_.Add(1));
      if (!SetSpatial(output_index, window_index.index())) continue;
      for (int64_t i = 0; i < features; ++i) {
        lhs_index_[dn_.input_feature] = feature_group * features + i;
        rhs_index_[dn_.kernel_input_feature] = i;
        sum_.Add(lhs_.At(lhs_index_), rhs_.At(rhs_index_));
        ASSAY_RETURN_IF_ERROR(meter_.Add(1));
      }
    }
    return absl::OkStatus();
  }
  void Store(std::byte* dst) const { sum_.Store(dst); }
  absl::Status Flush() { return meter_.Flush(); }

 private:
  // False where no element of lhs is at window_index in the window of output_index.
  bool SetSpatial(Index output_index, Index window_index) {
    for (size_t d = 0; d < window_.size(); ++d) {
      const std::optional<int64_t> base_index = BaseIndex(
          output_index[dn_.output_spatial[d]], window_index[d], sizes_[dn_.input_spatial[d]], window_[d]);
      if (!base_index) return false;
      lhs_index_[dn_.input_spatial[d]] = *base_index;
      rhs_index_[dn_.kernel_spatial[d]] =
          window_[d].reversal ? window_[d].size - 1 - window_index[d] : window_index[d];
    }
    return true;
  }

  const ConvDimensionNumbers& dn_;
  const GroupCounts groups_;
  const Window& window_;
  const ArrayView lhs_, rhs_;
  const DimVector sizes_, kernel_sizes_;
  DimVector lhs_index_, rhs_index_;
  ProductSum sum_;
  Meter meter_;
};

absl::StatusOr<Literal> EvalConvolution(EvalContext& context, std::span<Literal> operands) {
  const ConvDimensionNumbers& dn = DimensionNumbers(context.attributes());
  const GroupCounts groups = GroupCountsOf(context.attributes());
  const DimVector sizes = operands[0].runtime_sizes(), kernel_sizes = operands[1].runtime_sizes();
  if (sizes[dn.input_batch] % groups.batches != 0 ||
      sizes[dn.input_feature] != kernel_sizes[dn.kernel_input_feature] * groups.features ||
      kernel_sizes[dn.kernel_output_feature] % (groups.features * groups.batches) != 0 ||
      SpatialSizes(kernel_sizes, dn.kernel_spatial) !=
          SpatialSizes(operands[1].shape().sizes(), dn.kernel_spatial)) {
    return EvalError(context.instruction().position,
                     fmt::format("DYN-3: convolution: run-time sizes of lhs [{}] and rhs [{}] do not fit",
                                 fmt::join(sizes, ","), fmt::join(kernel_sizes, ",")));
  }
  ASSAY_ASSIGN_OR_RETURN(const DimVector spatial,
                         RuntimeOutputSizes(context.instruction(), SpatialSizes(sizes, dn.input_spatial),
                                            context.attributes().WindowOf()));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
  DimVector result_sizes(sizes.size());
  result_sizes[dn.output_batch] = sizes[dn.input_batch] / groups.batches;
  result_sizes[dn.output_feature] = kernel_sizes[dn.kernel_output_feature];
  for (size_t d = 0; d < spatial.size(); ++d) result_sizes[dn.output_spatial[d]] = spatial[d];
  const MutableArrayView out(result);
  Convolver convolver(context, operands[0], operands[1]);
  for (IndexWalk walk(result_sizes); !walk.done(); walk.Next()) {
    const Index output_index = walk.index();
    ASSAY_RETURN_IF_ERROR(convolver.Sum(output_index));
    convolver.Store(out.At(output_index));
  }
  ASSAY_RETURN_IF_ERROR(convolver.Flush());
  SetRuntimeSizes(result, result_sizes);
  return result;
}

constexpr AttrSpec kConvolutionAttributes[] = {
    Optional(Attr::kWindow),          Required(Attr::kDimLabels),       Optional(Attr::kFeatureGroupCount),
    Optional(Attr::kBatchGroupCount), Optional(Attr::kConvolutionKind), Optional(Attr::kOperandPrecision),
    Optional(Attr::kAlgorithm),       Optional(Attr::kSparsityConfig),
};

// Outputs o in [0, outputs) whose element at o * stride + offset of the base, dilated or not, is neither
// padding nor a hole.
int64_t ValidOutputs(int64_t dilated, int64_t outputs, int64_t offset, const WindowDimension& window) {
  // The first o with o * stride + offset >= low.
  const auto first = [&](int64_t low) {
    return std::clamp<int64_t>(low <= offset ? 0 : (low - offset - 1) / window.stride + 1, 0, outputs);
  };
  const int64_t begin = first(0), end = first(dilated);
  if (window.base_dilation == 1) return end - begin;
  int64_t valid = 0;
  for (int64_t o = begin; o < end; ++o) valid += (o * window.stride + offset) % window.base_dilation == 0;
  return valid;
}

// Pairs of an output and a window position that meet an element of the base. Where there are too many
// positions to look at, the padding's pairs count too.
double ValidPairs(int64_t base, int64_t outputs, const WindowDimension& window) {
  constexpr int64_t kMaxPositions = 1 << 16;
  const int64_t each = window.base_dilation == 1 ? 1 : std::max<int64_t>(outputs, 1);
  if (window.size > kMaxPositions / each)
    return static_cast<double>(outputs) * static_cast<double>(window.size);
  const int64_t dilated = base == 0 ? 0 : (base - 1) * window.base_dilation + 1;
  int64_t valid = 0;
  for (int64_t k = 0; k < window.size; ++k)
    valid += ValidOutputs(dilated, outputs, k * window.window_dilation - window.padding_low, window);
  return static_cast<double>(valid);
}

// Every output looks at the whole window; a product and its sum, two operations,
// are made where it meets the image.
Work WorkOfConvolution(const InstructionView& view) {
  Work work = work::Move(view);
  const ConvDimensionNumbers& dims = DimensionNumbers(view.attributes());
  const Shape &image = view.operand(0), &kernel = view.operand(1), &result = view.result();
  const Window& window = view.attributes().WindowOf();
  work.elements =
      work::Elements(result) *
      std::floor(work::Elements(kernel) / std::max(work::Size(kernel, dims.kernel_output_feature), 1.0));
  work.flops = 2 * work::Size(kernel, dims.kernel_input_feature) * work::Size(result, dims.output_batch) *
               work::Size(result, dims.output_feature);
  for (size_t d = 0; d < dims.input_spatial.size(); ++d) {
    work.flops *= ValidPairs(image.size(dims.input_spatial[d]), result.size(dims.output_spatial[d]),
                             d < window.size() ? window[d] : WindowDimension{});
  }
  return work;
}

void AddTermsOfConvolution(const InstructionView& view, std::span<const int64_t> index, Terms& terms) {
  const ConvDimensionNumbers& dn = DimensionNumbers(view.attributes());
  const Window& window = view.attributes().WindowOf();
  const Shape &image = view.operand(0), &kernel = view.operand(1);
  const int64_t feature_groups = view.attributes().Int(Attr::kFeatureGroupCount, 1);
  const int64_t batch_groups = view.attributes().Int(Attr::kBatchGroupCount, 1);
  const int64_t outputs = kernel.size(dn.kernel_output_feature), o = index[dn.output_feature];
  const int64_t group = o / (outputs / (feature_groups * batch_groups));
  const int64_t features = kernel.size(dn.kernel_input_feature);
  const DimVector x = RowMajorStrides(image.sizes()), w = RowMajorStrides(kernel.sizes());
  const int64_t batch =
      index[dn.output_batch] + (batch_groups > 1 ? group * (image.size(dn.input_batch) / batch_groups) : 0);
  const int64_t image_base =
      batch * x[dn.input_batch] + (feature_groups > 1 ? group * features * x[dn.input_feature] : 0);
  DimVector sizes;
  for (const WindowDimension& dimension : window) sizes.push_back(dimension.size);
  int64_t count = 0;
  const bool is_empty = features == 0;  // however large the window is
  for (IndexWalk k(sizes); !is_empty && !k.done(); k.Next()) {
    int64_t image_at = image_base, kernel_at = o * w[dn.kernel_output_feature];
    bool is_padding = false;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const int64_t q =
          WindowBaseIndex(index[dn.output_spatial[d]], k[d], image.size(dn.input_spatial[d]), window[d]);
      is_padding = is_padding || q < 0;
      image_at += q * x[dn.input_spatial[d]];
      kernel_at += (window[d].reversal ? window[d].size - 1 - k[d] : k[d]) * w[dn.kernel_spatial[d]];
    }
    if (is_padding) continue;
    for (int64_t i = 0; i < features; ++i) {
      terms.operands[0].push_back(image_at + i * x[dn.input_feature]);
      terms.operands[1].push_back(kernel_at + i * w[dn.kernel_input_feature]);
    }
    count += features;
  }
  terms.counts.push_back(count);
}

int64_t MaxTermsOfConvolution(const InstructionView& view) {
  const int64_t outputs = view.operand(1).size(DimensionNumbers(view.attributes()).kernel_output_feature);
  return outputs == 0 ? 0 : view.operand(1).num_elements() / outputs;
}

absl::Status OpenSizesOfConvolution(OpenSizes& sizes) {
  const ConvDimensionNumbers& dn = DimensionNumbers(sizes.context().attributes());
  const GroupCounts groups = GroupCountsOf(sizes.context().attributes());
  const bool grouped = groups.features != 1 || groups.batches != 1;
  if (grouped || sizes.Meet({{0, dn.input_feature}, {1, dn.kernel_input_feature}})) {
    ASSAY_RETURN_IF_ERROR(sizes.Needs(0, dn.input_feature));
    ASSAY_RETURN_IF_ERROR(sizes.Needs(1, dn.kernel_input_feature));
  }
  for (int64_t d : dn.input_spatial) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
  for (int64_t d : dn.kernel_spatial) ASSAY_RETURN_IF_ERROR(sizes.Needs(1, d));
  if (grouped) {
    ASSAY_RETURN_IF_ERROR(sizes.Needs(0, dn.input_batch));
    ASSAY_RETURN_IF_ERROR(sizes.Needs(1, dn.kernel_output_feature));
  }
  if (sizes.IsOpen(0, dn.input_batch)) sizes.Open(dn.output_batch);
  if (sizes.IsOpen(1, dn.kernel_output_feature)) sizes.Open(dn.output_feature);
  return absl::OkStatus();
}

}  // namespace

constinit const OpDef ops::Convolution = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kConvolutionAttributes,
    .infer = InferConvolution,
    .eval = EvalConvolution,
    .work = WorkOfConvolution,
    .bound = bound::Convolution,
    .audit = audit::Computes,
    .sum = {SumDef::Of::kProducts, AddTermsOfConvolution, MaxTermsOfConvolution},
    .open_sizes = OpenSizesOfConvolution,
    .never_in_place = true,
};

}  // namespace assay
