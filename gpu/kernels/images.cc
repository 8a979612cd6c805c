#include "gpu/kernels/images.h"

namespace assay::gpu {

std::span<const std::byte> KernelImage(std::string_view module) {
  for (const KernelImageBounds* image = kKernelImages; image->module != nullptr; ++image) {
    if (module == image->module) return {image->begin, image->end};
  }
  return {};
}

}  // namespace assay::gpu
