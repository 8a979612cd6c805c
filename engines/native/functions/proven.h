// Functions of one argument over typed buffers; of f32, f16 and bf16 without a rounding test:
// approximations in doubles whose rounding was compared for every argument with MPFR's
// (sin and cos of f32: with the tested functions, which were), so it needs no comparing at run time.
//
// They are for AVX2 with FMA and for AVX-512, whose bits are the same: every operation is IEEE's. Functions
// without a row here, and machines without FMA, use functions.h.
#ifndef ASSAY_ENGINES_NATIVE_FUNCTIONS_PROVEN_H_
#define ASSAY_ENGINES_NATIVE_FUNCTIONS_PROVEN_H_

#include <span>

#include "engines/elementwise_fn.h"
#include "hlo/opcode.h"
#include "jit/isa.h"
#include "shape/element_type.h"

namespace assay::native {

// Null where there is none.
ElementwiseFn ProvenFunction(Opcode opcode, ElementType type, Isa isa);
// The same to memory that is 64-byte aligned, past the caches: other threads see it behind
// jit::StreamFence. f32 alone.
ElementwiseFn ProvenStreamed(Opcode opcode, ElementType type, Isa isa);

// x[i] = RN(f(x[i])) for n <= 16 elements, by the function with a rounding test.
void AskTested(Opcode opcode, int64_t n, float* x);
void AskTested(Opcode opcode, int64_t n, double* x);

// One function, by type.
struct ProvenRow {
  Opcode opcode;
  ElementwiseFn f32, f16, bf16;
  ElementwiseFn f64;  // with a rounding test for each vector; null where there is none
  ElementwiseFn f32_streamed;
};
// None for Isa::kBaseline.
std::span<const ProvenRow> ProvenRows(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_FUNCTIONS_PROVEN_H_
