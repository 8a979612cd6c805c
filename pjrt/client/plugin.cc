#include "pjrt/client/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "base/counted.h"
#include "base/run_guard.h"
#include "custom/float_environment.h"
#include "fmt/format.h"

namespace assay::pjrt_client {
namespace {

using pjrt::Api;
using pjrt::ErrorCode;

constexpr std::string_view kFunctionNames[] = {
#define FUNCTION(name) std::string_view("PJRT_" #name),
#include "pjrt/plugin/pjrt_functions.def"
#undef FUNCTION
};

constexpr std::string_view NameOf(FunctionId id) { return kFunctionNames[static_cast<size_t>(id)]; }

// A run can't do without these; what else it calls is asked for first.
constexpr FunctionId kNeeded[] = {
    FunctionId::kError_Destroy,
    FunctionId::kError_Message,
    FunctionId::kError_GetCode,
    FunctionId::kEvent_Destroy,
    FunctionId::kEvent_IsReady,
    FunctionId::kEvent_Error,
    FunctionId::kClient_Create,
    FunctionId::kClient_Destroy,
    FunctionId::kClient_PlatformName,
    FunctionId::kClient_AddressableDevices,
    FunctionId::kClient_Compile,
    FunctionId::kClient_BufferFromHostBuffer,
    FunctionId::kLoadedExecutable_Destroy,
    FunctionId::kLoadedExecutable_GetExecutable,
    FunctionId::kLoadedExecutable_Execute,
    FunctionId::kExecutable_Destroy,
    FunctionId::kExecutable_NumOutputs,
    FunctionId::kBuffer_Destroy,
    FunctionId::kBuffer_ElementType,
    FunctionId::kBuffer_Dimensions,
    FunctionId::kBuffer_ToHostBuffer,
};

constexpr std::string_view kCodeNames[] = {
    "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED",
};

std::string NameOf(ErrorCode code) {
  const auto number = static_cast<int32_t>(code);
  if (number < 0 || number >= std::ssize(kCodeNames)) return fmt::format("code {}", number);
  return std::string(kCodeNames[number]);
}

// A name without a slash is a file, too, not one of the system's libraries.
std::string FileOfLibrary(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

absl::StatusOr<const Api*> ApiOfLibrary(const std::string& path) {
  const custom::KeptFloatEnvironment kept;
  void* const library = dlopen(FileOfLibrary(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return BadInput(fmt::format("{}: {}", path, why == nullptr ? "it can't be opened" : why));
  }
  void* const symbol = dlsym(library, "GetPjrtApi");
  if (symbol == nullptr) {
    dlclose(library);  // another use of it may want to see how it is loaded
    return BadInput(fmt::format("{}: is not a PJRT plugin: it has no function GetPjrtApi", path));
  }
  const Api* api = nullptr;
  try {
    api = reinterpret_cast<const Api* (*)()>(symbol)();
  } catch (...) {
    return BadInput(fmt::format("{}: GetPjrtApi threw an exception", path));
  }
  if (api == nullptr) return BadInput(fmt::format("{}: GetPjrtApi returned null", path));
  return api;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Plugin>> Plugin::Open(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const Api* const api, ApiOfLibrary(path));
  const std::shared_ptr<const Plugin> plugin(new Plugin(path, api));
  ASSAY_RETURN_IF_ERROR(plugin->CheckTable());
  if (!plugin->Has(FunctionId::kPlugin_Initialize)) return plugin;
  // Once for each table, which is one for the process in any plugin that keeps to the interface.
  static std::mutex& mutex = *new std::mutex;
  static std::map<const Api*, absl::Status>& initialised = *new std::map<const Api*, absl::Status>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [it, is_new] = initialised.try_emplace(api);
  if (is_new) {
    Struct<pjrt::PluginInitializeArgs> call;
    it->second = plugin->Invoke(FunctionId::kPlugin_Initialize, call);
  }
  ASSAY_RETURN_IF_ERROR(it->second);
  return plugin;
}

absl::Status Plugin::CheckTable() const {
  constexpr size_t kWithVersion = offsetof(Api, functions);
  if (api_->struct_size < kWithVersion) {
    return NotSupported({}, fmt::format("{}: its PJRT_Api has {}, want at least {}", path_,
                                        Counted(api_->struct_size, "byte"), kWithVersion));
  }
  const pjrt::ApiVersion& version = api_->pjrt_api_version;
  if (version.struct_size < pjrt::kSizeOf<pjrt::ApiVersion>) {
    return NotSupported({},
                        fmt::format("{}: its PJRT_Api_Version has {}, want {}", path_,
                                    Counted(version.struct_size, "byte"), pjrt::kSizeOf<pjrt::ApiVersion>));
  }
  if (version.major_version != pjrt::kMajorVersion || version.minor_version < kOldestMinorVersion) {
    return NotSupported({}, fmt::format("{}: has version {}.{} of PJRT's C API, want {}.{} or a later {}.N",
                                        path_, version.major_version, version.minor_version,
                                        pjrt::kMajorVersion, kOldestMinorVersion, pjrt::kMajorVersion));
  }
  for (const FunctionId id : kNeeded) {
    if (Has(id)) continue;
    return NotSupported(
        {}, fmt::format("{}: has no function {}, which running a program needs", path_, NameOf(id)));
  }
  return absl::OkStatus();
}

bool Plugin::Has(FunctionId id) const {
  const size_t end = offsetof(Api, functions) + (static_cast<size_t>(id) + 1) * sizeof(pjrt::Function*);
  return api_->struct_size >= end && api_->functions[static_cast<size_t>(id)] != nullptr;
}

pjrt::Error* Plugin::InvokeUnchecked(FunctionId id, void* args) const {
  const custom::KeptFloatEnvironment kept;
  return api_->functions[static_cast<size_t>(id)](args);
}

absl::Status Plugin::InvokeRaw(FunctionId id, void* args) const {
  if (abandoned_) return Wrong(id, "an earlier call did not end");
  if (!Has(id)) return NotSupported({}, fmt::format("{}: has no function {}", path_, NameOf(id)));
  try {
    return StatusOf(InvokeUnchecked(id, args), id);
  } catch (const std::exception& exception) {
    return Wrong(id, fmt::format("it threw an exception: {}", exception.what()));
  } catch (...) {
    return Wrong(id, "it threw an exception");
  }
}

absl::Status Plugin::StatusOf(pjrt::Error* error, FunctionId id) const {
  if (error == nullptr) return absl::OkStatus();
  Struct<pjrt::ErrorGetCodeArgs> code;
  code->error = error;
  code->code = ErrorCode::kUnknown;
  // An error about the code of an error is not asked for its own.
  Destroy(FunctionId::kError_Destroy, InvokeUnchecked(FunctionId::kError_GetCode, code.get()));
  Struct<pjrt::ErrorMessageArgs> message;
  message->error = error;
  InvokeUnchecked(FunctionId::kError_Message, message.get());  // it returns nothing
  const std::string text = TextOf(message->message, message->message_size);
  const std::string all = fmt::format("{}: {}: {}: {}", path_, NameOf(id), NameOf(code->code),
                                      text.empty() ? "no message" : text);
  Destroy(FunctionId::kError_Destroy, error);
  return code->code == ErrorCode::kUnimplemented ? NotSupported({}, all) : EvalError({}, all);
}

absl::Status Plugin::Wrong(FunctionId id, std::string_view what) const {
  return EvalError({}, fmt::format("{}: {}: {}", path_, NameOf(id), what));
}

std::string Plugin::TextOf(const char* text, size_t size) {
  constexpr size_t kMost = 1 << 14;
  if (text == nullptr) return "";
  return {text, strnlen(text, std::min(size, kMost))};
}

absl::Status Plugin::WaitUntilReady(pjrt::Event* event, std::string_view what) const {
  using std::chrono::microseconds;
  constexpr microseconds kFirst(20), kLongest(2000);
  for (microseconds pause(0);; pause = std::clamp(pause * 3 / 2, kFirst, kLongest)) {
    Struct<pjrt::EventIsReadyArgs> ready;
    ready->event = event;
    ASSAY_RETURN_IF_ERROR(Invoke(FunctionId::kEvent_IsReady, ready));
    if (ready->is_ready) return absl::OkStatus();
    if (const absl::Status ended = PollWork(); !ended.ok()) {
      abandoned_ = true;
      return WithPrefix(ended, fmt::format("{}: waiting for {}", path_, what));
    }
    std::this_thread::sleep_for(pause);
  }
}

absl::Status Plugin::Await(pjrt::Event* event, std::string_view what) const {
  if (event == nullptr) return EvalError({}, fmt::format("{}: gave no event for {}", path_, what));
  const Handle<pjrt::Event> owned(*this, event);
  ASSAY_RETURN_IF_ERROR(WaitUntilReady(event, what));
  Struct<pjrt::EventErrorArgs> call;
  call->event = event;
  const absl::Status status = Invoke(FunctionId::kEvent_Error, call);
  return status.ok() ? status : WithSuffix(status, fmt::format(" ({})", what));
}

void Plugin::Destroy(FunctionId id, void* handle) const {
  if (handle == nullptr || abandoned_) return;
  struct Args : pjrt::ErrorDestroyArgs {};  // all that destroy something look so
  Struct<Args> call;
  call->error = static_cast<pjrt::Error*>(handle);
  try {
    pjrt::Error* const error = InvokeUnchecked(id, call.get());
    if (id != FunctionId::kError_Destroy) Destroy(FunctionId::kError_Destroy, error);
  } catch (...) {
    // What can't be destroyed stays.
  }
}

}  // namespace assay::pjrt_client
