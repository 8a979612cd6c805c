// IntegerKernels for the instruction set "avx512".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_ROWS 12
#define ASSAY_INTEGERS kAvx512Integers
#include "evaluator/native/integer_kernels_body.h"
