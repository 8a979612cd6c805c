#include "pjrt/plugin/function_table.h"

#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/extensions.h"

namespace assay::pjrt {
namespace {

constexpr std::string_view kNames[] = {
#define FUNCTION(name) std::string_view("PJRT_" #name),
#include "pjrt/plugin/pjrt_functions.def"
#undef FUNCTION
};

template <size_t kId>
Error* Unimplemented(void*) noexcept {
  try {
    return ErrorOf(NotSupported({}, fmt::format("{} is not implemented by Assay's plugin", kNames[kId])));
  } catch (...) {
    return ErrorOfException();
  }
}

template <size_t... kIds>
void SetAllUnimplemented(FunctionTable& table, std::index_sequence<kIds...>) {
  (table.SetRaw(static_cast<FunctionId>(kIds), Unimplemented<kIds>), ...);
}

Api MakeApi() {
  Api api = {};
  api.struct_size = sizeof(Api);
  api.extension_start = LayoutsExtensionOfProcess();
  api.extension_start->next = FfiExtensionOfProcess();
  api.pjrt_api_version = {kSizeOf<ApiVersion>, nullptr, kMajorVersion, kMinorVersion};
  FunctionTable table(api);
  AddErrorFunctions(table);
  AddPluginFunctions(table);
  AddEventFunctions(table);
  AddClientFunctions(table);
  AddDeviceFunctions(table);
  AddTopologyFunctions(table);
  AddCompileFunctions(table);
  AddExecutableFunctions(table);
  AddExecuteFunctions(table);
  AddHostBufferFunctions(table);
  AddBufferFunctions(table);
  return api;
}

}  // namespace

namespace internal {

absl::Status CheckArguments(const void* raw, size_t wanted) {
  if (raw == nullptr) return InvalidProgram({}, "the arguments are null");
  const size_t size = *static_cast<const size_t*>(raw);
  if (size >= wanted) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("the arguments' struct_size is {}, want at least {}", size, wanted));
}

Error* ErrorOfStatus(const absl::Status& status) noexcept { return ErrorOf(status); }
Error* PendingError() noexcept { return ErrorOfException(); }

}  // namespace internal

FunctionTable::FunctionTable(Api& api) : api_(api) {
  SetAllUnimplemented(*this, std::make_index_sequence<kNumFunctions>());
}

const Api& ApiOfProcess() {
  static const Api& api = *new Api(MakeApi());
  return api;
}

}  // namespace assay::pjrt

extern "C" const assay::pjrt::Api* GetPjrtApi() { return &assay::pjrt::ApiOfProcess(); }
