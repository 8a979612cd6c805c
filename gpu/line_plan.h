// How a reduction of one dimension of [outer][length][inner] is shared among the blocks of a launch
// (gpu/kernels/lines.cuh).
#ifndef ASSAY_GPU_LINE_PLAN_H_
#define ASSAY_GPU_LINE_PLAN_H_

#include <optional>
#include <string>

#include "gpu/driver/device.h"
#include "gpu/kernels/reduce_arguments.h"

namespace assay::gpu {

struct LinePlan {
  const char* shape = "";  // "rows", "long", "columns" or "columns_1": of the kernel's name
  LineArguments arguments{};
  int64_t blocks = 0;
  uint32_t shared_bytes = 0;
  int64_t partial_bytes = 0;
  int64_t counters = 0;

  LaunchShape launch() const {
    return {.blocks = {static_cast<uint32_t>(blocks), 1, 1},
            .threads = {kReduceThreads, 1, 1},
            .shared_bytes = shared_bytes};
  }
};

// What a state of the reduction takes, and how many columns a thread may have.
struct LineElements {
  int64_t bytes = 0;
  int64_t state_bytes = 0;
  int columns = 1;
};

// None: the dimensions are others, or too few results stand side by side.
std::optional<LinePlan> LinePlanOf(const DeviceProperties& device, const Strides& kept,
                                   const Strides& reduced, const LineElements& elements);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_LINE_PLAN_H_
