// The hot loops of integer matrix products modulo 2^w, once an instruction set (integer_kernels_body.h).
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_KERNELS_H_

#include <cstdint>

#include "jit/isa.h"

namespace assay::native {

// One width of elements. Of a panel of `width` rows, element k of row r lies at
// panel[(k / group * width + r) * group + k % group]: `group` neighbours of a row lie together.
struct IntegerKernel {
  int tile_rows, tile_columns;
  int element_bytes, sum_bytes;
  int group;
  int depth;  // n is a multiple of this
  // Left panels hold 64 bytes of each row together, as group == 64 would; `group` is for right ones.
  bool left_in_lines = false;
  // Calls that share a left panel should follow one another, rather than those that share a right one.
  bool keeps_left = false;
  // Bytes on the left are unsigned, on the right signed: a product of others is corrected by `sums`.
  bool biased = false;
  // c[r * c_stride + j] = sum over k < n of products, modulo 2^(8 * sum_bytes).
  void (*tile)(int64_t n, const void* a, const void* b, void* c, int64_t c_stride) = nullptr;
  // Bytes: sums[r] = sum over k < n of the panel's row r.
  void (*sums)(int64_t n, const void* panel, int width, bool is_signed, uint32_t* sums) = nullptr;
  // Around the calls of `tile` in a thread.
  void (*begin)() = nullptr;
  void (*end)() = nullptr;
};

struct IntegerKernels {
  IntegerKernel from8;   // bytes; tile is null where the instruction set has nothing for them
  IntegerKernel from16;  // elements of at most 9 bits with their sign, sums modulo 2^32
  IntegerKernel from32;  // modulo 2^32
  IntegerKernel from64;  // modulo 2^64
};
// Whether the machine has VNNI, whose instructions add products of pairs and quadruples.
bool HasVnni();
// `with_vnni` counts with Isa::kAvx512 alone.
const IntegerKernels& IntegerKernelsOf(Isa isa, bool with_vnni = HasVnni());

// Matrix registers (AMX): whether the machine and its kernel let this process use them, and products of bytes
// by them, signed or not.
bool HasByteTiles();
const IntegerKernel& ByteTiles(bool lhs_signed, bool rhs_signed);
// The same of pairs of bf16, subnormal ones as zeros, summed in f32,
// which rounds each addition and flushes subnormal sums.
bool HasPairTiles();
const IntegerKernel& PairTiles();
// For tests: whether products prepared from now on do without them.
void ForbidByteTiles(bool forbidden);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_INTEGER_KERNELS_H_
