#include "gpu/resident.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"

namespace assay::gpu {

absl::Status ResidentArray::CopyOut(std::span<std::byte> host) {
  return memory_->device()->CopyOut(host, memory_->address());
}

void ResidentArray::Lost(const absl::Status& why) {
  if (guard_ != nullptr) guard_->Fail(why);
}

absl::StatusOr<std::shared_ptr<ResidentArray>> OnDevice(Device& device, const Literal& array) {
  if (auto resident = std::dynamic_pointer_cast<ResidentArray>(array.device_array());
      resident != nullptr && resident->memory().device().get() == &device)
    return resident;
  const std::span<const std::byte> bytes = array.bytes();
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> memory,
                         device.Allocate(std::max<int64_t>(1, static_cast<int64_t>(bytes.size()))));
  if (!bytes.empty()) ASSAY_RETURN_IF_ERROR(device.CopyIn(memory->address(), bytes));
  auto resident = std::make_shared<ResidentArray>(std::move(memory), nullptr);
  array.KeepOnDevice(resident);
  return resident;
}

absl::Status LeftToOthers(const absl::Status& status) {
  if (!IsMemoryError(status)) return status;
  return Fallback(
      fmt::format("the device: {}", std::string_view(status.message().data(), status.message().size())));
}

absl::StatusOr<Literal> DeviceKernel::Run(EvalContext& context, std::span<Literal> operands) const {
  for (const Literal& operand : operands) {
    if (!operand.IsFullSize()) return Fallback("an operand that is smaller than its bound");
  }
  if (context.result_shape().num_elements() == 0) return context.NewResult();
  absl::InlinedVector<std::shared_ptr<ResidentArray>, 4> arrays;
  absl::InlinedVector<DeviceAddress, 4> addresses;
  for (const Literal& operand : operands) {
    absl::StatusOr<std::shared_ptr<ResidentArray>> array = OnDevice(*device_, operand);
    if (!array.ok()) return LeftToOthers(array.status());
    addresses.push_back((*array)->memory().address());
    arrays.push_back(*std::move(array));
  }
  absl::StatusOr<std::shared_ptr<DeviceMemory>> memory =
      device_->Allocate(context.result_shape().num_bytes());
  if (!memory.ok()) return LeftToOthers(memory.status());
  const DeviceCall call{*device_, context, operands, addresses, (*memory)->address()};
  ASSAY_ASSIGN_OR_RETURN(Literal result, Literal::OnDevice(context.shared_result_shape(),
                                                           std::make_shared<ResidentArray>(
                                                               *std::move(memory), context.run().guard()),
                                                           context.run().budget()));
  if (const absl::Status status = Enqueue(call); !status.ok()) return LeftToOthers(status);
  ASSAY_RETURN_IF_ERROR(context.Charge(context.result_shape().num_elements()));
  return result;
}

}  // namespace assay::gpu
