// fft in the native engine.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_FFT_H_
#define ASSAY_ENGINES_NATIVE_LINALG_FFT_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareFft(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_FFT_H_
