// Launches of generated kernels (gpu/ptx), and the elements that they leave open.
#ifndef ASSAY_GPU_FUSED_LAUNCH_H_
#define ASSAY_GPU_FUSED_LAUNCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/deferred_checks.h"
#include "gpu/ptx/fused.h"
#include "gpu/resident.h"

namespace assay::gpu {

// Open elements are one in 2^20 or fewer of ordinary data. Where more are than there is room for,
// the step is the CPU's.
int64_t RoomForOpen(int64_t elements);

// Checks of so many elements may be left for later: of more it is likely that one fails.
inline constexpr int64_t kMaxDeferred = 1 << 14;
// The count that all kernels of a device add to whose checks are left for later.
absl::StatusOr<DeviceAddress> CountOfOpen(DeferredChecks& checks, Device& device);

// `count` elements of the fusion's root that a kernel left open: their positions, ascending, and what they
// are as stored. The operands are the call's. Fallback where there was no room for all of them.
struct OpenElements {
  std::vector<int64_t> positions;
  std::vector<std::byte> elements;
};
absl::StatusOr<OpenElements> RepairOpen(const DeviceCall& call, const FusionView& fusion, DeviceAddress list,
                                        uint64_t count, uint64_t room);

// Makes the root of the fusion, whose operands are the call's, at `result`.
absl::Status LaunchFused(const DeviceCall& call, const FusionView& fusion, const FusedKernel& kernel,
                         const DeviceFunction& function, DeviceAddress result);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_FUSED_LAUNCH_H_
