// Products of rows of short floats as products of integers: the elements of a row in one unit, as three
// digits of base 256 that matrix registers (AMX) multiply exactly.
//
//   a = u (A + da),  A = 2^16 a2 + 2^8 a1 + a0 an integer of 24 bits with its sign, |da| <= 1/2
//   b = v (B + db),  likewise
//   sum a b = u v (sum A B + sum da B + sum A db + sum da db)
//   sum A B = 2^32 sum a2 b2 + 2^24 sum (a2 b1 + a1 b2) + 2^16 sum (a2 b0 + a1 b1 + a0
//   b2) + 2^8 sum (a1 b0 + a0 b1)
//             + sum a0 b0
// Up to 2^14 terms each of the five sums fits 32 bits. Few elements are so small beside the largest of their
// row that the remainder da is not 0: their products are summed in doubles, which is exact where no remainder
// is very small, else has a bound.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_DIGIT_KERNELS_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_DIGIT_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "jit/isa.h"

namespace assay::native {

inline constexpr int kDigitRows = 16;  // of a panel
inline constexpr int kDigitLine = 64;  // bytes of a row in a matrix register
inline constexpr int kDigits = 3;
inline constexpr int64_t kLongestDigitRow = 1 << 14;

// da of element k of row `row`.
struct DigitRemainder {
  int32_t k, row;
  double value;
};

// What is known of the rows of a panel, in their units.
struct DigitScales {
  double unit[kDigitRows];        // a power of two
  double remainders[kDigitRows];  // the sum of their magnitudes
  double low[kDigitRows];         // a power of two of which all are multiples, at most 1
  int64_t remainder_count;
  uint16_t remainder_rows;  // bit r: row r has one
  bool has_low;             // a0 is not 0 everywhere
};

// A panel of 16 rows, its digits digits[0], the low ones, to digits[2]. A left panel has 64 of each row
// together, a right one 4: element k of row r is at DigitAt.
struct DigitPanel {
  std::byte* digits[kDigits];
  DigitRemainder* remainders;
  const DigitScales* scales;
};

// Results of a block: a left panel times a right one, whose exact sums are within bounds[16 i + j] of sums[16
// i + j]; a bound of 0 says that it is the sum, rounded to odd where that is no double: so it rounds to a
// narrower format as the sum.
struct DigitBlock {
  bool exact;  // all bounds are 0, and not stored
  alignas(64) double sums[kDigitRows * kDigitRows], bounds[kDigitRows * kDigitRows];
};

struct DigitKernels {
  // rows[16 k + r] = element k < n of row r, of at most 11 bits if it has a remainder. Writes digits
  // (with zeros up to a multiple of 64), up to `most` remainders, and scales. False where there are more, an
  // element is not finite, or two of one row are more than 2^100 apart.
  bool (*pack)(int64_t n, const float* rows, bool left, int64_t most, const DigitPanel& panel,
               DigitScales* scales);
  // n is a multiple of 64.
  void (*multiply)(int64_t n, const DigitPanel& a, const DigitPanel& b, DigitBlock* block);
  // The block's first rows and columns rounded to f32 at out[i * stride + j]. Bit j of open[i]: where the
  // bound leaves that open.
  void (*round_f32)(const DigitBlock& block, int64_t rows, int64_t columns, float* out, int64_t stride,
                    uint16_t* open);
  // Around the calls of `multiply` in a thread.
  void (*begin)();
  void (*end)();
};

// Null where the machine has no matrix registers, or this process must do without (integer_kernels.h).
const DigitKernels* DigitKernelsOf(Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_DIGIT_KERNELS_H_
