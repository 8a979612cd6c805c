#include "gpu/approximate_members.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "gpu/ptx/approximate.h"
#include "gpu/ptx/fused.h"
#include "shape/element_type.h"

namespace assay::gpu {

ApproximateMembers::ApproximateMembers(std::shared_ptr<Device> device, const FusionView& step)
    : device_(std::move(device)), module_(step.module), computation_(step.computation) {
  for (const int32_t member : step.members) {
    if (ApproximationBound(computation_.instructions[static_cast<size_t>(member)]) != nullptr)
      members_.push_back(member);
  }
}

Approximation ApproximateMembers::Of(const Instruction& member) const {
  const auto index = static_cast<int32_t>(&member - computation_.instructions.data());
  if (std::find(members_.begin(), members_.end(), index) == members_.end()) return {};
  const auto run = [this, index](int64_t n, const std::byte* const* in, std::byte* out) {
    return Run(index, n, in[0], out);
  };
  return {run, ApproximationBound(member)};
}

std::string ApproximateMembers::Bound() const {
  std::vector<std::string> bounds;
  for (const int32_t member : members_) {
    const Instruction& instruction = computation_.instructions[static_cast<size_t>(member)];
    std::string bound =
        fmt::format("{} {}", Name(instruction.opcode), ApproximationBound(instruction)->Bound());
    if (std::find(bounds.begin(), bounds.end(), bound) == bounds.end()) bounds.push_back(std::move(bound));
  }
  return fmt::format("{}", fmt::join(bounds, ", "));
}

absl::Status ApproximateMembers::Run(int32_t member, int64_t n, const std::byte* in, std::byte* out) const {
  if (n == 0) return absl::OkStatus();
  const Instruction& instruction = computation_.instructions[static_cast<size_t>(member)];
  const FusionView alone{module_, computation_, {&member, 1}, instruction.operands};
  ASSAY_ASSIGN_OR_RETURN(const FusedKernel kernel,
                         MakeFusedPtx(alone, device_->properties().capability, /*approximate=*/true));
  ASSAY_ASSIGN_OR_RETURN(
      const DeviceFunction* const function,
      device_->Load(std::as_bytes(std::span(kernel.text)), std::string(FusedKernel::kName)));
  const int64_t bytes = n * Bytes(instruction.shape->element_type());
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> operand, device_->Allocate(bytes));
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> result, device_->Allocate(bytes));
  ASSAY_RETURN_IF_ERROR(device_->CopyIn(operand->address(), {in, static_cast<size_t>(bytes)}));
  const FusedArgument argument{.elements = static_cast<uint64_t>(n), .result = result->address()};
  const DeviceAddress operands[] = {operand->address()};
  ASSAY_RETURN_IF_ERROR(device_->Launch(*function, kernel.Shape(device_->properties().multiprocessors),
                                        kernel.Argument(argument, operands)));
  return device_->CopyOut({out, static_cast<size_t>(bytes)}, result->address());
}

}  // namespace assay::gpu
