#include "custom/device_kernel.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "custom/c_values.h"
#include "custom/float_environment.h"
#include "custom/kernel_instance.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

// By value, whether it belongs to an argument that the kernel wants in the host's memory.
std::vector<bool> OnHost(const std::vector<OpArgument>& arguments, const std::vector<ArgumentRange>& ranges,
                         const KernelDef& kernel) {
  std::vector<bool> on_host;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const bool is_named = std::ranges::count(kernel.host_memory, arguments[k].name) > 0;
    on_host.resize(static_cast<size_t>(ranges[k].first + ranges[k].count));
    for (int64_t i = 0; i < ranges[k].count; ++i)
      on_host[static_cast<size_t>(ranges[k].first + i)] = is_named;
  }
  return on_host;
}

class DeviceLibraryKernel final : public CustomDeviceKernel {
 public:
  explicit DeviceLibraryKernel(std::unique_ptr<const KernelInstance> made)
      : made_(std::move(made)),
        operand_on_host_(OnHost(made_->op().inputs, made_->bound().inputs, made_->def())),
        result_on_host_(OnHost(made_->op().outputs, made_->bound().outputs, made_->def())) {}

  absl::Status Run(CustomDevice& device, std::span<void* const> operands,
                   std::span<void* const> results) const override;
  bool operand_on_host(int64_t operand) const override {
    return operand_on_host_[static_cast<size_t>(operand)];
  }
  bool result_on_host(int64_t result) const override { return result_on_host_[static_cast<size_t>(result)]; }
  std::string_view name() const override { return made_->name(); }
  CustomTolerance tolerance() const override { return made_->def().tolerance; }

 private:
  const std::unique_ptr<const KernelInstance> made_;
  const std::vector<bool> operand_on_host_, result_on_host_;
};

// One run. Its functions are what a kernel calls; an error is kept until the kernel returns.
class DeviceKernelRun {
 public:
  DeviceKernelRun(const KernelInstance& made, CustomDevice& device, std::span<void* const> operands,
                  std::span<void* const> results)
      : made_(made),
        device_(device),
        results_(results),
        inputs_(made.inputs().begin(), made.inputs().end()),
        is_allocated_(results.size()) {
    for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i].data = operands[i];
  }

  absl::Status Run() {
    AssayCompute call = made_.Call();
    call.self = this;
    call.inputs = inputs_.data();
    call.stream = device_.stream();
    call.allocate_output = AllocateOutput;
    call.allocate_temp = AllocateTemp;
    // Who else reads an operand's memory is not known here.
    call.forward_input = [](void*, size_t, size_t) -> void* { return nullptr; };
    call.set_size = [](void* self, size_t output, int64_t, int64_t) {
      Of(self).FailWith(fmt::format("output {} has no size of its own at run time", output));
    };
    // What runs on the host only tells the device what to do: there is nothing to share.
    call.shard = [](void*, int64_t, int64_t total, int64_t, void (*work)(void*, int64_t, int64_t),
                    void* argument) {
      if (total > 0) work(argument, 0, total);
    };
    call.call = [](void* self, size_t, size_t, const AssayArray*, size_t, AssayArray*) -> int32_t {
      Of(self).FailWith("a kernel for GPUs can't run called computations");
      return 1;
    };
    call.fail = [](void* self, int32_t error, AssayText message) {
      Of(self).Fail(ErrorOf(Of(self).made_.op().name, error, message, /*running=*/true));
    };
    {
      const KeptFloatEnvironment kept;
      made_.def().compute(made_.instance(), &call);
    }
    for (size_t i = 0; i < is_allocated_.size(); ++i) {
      if (!is_allocated_[i]) FailWith(fmt::format("output {} was not allocated", i));
    }
    return status_;
  }

 private:
  static DeviceKernelRun& Of(void* self) { return *static_cast<DeviceKernelRun*>(self); }

  // The first one counts; a library may call from threads of its own.
  void Fail(absl::Status status) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }
  void FailWith(std::string_view what) {
    Fail(EvalError({}, fmt::format("op {}: {}", made_.op().name, what)));
  }

  static void* AllocateOutput(void* self, size_t output, int64_t rank, const int64_t* sizes) {
    DeviceKernelRun& of = Of(self);
    if (output >= of.results_.size()) {
      of.FailWith(fmt::format("there is no output {} to allocate", output));
      return nullptr;
    }
    if (of.is_allocated_[output]) {
      of.FailWith(fmt::format("output {} is allocated twice", output));
      return nullptr;
    }
    if (absl::Status fits = of.made_.CheckSizes(output, rank, sizes); !fits.ok()) {
      of.Fail(std::move(fits));
      return nullptr;
    }
    of.is_allocated_[output] = true;
    return of.results_[output];
  }

  static void* AllocateTemp(void* self, AssayType code, int64_t rank, const int64_t* sizes) {
    DeviceKernelRun& of = Of(self);
    const auto allocate = [&]() -> absl::StatusOr<void*> {
      ASSAY_ASSIGN_OR_RETURN(const int64_t bytes, TemporaryBytes(of.made_.op().name, code, rank, sizes));
      return of.device_.Allocate(std::max<int64_t>(bytes, 1));
    };
    const absl::StatusOr<void*> memory = allocate();
    if (memory.ok()) return *memory;
    of.Fail(memory.status());
    return nullptr;
  }

  const KernelInstance& made_;
  CustomDevice& device_;
  const std::span<void* const> results_;
  absl::InlinedVector<AssayArray, 4> inputs_;
  absl::InlinedVector<bool, 2> is_allocated_;
  std::mutex mutex_;
  absl::Status status_;
};

absl::Status DeviceLibraryKernel::Run(CustomDevice& device, std::span<void* const> operands,
                                      std::span<void* const> results) const {
  return DeviceKernelRun(*made_, device, operands, results).Run();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CustomDeviceKernel>> MakeDeviceKernel(
    const OpInterface& op, const KernelDef& kernel, ResolvedCall bound,
    std::span<const Shape* const> operands, const Instruction& call) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<const KernelInstance> made,
                         KernelInstance::Make(op, kernel, std::move(bound), operands, call));
  const auto is_array = [](const AssayArray& value) { return value.kind == 0; };
  if (made->has_dynamic() || !std::ranges::all_of(made->inputs(), is_array) ||
      !std::ranges::all_of(made->outputs(), is_array))
    return NotSupported({}, "kernels for GPUs take and give static arrays");
  return std::make_shared<DeviceLibraryKernel>(std::move(made));
}

}  // namespace assay::custom
