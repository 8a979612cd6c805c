// The kernels of the engine "onednn".
#ifndef ASSAY_ENGINES_ONEDNN_KERNELS_H_
#define ASSAY_ENGINES_ONEDNN_KERNELS_H_

#include "engines/engine.h"
#include "engines/onednn/primitive.h"

namespace assay::onednn {

using KernelOr = absl::StatusOr<std::shared_ptr<const Kernel>>;

// NotSupported with the reason: element types, layouts, fewer products than `fewest`.
KernelOr PrepareDot(const StepView& step, Isa isa, int64_t fewest);
KernelOr PrepareConvolution(const StepView& step, Isa isa, int64_t fewest);

// Shared by both: which types there are and how accurate they are; how many products are too few, or so many
// that a run could not be interrupted.
absl::StatusOr<const Accuracy*> AccuracyOf(const StepView& step);
// Whether oneDNN is fast at these types with the instructions there are;
// for any number of products where `fewest` is 1.
absl::Status CheckInstructions(const StepView& step, Isa isa, int64_t fewest);
absl::Status CheckSize(const StepView& step, int64_t terms, int64_t fewest);
// `finite_alone`: falls back where an operand has infinities or NaNs.
std::shared_ptr<const Kernel> MakeKernel(std::unique_ptr<Primitive> primitive, const Accuracy& accuracy,
                                         int64_t products, bool finite_alone = false);

}  // namespace assay::onednn

#endif  // ASSAY_ENGINES_ONEDNN_KERNELS_H_
