// The table of the C API: what stands between its functions and Assay's. A function of Assay's takes its
// arguments by reference and returns a status; the border checks the arguments' size,
// and lets no exception through.
#ifndef ASSAY_PJRT_PLUGIN_FUNCTION_TABLE_H_
#define ASSAY_PJRT_PLUGIN_FUNCTION_TABLE_H_

#include "base/error.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

namespace internal {

template <class Args>
struct EntryOf;
template <class A>
struct EntryOf<absl::Status (*)(A&)> {
  using Args = A;
};

// InvalidArgument: no arguments, or smaller ones than a plugin of our version can be called with.
absl::Status CheckArguments(const void* raw, size_t wanted);
Error* ErrorOfStatus(const absl::Status& status) noexcept;
// Of the exception that is at work.
Error* PendingError() noexcept;

template <auto kFunction>
Error* Entry(void* raw) noexcept {
  using Args = typename EntryOf<decltype(kFunction)>::Args;
  try {
    if (absl::Status status = CheckArguments(raw, kSizeOf<Args>); !status.ok()) return ErrorOfStatus(status);
    return ErrorOfStatus(kFunction(*static_cast<Args*>(raw)));
  } catch (...) {
    return PendingError();
  }
}

}  // namespace internal

class FunctionTable {
 public:
  // Every function says that it is not implemented.
  explicit FunctionTable(Api& api);

  template <auto kFunction>
  void Set(FunctionId id) {
    SetRaw(id, internal::Entry<&*kFunction>);
  }
  void SetRaw(FunctionId id, Function* function) { api_.functions[static_cast<size_t>(id)] = function; }

 private:
  Api& api_;
};

// The functions of each file.
void AddErrorFunctions(FunctionTable& table);
void AddPluginFunctions(FunctionTable& table);
void AddEventFunctions(FunctionTable& table);
void AddClientFunctions(FunctionTable& table);
void AddDeviceFunctions(FunctionTable& table);
void AddTopologyFunctions(FunctionTable& table);
void AddCompileFunctions(FunctionTable& table);
void AddExecutableFunctions(FunctionTable& table);
void AddExecuteFunctions(FunctionTable& table);
void AddHostBufferFunctions(FunctionTable& table);
void AddBufferFunctions(FunctionTable& table);

// One for the process.
const Api& ApiOfProcess();

}  // namespace assay::pjrt

// What a framework looks for in the plugin.
extern "C" __attribute__((visibility("default"))) const assay::pjrt::Api* GetPjrtApi();

#endif  // ASSAY_PJRT_PLUGIN_FUNCTION_TABLE_H_
