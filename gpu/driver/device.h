// A GPU by CUDA's driver API, which is opened at run time: what the engine `gpu` and its tests know of a
// device. Errors are of the class NotSupported where the device or driver can't do what is asked, OutOfMemory
// where the device's memory ends and EvalError (naming the driver's function, with its own text) for all
// else. A call that finds the device broken (a kernel that left its memory) is the last one that does
// anything: all later ones give that error. What fails where nobody can be told, as in a destructor, is the
// error of the next call, which then does nothing else. Small launches, copies within the device and fills
// are told to the driver later (launch_queue.h): what fails then is the error of a later call, and what was
// made before may be wrong (LostSince).
#ifndef ASSAY_GPU_DRIVER_DEVICE_H_
#define ASSAY_GPU_DRIVER_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "base/error.h"
#include "gpu/driver/launch_shape.h"

namespace assay::gpu {

// "sm_90" is {9, 0}.
struct Capability {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const Capability&, const Capability&) = default;
};

struct DeviceProperties {
  std::string name;
  Capability capability;
  int driver_version = 0;  // CUDA's: 12040 is 12.4
  int multiprocessors = 0;
  int64_t memory = 0;            // bytes of the device
  int64_t shared_per_block = 0;  // bytes that a block may ask for (the opt-in limit)
};

class Device;

// Bytes of the device's memory, given back in the order of the stream when the owner goes.
class DeviceMemory {
 public:
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  DeviceAddress address() const { return address_; }
  int64_t size() const { return size_; }
  const std::shared_ptr<Device>& device() const { return device_; }

 private:
  friend class Device;
  DeviceMemory(std::shared_ptr<Device> device, DeviceAddress address, int64_t size)
      : device_(std::move(device)), address_(address), size_(size) {}

  const std::shared_ptr<Device> device_;
  const DeviceAddress address_;
  const int64_t size_;
};

// A kernel of a loaded module. Valid as long as the device is.
class DeviceFunction;

// A device with one stream, in whose order everything runs. Any thread may call it.
class Device : public std::enable_shared_from_this<Device> {
 public:
  // The first device of the driver: of the library `driver`, libcuda.so.1 where it is empty. One object a
  // driver and process; a failure is remembered as well. NotSupported names what is missing: the library, a
  // function of it (with the driver's version), a device, or a capability of at least 8.0.
  static absl::StatusOr<std::shared_ptr<Device>> Open(const std::string& driver);
  virtual ~Device() = default;

  const DeviceProperties& properties() const { return properties_; }

  // The kernel `function` of a module: a cubin or fatbin, or PTX as text, which the driver's compiler makes
  // code of. Modules are kept by their contents, so that loading one again costs a look into a table.
  // NotSupported where the image has no code for this device; a compiler's own message is part of the error.
  virtual absl::StatusOr<const DeviceFunction*> Load(std::span<const std::byte> image,
                                                     const std::string& function) = 0;
  // The same of an image that stays where it is as long as the process lives:
  // its contents are looked at once.
  virtual absl::StatusOr<const DeviceFunction*> LoadPermanent(std::span<const std::byte> image,
                                                              const std::string& function) = 0;
  // The image of a module of gpu/kernels that the driver brings by itself: that of the tests does
  // (tests/gpu/emulator). Empty where it has none.
  virtual std::span<const std::byte> OwnImage(std::string_view module) const = 0;

  // At least one byte, 256-byte aligned, with unknown contents.
  virtual absl::StatusOr<std::shared_ptr<DeviceMemory>> Allocate(int64_t bytes) = 0;
  // `host` may be used again when the call returns.
  virtual absl::Status CopyIn(DeviceAddress to, std::span<const std::byte> host) = 0;
  // Waits for the stream: what ran before has run when it returns.
  virtual absl::Status CopyOut(std::span<std::byte> host, DeviceAddress from) = 0;
  virtual absl::Status CopyWithin(DeviceAddress to, DeviceAddress from, int64_t bytes) = 0;
  virtual absl::Status Zero(DeviceAddress to, int64_t bytes) = 0;
  // The kernel's one parameter is the structure of these bytes (gpu/kernels/*_arguments.h). Nothing waits for
  // it: an error that it ends with comes from a later call.
  virtual absl::Status Launch(const DeviceFunction& function, const LaunchShape& shape,
                              std::span<const std::byte> argument) = 0;
  // Tells the driver what it was not told yet.
  virtual absl::Status Flush() = 0;
  virtual void FlushUntold() = 0;  // an error is the next call's
  virtual absl::Status Synchronize() = 0;
  // The time on the device from the first kernel, copy within it or fill behind StartTiming to the end of the
  // last one, by its own clock; 0 where there was none. Copies to the host behind it are not part.
  virtual absl::Status StartTiming() = 0;
  virtual absl::StatusOr<double> EndTiming() = 0;  // seconds; waits for the stream
  // How often something failed that had been put off. What was made before may be wrong: LostSince gives the
  // error unless there were as many losses then.
  virtual uint64_t losses() const = 0;
  virtual absl::Status LostSince(uint64_t losses) const = 0;
  // Gives the driver the memory that is kept for later allocations.
  virtual absl::Status ReturnUnused() = 0;
  // Runs `body`, which tells the stream of the driver (a CUstream) what to do,
  // with the device's context as this thread's.
  virtual absl::Status Tell(absl::FunctionRef<absl::Status(void* stream)> body) = 0;

  // How many pieces of DeviceMemory there are, and such as could not be given back.
  virtual int64_t live_allocations() const = 0;

  template <typename Argument>
  requires std::is_trivially_copyable_v<Argument> absl::Status Launch(const DeviceFunction& function,
                                                                      const LaunchShape& shape,
                                                                      const Argument& argument) {
    return Launch(function, shape, std::as_bytes(std::span(&argument, 1)));
  }

 protected:
  explicit Device(DeviceProperties properties) : properties_(std::move(properties)) {}
  // The owner of what was allocated. Null where the host has no memory for it; then it has been freed.
  std::shared_ptr<DeviceMemory> Own(DeviceAddress address, int64_t bytes);

 private:
  friend class DeviceMemory;
  virtual void Free(DeviceAddress address, int64_t bytes) = 0;

  const DeviceProperties properties_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_DEVICE_H_
