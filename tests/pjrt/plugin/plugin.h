// The plugin's table as tests call it: arguments made and checked, errors as values.
#ifndef ASSAY_TESTS_PJRT_PLUGIN_PLUGIN_H_
#define ASSAY_TESTS_PJRT_PLUGIN_PLUGIN_H_

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/plugin/function_table.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

struct Failure {
  ErrorCode code = ErrorCode::kOk;
  std::string message;
  explicit operator bool() const { return code != ErrorCode::kOk; }
};

inline Failure TakeFailure(Error* error) {
  if (error == nullptr) return {};
  const Api& api = *GetPjrtApi();
  ErrorGetCodeArgs code{kSizeOf<ErrorGetCodeArgs>, nullptr, error, {}};
  api.functions[static_cast<size_t>(FunctionId::kError_GetCode)](&code);
  ErrorMessageArgs message{kSizeOf<ErrorMessageArgs>, nullptr, error, nullptr, 0};
  api.functions[static_cast<size_t>(FunctionId::kError_Message)](&message);
  Failure failure{code.code, std::string(message.message, message.message_size)};
  ErrorDestroyArgs destroy{kSizeOf<ErrorDestroyArgs>, nullptr, error};
  api.functions[static_cast<size_t>(FunctionId::kError_Destroy)](&destroy);
  return failure;
}

template <class Args>
Failure Call(FunctionId id, Args& args) {
  if (args.struct_size == 0) args.struct_size = kSizeOf<Args>;
  return TakeFailure(GetPjrtApi()->functions[static_cast<size_t>(id)](&args));
}

using OptionMap = std::map<std::string, std::string>;

struct TestClient {
  explicit TestClient(const OptionMap& options = {}) {
    std::vector<NamedValue> values;
    for (const auto& [name, value] : options) {
      NamedValue named = {.struct_size = kSizeOf<NamedValue>};
      named.name = name.data(), named.name_size = name.size();
      named.string_value = value.data(), named.value_size = value.size();
      values.push_back(named);
    }
    ClientCreateArgs args = {.create_options = values.data(), .num_options = values.size()};
    failure = Call(FunctionId::kClient_Create, args);
    client = args.client;
  }
  ~TestClient() {
    ClientDestroyArgs args = {.client = client};
    Call(FunctionId::kClient_Destroy, args);
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  Device* device(int id = 0) const {
    ClientLookupDeviceArgs args = {.client = client, .id = id};
    Call(FunctionId::kClient_LookupDevice, args);
    return args.device;
  }
  LoadedExecutable* Compile(std::string_view code, std::string_view format = "mlir",
                            std::string_view options = "") {
    ProgramCode program = {kSizeOf<ProgramCode>, nullptr,       const_cast<char*>(code.data()),
                           code.size(),          format.data(), format.size()};
    ClientCompileArgs args = {.client = client,
                              .program = &program,
                              .compile_options = options.data(),
                              .compile_options_size = options.size()};
    failure = Call(FunctionId::kClient_Compile, args);
    return args.executable;
  }
  // Dense.
  template <typename T>
  Buffer* Put(BufferType type, const std::vector<int64_t>& dims, const std::vector<T>& values, int id = 0) {
    ClientBufferFromHostBufferArgs args = {.client = client,
                                           .data = values.data(),
                                           .type = type,
                                           .dims = dims.data(),
                                           .num_dims = dims.size(),
                                           .device = device(id)};
    failure = Put(args);
    return args.buffer;
  }
  static Failure Put(ClientBufferFromHostBufferArgs& args) {
    Failure failed = Call(FunctionId::kClient_BufferFromHostBuffer, args);
    if (!failed) DestroyEvent(args.done_with_host_buffer);
    return failed;
  }
  static void DestroyEvent(Event* event) {
    EventDestroyArgs args = {.event = event};
    Call(FunctionId::kEvent_Destroy, args);
  }

  Client* client = nullptr;
  Failure failure;  // of the last call
};

inline void Destroy(Buffer* buffer) {
  BufferDestroyArgs args = {.buffer = buffer};
  Call(FunctionId::kBuffer_Destroy, args);
}
inline void Destroy(LoadedExecutable* executable) {
  LoadedExecutableDestroyArgs args = {.executable = executable};
  Call(FunctionId::kLoadedExecutable_Destroy, args);
}
inline bool IsDeleted(Buffer* buffer) {
  BufferIsDeletedArgs args = {.buffer = buffer};
  Call(FunctionId::kBuffer_IsDeleted, args);
  return args.is_deleted;
}

// Row-major, or as `layout` says.
template <typename T>
std::vector<T> Fetch(Buffer* buffer, size_t count, BufferMemoryLayout* layout = nullptr,
                     Failure* failure = nullptr) {
  std::vector<T> values(count);
  BufferToHostBufferArgs args = {
      .src = buffer, .host_layout = layout, .dst = values.data(), .dst_size = count * sizeof(T)};
  const Failure failed = Call(FunctionId::kBuffer_ToHostBuffer, args);
  if (!failed) TestClient::DestroyEvent(args.event);
  if (failure != nullptr) *failure = failed;
  return values;
}

// On one device; the results are the caller's.
inline Failure Execute(LoadedExecutable* executable, const std::vector<Buffer*>& arguments,
                       std::vector<Buffer*>& results, std::vector<int64_t> kept = {}) {
  ExecuteOptions options = {.struct_size = kSizeOf<ExecuteOptions>,
                            .non_donatable_input_indices = kept.data(),
                            .num_non_donatable_input_indices = kept.size()};
  Buffer* const* const given = arguments.data();
  Buffer** const taken = results.data();
  LoadedExecutableExecuteArgs args = {.executable = executable,
                                      .options = &options,
                                      .argument_lists = &given,
                                      .num_devices = 1,
                                      .num_args = arguments.size(),
                                      .output_lists = &taken};
  return Call(FunctionId::kLoadedExecutable_Execute, args);
}

}  // namespace assay::pjrt

#endif  // ASSAY_TESTS_PJRT_PLUGIN_PLUGIN_H_
