// IndexKernels for the instruction set "baseline".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_INDEX kBaselineIndices
#include "evaluator/native/index_kernels_body.h"
