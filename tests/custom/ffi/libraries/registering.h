// How a library registers handlers when it is loaded, as XLA_FFI_REGISTER_HANDLER does.
#ifndef ASSAY_TESTS_CUSTOM_FFI_LIBRARIES_REGISTERING_H_
#define ASSAY_TESTS_CUSTOM_FFI_LIBRARIES_REGISTERING_H_

#include <cstring>

#include "custom/ffi/abi.h"

extern "C" const assay::custom::ffi::abi::Api* XLA_FFI_GetApi();

namespace assay::custom::ffi {

inline bool AnswersVersion(const abi::CallFrame& frame, int minor) {
  if (frame.extensions == nullptr) return false;
  abi::Metadata& metadata = *reinterpret_cast<abi::MetadataExtension*>(frame.extensions)->metadata;
  metadata.version.major = 0;
  metadata.version.minor = minor;
  return true;
}

inline abi::Error* Give(abi::CallFrame* frame, int32_t value, int minor) {
  if (AnswersVersion(*frame, minor)) return nullptr;
  *static_cast<int32_t*>(static_cast<abi::Buffer*>(frame->results.values[0])->data) = value;
  return nullptr;
}

// The error goes unseen, as it does there.
inline bool Registered(const char* name, const char* platform, abi::Handler* handler) {
  abi::HandlerRegisterArgs args = {};
  args.struct_size = sizeof(args);
  args.name = {name, std::strlen(name)};
  args.platform = {platform, std::strlen(platform)};
  args.bundle.execute = handler;
  return XLA_FFI_GetApi()->handler_register(&args) == nullptr;
}

}  // namespace assay::custom::ffi

#endif  // ASSAY_TESTS_CUSTOM_FFI_LIBRARIES_REGISTERING_H_
