// One target's handlers, checked, and how a stage of them is called.
#ifndef ASSAY_CUSTOM_FFI_HANDLER_H_
#define ASSAY_CUSTOM_FFI_HANDLER_H_

#include <array>
#include <string>
#include <string_view>

#include "base/error.h"
#include "custom/ffi/abi.h"
#include "custom/ffi/future.h"

namespace assay::custom::ffi {

// instantiate, prepare, initialize or execute.
std::string_view NameOf(abi::Stage stage);

class FfiHandlers {
 public:
  // Asks each handler for its version. Errors: BadInput for a bundle without execute and for one that does
  // not answer; NotSupported, with both versions, for one of another version.
  static absl::StatusOr<FfiHandlers> Make(std::string_view target, const abi::HandlerBundle& bundle);

  const std::string& target() const { return target_; }
  const abi::HandlerBundle& bundle() const { return bundle_; }
  bool Has(abi::Stage stage) const { return handlers_[static_cast<size_t>(stage)] != nullptr; }

  // Calls the stage's handler. The frame's table, context and stage are filled in here; its future, if there
  // is one, is the caller's to wait for. Errors are those of ErrorOf;
  // an exception that comes out of the handler is one, too.
  absl::Status Call(abi::Stage stage, abi::CallFrame& frame, abi::ExecutionContext& context) const;
  // NotSupported for UNIMPLEMENTED, else EvalError: "ffi: target 'a', execute: INVALID_ARGUMENT: text".
  absl::Status ErrorOf(abi::Stage stage, const HandlerError& error) const;

 private:
  FfiHandlers(std::string_view target, const abi::HandlerBundle& bundle)
      : target_(target),
        bundle_(bundle),
        handlers_{bundle.instantiate, bundle.prepare, bundle.initialize, bundle.execute} {}
  absl::Status CheckVersion(abi::Stage stage) const;

  std::string target_;
  abi::HandlerBundle bundle_;
  std::array<abi::Handler*, abi::kNumStages> handlers_;
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_HANDLER_H_
