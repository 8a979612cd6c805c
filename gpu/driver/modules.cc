#include "gpu/driver/modules.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "base/counted.h"
#include "fmt/format.h"

namespace assay::gpu {
namespace {

// What a block may have, static and dynamic together, without being asked for.
constexpr uint32_t kSharedByDefault = 48 << 10;
constexpr size_t kLogBytes = 16 << 10;

std::string Trimmed(std::string_view log) {
  log = log.substr(0, log.find('\0'));
  const size_t end = log.find_last_not_of(" \n");
  return std::string(log.substr(0, end == std::string_view::npos ? 0 : end + 1));
}

}  // namespace

absl::Status DeviceFunction::AllowShared(StreamContext& context, uint32_t bytes) const {
  if (static_cast<uint64_t>(static_shared_bytes_) + bytes <= kSharedByDefault) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  if (bytes <= allowed_bytes_) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(
      context.Check("cuFuncSetAttribute",
                    context.api().cuFuncSetAttribute(handle_, cuda::FunctionAttribute::kMaxDynamicSharedBytes,
                                                     static_cast<int>(bytes)),
                    fmt::format("{} of dynamic shared memory for {}, which has {} of static",
                                Counted(bytes, "byte"), name_, static_shared_bytes_)));
  allowed_bytes_ = bytes;
  return absl::OkStatus();
}

absl::StatusOr<const DeviceFunction*> Modules::Load(std::span<const std::byte> image,
                                                    const std::string& function) {
  const std::lock_guard lock(mutex_);
  ASSAY_ASSIGN_OR_RETURN(Loaded * loaded,
                         LoadModule({reinterpret_cast<const char*>(image.data()), image.size()}));
  return FunctionOf(*loaded, function);
}

absl::StatusOr<const DeviceFunction*> Modules::LoadPermanent(std::span<const std::byte> image,
                                                             const std::string& function) {
  const std::lock_guard lock(mutex_);
  if (const auto found = permanent_.find(image.data()); found != permanent_.end())
    return FunctionOf(*found->second, function);
  ASSAY_ASSIGN_OR_RETURN(Loaded * loaded,
                         LoadModule({reinterpret_cast<const char*>(image.data()), image.size()}));
  permanent_[image.data()] = loaded;
  return FunctionOf(*loaded, function);
}

absl::StatusOr<const DeviceFunction*> Modules::FunctionOf(Loaded& loaded, const std::string& function) {
  std::unique_ptr<DeviceFunction>& found = loaded.functions[function];
  if (found == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(found, Find(loaded.module, function));
  }
  return found.get();
}

absl::StatusOr<Modules::Loaded*> Modules::LoadModule(std::string_view image) {
  if (image.empty()) return EvalError({}, "the module for the GPU is empty");
  std::unique_ptr<Loaded>& entry = modules_[absl::string_view(image.data(), image.size())];
  if (entry != nullptr && entry->module != nullptr) return entry.get();
  entry = std::make_unique<Loaded>();
  // PTX is read up to a zero byte.
  const std::string terminated(image);
  std::string log(kLogBytes, '\0');
  cuda::JitOption keys[] = {cuda::JitOption::kErrorLogBuffer, cuda::JitOption::kErrorLogBufferBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(kLogBytes - 1)};
  const cuda::Result result =
      context_.api().cuModuleLoadDataEx(&entry->module, terminated.data(), 2, keys, values);
  ASSAY_RETURN_IF_ERROR(
      context_.Check("cuModuleLoadDataEx", result,
                     fmt::format("{}{}by a driver for CUDA {}", Trimmed(log),
                                 Trimmed(log).empty() ? "" : ", ", VersionText(context_.library().version))));
  return entry.get();
}

absl::StatusOr<std::unique_ptr<DeviceFunction>> Modules::Find(cuda::Module module,
                                                              const std::string& function) {
  const cuda::Functions& api = context_.api();
  cuda::Function handle = nullptr;
  ASSAY_RETURN_IF_ERROR(context_.Check("cuModuleGetFunction",
                                       api.cuModuleGetFunction(&handle, module, function.c_str()),
                                       fmt::format("the kernel {}", function)));
  int shared = 0;
  ASSAY_RETURN_IF_ERROR(context_.Check(
      "cuFuncGetAttribute", api.cuFuncGetAttribute(&shared, cuda::FunctionAttribute::kSharedBytes, handle)));
  return std::make_unique<DeviceFunction>(handle, function, static_cast<uint32_t>(shared));
}

absl::Status Modules::Close() {
  absl::Status status;
  for (const auto& [image, loaded] : modules_) {
    if (loaded == nullptr || loaded->module == nullptr) continue;
    status = Both(status, context_.Check("cuModuleUnload", context_.api().cuModuleUnload(loaded->module)));
  }
  permanent_.clear();
  modules_.clear();
  return status;
}

}  // namespace assay::gpu
