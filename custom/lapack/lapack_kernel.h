// One call of a routine: matrix by matrix into column-major order, through the routine, and back.
#ifndef ASSAY_CUSTOM_LAPACK_LAPACK_KERNEL_H_
#define ASSAY_CUSTOM_LAPACK_LAPACK_KERNEL_H_

#include <memory>
#include <string>

#include "custom/lapack/routine.h"
#include "evaluator/custom_op.h"

namespace assay::custom {

// `function`: the routine's address in the library. `name`: what plans show.
std::shared_ptr<const CustomKernel> MakeLapackKernel(const Routine& routine, LapackCall call, void* function,
                                                     std::string name);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_LAPACK_LAPACK_KERNEL_H_
