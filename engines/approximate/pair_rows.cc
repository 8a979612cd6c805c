#include "engines/approximate/pair_rows.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace assay::approximate {
namespace {

// Each thread keeps this for its next panel.
float* ThreadElements(int64_t count) {
  static thread_local std::vector<float> elements;
  if (std::ssize(elements) < count) elements.resize(static_cast<size_t>(count));
  return elements.data();
}

// pairs[r] = the upper halves of even[r] and odd[r].
void Pair(const float* even, const float* odd, int64_t n, float* pairs) {
  const __m128i upper = _mm_set1_epi32(static_cast<int>(0xffff0000));
  int64_t r = 0;
  for (; r + 4 <= n; r += 4) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(even + r)),
                  high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(odd + r));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs + r),
                     _mm_or_si128(_mm_srli_epi32(low, 16), _mm_and_si128(high, upper)));
  }
  for (; r < n; ++r) {
    uint32_t low, high;
    std::memcpy(&low, even + r, sizeof(low));
    std::memcpy(&high, odd + r, sizeof(high));
    const uint32_t pair = low >> 16 | (high & 0xffff0000);
    std::memcpy(pairs + r, &pair, sizeof(pair));
  }
}

// row[k] = the upper halves of row[2 k] and row[2 k + 1], k < n / 2.
void PairNeighbours(int64_t n, float* row) {
  const auto halves = [](const float* at) {
    return _mm_srai_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), 16);
  };
  int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(row + k / 2),
                     _mm_packs_epi32(halves(row + k), halves(row + k + 4)));
  for (; k < n; k += 2) Pair(row + k, row + k + 1, 1, row + k / 2);
}

}  // namespace

void PairRows::Pack(int64_t batch, int64_t first, int64_t count, int width, float* panel) const {
  const int64_t even_length = length_ + length_ % 2;
  float* const elements = ThreadElements(even_length * width);
  if (rows_.ByRows()) {
    rows_.Rows(batch, first, count, elements, even_length);
    for (int64_t r = 0; r < count; ++r) {
      float* const row = elements + r * even_length;
      std::fill(row + length_, row + even_length, 0.0f);
      PairNeighbours(even_length, row);
    }
    return native::Interleave(elements, even_length, even_length / 2, count, width, panel);
  }
  rows_.Pack(batch, first, count, width, elements);
  std::fill(elements + length_ * width, elements + even_length * width, 0.0f);
  for (int64_t k = 0; k < even_length; k += 2)
    Pair(elements + k * width, elements + (k + 1) * width, width, panel + k / 2 * width);
}

void PairRows::Rows(int64_t batch, int64_t first, int64_t count, float* rows, int64_t stride) const {
  for (int64_t r = 0; r < count; ++r) Pack(batch, first + r, 1, 1, rows + r * stride);
}

}  // namespace assay::approximate
