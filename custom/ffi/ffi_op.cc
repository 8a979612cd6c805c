#include "custom/ffi/ffi_op.h"

#include "custom/ffi/ffi_kernel.h"
#include "evaluator/op.h"

namespace assay::custom::ffi {

absl::StatusOr<Shape> FfiOp::Infer(const InferContext& context) const {
  ASSAY_ASSIGN_OR_RETURN(Shape declared, context.Declared());
  ASSAY_RETURN_IF_ERROR(CheckCall(context.instruction, context.operands, declared));
  return declared;
}

absl::StatusOr<std::shared_ptr<const CustomKernel>> FfiOp::Prepare(const Module& module,
                                                                   const Computation& computation,
                                                                   const Instruction& call,
                                                                   KernelRole role) const {
  static_cast<void>(module);
  static_cast<void>(role);  // there is one kernel
  return FfiKernel::Make(handlers_, user_data_, computation, call);
}

}  // namespace assay::custom::ffi
