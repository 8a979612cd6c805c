// FftKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#define ASSAY_FFT kAvx2Fft
#include "engines/native/linalg/fft_kernels_body.h"
