// convolution in the native engine.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_CONVOLUTION_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_CONVOLUTION_H_

#include "absl/functional/function_ref.h"
#include "engines/engine.h"
#include "engines/native/contraction/product_kernel.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareConvolution(const StepView& step, Isa isa);

// Empty where tiles pay for a convolution of these shapes.
std::string_view WhyNotConvolution(const StepView& step);

// `multiply` gets the product that the convolution is: patches of the image (lhs) by the
// features of the kernel (rhs).
template <class T>
using ConvolutionProductFn = absl::FunctionRef<absl::Status(
    const RowSource<T>& patches, const RowSource<T>& kernel, int64_t length, ResultLayout result)>;
template <class T>
absl::Status AsProduct(const AttributeMap& attributes, const SumKernels& kernels, const Literal& lhs,
                       const Literal& rhs, Literal& result, ConvolutionProductFn<T> multiply);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_CONVOLUTION_H_
