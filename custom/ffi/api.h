// The table of functions that handlers call, and how errors cross it.
#ifndef ASSAY_CUSTOM_FFI_API_H_
#define ASSAY_CUSTOM_FFI_API_H_

#include <string>
#include <vector>

#include "base/error.h"
#include "custom/ffi/abi.h"
#include "custom/ffi/future.h"

namespace assay::custom::ffi {

// One for the process. Its functions know their call by the context that they are given.
const abi::Api& FunctionTable();

// INVALID_ARGUMENT
std::string_view NameOf(abi::ErrorCode code);
// Takes the error out of what crossed the interface, which ends. Null: kOk.
HandlerError TakeError(abi::Error* error);

// A handler that a library registers by itself.
struct Registration {
  std::string target, platform;
  abi::HandlerBundle bundle;
  uint32_t traits = 0;
};

// Takes what static constructors register on this thread while it lives; they can't say for whom they do.
// Outside of it nothing can be registered: the error is FAILED_PRECONDITION.
class RegistrationScope {
 public:
  RegistrationScope();
  ~RegistrationScope();
  RegistrationScope(const RegistrationScope&) = delete;
  RegistrationScope& operator=(const RegistrationScope&) = delete;

  static RegistrationScope* Current();
  std::vector<Registration> registrations;
  absl::Status first_error;  // of a registration, which nobody else looks at

 private:
  RegistrationScope* const outer_;
};

}  // namespace assay::custom::ffi

// What a library means that registers its handlers by itself: XLA_FFI_REGISTER_HANDLER(XLA_FFI_GetApi(),
// "name", …).
extern "C" __attribute__((visibility("default"))) const assay::custom::ffi::abi::Api* XLA_FFI_GetApi();

#endif  // ASSAY_CUSTOM_FFI_API_H_
