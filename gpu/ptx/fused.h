// A fusion of elementwise instructions as a PTX kernel: a loop over the elements of its root in row-major
// order, in which a thread makes one element from those of the operands. Results have the reference's bits,
// but for members that are approximated (approximate.h);
// elements that take more than the kernel does (arguments next to a midpoint, of a huge angle) are open:
// their positions are put into a list, and the host makes them (repair.h).
#ifndef ASSAY_GPU_PTX_FUSED_H_
#define ASSAY_GPU_PTX_FUSED_H_

#include <span>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

// What the kernel is called with, as its one parameter's bytes.
struct FusedArgument {
  uint64_t elements = 0;
  DeviceAddress result = 0;
  // Open elements: their positions in the root, of 8 bytes each, room for so many, and how many there are,
  // which is counted beyond the room too. The counter is 0 before the kernel runs.
  DeviceAddress open = 0;
  uint64_t open_room = 0;
  DeviceAddress open_count = 0;
  DeviceAddress operands[1] = {};  // as many as the fusion has

  static int64_t Bytes(size_t operands) { return static_cast<int64_t>(40 + 8 * operands); }
};

struct FusedKernel {
  static constexpr std::string_view kName = "fused";

  std::string text;  // a module for compute capability 8.0 and later
  int64_t elements = 0;
  size_t num_operands = 0;
  int at_once = 1;              // elements that a thread makes at a time
  bool may_leave_open = false;  // else the list and its counter may be null
  bool is_approximate = false;  // members that have an approximation are that
  std::vector<bool>
      is_read;  // by operand: whether its address must be valid; constants of one element are in the text
  // By operand: each element is read by the thread that writes the result's at its position.
  std::vector<bool> reads_in_place;

  // The argument's bytes; `operands` in the order of FusionView::operands.
  std::vector<std::byte> Argument(const FusedArgument& common, std::span<const DeviceAddress> operands) const;
  // For a device with so many multiprocessors. There is nothing to launch where there are no elements.
  LaunchShape Shape(int multiprocessors) const;
};

// NotSupported says what the kernel can't be made for. `approximate`: members that have an approximation are
// that, unless the kernel would leave elements open: the host makes those exactly.
absl::StatusOr<FusedKernel> MakeFusedPtx(const FusionView& step, const Capability& capability,
                                         bool approximate = false);

// Whether an instruction can be a member: Engine::CanFuse. The reason, or nothing.
std::string WhyNoMember(const StepView& step);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_FUSED_H_
