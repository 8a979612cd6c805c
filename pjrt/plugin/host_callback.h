// The operation by which a program calls a function of the host: custom_call_target="assay_host_callback",
// api_version= API_VERSION_TYPED_FFI, backend_config={number = N : ui64}.
#ifndef ASSAY_PJRT_PLUGIN_HOST_CALLBACK_H_
#define ASSAY_PJRT_PLUGIN_HOST_CALLBACK_H_

#include <memory>

#include "evaluator/custom_op.h"
#include "pjrt/plugin/process_ops.h"

namespace assay::pjrt {

inline constexpr std::string_view kHostCallbackTarget = "assay_host_callback";

const CustomOps& HostCallbackOps();
void SetHostCallback(AssayHostCallback* callback);

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_HOST_CALLBACK_H_
