#include "engines/native/walk/window_axis.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "absl/numeric/int128.h"

namespace assay::native {
namespace {

// The inverse of a modulo m, gcd(a, m) = 1; 0 for m = 1.
int64_t InverseModulo(int64_t a, int64_t m) {
  absl::int128 r0 = m, r1 = a % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const absl::int128 q = r0 / r1;
    absl::int128 next = r0 - q * r1;
    r0 = r1;
    r1 = next;
    next = t0 - q * t1;
    t0 = t1;
    t1 = next;
  }
  t0 %= m;
  return static_cast<int64_t>(t0 < 0 ? t0 + m : t0);
}

// Products of two of them and sums of a few such products fit in 64 bits.
bool IsSmall(std::initializer_list<int64_t> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](int64_t n) { return n > -(int64_t{1} << 30) && n < (int64_t{1} << 30); });
}

}  // namespace

WindowAxis::WindowAxis(int64_t base_size, const WindowDimension& window, int64_t outputs)
    : base_size_(base_size),
      window_(window),
      outputs_(outputs),
      is_small_(IsSmall({base_size, window.size, window.stride, window.base_dilation, window.window_dilation,
                         window.padding_low, window.padding_high, outputs})),
      window_congruence_(Solve(window.window_dilation, window.base_dilation)),
      output_congruence_(Solve(window.stride, window.base_dilation)) {}

WindowAxis::Congruence WindowAxis::Solve(int64_t factor, int64_t modulus) {
  Congruence c;
  c.gcd = std::gcd(factor, modulus);
  c.step = modulus / c.gcd;
  c.quotient = factor / c.gcd;
  c.inverse = InverseModulo(c.quotient, c.step);
  return c;
}

// With c = fixed * fixed_factor - padding_low, x in [0, limit) contributes iff p = c + x * factor is a
// multiple of base_dilation in [0, base_size * base_dilation).
Progression WindowAxis::Meet(int64_t fixed, int64_t fixed_factor, int64_t factor, int64_t limit,
                             const Congruence& congruence) const {
  if (base_size_ == 0) return {};
  return is_small_ ? MeetIn<int64_t>(fixed, fixed_factor, factor, limit, congruence)
                   : MeetIn<absl::int128>(fixed, fixed_factor, factor, limit, congruence);
}

template <class Int>
Progression WindowAxis::MeetIn(int64_t fixed, int64_t fixed_factor, int64_t factor, int64_t limit,
                               const Congruence& congruence) const {
  const int64_t dilation = window_.base_dilation;
  const Int c = Int(fixed) * fixed_factor - window_.padding_low;
  // Range of x with 0 <= c + x * factor <= (base_size - 1) * dilation.
  const Int last_p = Int(base_size_ - 1) * dilation;
  Int low = c >= 0 ? Int(0) : (-c + factor - 1) / factor;
  if (c > last_p) return {};
  Int high = (last_p - c) / factor;
  if (high > limit - 1) high = limit - 1;
  if (congruence.step > 1 || congruence.gcd > 1) {
    // c + x * factor = 0 (mod dilation)
    Int r = c % dilation;
    if (r < 0) r += dilation;
    if (r % congruence.gcd != 0) return {};
    const Int wanted = (dilation - r) / congruence.gcd % congruence.step;
    const Int x0 = wanted * congruence.inverse % congruence.step;
    if (low <= x0) {
      low = x0;
    } else {
      low += (congruence.step - (low - x0) % congruence.step) % congruence.step;
    }
  }
  if (low > high) return {};
  Progression result;
  result.first = static_cast<int64_t>(low);
  result.base = static_cast<int64_t>((c + low * factor) / dilation);
  result.count = static_cast<int64_t>((high - low) / congruence.step) + 1;
  return result;
}

}  // namespace assay::native
