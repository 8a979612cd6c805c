// SmallDotKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_REGISTERS 16
#define ASSAY_SMALL_DOTS kBaselineSmallDots
#include "engines/native/contraction/small_dot_kernels_body.h"
