// A row of the left side is what one window meets. Strides find it where the image has its padding, and the
// holes of a base dilation, in memory: it is copied so where it has any. What is copied there counts for
// nothing, not even beside an infinity: it is -0, which the image's own zeros are not after
// the copy (dot_arguments.h).
#include "gpu/convolution_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/numeric/int128.h"
#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/product.h"
#include "gpu/resident.h"
#include "gpu/strided_copy.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// The image with its padding in memory. It may be larger than the image by this factor, as it is where a
// dilation makes holes, or have so many elements.
constexpr int64_t kMaxGrowth = 64, kSmallImage = 1 << 20;

struct ImageGeometry {
  bool is_padded = false;
  DimVector image;               // its sizes in memory
  std::vector<Placing> placing;  // of the image's own elements in it
  std::array<ProductSide, 2> sides;
  int64_t kernel_start =
      0;  // of the first element under a window, in elements: reversed dimensions start at their end
};

const ConvDimensionNumbers& NumbersOf(const AttributeMap& attributes) {
  return *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
}

// How many positions of an axis the windows span, from the first window's start on.
absl::int128 SpanOf(int64_t outputs, const WindowDimension& window) {
  return absl::int128(outputs - 1) * window.stride + absl::int128(window.size - 1) * window.window_dilation +
         1;
}

// The image's sizes in memory, and where its elements are in it.
absl::Status PlaceImage(const StepView& step, const ConvDimensionNumbers& numbers, const Window& window,
                        ImageGeometry& geometry) {
  const Shape &image = step.operand_shape(0), &result = step.result_shape();
  geometry.image.assign(image.sizes().begin(), image.sizes().end());
  geometry.placing.resize(geometry.image.size());
  absl::int128 total = image.num_elements();
  for (size_t d = 0; d < window.size(); ++d) {
    const auto axis = static_cast<size_t>(numbers.input_spatial[d]);
    const int64_t size = geometry.image[axis], low = window[d].padding_low;
    const absl::int128 span = SpanOf(result.size(numbers.output_spatial[d]), window[d]);
    if (low == 0 && window[d].base_dilation == 1 && span <= size) continue;
    geometry.is_padded = true;
    total = total / size * span;
    if (total > absl::int128(std::max(kSmallImage, kMaxGrowth * image.num_elements())))
      return NotSupported({}, "the padded image exceeds the device's memory");
    geometry.image[axis] = static_cast<int64_t>(span);
    geometry.placing[axis] = {low, window[d].base_dilation - 1};
  }
  return absl::OkStatus();
}

absl::StatusOr<ImageGeometry> ImageGeometryOf(const StepView& step) {
  const AttributeMap& attributes = step.instruction.attributes;
  const ConvDimensionNumbers& numbers = NumbersOf(attributes);
  const Window& window = attributes.WindowOf();
  const int64_t feature_groups = attributes.Int(Attr::kFeatureGroupCount, 1),
                batch_groups = attributes.Int(Attr::kBatchGroupCount, 1);
  ImageGeometry geometry;
  ASSAY_RETURN_IF_ERROR(PlaceImage(step, numbers, window, geometry));
  const Shape& kernel = step.operand_shape(1);
  const DimVector x = RowMajorStrides(geometry.image), w = RowMajorStrides(kernel.sizes()),
                  y = RowMajorStrides(step.result_shape().sizes());
  const auto at = [](const DimVector& strides, int64_t d) { return strides[static_cast<size_t>(d)]; };
  const int64_t groups = feature_groups * batch_groups, features = kernel.size(numbers.kernel_input_feature);
  const int64_t outputs = kernel.size(numbers.kernel_output_feature) / groups;
  const int64_t batches = step.operand_shape(0).size(numbers.input_batch) / batch_groups;
  auto& [lhs, rhs] = geometry.sides;
  const int64_t of_group =
      batch_groups > 1 ? batches * at(x, numbers.input_batch) : features * at(x, numbers.input_feature);
  const int64_t output = at(w, numbers.kernel_output_feature), to_output = at(y, numbers.output_feature);
  lhs.batch = {{groups, {of_group, outputs * to_output}}};
  rhs.batch = {{groups, {outputs * output, outputs * to_output}}};
  rhs.rows = {{outputs, {output, to_output}}};
  lhs.rows = {{batches, {at(x, numbers.input_batch), at(y, numbers.output_batch)}}};
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t in_image = at(x, numbers.input_spatial[d]), in_kernel = at(w, numbers.kernel_spatial[d]);
    const int64_t places = step.result_shape().size(numbers.output_spatial[d]);
    // Of one place alone no stride counts, and it may be beyond 64 bits.
    lhs.rows.push_back(
        {places, {places == 1 ? 0 : window[d].stride * in_image, at(y, numbers.output_spatial[d])}});
    lhs.depth.push_back(
        {window[d].size, {window[d].size == 1 ? 0 : window[d].window_dilation * in_image, 0}});
    rhs.depth.push_back({window[d].size, {window[d].reversal ? -in_kernel : in_kernel, 0}});
    if (window[d].reversal) geometry.kernel_start += (window[d].size - 1) * in_kernel;
  }
  lhs.depth.push_back({features, {at(x, numbers.input_feature), 0}});
  rhs.depth.push_back({features, {at(w, numbers.kernel_input_feature), 0}});
  return geometry;
}

// The bytes of an element where it is multiplied: narrow floats are f32 there.
int64_t ProductWidth(ElementType type) {
  return IsFloat(type) && type != ElementType::kF64 ? 4 : Bytes(type);
}

// The image with padding around its elements, and holes between them.
struct ImageCopy {
  std::optional<PreparedCopy> copy;  // none: no element is under a window
  PreparedFill fill;
  int64_t elements = 0, width = 0;
  uint64_t padding = 0;  // the bits of an element

  static absl::StatusOr<ImageCopy> Make(Device& device, const ImageGeometry& geometry, const Shape& image) {
    ImageCopy made;
    const bool is_float = IsFloat(image.element_type());
    made.width = ProductWidth(image.element_type());
    if (is_float) made.padding = uint64_t{1} << (8 * made.width - 1);
    made.elements = CountOf(geometry.image);
    ASSAY_ASSIGN_OR_RETURN(made.fill, PreparedFill::Make(device, made.width));
    const std::optional<StridedCopy> copy = CopyInto(image.sizes(), geometry.placing, geometry.image);
    if (!copy) return made;
    ASSAY_ASSIGN_OR_RETURN(PreparedCopy prepared,
                           PreparedCopy::Make(device, *copy, made.width,
                                              is_float ? fmt::format("copy_image_{}", made.width) : ""));
    made.copy = prepared;
    return made;
  }
  static int64_t CountOf(std::span<const int64_t> sizes) {
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    return count;
  }

  absl::StatusOr<std::shared_ptr<DeviceMemory>> Enqueue(Device& device, DeviceAddress from) const {
    ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> memory, device.Allocate(elements * width));
    const std::span<const std::byte> element = std::as_bytes(std::span(&padding, 1));
    ASSAY_RETURN_IF_ERROR(
        fill.Enqueue(device, memory->address(), elements, element.first(static_cast<size_t>(width))));
    if (copy) ASSAY_RETURN_IF_ERROR(copy->Enqueue(device, from, memory->address()));
    return memory;
  }
};

class ConvolutionStep final : public DeviceKernel {
 public:
  ConvolutionStep(std::shared_ptr<Device> device, const Product& product, std::array<Widening, 2> widenings,
                  std::optional<ImageCopy> image, int64_t kernel_start)
      : DeviceKernel(std::move(device)),
        product_(product),
        widenings_(std::move(widenings)),
        image_(image),
        kernel_start_(kernel_start) {}

  std::string_view algorithm() const override { return product_.algorithm(); }
  const Accuracy& accuracy() const override { return product_.accuracy(); }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    std::array<ProductOperand, 2> operands;
    for (size_t k = 0; k < 2; ++k)
      operands[k] = {call.operands[k], &widenings_[k], 0, &call.arrays[k]->kept_operands()};
    operands[1].start = kernel_start_;
    std::shared_ptr<DeviceMemory> widened, image;
    if (image_) {
      DeviceAddress elements = call.operands[0];
      if (widenings_[0].exists()) {
        ASSAY_ASSIGN_OR_RETURN(widened, widenings_[0].Enqueue(call.device, elements));
        elements = widened->address();
      }
      ASSAY_ASSIGN_OR_RETURN(image, image_->Enqueue(call.device, elements));
      operands[0] = {image->address()};
    }
    return product_.Enqueue(call.device, operands, call.result);
  }

  const Product product_;
  const std::array<Widening, 2> widenings_;
  const std::optional<ImageCopy> image_;
  const int64_t kernel_start_;  // in bytes
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareConvolution(const std::shared_ptr<Device>& device,
                                                                 const StepView& step, int64_t residues_from,
                                                                 bool fast) {
  const Shape &lhs = step.operand_shape(0), &rhs = step.operand_shape(1), &result = step.result_shape();
  for (const Shape* shape : {&lhs, &rhs, &result}) {
    if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic dimensions");
    if (shape->num_elements() == 0) return NotSupported({}, "an array without elements");
  }
  if (result.num_elements() >= int64_t{1} << 32)
    return NotSupported({}, fmt::format("{}", Counted(result.num_elements(), "result")));
  ASSAY_ASSIGN_OR_RETURN(const ImageGeometry geometry, ImageGeometryOf(step));
  const bool is_fast = fast && IsForFastProduct(step);
  ASSAY_ASSIGN_OR_RETURN(
      const Product product,
      is_fast ? Product::MakeFast(*device, {lhs.element_type(), rhs.element_type()}, ElementType::kF32,
                                  *FloatOf(result.element_type()), geometry.sides, geometry.is_padded)
              : Product::Make(*device, lhs.element_type(), rhs.element_type(), result.element_type(),
                              geometry.sides, geometry.is_padded, residues_from));
  std::array<Widening, 2> widenings;
  for (size_t k = 0; k < 2; ++k) {
    const Shape& operand = step.operand_shape(static_cast<int64_t>(k));
    ASSAY_ASSIGN_OR_RETURN(widenings[k],
                           Widening::Make(*device, operand.element_type(), operand.num_elements()));
  }
  std::optional<ImageCopy> image;
  if (geometry.is_padded) {
    ASSAY_ASSIGN_OR_RETURN(image, ImageCopy::Make(*device, geometry, lhs));
  }
  return std::make_shared<const ConvolutionStep>(device, product, std::move(widenings), image,
                                                 geometry.kernel_start * ProductWidth(rhs.element_type()));
}

}  // namespace assay::gpu
