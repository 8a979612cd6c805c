#include "gpu/driver/library.h"

#include <dlfcn.h>

#include <utility>

#include "fmt/format.h"

namespace assay::gpu {
namespace {

constexpr char kSoname[] = "libcuda.so.1";

// The loader has no code for what went wrong, only words.
absl::Status CantOpen(std::string_view name, std::string_view why) {
  for (const std::string_view words : {"annot allocate memory", "failed to map segment"}) {
    if (why.find(words) != std::string_view::npos) return OutOfMemory(name);
  }
  return NotSupported({}, fmt::format("the CUDA driver can't be loaded: {}", why));
}

template <typename Pointer>
void Find(void* handle, const char* symbol, Pointer* found) {
  *found = reinterpret_cast<Pointer>(dlsym(handle, symbol));
}

absl::Status FindVersion(void* handle, CudaLibrary* library) {
  cuda::Functions& functions = library->functions;
  Find(handle, "cuDriverGetVersion", &functions.cuDriverGetVersion);
  if (functions.cuDriverGetVersion == nullptr)
    return NotSupported({}, fmt::format("{} is not a CUDA driver: no cuDriverGetVersion", library->name));
  const cuda::Result result = functions.cuDriverGetVersion(&library->version);
  if (result != cuda::Result::kSuccess)
    return NotSupported({}, fmt::format("{} does not report its version: cuDriverGetVersion gives error {}",
                                        library->name, static_cast<int>(result)));
  if (library->version < kOldestDriver)
    return NotSupported({},
                        fmt::format("the CUDA driver {} is for CUDA {}, wanted {} or newer", library->name,
                                    VersionText(library->version), VersionText(kOldestDriver)));
  return absl::OkStatus();
}

absl::Status FindFunctions(void* handle, CudaLibrary* library) {
  ASSAY_RETURN_IF_ERROR(FindVersion(handle, library));
  const char* missing = nullptr;
#define ASSAY_CUDA_FIND(symbol, parameters)          \
  Find(handle, #symbol, &library->functions.symbol); \
  if (missing == nullptr && library->functions.symbol == nullptr) missing = #symbol;
  ASSAY_CUDA_FUNCTIONS(ASSAY_CUDA_FIND)
#undef ASSAY_CUDA_FIND
  if (missing != nullptr)
    return NotSupported({}, fmt::format("the CUDA driver {} (for CUDA {}) has no {}", library->name,
                                        VersionText(library->version), missing));
  Find(handle, cuda::kKernelImageSymbol, &library->kernel_image);
  Find(handle, cuda::kMemoryUnusedSymbol, &library->memory_unused);
  return absl::OkStatus();
}

const char* Text(cuda::Result (*function)(cuda::Result, const char**), cuda::Result error) {
  const char* text = nullptr;
  return function(error, &text) == cuda::Result::kSuccess ? text : nullptr;
}

// What the driver or the device can't do, whatever they are asked with.
bool IsMissing(cuda::Result result) {
  switch (result) {
    case cuda::Result::kStubLibrary:
    case cuda::Result::kDeviceUnavailable:
    case cuda::Result::kNoDevice:
    case cuda::Result::kInvalidDevice:
    case cuda::Result::kInvalidImage:  // what drivers say of code that a later compiler made
    case cuda::Result::kNoBinaryForGpu:
    case cuda::Result::kJitCompilerNotFound:
    case cuda::Result::kUnsupportedPtxVersion:
    case cuda::Result::kJitCompilationDisabled:
    case cuda::Result::kNotPermitted:
    case cuda::Result::kNotSupported:
    case cuda::Result::kSystemNotReady:
    case cuda::Result::kSystemDriverMismatch:
    case cuda::Result::kCompatNotSupportedOnDevice:
      return true;
    default:
      return false;
  }
}

}  // namespace

void UntoldFailures::Add(const absl::Status& status) {
  if (status.ok()) return;
  const std::lock_guard lock(mutex_);
  if (first_.ok())
    first_ = status;
  else
    ++more_;
}

absl::Status UntoldFailures::Take() {
  const std::lock_guard lock(mutex_);
  absl::Status taken = std::exchange(first_, absl::OkStatus());
  const int more = std::exchange(more_, 0);
  return more == 0 ? taken : WithSuffix(taken, fmt::format(" (and {} more such errors)", more));
}

absl::StatusOr<std::shared_ptr<CudaLibrary>> LoadCudaLibrary(const std::string& name) {
  auto library = std::make_shared<CudaLibrary>();
  library->name = name.empty() ? kSoname : name;
  void* const handle = dlopen(library->name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return CantOpen(library->name, dlerror());
  ASSAY_RETURN_IF_ERROR(FindFunctions(handle, library.get()));
  return library;
}

std::string VersionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

absl::Status CudaStatus(const CudaLibrary& library, std::string_view function, cuda::Result result,
                        std::string_view detail) {
  if (result == cuda::Result::kSuccess) return absl::OkStatus();
  const char* const name = Text(library.functions.cuGetErrorName, result);
  const char* const text = Text(library.functions.cuGetErrorString, result);
  std::string message = fmt::format(
      "{}: {}", function, name == nullptr ? fmt::format("error {}", static_cast<int>(result)) : name);
  if (text != nullptr) message += fmt::format(" ({})", text);
  if (!detail.empty()) message += fmt::format(": {}", detail);
  if (result == cuda::Result::kOutOfMemory)
    return OutOfMemory(fmt::format("an allocation on the GPU: {}", message));
  return IsMissing(result) ? NotSupported({}, message) : EvalError({}, message);
}

bool IsLasting(cuda::Result result) {
  switch (result) {
#define ASSAY_CUDA_LASTING(name, cuda_name, value, lasting) \
  case cuda::Result::name:                                  \
    return lasting;
    ASSAY_CUDA_RESULTS(ASSAY_CUDA_LASTING)
#undef ASSAY_CUDA_LASTING
  }
  return false;
}

}  // namespace assay::gpu
