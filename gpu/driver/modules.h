// Modules that the driver loaded, by their contents, and the kernels in them.
#ifndef ASSAY_GPU_DRIVER_MODULES_H_
#define ASSAY_GPU_DRIVER_MODULES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/hash_map.h"
#include "gpu/driver/context.h"

namespace assay::gpu {

class DeviceFunction {
 public:
  DeviceFunction(cuda::Function handle, std::string name, uint32_t static_shared_bytes)
      : handle_(handle), name_(std::move(name)), static_shared_bytes_(static_shared_bytes) {}

  cuda::Function handle() const { return handle_; }
  const std::string& name() const { return name_; }
  // Lets blocks have that much of dynamic shared memory, which has to be asked for where it is much.
  absl::Status AllowShared(StreamContext& context, uint32_t bytes) const;

 private:
  const cuda::Function handle_;
  const std::string name_;
  const uint32_t static_shared_bytes_;
  mutable std::mutex mutex_;
  mutable uint32_t allowed_bytes_ = 0;  // by the driver, as far as it was asked
};

// Every function is called inside of StreamContext::Run.
class Modules {
 public:
  explicit Modules(StreamContext& context) : context_(context) {}

  absl::StatusOr<const DeviceFunction*> Load(std::span<const std::byte> image, const std::string& function);
  // Of an image that stays where it is as long as the process lives: found by its address,
  // once it was loaded.
  absl::StatusOr<const DeviceFunction*> LoadPermanent(std::span<const std::byte> image,
                                                      const std::string& function);
  absl::Status Close();

 private:
  struct Loaded {
    cuda::Module module = nullptr;
    HashMap<std::string, std::unique_ptr<DeviceFunction>> functions;
  };

  absl::StatusOr<Loaded*> LoadModule(std::string_view image);
  absl::StatusOr<const DeviceFunction*> FunctionOf(Loaded& loaded, const std::string& function);
  absl::StatusOr<std::unique_ptr<DeviceFunction>> Find(cuda::Module module, const std::string& function);

  StreamContext& context_;
  std::mutex mutex_;
  HashMap<std::string, std::unique_ptr<Loaded>> modules_;  // by image
  HashMap<const std::byte*, Loaded*> permanent_;           // by address, of modules_
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_MODULES_H_
