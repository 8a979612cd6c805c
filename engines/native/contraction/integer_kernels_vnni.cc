// IntegerKernels for AVX-512 with VNNI.
#include "jit/isa.h"

#define ASSAY_TARGET \
  __attribute__((target("avx512vnni,avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,f16c,bmi,bmi2")))
#define ASSAY_VNNI
#define ASSAY_LANES 8
#define ASSAY_ROWS 12
#define ASSAY_INTEGERS kVnniIntegers
#include "engines/native/contraction/integer_kernels_body.h"
