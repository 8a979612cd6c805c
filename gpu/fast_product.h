// Sums of products on a device by float tensor cores, within a bound (gpu/kernels/fast/dot_fast.cu): what
// `gpu-fast` does of the dots and convolutions of gpu/product.h.
#ifndef ASSAY_GPU_FAST_PRODUCT_H_
#define ASSAY_GPU_FAST_PRODUCT_H_

#include <array>
#include <string_view>

#include "engines/accuracy.h"
#include "engines/engine.h"
#include "gpu/driver/device.h"
#include "gpu/kernels/fast/dot_fast_arguments.h"
#include "shape/element_type.h"

namespace assay::gpu {

// Whether a dot or convolution is one for tensor cores of floats: not of f64 or integers, and not of f32
// where the instruction asks for more than TF32 has, by operand_precision or algorithm.
bool IsForFastProduct(const StepView& step);

// What both operands of a dot are multiplied as: bf16 or f16 where that has all numbers of both types, else
// f32, which the kernels take as TF32.
ElementType MultipliedAs(ElementType lhs, ElementType rhs);

class FastProduct {
 public:
  // Operands that are widened are `type`. `dot` has no addresses yet.
  static absl::StatusOr<FastProduct> Make(Device& device, const std::array<ElementType, 2>& operands,
                                          ElementType type, const FastDotArguments& dot);

  absl::Status Enqueue(Device& device, const std::array<DeviceAddress, 2>& operands,
                       DeviceAddress result) const;
  std::string_view algorithm() const;
  const Accuracy& accuracy() const { return accuracy_; }

 private:
  FastProduct(ElementType type, const DeviceFunction& function, const DotTile& tile,
              const FastDotArguments& dot, const TensorCoreSums& accuracy)
      : type_(type), function_(&function), tile_(tile), dot_(dot), accuracy_(accuracy) {}

  ElementType type_;
  const DeviceFunction* function_;
  DotTile tile_;
  FastDotArguments dot_;
  TensorCoreSums accuracy_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_FAST_PRODUCT_H_
