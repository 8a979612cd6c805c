// SplitKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_SPLITS kBaselineSplits
#include "engines/native/sums/split_kernels_body.h"
