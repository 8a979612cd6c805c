// SplitKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_LANES 4
#define ASSAY_SPLITS kAvx2Splits
#include "engines/native/sums/split_kernels_body.h"
