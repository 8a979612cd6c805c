// Functions of f32, f16 and bf16 by the device's approximate instructions, and what is known of their
// results: what `gpu-fast` makes of elementwise instructions.
#ifndef ASSAY_GPU_PTX_APPROXIMATE_H_
#define ASSAY_GPU_PTX_APPROXIMATE_H_

#include <span>

#include "engines/accuracy.h"
#include "gpu/ptx/elementwise.h"
#include "hlo/module.h"

namespace assay::gpu {

// The bound of the approximation of an instruction; null: it has none, and is exact. One with a
// result_accuracy of its own has none.
const Accuracy* ApproximationBound(const Instruction& instruction);

// The element of an instruction that has a bound. No element is open.
Element EmitApproximation(Emitter& emitter, const Instruction& instruction, Element& x);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_APPROXIMATE_H_
