// SplitKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_SPLITS kAvx512Splits
#include "engines/native/sums/split_kernels_body.h"
