// The plugin that ASSAY_WINDOW_PLUGIN names, with windows for failing_calls.cc around what compiles and runs
// programs and copies arrays: calls that fail there are the plugin's, not its caller's.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "pjrt/plugin/pjrt_api.h"

namespace {

using assay::pjrt::Api;
using assay::pjrt::Error;
using assay::pjrt::Function;
using assay::pjrt::FunctionId;

void (*enter)() = nullptr;
void (*leave)() = nullptr;
Api table;

template <FunctionId kId>
struct InWindow {
  static inline Function* real = nullptr;
  static Error* Call(void* args) {
    enter();
    Error* const error = real(args);
    leave();
    return error;
  }
  static void Install() {
    auto& slot = table.functions[static_cast<size_t>(kId)];
    real = slot;
    slot = &Call;
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Api* GetPjrtApi() {
  void* const library = dlopen(std::getenv("ASSAY_WINDOW_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  enter = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "assay_window_enter"));
  leave = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "assay_window_leave"));
  const auto get = reinterpret_cast<const Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (enter == nullptr || leave == nullptr || get == nullptr) return nullptr;
  std::memcpy(&table, get(), sizeof(table));
  InWindow<FunctionId::kClient_Compile>::Install();
  InWindow<FunctionId::kClient_BufferFromHostBuffer>::Install();
  InWindow<FunctionId::kBuffer_ToHostBuffer>::Install();
  InWindow<FunctionId::kLoadedExecutable_Execute>::Install();
  return &table;
}
