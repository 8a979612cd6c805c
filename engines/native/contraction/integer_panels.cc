#include "engines/native/contraction/integer_panels.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace assay::native {
namespace {

constexpr int kGroup = 4;  // bytes that lie together
constexpr int kLine = 64;

int WidthOf(const IntegerKernel& kernel, PanelSide side) {
  return side == PanelSide::kLeft ? kernel.tile_rows : kernel.tile_columns;
}

uint32_t LoadGroup(const uint8_t* p) {
  uint32_t group;
  std::memcpy(&group, p, sizeof(group));
  return group;
}

// Rows k, … , k + 3 of sixteen neighbouring columns: column by column.
void Transpose4x16(const uint8_t* rows, int64_t stride, __m128i flip, uint32_t* groups) {
  const auto load = [&](int k) {
    return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rows + k * stride)), flip);
  };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab = _mm_unpacklo_epi8(a, b), cd = _mm_unpacklo_epi8(c, d);
  const __m128i more_ab = _mm_unpackhi_epi8(a, b), more_cd = _mm_unpackhi_epi8(c, d);
  auto* const dst = reinterpret_cast<__m128i*>(groups);
  _mm_storeu_si128(dst, _mm_unpacklo_epi16(ab, cd));
  _mm_storeu_si128(dst + 1, _mm_unpackhi_epi16(ab, cd));
  _mm_storeu_si128(dst + 2, _mm_unpacklo_epi16(more_ab, more_cd));
  _mm_storeu_si128(dst + 3, _mm_unpackhi_epi16(more_ab, more_cd));
}

// Four groups of each of four rows: groups[k * width + r].
void Transpose4x4Groups(const uint8_t* rows, int64_t stride, uint32_t* groups, int64_t width) {
  const auto load = [&](int r) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows + r * stride));
  };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
  const __m128i more_ab = _mm_unpackhi_epi32(a, b), more_cd = _mm_unpackhi_epi32(c, d);
  const auto store = [&](int k, __m128i v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(groups + k * width), v);
  };
  store(0, _mm_unpacklo_epi64(ab, cd));
  store(1, _mm_unpackhi_epi64(ab, cd));
  store(2, _mm_unpacklo_epi64(more_ab, more_cd));
  store(3, _mm_unpackhi_epi64(more_ab, more_cd));
}

// bytes[i] ^= by.
void Flip(uint8_t* bytes, int64_t n, uint8_t by) {
  const __m128i flips = _mm_set1_epi8(static_cast<char>(by));
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    auto* const at = reinterpret_cast<__m128i*>(bytes + i);
    _mm_storeu_si128(at, _mm_xor_si128(_mm_loadu_si128(at), flips));
  }
  for (; i < n; ++i) bytes[i] ^= by;
}

}  // namespace

int64_t PackedLength(const IntegerKernel& kernel, int64_t length) {
  return (length + kernel.depth - 1) / kernel.depth * kernel.depth;
}

WidePanels::WidePanels(const IntegerKernel& kernel, PanelSide side, const RowSource<int64_t>& source,
                       int64_t length)
    : kernel_(kernel), source_(source), length_(length), width_(WidthOf(kernel, side)) {}

void WidePanels::Pack(int64_t batch, int64_t first, int64_t count, std::byte* panel) const {
  const std::unique_ptr<int64_t[]> all(new int64_t[length_ * width_]);
  const int64_t* elements = all.get();
  source_.Pack(batch, first, count, width_, all.get());
  if (kernel_.element_bytes == 8) {
    std::memcpy(panel, elements, static_cast<size_t>(length_ * width_) * sizeof(int64_t));
  } else if (kernel_.element_bytes == 4) {
    auto* const dst = reinterpret_cast<int32_t*>(panel);
    for (int64_t i = 0; i < length_ * width_; ++i) dst[i] = static_cast<int32_t>(elements[i]);
  } else {
    auto* dst = reinterpret_cast<uint32_t*>(panel);
    for (int64_t k = 0; k < length_; k += 2, elements += 2 * width_) {
      const int64_t* const next = k + 1 < length_ ? elements + width_ : nullptr;
      for (int r = 0; r < width_; ++r) {
        const auto low = static_cast<uint16_t>(elements[r]);
        const auto high = static_cast<uint16_t>(next != nullptr ? next[r] : 0);
        *dst++ = low | static_cast<uint32_t>(high) << 16;
      }
    }
  }
}

BytePanels::BytePanels(const IntegerKernel& kernel, PanelSide side, const RowSource<uint8_t>& source,
                       int64_t length, bool flip)
    : source_(source),
      length_(length),
      packed_length_(PackedLength(kernel, length)),
      width_(WidthOf(kernel, side)),
      in_lines_(side == PanelSide::kLeft && kernel.left_in_lines),
      flip_(flip ? 0x80 : 0) {}

void BytePanels::Pack(int64_t batch, int64_t first, int64_t count, std::byte* panel) const {
  const int64_t bytes = packed_length_ * width_;
  const auto in_groups = reinterpret_cast<uint32_t*>(panel);
  if (!in_lines_ && !source_.ByRows() && count == width_ && width_ % 16 == 0) {
    const RowSource<uint8_t>::InPlace in_place = source_.Elements(batch, first, count);
    if (in_place.data != nullptr) return GroupInPlace(in_place, in_groups);
  }
  const std::unique_ptr<uint8_t[]> elements(new uint8_t[bytes]);
  const auto flip = [&](int64_t begin, int64_t end) {
    if (flip_ != 0) Flip(elements.get() + begin, end - begin, flip_);
  };
  if (!source_.ByRows()) {
    source_.Pack(batch, first, count, width_, elements.get());
    flip(0, length_ * width_);
    std::fill(elements.get() + length_ * width_, elements.get() + bytes, 0);
    if (!in_lines_) return GroupElements(elements.get(), width_, packed_length_, 0, in_groups);
    const std::unique_ptr<uint32_t[]> groups(new uint32_t[bytes / kGroup]);
    GroupElements(elements.get(), width_, packed_length_, 0, groups.get());
    return GroupsToLines(groups.get(), panel);
  }
  source_.Rows(batch, first, count, elements.get(), packed_length_);
  for (int64_t r = 0; r < count; ++r) {
    flip(r * packed_length_, r * packed_length_ + length_);
    std::fill(&elements[r * packed_length_ + length_], &elements[(r + 1) * packed_length_], 0);
  }
  std::fill(elements.get() + count * packed_length_, elements.get() + bytes, 0);
  in_lines_ ? RowsToLines(elements.get(), count, panel) : GroupRows(elements.get(), in_groups);
}

void BytePanels::GroupRows(const uint8_t* rows, uint32_t* groups) const {
  int64_t k = 0;
  for (; width_ % 4 == 0 && k + 16 <= packed_length_; k += 16) {
    for (int64_t r = 0; r < width_; r += 4)
      Transpose4x4Groups(rows + r * packed_length_ + k, packed_length_, groups + k / kGroup * width_ + r,
                         width_);
  }
  for (; k < packed_length_; k += kGroup) {
    for (int64_t r = 0; r < width_; ++r)
      groups[k / kGroup * width_ + r] = LoadGroup(rows + r * packed_length_ + k);
  }
}

void BytePanels::GroupElements(const uint8_t* elements, int64_t stride, int64_t n, uint8_t flip,
                               uint32_t* groups) const {
  const __m128i flips = _mm_set1_epi8(static_cast<char>(flip));
  for (int64_t k = 0; k < n; k += kGroup, elements += kGroup * stride, groups += width_) {
    for (int g = 0; g < kGroup; ++g) FetchAhead(elements + g * stride, stride, width_);
    int r = 0;
    for (; r + 16 <= width_; r += 16) Transpose4x16(elements + r, stride, flips, groups + r);
    for (; r < width_; ++r) {
      uint8_t group[kGroup];
      for (int g = 0; g < kGroup; ++g) group[g] = elements[r + g * stride] ^ flip;
      groups[r] = LoadGroup(group);
    }
  }
}

void BytePanels::GroupInPlace(const RowSource<uint8_t>::InPlace& elements, uint32_t* groups) const {
  const int64_t whole = length_ / kGroup * kGroup, rest = length_ - whole;
  GroupElements(elements.data, elements.stride, whole, flip_, groups);
  groups += whole / kGroup * width_;
  std::fill(groups, groups + (packed_length_ - whole) / kGroup * width_, 0);
  if (rest == 0) return;
  uint8_t last[kGroup * kMaxPanelWidth] = {};
  for (int64_t k = 0; k < rest; ++k) {
    for (int64_t r = 0; r < width_; ++r)
      last[k * width_ + r] = elements.data[(whole + k) * elements.stride + r] ^ flip_;
  }
  GroupElements(last, width_, kGroup, 0, groups);
}

void BytePanels::RowsToLines(const uint8_t* rows, int64_t count, std::byte* lines) const {
  for (int64_t k = 0; k < packed_length_; k += kLine, lines += width_ * kLine) {
    for (int64_t r = 0; r < count; ++r) std::memcpy(lines + r * kLine, rows + r * packed_length_ + k, kLine);
    std::memset(lines + count * kLine, 0, (width_ - count) * kLine);
  }
}

void BytePanels::GroupsToLines(const uint32_t* groups, std::byte* lines) const {
  constexpr int kGroups = kLine / kGroup;
  for (int64_t k = 0; k < packed_length_; k += kLine, groups += kGroups * width_) {
    for (int64_t r = 0; r < width_; ++r, lines += kLine) {
      uint32_t line[kGroups];
      for (int g = 0; g < kGroups; ++g) line[g] = groups[g * width_ + r];
      std::memcpy(lines, line, kLine);
    }
  }
}

}  // namespace assay::native
