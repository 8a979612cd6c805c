// A kernel behind the C interface that runs on a device of CUDA, prepared for one call.
#ifndef ASSAY_CUSTOM_DEVICE_KERNEL_H_
#define ASSAY_CUSTOM_DEVICE_KERNEL_H_

#include <memory>
#include <span>

#include "custom/registrations.h"
#include "custom/resolved_call.h"
#include "evaluator/custom_op.h"

namespace assay::custom {

// Constructs the kernel for a call with these operands. NotSupported where one of them or a result is no
// static array; else errors are the constructor's.
absl::StatusOr<std::shared_ptr<const CustomDeviceKernel>> MakeDeviceKernel(
    const OpInterface& op, const KernelDef& kernel, ResolvedCall bound,
    std::span<const Shape* const> operands, const Instruction& call);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_DEVICE_KERNEL_H_
