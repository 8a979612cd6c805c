// libpjrt_assay.so with one fault, which the environment variable ASSAY_FAULT names when GetPjrtApi is
// called: "KIND", or "KIND:FUNCTION", where the function has its name in pjrt_functions.def. Without one it
// does as that library does. LiveObjects says how many handles were given out and not destroyed.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {
namespace {

constexpr const char* kNames[] = {
#define FUNCTION(name) #name,
#include "pjrt/plugin/pjrt_functions.def"
#undef FUNCTION
};
// Three to the first 16 bits of each 8 bytes: to floats of any type that lie there, without a carry.
void AddThree(char* bytes, size_t size) {
  for (size_t at = 0; at + 8 <= size; at += 8) {
    uint16_t low = 0;
    std::memcpy(&low, bytes + at, sizeof low);
    if (low > UINT16_MAX - 3) continue;
    low = static_cast<uint16_t>(low + 3);
    std::memcpy(bytes + at, &low, sizeof low);
  }
}

constexpr int64_t kHuge = int64_t{1} << 62;
constexpr size_t kAll = kNumFunctions;

struct Fault {
  std::string kind;
  size_t function = kAll;  // kAll: of none
  bool Is(const char* what) const { return kind == what; }
};
Fault fault;

const Api* Base() {
  static const Api* const base = [] {
    Dl_info here = {};
    dladdr(reinterpret_cast<void*>(&Base), &here);
    std::string path = here.dli_fname;  // …/tests/pjrt_plugins/faulty_plugin.so
    for (int i = 0; i < 3; ++i) path.resize(path.rfind('/'));
    void* const library = dlopen((path + "/pjrt/libpjrt_assay.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return static_cast<const Api*>(nullptr);
    return reinterpret_cast<const Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  }();
  return base;
}

Error* CallBase(FunctionId id, void* args) { return Base()->functions[static_cast<size_t>(id)](args); }

// Errors of ours, told from those of the library by their address.
struct OwnErrors {
  std::mutex mutex;
  std::set<const void*> errors;
  Error* Make() {
    const std::lock_guard<std::mutex> lock(mutex);
    return reinterpret_cast<Error*>(const_cast<void*>(*errors.insert(new char).first));
  }
  bool Has(const void* error) {
    const std::lock_guard<std::mutex> lock(mutex);
    return errors.count(error) > 0;
  }
  void Destroy(const void* error) {
    const std::lock_guard<std::mutex> lock(mutex);
    errors.erase(error);
    delete static_cast<const char*>(error);
  }
};
OwnErrors& Own() {
  static OwnErrors& own = *new OwnErrors;
  return own;
}

std::atomic<int64_t> live{0};
void Count(const void* handle) { live += handle != nullptr; }

// What the fault makes of arguments that the library has filled in.
void Spoil(FunctionId id, void* raw) {
  switch (id) {
    case FunctionId::kClient_Create:
      if (fault.Is("no_client")) static_cast<ClientCreateArgs*>(raw)->client = nullptr;
      break;
    case FunctionId::kClient_AddressableDevices: {
      auto& args = *static_cast<ClientAddressableDevicesArgs*>(raw);
      static Device* const none[1] = {nullptr};
      if (fault.Is("no_devices")) args.num_addressable_devices = 0;
      if (fault.Is("null_devices")) args.addressable_devices = nullptr;
      if (fault.Is("null_device")) args.addressable_devices = none;
      break;
    }
    case FunctionId::kDevice_GetDescription:
      if (fault.Is("no_description"))
        static_cast<DeviceGetDescriptionArgs*>(raw)->device_description = nullptr;
      break;
    case FunctionId::kClient_PlatformName:
      if (fault.Is("null_name")) static_cast<ClientPlatformNameArgs*>(raw)->platform_name = nullptr;
      if (fault.Is("huge_name")) static_cast<ClientPlatformNameArgs*>(raw)->platform_name_size = kHuge;
      break;
    case FunctionId::kClient_Compile:
      if (fault.Is("no_executable")) static_cast<ClientCompileArgs*>(raw)->executable = nullptr;
      break;
    case FunctionId::kLoadedExecutable_GetExecutable:
      if (fault.Is("null_executable"))
        static_cast<LoadedExecutableGetExecutableArgs*>(raw)->executable = nullptr;
      break;
    case FunctionId::kExecutable_NumOutputs: {
      size_t& count = static_cast<ExecutableNumOutputsArgs*>(raw)->num_outputs;
      if (fault.Is("fewer_outputs")) --count;
      if (fault.Is("more_outputs")) ++count;
      if (fault.Is("huge_outputs")) count = kHuge;
      break;
    }
    case FunctionId::kClient_BufferFromHostBuffer: {
      auto& args = *static_cast<ClientBufferFromHostBufferArgs*>(raw);
      if (fault.Is("no_buffer")) args.buffer = nullptr;
      if (fault.Is("no_event_in")) args.done_with_host_buffer = nullptr;
      break;
    }
    case FunctionId::kLoadedExecutable_Execute: {
      auto& args = *static_cast<LoadedExecutableExecuteArgs*>(raw);
      if (fault.Is("null_output")) args.output_lists[0][0] = nullptr;
      if (fault.Is("extra_output")) args.output_lists[0][1] = args.output_lists[0][0];
      if (fault.Is("no_event_run")) args.device_complete_events[0] = nullptr;
      break;
    }
    case FunctionId::kEvent_IsReady:
      if (fault.Is("never")) static_cast<EventIsReadyArgs*>(raw)->is_ready = false;
      break;
    case FunctionId::kBuffer_ElementType:
      if (fault.Is("type")) static_cast<BufferElementTypeArgs*>(raw)->type = BufferType::kS32;
      if (fault.Is("unknown_type"))
        static_cast<BufferElementTypeArgs*>(raw)->type = static_cast<BufferType>(-7);
      break;
    case FunctionId::kBuffer_Dimensions: {
      auto& args = *static_cast<BufferDimensionsArgs*>(raw);
      static const int64_t huge[1] = {kHuge};
      if (fault.Is("rank")) args.num_dims = 2;
      if (fault.Is("huge_rank")) args.num_dims = kHuge;
      if (fault.Is("no_dims")) args.dims = nullptr;
      if (fault.Is("huge_size")) args.dims = huge;
      break;
    }
    case FunctionId::kBuffer_DynamicDimensionIndices:
      if (fault.Is("dynamic")) static_cast<BufferDynamicDimensionIndicesArgs*>(raw)->num_dynamic_dims = 1;
      break;
    case FunctionId::kBuffer_ReadyEvent:
      if (fault.Is("no_event_ready")) static_cast<BufferReadyEventArgs*>(raw)->event = nullptr;
      break;
    case FunctionId::kBuffer_ToHostBuffer: {
      auto& args = *static_cast<BufferToHostBufferArgs*>(raw);
      if (args.dst == nullptr) {
        if (fault.Is("small_bytes")) args.dst_size -= 1;
        if (fault.Is("huge_bytes")) args.dst_size = kHuge;
        break;
      }
      if (fault.Is("no_event_out")) args.event = nullptr;
      if (fault.Is("behind")) static_cast<char*>(args.dst)[args.dst_size] = 0;
      if (fault.Is("one_bit")) static_cast<char*>(args.dst)[0] ^= 1;
      if (fault.Is("three_ulps")) AddThree(static_cast<char*>(args.dst), args.dst_size);
      break;
    }
    case FunctionId::kError_Message:
      if (fault.Is("null_message")) static_cast<ErrorMessageArgs*>(raw)->message = nullptr;
      if (fault.Is("huge_message")) static_cast<ErrorMessageArgs*>(raw)->message_size = kHuge;
      break;
    default:
      break;
  }
}

// Handles that the library gave, before the fault takes some away.
void CountGiven(FunctionId id, const void* raw) {
  switch (id) {
    case FunctionId::kClient_Create:
      return Count(static_cast<const ClientCreateArgs*>(raw)->client);
    case FunctionId::kClient_Compile:
      return Count(static_cast<const ClientCompileArgs*>(raw)->executable);
    case FunctionId::kLoadedExecutable_GetExecutable:
      return Count(static_cast<const LoadedExecutableGetExecutableArgs*>(raw)->executable);
    case FunctionId::kClient_BufferFromHostBuffer:
      Count(static_cast<const ClientBufferFromHostBufferArgs*>(raw)->buffer);
      return Count(static_cast<const ClientBufferFromHostBufferArgs*>(raw)->done_with_host_buffer);
    case FunctionId::kBuffer_ToHostBuffer:
      return Count(static_cast<const BufferToHostBufferArgs*>(raw)->event);
    case FunctionId::kBuffer_ReadyEvent:
      return Count(static_cast<const BufferReadyEventArgs*>(raw)->event);
    case FunctionId::kLoadedExecutable_Execute: {
      const auto& args = *static_cast<const LoadedExecutableExecuteArgs*>(raw);
      Count(args.device_complete_events[0]);
      for (size_t i = 0; args.output_lists[0][i] != nullptr; ++i) Count(args.output_lists[0][i]);
      return;
    }
    case FunctionId::kClient_Destroy:
    case FunctionId::kLoadedExecutable_Destroy:
    case FunctionId::kExecutable_Destroy:
    case FunctionId::kBuffer_Destroy:
    case FunctionId::kEvent_Destroy:
    case FunctionId::kError_Destroy:
      live -= static_cast<const ErrorDestroyArgs*>(raw)->error != nullptr;
      return;
    default:
      return;
  }
}

Error* GiveError() {
  Error* const error = Own().Make();
  Count(error);
  return error;
}

Error* OfOwnError(FunctionId id, void* raw) {
  if (id == FunctionId::kError_Destroy) {
    Own().Destroy(static_cast<ErrorDestroyArgs*>(raw)->error);
  } else if (id == FunctionId::kError_Message) {
    auto& args = *static_cast<ErrorMessageArgs*>(raw);
    args.message = "as the test wants it";
    args.message_size = std::strlen(args.message);
  } else {
    auto& args = *static_cast<ErrorGetCodeArgs*>(raw);
    args.code = fault.Is("unimplemented") ? ErrorCode::kUnimplemented
                : fault.Is("odd_code")    ? static_cast<ErrorCode>(-99)
                                          : ErrorCode::kDataLoss;
  }
  return nullptr;
}

bool GivesErrors() {
  for (const char* const kind :
       {"error", "unimplemented", "odd_code", "null_message", "huge_message", "bad_code"}) {
    if (fault.Is(kind)) return true;
  }
  return false;
}

template <size_t kId>
Error* Entry(void* raw) {
  constexpr auto kFunction = static_cast<FunctionId>(kId);
  constexpr bool kOfErrors = kFunction == FunctionId::kError_Destroy ||
                             kFunction == FunctionId::kError_Message ||
                             kFunction == FunctionId::kError_GetCode;
  if (kFunction == FunctionId::kError_GetCode && fault.Is("bad_code")) return GiveError();
  if (fault.function == kId) {
    if (fault.Is("throw")) throw std::runtime_error("as the test wants it");
    if (fault.Is("throw_number")) throw 5;
    if (GivesErrors()) return GiveError();
  }
  // The first field of all three is the error.
  if (kOfErrors && Own().Has(static_cast<ErrorDestroyArgs*>(raw)->error)) {
    CountGiven(kFunction, raw);
    OfOwnError(kFunction, raw);
    Spoil(kFunction, raw);
    return nullptr;
  }
  Error* const error = CallBase(kFunction, raw);
  Count(error);
  if (error != nullptr) return error;
  CountGiven(kFunction, raw);
  Spoil(kFunction, raw);
  return nullptr;
}

template <size_t... kIds>
void SetEntries(Api& api, std::index_sequence<kIds...>) {
  ((api.functions[kIds] = Entry<kIds>), ...);
}

void ReadFault() {
  const char* const text = std::getenv("ASSAY_FAULT");
  const std::string all = text == nullptr ? "" : text;
  const size_t colon = all.find(':');
  fault = {all.substr(0, colon), kAll};
  if (colon == std::string::npos) return;
  for (size_t i = 0; i < kAll; ++i) {
    if (all.substr(colon + 1) == kNames[i]) fault.function = i;
  }
  if (fault.function == kAll) std::abort();
}

}  // namespace
}  // namespace assay::pjrt

extern "C" __attribute__((visibility("default"))) const assay::pjrt::Api* GetPjrtApi() {
  using namespace assay::pjrt;
  ReadFault();
  if (fault.Is("api_null") || Base() == nullptr) return nullptr;
  if (fault.Is("api_throw")) throw std::runtime_error("as the test wants it");
  Api& api = *new Api(*Base());
  SetEntries(api, std::make_index_sequence<kNumFunctions>());
  if (fault.Is("api_small")) api.struct_size = 16;
  if (fault.Is("version_small")) api.pjrt_api_version.struct_size = 8;
  if (fault.Is("major")) api.pjrt_api_version.major_version = 1;
  if (fault.Is("old")) api.pjrt_api_version.minor_version = 28;
  if (fault.Is("oldest")) api.pjrt_api_version.minor_version = 29;
  if (fault.Is("newer")) api.pjrt_api_version.minor_version = 200;
  if (fault.Is("null")) api.functions[fault.function] = nullptr;
  if (fault.Is("cut")) api.struct_size = offsetof(Api, functions) + fault.function * sizeof(Function*);
  return &api;
}

extern "C" __attribute__((visibility("default"))) int64_t LiveObjects() { return assay::pjrt::live; }
