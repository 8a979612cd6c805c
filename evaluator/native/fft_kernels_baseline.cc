// FftKernels for the instruction set "baseline".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_FFT kBaselineFft
#include "evaluator/native/fft_kernels_body.h"
