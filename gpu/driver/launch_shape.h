// What a kernel is launched with.
#ifndef ASSAY_GPU_DRIVER_LAUNCH_SHAPE_H_
#define ASSAY_GPU_DRIVER_LAUNCH_SHAPE_H_

#include <cstdint>

namespace assay::gpu {

// An address in the device's memory.
using DeviceAddress = uint64_t;

struct LaunchShape {
  uint32_t blocks[3] = {1, 1, 1};
  uint32_t threads[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;  // of dynamic shared memory
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_LAUNCH_SHAPE_H_
