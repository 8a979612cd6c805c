#include "engines/native/sums/fixed_units.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::native {

TermBits::TermBits(const FloatRange& range)
    : finite(range.largest < 0x7f800000),
      // 2^(e - 150) is the last bit of floats with exponent field e > 0,
      // and of those with field 0 that of field 1.
      lowest(static_cast<int>(std::max<uint32_t>((range.below_smallest + 1) >> 23, 1)) - 150),
      top(static_cast<int>(std::max<uint32_t>(range.largest >> 23, 1)) - 126) {}

void Include(FloatRange& range, const FloatRange& other) {
  range.largest = std::max(range.largest, other.largest);
  range.below_smallest = std::min(range.below_smallest, other.below_smallest);
  range.negative_zero |= other.negative_zero;
}

float RoundUnits(absl::int128 sum, int lowest) {
  absl::uint128 size = static_cast<absl::uint128>(sum < 0 ? -sum : sum);
  // It is cut to 64 bits, then 53, by rounding to odd, after which the rounding to
  // 24 bits is that of the sum.
  int exponent = lowest;
  const uint64_t top = absl::Uint128High64(size);
  if (top != 0) {
    const int cut = static_cast<int>(std::bit_width(top));
    const bool sticky = (size & ((absl::uint128(1) << cut) - 1)) != 0;
    size = (size >> cut) | absl::uint128(sticky ? 1 : 0);
    exponent += cut;
  }
  uint64_t bits = absl::Uint128Low64(size);
  const int cut = std::max(static_cast<int>(std::bit_width(bits)) - 53, 0);
  const bool sticky = (bits & ((uint64_t{1} << cut) - 1)) != 0;
  bits = (bits >> cut) | (sticky ? 1 : 0);
  const double value = std::ldexp(static_cast<double>(bits), exponent + cut);
  return static_cast<float>(sum < 0 ? -value : value);
}

FloatRange RangeOf(Parallel& parallel, const FixedKernels& kernels, const float* x, int64_t n) {
  constexpr int64_t kPart = 1 << 15;
  FloatRange range;
  if (n <= 2 * kPart) {
    kernels.range(n, x, &range);
    return range;
  }
  std::vector<FloatRange> parts((n + kPart - 1) / kPart);
  parallel.For(static_cast<int64_t>(parts.size()), 2, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      kernels.range(std::min(kPart, n - p * kPart), x + p * kPart, &parts[p]);
  });
  for (const FloatRange& part : parts) Include(range, part);
  return range;
}

}  // namespace assay::native
