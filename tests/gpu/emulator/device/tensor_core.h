// Sums of products of floats as NVIDIA's tensor cores make them: not exact, and not rounded to nearest.
//
// The products of a group and the sum so far are added in fixed point. A product is exact, and its exponent
// is the sum of its factors' exponents. Each number is cut towards zero at F fraction bits of the greatest
// exponent in the group, and the sum of all is cut towards zero at 24 bits. Source: M. Fasi, N. J. Higham, M.
// Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330, 2021;
// figures of later devices from the package mmasim, with whose results tensor_core_test.cc compares.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_TENSOR_CORE_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_TENSOR_CORE_H_

#include <cstdint>

namespace assay::emulated {

enum class TensorFloat : uint8_t { kTf32, kBf16, kF16 };

struct TensorCore {
  int fraction_bits;
  int group_bytes;    // of an operand's row: a tf32 takes 4 of them
  int zero_exponent;  // of a product that is 0
};
inline constexpr TensorCore kAmpereCore{24, 16, -132}, kHopperCore{25, 32, -133};

// The numbers of one row of the left operand or one column of the right one, by their bits: 8 words of one
// tf32 or of two 16-bit floats, the first one low.
struct TensorRow {
  uint32_t words[8];
};

// c + sum of left[k] right[k] over the 8 tf32, or 16 narrower floats, of a row.
float TensorCoreSum(const TensorCore& core, TensorFloat type, const TensorRow& left, const TensorRow& right,
                    float c);

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_TENSOR_CORE_H_
