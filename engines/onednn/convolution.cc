
#include <algorithm>

#include "engines/onednn/kernels.h"
#include "fmt/format.h"
#include "shape/index.h"

namespace assay::onednn {
namespace {

// Dimensions of a shape in the order `dims`.
Array Ordered(const Shape& shape, const DimVector& dims) {
  Array array{shape.element_type(), {}, {}};
  const DimVector strides = RowMajorStrides(shape.sizes());
  for (int64_t d : dims) {
    array.sizes.push_back(shape.size(d));
    array.strides.push_back(strides[d]);
  }
  return array;
}

DimVector Order(int64_t first, int64_t second, const Ints& spatial) {
  DimVector dims = {first, second};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

// [groups * o, ...] as [groups, o, ...].
void SplitGroups(Array& kernel, int64_t groups) {
  kernel.sizes[0] /= groups;
  kernel.sizes.insert(kernel.sizes.begin(), groups);
  kernel.strides.insert(kernel.strides.begin(), kernel.sizes[1] * kernel.strides[0]);
}

absl::StatusOr<Sliding> SlidingOf(const Window& window) {
  Sliding sliding;
  for (const WindowDimension& d : window) {
    if (d.reversal && d.size > 1) return NotSupported({}, "a reversed kernel");
    if (d.base_dilation != 1) return NotSupported({}, "a dilated image");
    if (d.padding_low < 0 || d.padding_high < 0) return NotSupported({}, "negative padding");
    sliding.strides.push_back(d.stride);
    sliding.dilations.push_back(d.window_dilation);
    sliding.padding_low.push_back(d.padding_low);
    sliding.padding_high.push_back(d.padding_high);
  }
  return sliding;
}

}  // namespace

KernelOr PrepareConvolution(const StepView& step, Isa isa, int64_t fewest) {
  const int64_t terms = TermsOfProduct(step.computation, step.instruction);
  ASSAY_RETURN_IF_ERROR(CheckSize(step, terms, fewest));
  ASSAY_RETURN_IF_ERROR(CheckInstructions(step, isa, fewest));
  ASSAY_ASSIGN_OR_RETURN(const Accuracy* const accuracy, AccuracyOf(step));
  const AttributeMap& attributes = step.instruction.attributes;
  const ConvDimensionNumbers& dn =
      *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
  const size_t spatial = dn.input_spatial.size();
  if (spatial < 1 || spatial > 3) return NotSupported({}, fmt::format("{} spatial dimensions", spatial));
  if (attributes.Int(Attr::kBatchGroupCount, 1) > 1) return NotSupported({}, "batch groups");
  ASSAY_ASSIGN_OR_RETURN(const Sliding sliding, SlidingOf(attributes.WindowOf()));
  Array kernel = Ordered(step.operand_shape(1),
                         Order(dn.kernel_output_feature, dn.kernel_input_feature, dn.kernel_spatial));
  const int64_t groups = attributes.Int(Attr::kFeatureGroupCount, 1);
  if (groups > 1) SplitGroups(kernel, groups);
  ASSAY_ASSIGN_OR_RETURN(
      std::unique_ptr<Primitive> primitive,
      Primitive::Convolution(
          isa, Ordered(step.operand_shape(0), Order(dn.input_batch, dn.input_feature, dn.input_spatial)),
          kernel, Ordered(step.result_shape(), Order(dn.output_batch, dn.output_feature, dn.output_spatial)),
          sliding));
  // oneDNN multiplies by padding too, of the image and of its own blocks, as zeros: infinities become NaNs
  // where the specification has no such term.
  return MakeKernel(std::move(primitive), *accuracy, step.result_shape().num_elements() * terms,
                    /*finite_alone=*/true);
}

}  // namespace assay::onednn
