// FftKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_FFT kAvx512Fft
#include "engines/native/linalg/fft_kernels_body.h"
