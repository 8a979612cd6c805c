// SingleDotKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 8
#define ASSAY_REGISTERS 16
#define ASSAY_SINGLE_DOTS kAvx2SingleDots
#include "engines/approximate/single_dot_kernels_body.h"
