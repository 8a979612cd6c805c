#include "pjrt/plugin/process_ops.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>

#include "custom/combined_ops.h"
#include "custom/ffi/ffi_ops.h"
#include "pjrt/plugin/host_callback.h"

namespace assay::pjrt {
namespace {

using custom::ffi::FfiOps;
namespace abi = custom::ffi::abi;

// A set that programs have is left as it is: registering makes another one.
struct Registered {
  std::mutex mutex;
  std::shared_ptr<const FfiOps> handlers = std::make_shared<const FfiOps>();
  std::shared_ptr<const CustomOps> all;  // null: to be made
};

Registered& RegisteredOps() {
  static Registered& registered = *new Registered;
  return registered;
}

std::atomic<AssayInterrupted*> interruption = nullptr;

int Fail(std::string_view message, char* error, size_t size) {
  if (error == nullptr || size == 0) return 1;
  const size_t length = std::min(message.size(), size - 1);
  std::memcpy(error, message.data(), length);
  error[length] = '\0';
  return 1;
}

}  // namespace

bool IsInterrupted() {
  AssayInterrupted* const interrupted = interruption.load(std::memory_order_acquire);
  return interrupted != nullptr && interrupted() != 0;
}

std::shared_ptr<const CustomOps> OpsOfProcess() {
  Registered& registered = RegisteredOps();
  const std::lock_guard<std::mutex> lock(registered.mutex);
  if (registered.all == nullptr) {
    const std::shared_ptr<const CustomOps> callbacks(&HostCallbackOps(), [](const CustomOps*) {});
    registered.all = std::make_shared<const custom::CombinedOps>(
        std::vector<std::shared_ptr<const CustomOps>>{callbacks, registered.handlers});
  }
  return registered.all;
}

absl::Status RegisterHandler(std::string_view target, const abi::HandlerBundle& bundle, uint32_t traits) {
  Registered& registered = RegisteredOps();
  const std::lock_guard<std::mutex> lock(registered.mutex);
  auto changed = std::make_shared<FfiOps>(*registered.handlers);
  ASSAY_RETURN_IF_ERROR(changed->Register(target, bundle, traits));
  registered.handlers = std::move(changed);
  registered.all = nullptr;
  return absl::OkStatus();
}

}  // namespace assay::pjrt

extern "C" {

void AssaySetHostCallback(AssayHostCallback* callback) { assay::pjrt::SetHostCallback(callback); }

void AssaySetInterruption(AssayInterrupted* interrupted) {
  assay::pjrt::interruption.store(interrupted, std::memory_order_release);
}

int AssayRegisterFfiHandler(const char* target, void* instantiate, void* prepare, void* initialize,
                            void* execute, uint32_t traits, char* error, size_t error_size) {
  namespace abi = assay::custom::ffi::abi;
  using assay::pjrt::Fail;
  if (target == nullptr || execute == nullptr)
    return Fail("a handler without target or execute", error, error_size);
  try {
    const abi::HandlerBundle bundle = {
        reinterpret_cast<abi::Handler*>(instantiate), reinterpret_cast<abi::Handler*>(prepare),
        reinterpret_cast<abi::Handler*>(initialize), reinterpret_cast<abi::Handler*>(execute)};
    const absl::Status status = assay::pjrt::RegisterHandler(target, bundle, traits);
    if (status.ok()) return 0;
    const absl::string_view message = status.message();
    return Fail({message.data(), message.size()}, error, error_size);
  } catch (const std::exception& exception) {
    return Fail(exception.what(), error, error_size);
  }
}

int AssayRegisterFfiType(const char* name, void* type_id, const void* type_info, char* error,
                         size_t error_size) {
  namespace abi = assay::custom::ffi::abi;
  using assay::pjrt::Fail;
  if (name == nullptr || type_id == nullptr) return Fail("a type without name or id", error, error_size);
  try {
    const auto* const info = static_cast<const abi::TypeInfo*>(type_info);
    const absl::Status status = assay::custom::ffi::TypeRegistry::OfProcess().Register(
        name, *static_cast<abi::TypeId*>(type_id), info == nullptr ? nullptr : info->deleter);
    if (status.ok()) return 0;
    const absl::string_view message = status.message();
    return Fail({message.data(), message.size()}, error, error_size);
  } catch (const std::exception& exception) {
    return Fail(exception.what(), error, error_size);
  }
}
}
