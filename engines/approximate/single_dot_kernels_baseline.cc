// SingleDotKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 4
#define ASSAY_REGISTERS 16
#define ASSAY_SINGLE_DOTS kBaselineSingleDots
#include "engines/approximate/single_dot_kernels_body.h"
