// fft in the native engine.
#ifndef ASSAY_EVALUATOR_NATIVE_FFT_H_
#define ASSAY_EVALUATOR_NATIVE_FFT_H_

#include "evaluator/native/native_engine.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFft(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_FFT_H_
