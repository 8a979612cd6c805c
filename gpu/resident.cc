#include "gpu/resident.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"

namespace assay::gpu {

absl::Status ResidentArray::CopyOut(std::span<std::byte> host) {
  ASSAY_RETURN_IF_ERROR(CheckLost());
  return memory_->device()->CopyOut(host, memory_->address());
}

void ResidentArray::Lost(const absl::Status& why) {
  if (guard_ != nullptr) guard_->Fail(why);
}

absl::StatusOr<std::shared_ptr<ResidentArray>> OnDevice(Device& device, const Literal& array) {
  if (auto resident = std::dynamic_pointer_cast<ResidentArray>(array.device_array());
      resident != nullptr && resident->memory().device().get() == &device) {
    const absl::Status lost = resident->CheckLost();
    if (lost.ok()) return resident;
    if (array.IsOnDeviceAlone()) return lost;
  }
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

namespace {

// The memory of an operand's array, where nobody but the literal's storage and this step has it.
std::shared_ptr<DeviceMemory> UnsharedMemory(const Literal& operand,
                                             const std::shared_ptr<ResidentArray>& array, int64_t bytes) {
  constexpr int64_t kStorageAndStep = 2;
  if (!operand.IsUnique() || array.use_count() != kStorageAndStep) return nullptr;
  const std::shared_ptr<DeviceMemory>& memory = array->shared_memory();
  return memory.use_count() == 1 && memory->size() >= bytes ? memory : nullptr;
}

std::vector<std::shared_ptr<const Shape>> ShapesOf(const std::shared_ptr<const Shape>& result) {
  if (!result->IsTuple()) return {result};
  std::vector<std::shared_ptr<const Shape>> shapes;
  for (const Shape& element : result->elements()) shapes.push_back(std::make_shared<const Shape>(element));
  return shapes;
}

// The results of a step that are there, and their addresses: 0 of those without elements.
struct Results {
  std::vector<Literal> literals;
  absl::InlinedVector<DeviceAddress, 2> addresses;

  // In `memory`, or in new one where there is none.
  absl::Status Add(Device& device, EvalContext& context, std::shared_ptr<const Shape> shape,
                   std::shared_ptr<DeviceMemory> memory) {
    if (shape->num_elements() == 0) {
      addresses.push_back(0);
      const auto i = static_cast<int64_t>(literals.size());
      ASSAY_ASSIGN_OR_RETURN(Literal empty, context.result_shape().IsTuple() ? context.NewResultElement(i)
                                                                             : context.NewResult());
      literals.push_back(std::move(empty));
      return absl::OkStatus();
    }
    if (memory == nullptr) {
      absl::StatusOr<std::shared_ptr<DeviceMemory>> allocated = device.Allocate(shape->num_bytes());
      if (!allocated.ok()) return LeftToOthers(allocated.status());
      memory = *std::move(allocated);
    }
    addresses.push_back(memory->address());
    ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::OnDevice(std::move(shape),
                                                              std::make_shared<ResidentArray>(
                                                                  std::move(memory), context.run().guard()),
                                                              context.run().budget()));
    literals.push_back(std::move(literal));
    return absl::OkStatus();
  }
  Literal Value(const EvalContext& context) && {
    if (!context.result_shape().IsTuple()) return std::move(literals[0]);
    return Literal::Tuple(context.shared_result_shape(), std::move(literals));
  }
};

}  // namespace

absl::StatusOr<Literal> DeviceKernel::Run(EvalContext& context, std::span<Literal> operands) const {
  for (const Literal& operand : operands) {
    if (!operand.IsFullSize()) return Fallback("an operand smaller than its bound");
  }
  const std::vector<std::shared_ptr<const Shape>> shapes = ShapesOf(context.shared_result_shape());
  int64_t elements = 0;
  for (const std::shared_ptr<const Shape>& shape : shapes) elements += shape->num_elements();
  Results results;
  Literal host_value;
  if (has_host_value() && std::none_of(operands.begin(), operands.end(),
                                       [](const Literal& operand) { return operand.IsOnDeviceAlone(); })) {
    ASSAY_ASSIGN_OR_RETURN(host_value, HostValue(context, operands));
    // Truth values are read by the host.
    if (shapes[0]->element_type() == ElementType::kPred) return host_value;
  }
  if (elements == 0) {
    for (const auto& shape : shapes) ASSAY_RETURN_IF_ERROR(results.Add(*device_, context, shape, nullptr));
    return std::move(results).Value(context);
  }
  absl::InlinedVector<std::shared_ptr<ResidentArray>, 4> arrays;
  absl::InlinedVector<DeviceAddress, 4> addresses;
  for (const Literal& operand : operands) {
    absl::StatusOr<std::shared_ptr<ResidentArray>> array = OnDevice(*device_, operand);
    if (!array.ok()) return LeftToOthers(array.status());
    addresses.push_back((*array)->memory().address());
    arrays.push_back(*std::move(array));
  }
  size_t over = 0;
  std::shared_ptr<DeviceMemory> memory;
  for (const size_t k : overwrites()) {
    memory = UnsharedMemory(operands[k], arrays[k], shapes[0]->num_bytes());
    over = k;
    if (memory != nullptr) break;
  }
  const bool in_place = memory != nullptr;
  for (const auto& shape : shapes)
    ASSAY_RETURN_IF_ERROR(results.Add(*device_, context, shape, std::move(memory)));
  const DeviceCall call{
      *device_, context, operands, arrays, addresses, results.addresses, results.addresses[0], in_place};
  const absl::Status status = Enqueue(call);
  if (in_place) operands[over] = Literal();
  // What may have been written over can't be left to others.
  if (!status.ok()) return in_place ? status : LeftToOthers(status);
  ASSAY_RETURN_IF_ERROR(context.Charge(elements));
  if (host_value.shape().IsTuple()) return std::move(results).Value(context);
  host_value.KeepOnDevice(results.literals[0].device_array());
  return host_value;
}

}  // namespace assay::gpu
