#include "gpu/custom_step.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engines/custom_accuracy.h"
#include "evaluator/custom_op.h"
#include "evaluator/eval_context.h"
#include "gpu/resident.h"

namespace assay::gpu {
namespace {

void* PointerOf(const DeviceMemory& memory) { return reinterpret_cast<void*>(memory.address()); }

// What a kernel sees of the device. Its memory is given back in the stream's order,
// behind what the kernel told.
class ToldDevice final : public CustomDevice {
 public:
  ToldDevice(Device& device, void* stream) : device_(device), stream_(stream) {}
  void* stream() const override { return stream_; }
  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> memory, device_.Allocate(bytes));
    ASSAY_RETURN_IF_ERROR(device_.Flush());  // the caller tells the stream itself
    return PointerOf(*memory_.emplace_back(std::move(memory)));
  }

 private:
  Device& device_;
  void* const stream_;
  std::vector<std::shared_ptr<DeviceMemory>> memory_;
};

class CustomStep final : public Kernel {
 public:
  CustomStep(std::shared_ptr<Device> device, std::shared_ptr<const CustomDeviceKernel> kernel,
             const Shape& result)
      : device_(std::move(device)),
        kernel_(std::move(kernel)),
        algorithm_(kernel_->name()),
        accuracy_(kernel_->tolerance()) {
    for (const Shape& element : result.elements())
      elements_.push_back(std::make_shared<const Shape>(element));
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override;
  bool is_on_device() const override { return true; }
  bool gives_on_host(int64_t element) const override { return kernel_->result_on_host(element); }
  bool reads_on_host(int64_t operand) const override { return kernel_->operand_on_host(operand); }
  const Accuracy& accuracy() const override { return accuracy_; }
  std::string_view algorithm() const override { return algorithm_; }

 private:
  // A result without elements yet, and where they go.
  absl::StatusOr<Literal> NewResult(EvalContext& context, const std::shared_ptr<const Shape>& shape,
                                    int64_t number, void*& address) const {
    if (kernel_->result_on_host(number)) {
      ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(shape));
      address = result.MutableBytes().data();
      return result;
    }
    ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> memory,
                           device_->Allocate(std::max<int64_t>(shape->num_bytes(), 1)));
    ASSAY_RETURN_IF_ERROR(device_->Flush());
    address = PointerOf(*memory);
    return Literal::OnDevice(shape, std::make_shared<ResidentArray>(std::move(memory), context.run().guard()),
                             context.run().budget());
  }

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<const CustomDeviceKernel> kernel_;
  const std::string algorithm_;
  const CustomAccuracy accuracy_;
  std::vector<std::shared_ptr<const Shape>> elements_;  // of a result that is a tuple
};

absl::StatusOr<Literal> CustomStep::Run(EvalContext& context, std::span<Literal> operands) const {
  std::vector<std::shared_ptr<ResidentArray>> arrays;
  std::vector<void*> addresses, results(std::max<size_t>(elements_.size(), 1));
  for (size_t i = 0; i < operands.size(); ++i) {
    if (kernel_->operand_on_host(static_cast<int64_t>(i))) {
      addresses.push_back(const_cast<std::byte*>(operands[i].data()));
      continue;
    }
    absl::StatusOr<std::shared_ptr<ResidentArray>> array = OnDevice(*device_, operands[i]);
    if (!array.ok()) return LeftToOthers(array.status());
    addresses.push_back(PointerOf((*array)->memory()));
    arrays.push_back(*std::move(array));
  }
  std::vector<Literal> values;
  for (size_t i = 0; i < results.size(); ++i) {
    absl::StatusOr<Literal> value =
        NewResult(context, elements_.empty() ? context.shared_result_shape() : elements_[i],
                  static_cast<int64_t>(i), results[i]);
    if (!value.ok()) return LeftToOthers(value.status());
    values.push_back(*std::move(value));
  }
  ASSAY_RETURN_IF_ERROR(device_->Tell([&](void* stream) {
    ToldDevice told(*device_, stream);
    return kernel_->Run(told, addresses, results);
  }));
  int64_t elements = 0;
  for (const Literal& value : values) elements += value.shape().num_elements();
  ASSAY_RETURN_IF_ERROR(context.Charge(elements));
  if (elements_.empty()) return std::move(values[0]);
  return Literal::Tuple(context.shared_result_shape(), std::move(values));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCustom(const std::shared_ptr<Device>& device,
                                                            const StepView& step) {
  const CustomOp* const op = CustomOpOf(step.module, step.instruction);
  if (op == nullptr) return NotSupported({}, "no registered operation for the custom call");
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const CustomDeviceKernel> kernel,
                         op->PrepareOnDevice(step.module, step.computation, step.instruction));
  return std::make_shared<CustomStep>(device, std::move(kernel), step.result_shape());
}

}  // namespace assay::gpu
