// FftKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_FFT kBaselineFft
#include "engines/native/linalg/fft_kernels_body.h"
