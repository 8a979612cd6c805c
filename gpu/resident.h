// Values that lie in a device's memory, and kernels that take and give such values.
#ifndef ASSAY_GPU_RESIDENT_H_
#define ASSAY_GPU_RESIDENT_H_

#include <memory>
#include <span>
#include <vector>

#include "base/run_guard.h"
#include "engines/engine.h"
#include "gpu/driver/device.h"
#include "gpu/kept_operands.h"
#include "literal/literal.h"

namespace assay::gpu {

// The elements of one array on a device, in row-major order as on the host.
class ResidentArray final : public DeviceArray {
 public:
  // `guard`: of the run whose value lies there alone; null where the host has it too.
  ResidentArray(std::shared_ptr<DeviceMemory> memory, std::shared_ptr<RunGuard> guard)
      : memory_(std::move(memory)), guard_(std::move(guard)), losses_(memory_->device()->losses()) {}
  const DeviceMemory& memory() const { return *memory_; }
  const std::shared_ptr<DeviceMemory>& shared_memory() const { return memory_; }

  KeptOperands& kept_operands() { return kept_operands_; }

  // The error of work that may have been meant for it and was never done.
  absl::Status CheckLost() const { return memory_->device()->LostSince(losses_); }

  absl::Status CopyOut(std::span<std::byte> host) override;
  void Lost(const absl::Status& why) override;

 private:
  const std::shared_ptr<DeviceMemory> memory_;
  const std::shared_ptr<RunGuard> guard_;
  const uint64_t losses_;  // of the device, before this
  KeptOperands kept_operands_;
};

// Where an array lies on the device, to where it is copied if it does not. The copy stays with the literal's
// storage, and so as long as what is returned.
absl::StatusOr<std::shared_ptr<ResidentArray>> OnDevice(Device& device, const Literal& array);

// The error of a device whose memory ends becomes a fallback: others can do the step in the host's memory.
absl::Status LeftToOthers(const absl::Status& status);

// What a kernel's launches see. Addresses are those of row-major arrays.
struct DeviceCall {
  Device& device;
  EvalContext& context;
  std::span<const Literal> values;  // of the step's operands
  std::span<const std::shared_ptr<ResidentArray>> arrays;
  std::span<const DeviceAddress> operands;
  // Of the result, or of the elements of a tuple of arrays; 0: an element without elements.
  std::span<const DeviceAddress> results;
  DeviceAddress result = 0;  // the first of them
  // The result lies where one of the operands DeviceKernel::overwrites() does, which nobody else wants.
  bool in_place = false;
};

// A step on a device, which gives an array or a tuple of arrays. Operands are copied there where they are
// not, the results stay there. Where the device has no memory left, or an operand is smaller than its bound,
// the step is left to others.
class DeviceKernel : public Kernel {
 public:
  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const final;
  bool is_on_device() const final { return true; }
  void EndIteration() const final { device_->FlushUntold(); }
  // As a part of another kernel's step, with operands and results of its own.
  absl::Status EnqueueFor(const DeviceCall& call) const { return Enqueue(call); }

 protected:
  explicit DeviceKernel(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }

 private:
  // The operands over which the one result may be written where nobody else wants them.
  virtual std::span<const size_t> overwrites() const { return {}; }
  // Of a small result that the host can compute as well, from what it has: then nobody waits for the device
  // to read it there.
  virtual bool has_host_value() const { return false; }
  virtual absl::StatusOr<Literal> HostValue(EvalContext&, std::span<const Literal>) const {
    return Fallback("no value on the host");
  }
  // Tells the device what to do. Nothing is called for a result without elements.
  virtual absl::Status Enqueue(const DeviceCall& call) const = 0;

  const std::shared_ptr<Device> device_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_RESIDENT_H_
