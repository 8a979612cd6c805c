// FixedKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_FIXED kBaselineFixed
#include "engines/native/sums/fixed_kernels_body.h"
