// SplitKernels for the instruction set "baseline".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_SPLITS kBaselineSplits
#include "evaluator/native/split_kernels_body.h"
