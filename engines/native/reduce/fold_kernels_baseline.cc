// FoldKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_BYTES 16
#define ASSAY_FOLDS kBaselineFolds
#include "engines/native/reduce/fold_kernels_body.h"
