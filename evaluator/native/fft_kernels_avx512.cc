// FftKernels for the instruction set "avx512".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_FFT kAvx512Fft
#include "evaluator/native/fft_kernels_body.h"
