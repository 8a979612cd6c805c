#include "gpu/driver/cuda_device.h"

#include <optional>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"
#include "gpu/driver/give_back.h"

namespace assay::gpu {
namespace {

constexpr Capability kLeast{8, 0};

absl::StatusOr<int> Attribute(const CudaLibrary& library, cuda::DeviceAttribute attribute,
                              cuda::DeviceNumber device) {
  int value = 0;
  ASSAY_RETURN_IF_ERROR(CudaStatus(library, "cuDeviceGetAttribute",
                                   library.functions.cuDeviceGetAttribute(&value, attribute, device)));
  return value;
}

absl::StatusOr<cuda::DeviceNumber> FirstDevice(const CudaLibrary& library) {
  const cuda::Functions& api = library.functions;
  if (const cuda::Result result = api.cuInit(0); result != cuda::Result::kSuccess) {
    const absl::Status status = CudaStatus(library, "cuInit", result);
    return NotSupported({}, fmt::format("initializing the CUDA driver {} failed: {}", library.name,
                                        std::string(status.message())));
  }
  int count = 0;
  ASSAY_RETURN_IF_ERROR(CudaStatus(library, "cuDeviceGetCount", api.cuDeviceGetCount(&count)));
  if (count == 0) return NotSupported({}, fmt::format("the CUDA driver {} has no device", library.name));
  cuda::DeviceNumber device = 0;
  ASSAY_RETURN_IF_ERROR(CudaStatus(library, "cuDeviceGet", api.cuDeviceGet(&device, 0)));
  return device;
}

absl::StatusOr<DeviceProperties> PropertiesOf(const CudaLibrary& library, cuda::DeviceNumber device) {
  const cuda::Functions& api = library.functions;
  const auto attribute = [&](cuda::DeviceAttribute which) { return Attribute(library, which, device); };
  DeviceProperties properties{.driver_version = library.version};
  char name[256] = {};
  ASSAY_RETURN_IF_ERROR(
      CudaStatus(library, "cuDeviceGetName", api.cuDeviceGetName(name, sizeof(name) - 1, device)));
  properties.name = name;
  size_t memory = 0;
  ASSAY_RETURN_IF_ERROR(CudaStatus(library, "cuDeviceTotalMem_v2", api.cuDeviceTotalMem_v2(&memory, device)));
  properties.memory = static_cast<int64_t>(memory);
  ASSAY_ASSIGN_OR_RETURN(properties.capability.major, attribute(cuda::DeviceAttribute::kCapabilityMajor));
  ASSAY_ASSIGN_OR_RETURN(properties.capability.minor, attribute(cuda::DeviceAttribute::kCapabilityMinor));
  ASSAY_ASSIGN_OR_RETURN(properties.multiprocessors, attribute(cuda::DeviceAttribute::kMultiprocessorCount));
  ASSAY_ASSIGN_OR_RETURN(properties.shared_per_block, attribute(cuda::DeviceAttribute::kSharedPerBlockOptIn));
  if (properties.capability < kLeast)
    return NotSupported({}, fmt::format("{} has compute capability {}.{}, wanted {}.{} or newer",
                                        properties.name, properties.capability.major,
                                        properties.capability.minor, kLeast.major, kLeast.minor));
  return properties;
}

}  // namespace

absl::StatusOr<std::shared_ptr<CudaDevice>> CudaDevice::Open(const std::shared_ptr<CudaLibrary>& library) {
  ASSAY_RETURN_IF_ERROR(library->untold.Take());
  ASSAY_ASSIGN_OR_RETURN(const cuda::DeviceNumber number, FirstDevice(*library));
  ASSAY_ASSIGN_OR_RETURN(DeviceProperties properties, PropertiesOf(*library, number));
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<StreamContext> context, StreamContext::Make(library, number));
  StreamContext& in = *context;
  std::shared_ptr<CudaDevice> device(new CudaDevice(std::move(properties), std::move(context)));
  const absl::Status status = in.Run([&] { return device->Fill(number); });
  if (!status.ok()) return Both(status, device->Close());
  return device;
}

absl::Status CudaDevice::Fill(cuda::DeviceNumber device) {
  ASSAY_ASSIGN_OR_RETURN(
      const int pools, Attribute(context_->library(), cuda::DeviceAttribute::kMemoryPoolsSupported, device));
  modules_ = std::make_unique<Modules>(*context_);
  queue_ = std::make_unique<LaunchQueue>(*context_);
  ASSAY_ASSIGN_OR_RETURN(memory_, MemorySource::Make(*context_, device, pools != 0));
  ASSAY_ASSIGN_OR_RETURN(staging_, Staging::Make(*context_));
  return absl::OkStatus();
}

CudaDevice::~CudaDevice() {
  if (context_ == nullptr) return;
  const std::shared_ptr<CudaLibrary> library = context_->shared_library();
  library->untold.Add(Close());
}

absl::Status CudaDevice::Close() {
  if (queue_ != nullptr) context_->RunUntold([&] { return queue_->Flush(); });
  absl::Status status = context_->Close([&] {
    absl::Status within;
    if (queue_ != nullptr) within = Both(within, queue_->Close());
    if (modules_ != nullptr) within = Both(within, modules_->Close());
    if (staging_ != nullptr) within = Both(within, staging_->Close());
    if (memory_ != nullptr) within = Both(within, memory_->Close());
    return within;
  });
  context_ = nullptr;
  return status;
}

absl::StatusOr<const DeviceFunction*> CudaDevice::Load(std::span<const std::byte> image,
                                                       const std::string& function) {
  const DeviceFunction* loaded = nullptr;
  ASSAY_RETURN_IF_ERROR(context_->Run([&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(loaded, modules_->Load(image, function));
    return absl::OkStatus();
  }));
  return loaded;
}

absl::StatusOr<const DeviceFunction*> CudaDevice::LoadPermanent(std::span<const std::byte> image,
                                                                const std::string& function) {
  const DeviceFunction* loaded = nullptr;
  ASSAY_RETURN_IF_ERROR(context_->Run([&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(loaded, modules_->LoadPermanent(image, function));
    return absl::OkStatus();
  }));
  return loaded;
}

std::span<const std::byte> CudaDevice::OwnImage(std::string_view module) const {
  cuda::KernelImage* const image_of = context_->library().kernel_image;
  if (image_of == nullptr) return {};
  size_t bytes = 0;
  const void* const image = image_of(std::string(module).c_str(), &bytes);
  if (image == nullptr) return {};
  return {static_cast<const std::byte*>(image), bytes};
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> CudaDevice::Allocate(int64_t bytes) {
  if (bytes < 1)
    return EvalError({}, fmt::format("{} requested of the GPU, wanted at least 1", Counted(bytes, "byte")));
  std::shared_ptr<DeviceMemory> memory;
  const auto allocate = [&]() -> absl::Status {
    absl::StatusOr<DeviceAddress> address = memory_->Allocate(bytes);
    if (!address.ok() && IsMemoryError(address.status())) {
      ASSAY_RETURN_IF_ERROR(queue_->Flush());
      ASSAY_RETURN_IF_ERROR(memory_->ReturnUnused());
      address = memory_->Allocate(bytes);
    }
    if (!address.ok()) return address.status();
    memory = Own(*address, bytes);
    return memory != nullptr ? absl::OkStatus() : OutOfMemory("the host record of a GPU allocation");
  };
  // Memory that is kept is given out without a call of the driver, which would need the context.
  ASSAY_RETURN_IF_ERROR(context_->Ready());
  if (const std::optional<DeviceAddress> kept = memory_->TakeKept(bytes)) {
    queue_->AddUse(*kept, false);
    memory = Own(*kept, bytes);
    if (memory == nullptr) return OutOfMemory("the host record of a GPU allocation");
    return memory;
  }
  absl::Status status = context_->Run(allocate);
  if (IsMemoryError(status) && GiveBack()) status = context_->Run(allocate);
  ASSAY_RETURN_IF_ERROR(status);
  return memory;
}

void CudaDevice::Free(DeviceAddress address, int64_t bytes) {
  if (context_ == nullptr) return;  // closed
  if (context_->broken()) {
    memory_->Forget(address);
    return;
  }
  if (memory_->Keeps(bytes)) {
    // Before another thread may be given it.
    queue_->AddUse(address, true);
    if (memory_->Keep(address)) return;
  }
  // What is in the queue may use it.
  context_->RunUntold([&] {
    const absl::Status flushed = queue_->Flush();
    return Both(flushed, memory_->Free(address));
  });
}

absl::Status CudaDevice::ReturnUnused() {
  return RunBehindQueue([&] { return memory_->ReturnUnused(); });
}

absl::Status CudaDevice::CopyIn(DeviceAddress to, std::span<const std::byte> host) {
  return RunBehindQueue([&] { return staging_->CopyIn(to, host); });
}

absl::Status CudaDevice::CopyOut(std::span<std::byte> host, DeviceAddress from) {
  return RunBehindQueue(
      [&] { return host.empty() ? context_->Synchronize() : staging_->CopyOut(host, from); });
}

absl::Status CudaDevice::CopyWithin(DeviceAddress to, DeviceAddress from, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  if (LaunchQueue::IsSmall(bytes)) return Queued([&] { return queue_->AddCopy(to, from, bytes); });
  return RunBehindQueue([&] {
    return queue_->Timed([&] {
      return context_->Check("cuMemcpyDtoDAsync_v2",
                             context_->api().cuMemcpyDtoDAsync_v2(to, from, bytes, context_->stream()));
    });
  });
}

absl::Status CudaDevice::Zero(DeviceAddress to, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  if (LaunchQueue::IsSmall(bytes)) return Queued([&] { return queue_->AddFill(to, 0, bytes); });
  return RunBehindQueue([&] {
    return queue_->Timed([&] {
      return context_->Check("cuMemsetD8Async",
                             context_->api().cuMemsetD8Async(to, 0, bytes, context_->stream()));
    });
  });
}

absl::Status CudaDevice::Launch(const DeviceFunction& function, const LaunchShape& shape,
                                std::span<const std::byte> argument) {
  if (LaunchQueue::IsSmall(shape))
    return Queued([&] { return queue_->AddLaunch(function, shape, argument); });
  return RunBehindQueue(
      [&] { return queue_->Timed([&] { return queue_->Launch(function, shape, argument); }); });
}

absl::Status CudaDevice::Flush() {
  if (queue_->IsEmpty()) return absl::OkStatus();
  return context_->Run([&] { return queue_->Flush(); });
}

void CudaDevice::FlushUntold() {
  if (!queue_->IsEmpty()) context_->RunUntold([&] { return queue_->Flush(); });
}

absl::Status CudaDevice::StartTiming() {
  return RunBehindQueue([&] { return queue_->StartTiming(); });
}

absl::StatusOr<double> CudaDevice::EndTiming() {
  double seconds = 0;
  ASSAY_RETURN_IF_ERROR(RunBehindQueue([&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(seconds, queue_->EndTiming());
    return absl::OkStatus();
  }));
  return seconds;
}

absl::Status CudaDevice::LostSince(uint64_t losses) const {
  return queue_->losses() == losses ? absl::OkStatus() : queue_->why_lost();
}

absl::Status CudaDevice::Synchronize() {
  return RunBehindQueue([&] { return context_->Synchronize(); });
}

absl::Status CudaDevice::Queued(absl::FunctionRef<bool()> add) {
  ASSAY_RETURN_IF_ERROR(context_->Ready());
  return add() ? Flush() : absl::OkStatus();
}

absl::Status CudaDevice::RunBehindQueue(absl::FunctionRef<absl::Status()> body) {
  return context_->Run([&]() -> absl::Status {
    ASSAY_RETURN_IF_ERROR(queue_->Flush());
    return body();
  });
}

absl::Status CudaDevice::Tell(absl::FunctionRef<absl::Status(void* stream)> body) {
  return RunBehindQueue([&] { return queue_->Timed([&] { return body(context_->stream()); }); });
}

}  // namespace assay::gpu
