// The kernels of the engine "onednn".
#ifndef ASSAY_ENGINES_ONEDNN_KERNELS_H_
#define ASSAY_ENGINES_ONEDNN_KERNELS_H_

#include "engine/engine.h"
#include "engines/onednn/primitive.h"

namespace assay::onednn {

using KernelOr = absl::StatusOr<std::shared_ptr<const Kernel>>;

// NotSupported with the reason: element types, layouts, fewer products than `fewest`.
KernelOr PrepareDot(const StepView& step, native::Isa isa, int64_t fewest);
KernelOr PrepareConvolution(const StepView& step, native::Isa isa, int64_t fewest);

// Shared by both: which types there are and how accurate they are; how many products are too few, or so many that a run
// could not be interrupted.
absl::StatusOr<Accuracy> AccuracyOf(const StepView& step);
absl::Status CheckSize(const StepView& step, int64_t terms, int64_t fewest);
// `for_special` runs where an operand has infinities or NaNs; null: the primitive does.
std::shared_ptr<const Kernel> MakeKernel(std::unique_ptr<Primitive> primitive, Accuracy accuracy,
                                         int64_t products,
                                         std::shared_ptr<const Kernel> for_special = nullptr);

}  // namespace assay::onednn

#endif  // ASSAY_ENGINES_ONEDNN_KERNELS_H_
