// IntegerKernels for the instruction set "baseline".
#include "jit/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_ROWS 4
#define ASSAY_INTEGERS kBaselineIntegers
#include "engines/native/contraction/integer_kernels_body.h"
