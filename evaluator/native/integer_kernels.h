// The hot loops of integer matrix products modulo 2^w, once an instruction set (integer_kernels_body.h).
#ifndef ASSAY_EVALUATOR_NATIVE_INTEGER_KERNELS_H_
#define ASSAY_EVALUATOR_NATIVE_INTEGER_KERNELS_H_

#include <cstdint>

#include "evaluator/native/isa.h"

namespace assay::native {

// One width of elements. Panels are packed as for sums (sum_kernels.h), 16-bit elements in pairs of neighbouring
// k: element k of row r at panel[(k / 2 * width + r) * 2 + k % 2].
struct IntegerKernel {
  int tile_rows, tile_columns;
  int element_bytes, sum_bytes;
  bool pairs;
  // c[r * tile_columns + j] = sum over k < n of products, modulo 2^(8 * sum_bytes); n is even for pairs.
  void (*tile)(int64_t n, const void* a, const void* b, void* c);
};

struct IntegerKernels {
  IntegerKernel from16;  // elements of at most 9 bits with their sign, sums modulo 2^32
  IntegerKernel from32;  // modulo 2^32
  IntegerKernel from64;  // modulo 2^64
};
const IntegerKernels& IntegerKernelsOf(Isa isa);
// Whether the machine has what kVnniIntegers needs besides Isa::kAvx512.
bool HasVnni();
extern const IntegerKernels kBaselineIntegers, kAvx2Integers, kAvx512Integers, kVnniIntegers;

}  // namespace assay::native

#endif  // ASSAY_EVALUATOR_NATIVE_INTEGER_KERNELS_H_
