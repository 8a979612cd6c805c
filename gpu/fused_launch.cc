#include "gpu/fused_launch.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "gpu/ptx/repair.h"
#include "shape/element_type.h"

namespace assay::gpu {
namespace {

// So many elements or fewer are copied from the device one by one; else the whole operand is.
constexpr size_t kFewElements = 64;

// How many elements the kernels of a device left open, without being asked each time.
class NoneOpen final : public DeferredChecks::Check {
 public:
  explicit NoneOpen(std::shared_ptr<DeviceMemory> count) : count_(std::move(count)) {}
  DeviceAddress count() const { return count_->address(); }

  absl::StatusOr<bool> Holds() override {
    uint64_t count = 0;
    ASSAY_RETURN_IF_ERROR(
        count_->device()->CopyOut(std::as_writable_bytes(std::span(&count, 1)), count_->address()));
    return count == 0;
  }

 private:
  const std::shared_ptr<DeviceMemory> count_;
};

absl::Status Gather(const DeviceCall& call, size_t k, std::span<const int64_t> at,
                    std::span<std::byte> elements) {
  const Literal& operand = call.values[k];
  const auto width = static_cast<size_t>(Bytes(operand.shape().element_type()));
  const bool is_far = operand.IsOnDeviceAlone() && at.size() <= kFewElements;
  if (!is_far) ASSAY_RETURN_IF_ERROR(operand.Fetch());
  for (size_t i = 0; i < at.size(); ++i) {
    const size_t offset = static_cast<size_t>(at[i]) * width;
    const std::span<std::byte> element = elements.subspan(i * width, width);
    if (is_far) {
      ASSAY_RETURN_IF_ERROR(call.device.CopyOut(element, call.operands[k] + offset));
    } else {
      std::memcpy(element.data(), operand.data() + offset, width);
    }
  }
  return absl::OkStatus();
}

// Makes the elements that the kernel left open.
absl::Status Repair(const DeviceCall& call, const FusionView& fusion, const FusedArgument& argument) {
  uint64_t count = 0;
  ASSAY_RETURN_IF_ERROR(
      call.device.CopyOut(std::as_writable_bytes(std::span(&count, 1)), argument.open_count));
  if (count == 0) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const OpenElements open,
                         RepairOpen(call, fusion, argument.open, count, argument.open_room));
  const auto width = static_cast<size_t>(Bytes(fusion.root().shape->element_type()));
  for (size_t i = 0; i < open.positions.size(); ++i) {
    const DeviceAddress at = argument.result + static_cast<uint64_t>(open.positions[i]) * width;
    ASSAY_RETURN_IF_ERROR(call.device.CopyIn(at, std::span(open.elements).subspan(i * width, width)));
  }
  return call.context.Charge(static_cast<int64_t>(open.positions.size()));
}

}  // namespace

int64_t RoomForOpen(int64_t elements) { return std::min(elements, std::max<int64_t>(4096, elements >> 10)); }

absl::StatusOr<DeviceAddress> CountOfOpen(DeferredChecks& checks, Device& device) {
  if (auto* const known = static_cast<NoneOpen*>(checks.Find(&device))) return known->count();
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> count, device.Allocate(8));
  ASSAY_RETURN_IF_ERROR(device.Zero(count->address(), 8));
  return static_cast<NoneOpen*>(checks.Add(&device, std::make_unique<NoneOpen>(std::move(count))))->count();
}

absl::StatusOr<OpenElements> RepairOpen(const DeviceCall& call, const FusionView& fusion, DeviceAddress list,
                                        uint64_t count, uint64_t room) {
  if (count > room)
    return Fallback(fmt::format("{} need repair, room for {}", Counted(count, "element"), room));
  OpenElements open;
  open.positions.resize(count);
  ASSAY_RETURN_IF_ERROR(call.device.CopyOut(std::as_writable_bytes(std::span(open.positions)), list));
  std::sort(open.positions.begin(), open.positions.end());
  const auto gather = [&](size_t k, std::span<const int64_t> at, std::span<std::byte> elements) {
    return Gather(call, k, at, elements);
  };
  ASSAY_ASSIGN_OR_RETURN(open.elements, RepairElements(fusion, open.positions, gather));
  return open;
}

absl::Status LaunchFused(const DeviceCall& call, const FusionView& fusion, const FusedKernel& kernel,
                         const DeviceFunction& function, DeviceAddress result) {
  FusedArgument argument{.elements = static_cast<uint64_t>(kernel.elements), .result = result};
  std::shared_ptr<DeviceMemory> open;
  const int64_t room = RoomForOpen(kernel.elements);
  const bool may_defer = kernel.may_leave_open && kernel.elements <= kMaxDeferred;
  DeferredChecks* const checks = may_defer ? DeferredChecks::Current() : nullptr;
  if (checks != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(argument.open_count, CountOfOpen(*checks, call.device));
    argument.open = argument.open_count;  // without room: nothing is written there
  } else if (kernel.may_leave_open) {
    ASSAY_ASSIGN_OR_RETURN(open, call.device.Allocate(8 * (room + 1)));
    argument.open_count = open->address();
    argument.open = open->address() + 8;
    argument.open_room = static_cast<uint64_t>(room);
    ASSAY_RETURN_IF_ERROR(call.device.Zero(argument.open_count, 8));
  }
  const LaunchShape shape = kernel.Shape(call.device.properties().multiprocessors);
  ASSAY_RETURN_IF_ERROR(call.device.Launch(function, shape, kernel.Argument(argument, call.operands)));
  return open == nullptr ? absl::OkStatus() : Repair(call, fusion, argument);
}

}  // namespace assay::gpu
