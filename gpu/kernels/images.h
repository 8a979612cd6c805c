// The kernels of gpu/kernels/*.cu as the build compiled them: machine code of some chips,
// and PTX for later ones.
#ifndef ASSAY_GPU_KERNELS_IMAGES_H_
#define ASSAY_GPU_KERNELS_IMAGES_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace assay::gpu {

// The fatbin of gpu/kernels/MODULE.cu; empty where there is no such file,
// or where the build had no CUDA compiler.
std::span<const std::byte> KernelImage(std::string_view module);

// What the build generates: the images' bounds, and an entry without a name at the end.
struct KernelImageBounds {
  const char* module;
  const std::byte* begin;
  const std::byte* end;
};
extern const KernelImageBounds kKernelImages[];

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_IMAGES_H_
