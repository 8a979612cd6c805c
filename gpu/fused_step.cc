#include "gpu/fused_step.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "engines/deferred_checks.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "gpu/ptx/fused.h"
#include "gpu/ptx/repair.h"
#include "gpu/resident.h"
#include "shape/element_type.h"

namespace assay::gpu {
namespace {

// Open elements are one in 2^20 or fewer of ordinary data. Where more are than there is room for,
// the step is the CPU's.
int64_t RoomForOpen(int64_t elements) { return std::min(elements, std::max<int64_t>(4096, elements >> 10)); }

// So many elements or fewer are copied from the device one by one; else the whole operand is.
constexpr size_t kFewElements = 64;

// Checks of so many elements may be left for later: of more it is likely that one fails.
constexpr int64_t kMaxDeferred = 1 << 14;

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

absl::StatusOr<DeviceAddress> CountOfOpen(DeferredChecks& checks, Device& device) {
  if (auto* const known = static_cast<NoneOpen*>(checks.Find(&device))) return known->count();
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> count, device.Allocate(8));
  ASSAY_RETURN_IF_ERROR(device.Zero(count->address(), 8));
  return static_cast<NoneOpen*>(checks.Add(&device, std::make_unique<NoneOpen>(std::move(count))))->count();
}

// A number that counts or compares such numbers, which the host reads to go on.
bool IsCounter(const FusionView& step) {
  const auto is_number = [&](int32_t i) {
    const Shape& shape = *step.computation.instructions[static_cast<size_t>(i)].shape;
    return shape.IsArray() && shape.num_elements() == 1 && !IsFloat(shape.element_type()) &&
           !IsComplex(shape.element_type());
  };
  return std::all_of(step.members.begin(), step.members.end(), is_number) &&
         std::all_of(step.operands.begin(), step.operands.end(), is_number);
}

class FusedStep final : public DeviceKernel {
 public:
  FusedStep(std::shared_ptr<Device> device, FusedKernel kernel, const DeviceFunction& function,
            const FusionView& step)
      : DeviceKernel(std::move(device)),
        kernel_(std::move(kernel)),
        function_(function),
        module_(step.module),
        computation_(step.computation),
        members_(step.members.begin(), step.members.end()),
        operands_(step.operands.begin(), step.operands.end()),
        is_counter_(IsCounter(step)) {
    // Open elements are made of the operands afterwards.
    if (kernel_.may_leave_open) return;
    const Shape& result = *step.root().shape;
    for (size_t k = 0; k < operands_.size(); ++k) {
      const Shape& operand = *computation_.instructions[static_cast<size_t>(operands_[k])].shape;
      if (kernel_.is_read[k] && kernel_.reads_in_place[k] && operand.IsArray() &&
          operand.num_elements() == result.num_elements() && operand.num_bytes() == result.num_bytes())
        overwritten_.push_back(k);
    }
  }

  std::string_view algorithm() const override { return "generated PTX"; }
  bool defers_checks() const override { return kernel_.may_leave_open && kernel_.elements <= kMaxDeferred; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    FusedArgument argument{.elements = static_cast<uint64_t>(kernel_.elements), .result = call.result};
    std::shared_ptr<DeviceMemory> open;
    const int64_t room = RoomForOpen(kernel_.elements);
    DeferredChecks* const checks = defers_checks() ? DeferredChecks::Current() : nullptr;
    if (checks != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(argument.open_count, CountOfOpen(*checks, call.device));
      argument.open = argument.open_count;  // without room: nothing is written there
    } else if (kernel_.may_leave_open) {
      ASSAY_ASSIGN_OR_RETURN(open, call.device.Allocate(8 * (room + 1)));
      argument.open_count = open->address();
      argument.open = open->address() + 8;
      argument.open_room = static_cast<uint64_t>(room);
      ASSAY_RETURN_IF_ERROR(call.device.Zero(argument.open_count, 8));
    }
    const LaunchShape shape = kernel_.Shape(call.device.properties().multiprocessors);
    ASSAY_RETURN_IF_ERROR(call.device.Launch(function_, shape, kernel_.Argument(argument, call.operands)));
    return open == nullptr ? absl::OkStatus() : Repair(call, argument);
  }

  // Makes the elements that the kernel left open.
  absl::Status Repair(const DeviceCall& call, const FusedArgument& argument) const {
    uint64_t count = 0;
    ASSAY_RETURN_IF_ERROR(
        call.device.CopyOut(std::as_writable_bytes(std::span(&count, 1)), argument.open_count));
    if (count == 0) return absl::OkStatus();
    if (count > argument.open_room)
      return Fallback(
          fmt::format("{} need repair, room for {}", Counted(count, "element"), argument.open_room));
    std::vector<int64_t> positions(count);
    ASSAY_RETURN_IF_ERROR(call.device.CopyOut(std::as_writable_bytes(std::span(positions)), argument.open));
    std::sort(positions.begin(), positions.end());
    const auto gather = [&](size_t k, std::span<const int64_t> at, std::span<std::byte> elements) {
      return Gather(call, k, at, elements);
    };
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::byte> repaired, RepairElements(View(), positions, gather));
    const auto width = static_cast<size_t>(Bytes(call.context.result_shape().element_type()));
    for (size_t i = 0; i < positions.size(); ++i) {
      const DeviceAddress at = call.result + static_cast<uint64_t>(positions[i]) * width;
      ASSAY_RETURN_IF_ERROR(call.device.CopyIn(at, std::span(repaired).subspan(i * width, width)));
    }
    return call.context.Charge(static_cast<int64_t>(positions.size()));
  }

  absl::Status Gather(const DeviceCall& call, size_t k, std::span<const int64_t> at,
                      std::span<std::byte> elements) const {
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

  std::span<const size_t> overwrites() const override { return overwritten_; }

  bool has_host_value() const override { return is_counter_; }
  absl::StatusOr<Literal> HostValue(EvalContext& context, std::span<const Literal> operands) const override {
    const auto gather = [&](size_t k, std::span<const int64_t>, std::span<std::byte> elements) {
      std::memcpy(elements.data(), operands[k].data(), elements.size());
      return absl::OkStatus();
    };
    constexpr int64_t kFirst = 0;
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                           RepairElements(View(), std::span(&kFirst, 1), gather));
    ASSAY_ASSIGN_OR_RETURN(Literal value, context.NewResult());
    std::memcpy(value.MutableBytes().data(), bytes.data(), bytes.size());
    return value;
  }

  FusionView View() const { return {module_, computation_, members_, operands_}; }

  const FusedKernel kernel_;
  const DeviceFunction& function_;
  const Module& module_;
  const Computation& computation_;
  const std::vector<int32_t> members_, operands_;
  const bool is_counter_;
  std::vector<size_t> overwritten_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFused(const std::shared_ptr<Device>& device,
                                                           const FusionView& step) {
  ASSAY_ASSIGN_OR_RETURN(FusedKernel kernel, MakeFusedPtx(step, device->properties().capability));
  ASSAY_ASSIGN_OR_RETURN(
      const DeviceFunction* const function,
      device->Load(std::as_bytes(std::span(kernel.text)), std::string(FusedKernel::kName)));
  return std::make_shared<const FusedStep>(device, std::move(kernel), *function, step);
}

}  // namespace assay::gpu
