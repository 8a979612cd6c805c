// SplitKernels for the instruction set "avx512".
#include "evaluator/native/isa.h"

#define ASSAY_TARGET ASSAY_AVX512
#define ASSAY_LANES 8
#define ASSAY_SPLITS kAvx512Splits
#include "evaluator/native/split_kernels_body.h"
