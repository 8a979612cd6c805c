// FoldKernels for the instruction set "avx2".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_BYTES 32
#define ASSAY_FOLDS kAvx2Folds
#include "engines/native/reduce/fold_kernels_body.h"
