// Depthwise convolutions: every output feature is of one input feature. As matrix products they would be
// products by a single column.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_DEPTHWISE_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_DEPTHWISE_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

// Empty where PrepareDepthwise takes the convolution, which satisfies WhyNotConvolution: f32, as many groups
// as input and output features, and these the minor dimension of image, kernel and result.
std::string_view WhyNotDepthwise(const StepView& step, Isa isa);

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDepthwise(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_DEPTHWISE_H_
