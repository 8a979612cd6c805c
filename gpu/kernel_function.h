// Kernels of gpu/kernels on a device.
#ifndef ASSAY_GPU_KERNEL_FUNCTION_H_
#define ASSAY_GPU_KERNEL_FUNCTION_H_

#include <optional>
#include <string>
#include <string_view>

#include "gpu/driver/device.h"
#include "gpu/kernels/formats.h"
#include "shape/element_type.h"

namespace assay::gpu {

// `function` of gpu/kernels/MODULE.cu: of the driver's own image, else of the one that the build embedded.
// NotSupported where the build had no CUDA compiler, or has no code for the device.
absl::StatusOr<const DeviceFunction*> KernelFunction(Device& device, std::string_view module,
                                                     const std::string& function);

// The float format of kernels' arguments; none for other types.
std::optional<Float> FloatOf(ElementType type);

// Of one launch, in the first dimension.
inline constexpr int64_t kMaxBlocks = (int64_t{1} << 31) - 1;

// Blocks of a kernel that takes any number of them, for so many elements: as many as keep the device busy.
uint32_t BlocksFor(const Device& device, int64_t elements, int threads);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNEL_FUNCTION_H_
