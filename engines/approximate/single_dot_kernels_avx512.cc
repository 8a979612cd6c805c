// SingleDotKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 16
#define ASSAY_REGISTERS 32
#define ASSAY_SINGLE_DOTS kAvx512SingleDots
#include "engines/approximate/single_dot_kernels_body.h"
