// A target's handlers as an operation of custom calls.
#ifndef ASSAY_CUSTOM_FFI_FFI_OP_H_
#define ASSAY_CUSTOM_FFI_FFI_OP_H_

#include <memory>
#include <utility>

#include "custom/ffi/call_context.h"
#include "custom/ffi/handler.h"
#include "evaluator/custom_op.h"

namespace assay::custom::ffi {

// The result has the shape that the program declares. Prepare runs the stage `instantiate`, whose state lives
// as long as the kernel; a run is `prepare`, `initialize` and `execute`.
class FfiOp final : public CustomOp {
 public:
  FfiOp(FfiHandlers handlers, std::shared_ptr<const UserData> user_data)
      : handlers_(std::make_shared<const FfiHandlers>(std::move(handlers))),
        user_data_(std::move(user_data)) {}

  const FfiHandlers& handlers() const { return *handlers_; }
  absl::StatusOr<Shape> Infer(const InferContext& context) const override;
  absl::StatusOr<std::shared_ptr<const CustomKernel>> Prepare(const Module& module,
                                                              const Computation& computation,
                                                              const Instruction& call,
                                                              KernelRole role) const override;

 private:
  const std::shared_ptr<const FfiHandlers> handlers_;
  const std::shared_ptr<const UserData> user_data_;
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_FFI_OP_H_
