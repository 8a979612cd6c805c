#include "gpu/kernel_function.h"

#include <algorithm>

#include "fmt/format.h"
#include "gpu/kernels/images.h"

namespace assay::gpu {

absl::StatusOr<const DeviceFunction*> KernelFunction(Device& device, std::string_view module,
                                                     const std::string& function) {
  std::span<const std::byte> image = device.OwnImage(module);
  if (image.empty()) image = KernelImage(module);
  if (image.empty())
    return NotSupported({}, fmt::format("no CUDA kernels of {} in this build (built without nvcc)", module));
  return device.LoadPermanent(image, function);
}

std::optional<Float> FloatOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return Float::kF64;
    case ElementType::kF32:
      return Float::kF32;
    case ElementType::kBF16:
      return Float::kBf16;
    case ElementType::kF16:
      return Float::kF16;
    default:
      return std::nullopt;
  }
}

uint32_t BlocksFor(const Device& device, int64_t elements, int threads) {
  constexpr int64_t kBlocksOfMultiprocessor = 16;
  const int64_t wanted = (elements + threads - 1) / threads;
  const int64_t most = kBlocksOfMultiprocessor * std::max(1, device.properties().multiprocessors);
  return static_cast<uint32_t>(std::clamp<int64_t>(wanted, 1, most));
}

}  // namespace assay::gpu
