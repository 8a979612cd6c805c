// pad in one pass over the result.
#ifndef ASSAY_ENGINES_NATIVE_ELEMENTWISE_PAD_H_
#define ASSAY_ENGINES_NATIVE_ELEMENTWISE_PAD_H_

#include <memory>

#include "engines/engine.h"

namespace assay::native {

// Of arrays of static sizes.
std::shared_ptr<const Kernel> MakePad(const StepView& step);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_ELEMENTWISE_PAD_H_
