// A fusion of few elements, whose code costs as much as many runs: its members run one by one, by the kernels
// that they have alone, until code would have paid; from then on by code.
#ifndef ASSAY_ENGINES_JIT_DEFERRED_KERNEL_H_
#define ASSAY_ENGINES_JIT_DEFERRED_KERNEL_H_

#include <memory>

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::jit {

// The module of the view must outlive the kernel, as a plan's does.
// Null where some member has no kernel alone.
std::shared_ptr<const Kernel> MakeLateKernel(const FusionView& fusion, Isa isa);

}  // namespace assay::jit

#endif  // ASSAY_ENGINES_JIT_DEFERRED_KERNEL_H_
