#include "gpu/fused_step.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "evaluator/eval_context.h"
#include "gpu/approximate_members.h"
#include "gpu/fused_launch.h"
#include "gpu/ptx/fused.h"
#include "gpu/ptx/repair.h"
#include "gpu/resident.h"
#include "shape/element_type.h"

namespace assay::gpu {
namespace {

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
    if (kernel_.is_approximate) approximate_.emplace(shared_device(), View());
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
  const Accuracy& accuracy() const override { return approximate_ ? approximate_->accuracy() : BitExact(); }
  Approximation ApproximationOf(const Instruction& member) const override {
    return approximate_ ? approximate_->Of(member) : Approximation{};
  }
  bool defers_checks() const override { return kernel_.may_leave_open && kernel_.elements <= kMaxDeferred; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    return LaunchFused(call, View(), kernel_, function_, call.result);
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
  std::optional<ApproximateMembers> approximate_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFused(const std::shared_ptr<Device>& device,
                                                           const FusionView& step, bool approximate) {
  ASSAY_ASSIGN_OR_RETURN(FusedKernel kernel,
                         MakeFusedPtx(step, device->properties().capability, approximate));
  ASSAY_ASSIGN_OR_RETURN(
      const DeviceFunction* const function,
      device->Load(std::as_bytes(std::span(kernel.text)), std::string(FusedKernel::kName)));
  return std::make_shared<const FusedStep>(device, std::move(kernel), *function, step);
}

}  // namespace assay::gpu
