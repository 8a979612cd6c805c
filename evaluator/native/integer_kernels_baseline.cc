// IntegerKernels for the instruction set "baseline".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET
#define ASSAY_LANES 2
#define ASSAY_ROWS 4
#define ASSAY_INTEGERS kBaselineIntegers
#include "evaluator/native/integer_kernels_body.h"
