#include "gpu/driver/device.h"

#include <map>
#include <mutex>
#include <new>

#include "gpu/driver/cuda_device.h"
#include "gpu/driver/library.h"

namespace assay::gpu {
namespace {

using Opened = absl::StatusOr<std::shared_ptr<Device>>;

Opened OpenDriver(const std::string& driver) {
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<CudaLibrary> library, LoadCudaLibrary(driver));
  return CudaDevice::Open(library);
}

}  // namespace

Opened Device::Open(const std::string& driver) {
  // Never destroyed: when the process ends, the driver may have ended before.
  static std::mutex mutex;
  static std::map<std::string, Opened>& devices = *new std::map<std::string, Opened>();
  const std::lock_guard lock(mutex);
  const auto known = devices.find(driver);
  if (known != devices.end()) return known->second;
  return devices.emplace(driver, OpenDriver(driver)).first->second;
}

std::shared_ptr<DeviceMemory> Device::Own(DeviceAddress address, int64_t bytes) {
  DeviceMemory* const memory = new (std::nothrow) DeviceMemory(shared_from_this(), address, bytes);
  if (memory == nullptr) {
    Free(address, bytes);
    return nullptr;
  }
  return std::shared_ptr<DeviceMemory>(memory);  // frees it as well where there is no room for the counts
}

DeviceMemory::~DeviceMemory() { device_->Free(address_, size_); }

}  // namespace assay::gpu
