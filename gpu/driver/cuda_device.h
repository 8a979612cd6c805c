// The Device of a CUDA driver.
#ifndef ASSAY_GPU_DRIVER_CUDA_DEVICE_H_
#define ASSAY_GPU_DRIVER_CUDA_DEVICE_H_

#include <memory>
#include <string>

#include "gpu/driver/context.h"
#include "gpu/driver/device.h"
#include "gpu/driver/launch_queue.h"
#include "gpu/driver/memory.h"
#include "gpu/driver/modules.h"
#include "gpu/driver/staging.h"

namespace assay::gpu {

class CudaDevice final : public Device {
 public:
  // The library's first device. Each call gives another object, unlike Device::Open. What failed when an
  // earlier one was given back, and nobody was told, is told here.
  static absl::StatusOr<std::shared_ptr<CudaDevice>> Open(const std::shared_ptr<CudaLibrary>& library);
  ~CudaDevice() override;

  // Waits for the stream and gives everything back, DeviceMemory that lives on included.
  // Nothing may be called afterwards.
  absl::Status Close();

  absl::StatusOr<const DeviceFunction*> Load(std::span<const std::byte> image,
                                             const std::string& function) override;
  absl::StatusOr<const DeviceFunction*> LoadPermanent(std::span<const std::byte> image,
                                                      const std::string& function) override;
  std::span<const std::byte> OwnImage(std::string_view module) const override;
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Allocate(int64_t bytes) override;
  absl::Status CopyIn(DeviceAddress to, std::span<const std::byte> host) override;
  absl::Status CopyOut(std::span<std::byte> host, DeviceAddress from) override;
  absl::Status CopyWithin(DeviceAddress to, DeviceAddress from, int64_t bytes) override;
  absl::Status Zero(DeviceAddress to, int64_t bytes) override;
  using Device::Launch;
  absl::Status Launch(const DeviceFunction& function, const LaunchShape& shape,
                      std::span<const std::byte> argument) override;
  absl::Status Flush() override;
  void FlushUntold() override;
  absl::Status Synchronize() override;
  absl::Status Tell(absl::FunctionRef<absl::Status(void* stream)> body) override;
  absl::Status ReturnUnused() override;
  absl::Status StartTiming() override;
  absl::StatusOr<double> EndTiming() override;
  uint64_t losses() const override { return queue_->losses(); }
  absl::Status LostSince(uint64_t losses) const override;
  int64_t live_allocations() const override { return memory_->live(); }

 private:
  CudaDevice(DeviceProperties properties, std::unique_ptr<StreamContext> context)
      : Device(std::move(properties)), context_(std::move(context)) {}

  absl::Status Fill(cuda::DeviceNumber device);
  void Free(DeviceAddress address, int64_t bytes) override;
  // `add` puts something into the queue, and says whether that is full.
  absl::Status Queued(absl::FunctionRef<bool()> add);
  // StreamContext::Run, when the stream was told all that is in the queue.
  absl::Status RunBehindQueue(absl::FunctionRef<absl::Status()> body);

  std::unique_ptr<StreamContext> context_;  // null: closed
  std::unique_ptr<MemorySource> memory_;
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<Modules> modules_;
  std::unique_ptr<LaunchQueue> queue_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_CUDA_DEVICE_H_
