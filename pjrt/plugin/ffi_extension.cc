// Handlers of XLA's FFI, registered by frameworks that know PJRT's extension for them.
#include <string>

#include "custom/ffi/type_registry.h"
#include "fmt/format.h"
#include "pjrt/plugin/client.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/extensions.h"
#include "pjrt/plugin/function_table.h"
#include "pjrt/plugin/process_ops.h"

namespace assay::pjrt {
namespace {

absl::Status RegisterType(FFITypeRegisterArgs& args) {
  ASSAY_PJRT_WANT(type_name);
  // Of the info the first pointer alone has a use.
  const auto deleter = args.type_info == nullptr ? nullptr : *static_cast<void (**)(void*)>(args.type_info);
  custom::ffi::abi::TypeId type{args.type_id};
  ASSAY_RETURN_IF_ERROR(custom::ffi::TypeRegistry::OfProcess().Register(
      std::string_view(args.type_name, args.type_name_size), type, deleter));
  args.type_id = type.value;
  return absl::OkStatus();
}

absl::Status AddUserData(FFIUserDataAddArgs&) {
  return NotSupported({}, "data of one execution for FFI handlers (PJRT_FFI_UserData_Add)");
}

absl::Status RegisterFfiHandler(FFIRegisterHandlerArgs& args) {
  ASSAY_PJRT_WANT(target_name);
  ASSAY_PJRT_WANT(handler);
  const std::string_view platform(args.platform_name,
                                  args.platform_name == nullptr ? 0 : args.platform_name_size);
  if (platform != kPlatformName && platform != "Host" && platform != "cpu")
    return InvalidProgram({}, fmt::format("a handler for platform '{}', want assay or Host", platform));
  const custom::ffi::abi::HandlerBundle bundle = {
      .execute = reinterpret_cast<custom::ffi::abi::Handler*>(args.handler)};
  return RegisterHandler(std::string_view(args.target_name, args.target_name_size), bundle, args.traits);
}

}  // namespace

Extension* FfiExtensionOfProcess() {
  static FfiExtension& extension = *new FfiExtension{
      {sizeof(FfiExtension), ExtensionType::kFfi, nullptr},
      internal::Entry<&RegisterType>,
      internal::Entry<&AddUserData>,
      internal::Entry<&RegisterFfiHandler>,
  };
  return &extension.base;
}

}  // namespace assay::pjrt
