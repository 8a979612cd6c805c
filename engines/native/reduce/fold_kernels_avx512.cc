// FoldKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_BYTES 64
#define ASSAY_FOLDS kAvx512Folds
#include "engines/native/reduce/fold_kernels_body.h"
