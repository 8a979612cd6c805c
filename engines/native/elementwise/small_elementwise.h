// Elementwise ops of few elements: what types and shapes say is settled in the plan, since looking at it
// takes longer than the elements do.
#ifndef ASSAY_ENGINES_NATIVE_ELEMENTWISE_SMALL_ELEMENTWISE_H_
#define ASSAY_ENGINES_NATIVE_ELEMENTWISE_SMALL_ELEMENTWISE_H_

#include <memory>

#include "engines/engine.h"

namespace assay::native {

// The kernel of RunElementwise(strip, stored) for a step of up to 64 elements, all arrays of static sizes and
// of the result's rank; else null.
std::shared_ptr<const Kernel> MakeSmallElementwise(const StepView& step, const StripKernel& strip,
                                                   ElementwiseFn stored);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_ELEMENTWISE_SMALL_ELEMENTWISE_H_
