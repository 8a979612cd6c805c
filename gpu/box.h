// Boxes of elements that are copied: dimensions merged, and elements joined to the widest that divide them
// (box_N and pick_N of gpu/kernels/move.cu).
#ifndef ASSAY_GPU_BOX_H_
#define ASSAY_GPU_BOX_H_

#include <optional>
#include <span>
#include <vector>

#include "gpu/driver/device.h"
#include "gpu/kernels/move_arguments.h"

namespace assay::gpu {

// A dimension, with strides in elements of both arrays and, of picks, in indices.
struct BoxAxis {
  int64_t size = 1;
  int64_t from = 0, to = 0, index = 0;
};

struct BoxPlan {
  int64_t bytes = 0;   // of an element that is moved: a part of the kernel's name
  int64_t joined = 1;  // how many elements it is
  BoxArguments arguments{};

  LaunchShape launch() const {
    return {.blocks = {static_cast<uint32_t>(BoxBlocks(arguments.count)), 1, 1},
            .threads = {kMoveThreads, 1, 1}};
  }
};

// `offsets`: where elements may begin besides; the number of elements that are joined divides all of them.
// None: there are too many dimensions, or 2^31 elements and more.
std::optional<BoxPlan> BoxPlanOf(std::vector<BoxAxis> axes, int64_t bytes, std::span<const int64_t> offsets);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_BOX_H_
