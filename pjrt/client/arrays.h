// Arrays between literals and a plugin's buffers, row-major on the host's side.
#ifndef ASSAY_PJRT_CLIENT_ARRAYS_H_
#define ASSAY_PJRT_CLIENT_ARRAYS_H_

#include <string_view>

#include "literal/literal.h"
#include "pjrt/client/plugin.h"

namespace assay::pjrt_client {

// The array, or token, as a buffer of the device; the plugin has read it when this returns.
// `what` is for messages: "argument 0".
absl::StatusOr<Handle<pjrt::Buffer>> PutArray(const Plugin& plugin, pjrt::Client* client,
                                              pjrt::Device* device, const Literal& value,
                                              std::string_view what);

// What the buffer holds. EvalError: another element type, rank or sizes than the shape's,
// or other bytes than the plugin said.
absl::StatusOr<Literal> FetchArray(const Plugin& plugin, pjrt::Buffer* buffer, const Shape& shape,
                                   std::string_view what);

}  // namespace assay::pjrt_client

#endif  // ASSAY_PJRT_CLIENT_ARRAYS_H_
