#include "engines/approximate/pair_panels.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace assay::approximate {
namespace {

constexpr int kWidth = 32;      // rows of a panel
constexpr int kLinePairs = 16;  // of a row in a tile
constexpr int kLine = 2 * kLinePairs;

// pairs[r] = elements r of two lines.
void PairSixteen(const uint16_t* even, const uint16_t* odd, uint32_t* pairs) {
  for (int r = 0; r < 16; r += 8) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(even + r)),
                  b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(odd + r));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs + r), _mm_unpacklo_epi16(a, b));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs + r + 4), _mm_unpackhi_epi16(a, b));
  }
}

// Four pairs of each of four rows: pairs[k * kWidth + r].
void TransposeFour(const uint16_t* const* rows, int64_t k, uint32_t* pairs) {
  const auto load = [&](int r) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[r] + k)); };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
  const __m128i more_ab = _mm_unpackhi_epi32(a, b), more_cd = _mm_unpackhi_epi32(c, d);
  const auto store = [&](int i, __m128i v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs + i * kWidth), v);
  };
  store(0, _mm_unpacklo_epi64(ab, cd));
  store(1, _mm_unpackhi_epi64(ab, cd));
  store(2, _mm_unpacklo_epi64(more_ab, more_cd));
  store(3, _mm_unpackhi_epi64(more_ab, more_cd));
}

// Lines of pairs[16 kWidth]: those of each row together.
void PairsToLines(const uint32_t* pairs, std::byte* lines) {
  for (int r = 0; r < kWidth; ++r) {
    uint32_t line[kLinePairs];
    for (int p = 0; p < kLinePairs; ++p) line[p] = pairs[p * kWidth + r];
    std::memcpy(lines + r * sizeof(line), line, sizeof(line));
  }
}

}  // namespace

PairPanels::PairPanels(const native::IntegerKernel& kernel, native::PanelSide side, const std::byte* data,
                       native::RowLayout layout)
    : data_(reinterpret_cast<const uint16_t*>(data)),
      layout_(std::move(layout)),
      length_(layout_.length()),
      packed_length_(native::PackedLength(kernel, length_)),
      in_lines_(side == native::PanelSide::kLeft) {}

bool PairPanels::AreNeighbours(int64_t first, int64_t count) const {
  const std::vector<int64_t>& at = layout_.row_at;
  for (int64_t r = 1; r < count; ++r) {
    if (at[first + r] - at[first] != r) return false;
  }
  return true;
}

void PairPanels::Pack(int64_t batch, int64_t first, int64_t count, std::byte* panel) const {
  const int64_t base = layout_.batch_at[batch];
  const bool one_run = layout_.run_at.size() == 1;
  if (one_run && layout_.run_stride != 1 && count == kWidth && AreNeighbours(first, count))
    return PackElements(data_ + base + layout_.row_at[first] + layout_.run_at[0], panel);
  std::array<const uint16_t*, kWidth> rows = {};
  std::unique_ptr<uint16_t[]> copies;
  if (!one_run || layout_.run_stride != 1) copies.reset(new uint16_t[length_ * count]);
  for (int64_t r = 0; r < count; ++r) {
    const int64_t at = base + layout_.row_at[first + r];
    rows[r] = copies == nullptr ? data_ + at + layout_.run_at[0] : copies.get() + r * length_;
    if (copies != nullptr) Gather(at, copies.get() + r * length_);
  }
  PackRows(rows.data(), count, panel);
}

void PairPanels::Gather(int64_t base, uint16_t* row) const {
  for (int64_t run : layout_.run_at) {
    const uint16_t* src = data_ + base + run;
    for (int64_t k = 0; k < layout_.run_size; ++k, src += layout_.run_stride) *row++ = *src;
  }
}

void PairPanels::PackRows(const uint16_t* const* rows, int64_t count, std::byte* panel) const {
  const int64_t whole = length_ / kLine * kLine;
  for (int64_t k = 0; k < packed_length_; k += kLine, panel += kWidth * kLine * sizeof(uint16_t)) {
    uint16_t last[kWidth][kLine] = {};  // of rows that end here, and missing ones
    const uint16_t* lines[kWidth];
    for (int64_t r = 0; r < kWidth; ++r) {
      const bool copied = r >= count || k >= whole;
      if (copied && r < count) std::copy(rows[r] + k, rows[r] + length_, last[r]);
      lines[r] = copied ? last[r] : rows[r] + k;
    }
    if (in_lines_) {
      for (int r = 0; r < kWidth; ++r) std::memcpy(panel + r * sizeof(last[0]), lines[r], sizeof(last[0]));
      continue;
    }
    auto* const pairs = reinterpret_cast<uint32_t*>(panel);
    for (int p = 0; p < kLinePairs; p += 4) {
      for (int r = 0; r < kWidth; r += 4) TransposeFour(lines + r, 2 * p, pairs + p * kWidth + r);
    }
  }
}

void PairPanels::PackElements(const uint16_t* elements, std::byte* panel) const {
  static constexpr uint16_t kZeros[kWidth] = {};
  const int64_t stride = layout_.run_stride, bytes = stride * static_cast<int64_t>(sizeof(uint16_t));
  const auto line = [&](int64_t k) { return k < length_ ? elements + k * stride : kZeros; };
  for (int64_t k = 0; k < packed_length_; k += kLine, panel += kWidth * kLine * sizeof(uint16_t)) {
    uint32_t to_lines[kLinePairs * kWidth];
    auto* const pairs = in_lines_ ? to_lines : reinterpret_cast<uint32_t*>(panel);
    for (int p = 0; p < kLinePairs; ++p) {
      const uint16_t *const even = line(k + 2 * p), *const odd = line(k + 2 * p + 1);
      native::FetchAhead(even, bytes, sizeof(kZeros));
      native::FetchAhead(odd, bytes, sizeof(kZeros));
      PairSixteen(even, odd, pairs + p * kWidth);
      PairSixteen(even + 16, odd + 16, pairs + p * kWidth + 16);
    }
    if (in_lines_) PairsToLines(to_lines, panel);
  }
}

}  // namespace assay::approximate
