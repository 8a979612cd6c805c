#include "tests/gpu/emulator/device/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace assay::emulated {
namespace {

// integer * 2^(exponent - fraction bits of the format), where the integer of a normal number has its leading
// one there; or an infinity or NaN, as `special`.
struct Number {
  int64_t integer = 0;
  int exponent = 0;
  double special = 0;
};

struct Format {
  int fraction_bits, exponent_bits;
};
constexpr Format kTf32{10, 8}, kBf16{7, 8}, kF16{10, 5}, kF32{23, 8};

Number NumberOf(uint32_t bits, Format format) {
  const int32_t fields = (1 << format.exponent_bits) - 1;
  const auto field = static_cast<int32_t>(bits >> format.fraction_bits) & fields;
  const int64_t fraction = bits & ((uint32_t{1} << format.fraction_bits) - 1);
  const bool negative = (bits >> (format.fraction_bits + format.exponent_bits) & 1) != 0;
  Number number;
  if (field == fields) number.special = fraction != 0 ? std::nan("") : negative ? -HUGE_VAL : HUGE_VAL;
  number.integer = field == 0 ? fraction : fraction | int64_t{1} << format.fraction_bits;
  if (negative) number.integer = -number.integer;
  number.exponent = std::max(field, 1) - fields / 2;
  return number;
}

double ValueOf(const Number& number, Format format) {
  return number.special != 0
             ? number.special
             : std::ldexp(static_cast<double>(number.integer), number.exponent - format.fraction_bits);
}

// integer * 2^-fraction_bits * 2^exponent, in units of 2^(greatest - kept).
int64_t Cut(int64_t integer, int fraction_bits, int exponent, int greatest, int kept) {
  const int shift = exponent - fraction_bits - greatest + kept;
  const int64_t magnitude = std::abs(integer);
  const int64_t result = shift >= 0 ? magnitude << shift : shift > -63 ? magnitude >> -shift : 0;
  return integer < 0 ? -result : result;
}

// sum * 2^unit, cut towards zero at 24 bits, or at the least subnormal number.
float CutToFloat(int64_t sum, int unit) {
  if (sum == 0) return 0;
  uint64_t magnitude = static_cast<uint64_t>(std::abs(sum));
  const int excess = std::max(static_cast<int>(std::bit_width(magnitude)) - 24, -149 - unit);
  if (excess > 63) return 0;
  if (excess > 0) magnitude = magnitude >> excess << excess;
  const double value = std::ldexp(static_cast<double>(magnitude), unit);
  return static_cast<float>(sum < 0 ? -value : value);
}

// At most 16 products.
float GroupSum(const TensorCore& core, Format format, const std::vector<Number>& left,
               const std::vector<Number>& right, size_t begin, size_t end, float c) {
  const Number start = NumberOf(std::bit_cast<uint32_t>(c), kF32);
  double special = ValueOf(start, kF32);
  bool is_special = start.special != 0;
  int greatest = start.integer == 0 ? core.zero_exponent : start.exponent;
  for (size_t k = begin; k < end; ++k) {
    const bool zero = left[k].integer == 0 || right[k].integer == 0;
    is_special |= left[k].special != 0 || right[k].special != 0;
    if (left[k].special != 0 || right[k].special != 0)
      special += ValueOf(left[k], format) * ValueOf(right[k], format);
    greatest = std::max(greatest, zero ? core.zero_exponent : left[k].exponent + right[k].exponent);
  }
  if (is_special)
    return std::isnan(special) ? std::bit_cast<float>(0x7fffffffU) : static_cast<float>(special);
  const int kept = core.fraction_bits;
  int64_t sum = Cut(start.integer, kF32.fraction_bits, start.exponent, greatest, kept);
  for (size_t k = begin; k < end; ++k) {
    sum += Cut(left[k].integer * right[k].integer, 2 * format.fraction_bits,
               left[k].exponent + right[k].exponent, greatest, kept);
  }
  return CutToFloat(sum, greatest - kept);
}

}  // namespace

float TensorCoreSum(const TensorCore& core, TensorFloat type, const TensorRow& left, const TensorRow& right,
                    float c) {
  const bool is_tf32 = type == TensorFloat::kTf32;
  const Format format = is_tf32 ? kTf32 : type == TensorFloat::kBf16 ? kBf16 : kF16;
  const auto numbers = [&](const TensorRow& row) {
    std::vector<Number> list;
    for (const uint32_t word : row.words) {
      // The low 13 bits of a tf32 count for nothing.
      if (is_tf32) {
        list.push_back(NumberOf(word >> 13, format));
        continue;
      }
      list.push_back(NumberOf(word & 0xffff, format));
      list.push_back(NumberOf(word >> 16, format));
    }
    return list;
  };
  const std::vector<Number> lhs = numbers(left), rhs = numbers(right);
  const auto group = static_cast<size_t>(core.group_bytes / (is_tf32 ? 4 : 2));
  for (size_t begin = 0; begin < lhs.size(); begin += group)
    c = GroupSum(core, format, lhs, rhs, begin, std::min(begin + group, lhs.size()), c);
  return c;
}

}  // namespace assay::emulated
