// FixedKernels for the instruction set "baseline".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_FIXED kBaselineFixed
#include "evaluator/native/fixed_kernels_body.h"
