#include "gpu/driver/cuda_device.h"

#include <utility>

#include "base/counted.h"
#include "fmt/format.h"

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

std::string Describe(const DeviceFunction& function, const LaunchShape& shape, size_t argument_bytes) {
  return fmt::format(
      "kernel {} in {}x{}x{} blocks of {}x{}x{} threads with {} of dynamic shared memory and an "
      "argument "
      "of {}",
      function.name(), shape.blocks[0], shape.blocks[1], shape.blocks[2], shape.threads[0], shape.threads[1],
      shape.threads[2], Counted(shape.shared_bytes, "byte"), Counted(argument_bytes, "byte"));
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
  absl::Status status = context_->Close([&] {
    absl::Status within;
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
  ASSAY_RETURN_IF_ERROR(context_->Run([&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const DeviceAddress address, memory_->Allocate(bytes));
    memory = Own(address, bytes);
    return memory != nullptr ? absl::OkStatus() : OutOfMemory("the host record of a GPU allocation");
  }));
  return memory;
}

void CudaDevice::Free(DeviceAddress address) {
  if (context_ == nullptr) return;  // closed
  if (context_->broken()) {
    memory_->Forget(address);
    return;
  }
  context_->RunUntold([&] { return memory_->Free(address); });
}

absl::Status CudaDevice::CopyIn(DeviceAddress to, std::span<const std::byte> host) {
  return context_->Run([&] { return staging_->CopyIn(to, host); });
}

absl::Status CudaDevice::CopyOut(std::span<std::byte> host, DeviceAddress from) {
  return context_->Run(
      [&] { return host.empty() ? context_->Synchronize() : staging_->CopyOut(host, from); });
}

absl::Status CudaDevice::CopyWithin(DeviceAddress to, DeviceAddress from, int64_t bytes) {
  return context_->Run([&] {
    if (bytes == 0) return absl::OkStatus();
    return context_->Check("cuMemcpyDtoDAsync_v2",
                           context_->api().cuMemcpyDtoDAsync_v2(to, from, bytes, context_->stream()));
  });
}

absl::Status CudaDevice::Zero(DeviceAddress to, int64_t bytes) {
  return context_->Run([&] {
    if (bytes == 0) return absl::OkStatus();
    return context_->Check("cuMemsetD8Async",
                           context_->api().cuMemsetD8Async(to, 0, bytes, context_->stream()));
  });
}

absl::Status CudaDevice::Launch(const DeviceFunction& function, const LaunchShape& shape,
                                std::span<const std::byte> argument) {
  return context_->Run([&]() -> absl::Status {
    ASSAY_RETURN_IF_ERROR(function.AllowShared(*context_, shape.shared_bytes));
    // The argument as one buffer with its size: of a list of pointers the driver reads what
    // it thinks the kernel takes.
    size_t bytes = argument.size();
    void* extra[] = {
        reinterpret_cast<void*>(cuda::kLaunchBufferPointer), const_cast<std::byte*>(argument.data()),
        reinterpret_cast<void*>(cuda::kLaunchBufferSize), &bytes, reinterpret_cast<void*>(cuda::kLaunchEnd)};
    const cuda::Result result = context_->api().cuLaunchKernel(
        function.handle(), shape.blocks[0], shape.blocks[1], shape.blocks[2], shape.threads[0],
        shape.threads[1], shape.threads[2], shape.shared_bytes, context_->stream(), nullptr, extra);
    if (result != cuda::Result::kSuccess)
      return context_->Check("cuLaunchKernel", result, Describe(function, shape, bytes));
    context_->Launched(function.name());
    return absl::OkStatus();
  });
}

absl::Status CudaDevice::Synchronize() {
  return context_->Run([&] { return context_->Synchronize(); });
}

absl::Status CudaDevice::Tell(absl::FunctionRef<absl::Status(void* stream)> body) {
  return context_->Run([&] { return body(context_->stream()); });
}

}  // namespace assay::gpu
