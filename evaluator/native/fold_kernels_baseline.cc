// FoldKernels for the instruction set "baseline".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET
#define ASSAY_BYTES 16
#define ASSAY_FOLDS kBaselineFolds
#include "evaluator/native/fold_kernels_body.h"
