// FoldKernels for the instruction set "avx512".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_BYTES 64
#define ASSAY_FOLDS kAvx512Folds
#include "evaluator/native/fold_kernels_body.h"
