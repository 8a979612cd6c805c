// IntegerKernels for the instruction set "avx512".
#include "jit/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_ROWS 12
#define ASSAY_INTEGERS kAvx512Integers
#include "engines/native/contraction/integer_kernels_body.h"
