// FoldKernels for the instruction set "avx2".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX2
#define ASSAY_BYTES 32
#define ASSAY_FOLDS kAvx2Folds
#include "evaluator/native/fold_kernels_body.h"
