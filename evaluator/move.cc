// Strided moves of elements (move.h).
//
// The dimensions of the walked space may be taken in any order, so they are sorted by destination stride and
// merged where both sides allow it. What is left is moved in planes of two dimensions by one of four kernels:
// rows that are contiguous on both sides, rows of one repeated element, transposition in tiles, and anything
// else. Elements are moved as integers of their width.
#include "evaluator/move.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "shape/error.h"

namespace assay {
namespace {

struct Wide {
  uint64_t low, high;
};

template <typename T>
inline T Load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <typename T>
inline void Store(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

// A block of sizeof(T) to 2 * sizeof(T) bytes: its first and its last sizeof(T), which may overlap.
template <typename T>
inline void CopyEnds(const std::byte* src, std::byte* dst, int64_t bytes) {
  const T head = Load<T>(src);
  const T tail = Load<T>(src + bytes - sizeof(T));
  Store<T>(dst, head);
  Store<T>(dst + bytes - sizeof(T), tail);
}

template <typename T>
void FillRun(const std::byte* value, std::byte* dst, int64_t n) {
  const T v = Load<T>(value);
  for (int64_t i = 0; i < n; ++i) Store<T>(dst + i * static_cast<int64_t>(sizeof(T)), v);
}

}  // namespace

struct StridedMove::Kernels {
  // Rows of plane.columns.size bytes (for this kernel alone columns counts bytes), contiguous on both sides.
  static void LongRows(const Plane& p, const std::byte* src, std::byte* dst) {
    for (int64_t r = 0; r < p.rows.size; ++r) {
      std::memcpy(dst + r * p.rows.to, src + r * p.rows.from, p.columns.size);
    }
  }
  template <typename T>
  static void ShortRows(const Plane& p, const std::byte* src, std::byte* dst) {
    for (int64_t r = 0; r < p.rows.size; ++r) {
      CopyEnds<T>(src + r * p.rows.from, dst + r * p.rows.to, p.columns.size);
    }
  }
  template <typename T>
  static void RepeatedRows(const Plane& p, const std::byte* src, std::byte* dst) {
    for (int64_t r = 0; r < p.rows.size; ++r) {
      FillRun<T>(src + r * p.rows.from, dst + r * p.rows.to, p.columns.size);
    }
  }
  template <typename T>
  static void Strided(const Plane& p, const std::byte* src, std::byte* dst) {
    for (int64_t r = 0; r < p.rows.size; ++r) {
      const std::byte* from = src + r * p.rows.from;
      std::byte* to = dst + r * p.rows.to;
      for (int64_t c = 0; c < p.columns.size; ++c) {
        Store<T>(to + c * p.columns.to, Load<T>(from + c * p.columns.from));
      }
    }
  }

  // Columns are contiguous in dst, rows in src. Blocks keep both sides in the first-level caches; tiles are
  // read a cache line at a time and the next one is fetched ahead, so that sides of a power of two do not
  // fight for the same cache sets.
  template <typename T>
  static void Transposed(const Plane& p, const std::byte* src, std::byte* dst) {
    constexpr int64_t kTile = sizeof(T) >= 8 ? 8 : 64 / sizeof(T);
    constexpr int64_t kBlock = 256;
    for (int64_t r0 = 0; r0 < p.rows.size; r0 += kBlock) {
      for (int64_t c0 = 0; c0 < p.columns.size; c0 += kBlock) {
        const int64_t r1 = std::min(r0 + kBlock, p.rows.size), c1 = std::min(c0 + kBlock, p.columns.size);
        for (int64_t r = r0; r < r1; r += kTile) {
          for (int64_t c = c0; c < c1; c += kTile) {
            TransposedTile<T, kTile>(src + r * p.rows.from + c * p.columns.from, p.columns.from,
                                     dst + r * p.rows.to + c * p.columns.to, p.rows.to,
                                     std::min(kTile, r1 - r), std::min(kTile, c1 - c));
          }
        }
      }
    }
  }
  template <typename T, int64_t kTile>
  static void TransposedTile(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride,
                             int64_t rows, int64_t columns) {
    alignas(64) T tile[kTile][kTile];
    if (rows == kTile && columns == kTile) {
      for (int64_t c = 0; c < kTile; ++c) {
        __builtin_prefetch(src + (c + kTile) * src_stride);
        std::memcpy(tile[c], src + c * src_stride, sizeof(tile[c]));
      }
      for (int64_t r = 0; r < kTile; ++r, dst += dst_stride) {
        __builtin_prefetch(dst + kTile * sizeof(T), 1);
        for (int64_t c = 0; c < kTile; ++c) Store<T>(dst + c * sizeof(T), tile[c][r]);
      }
      return;
    }
    for (int64_t r = 0; r < rows; ++r, dst += dst_stride) {
      for (int64_t c = 0; c < columns; ++c) {
        Store<T>(dst + c * sizeof(T), Load<T>(src + c * src_stride + r * sizeof(T)));
      }
    }
  }

  static Kernel RowsOf(int64_t bytes) {
    if (bytes > 32) return LongRows;
    if (bytes >= 16) return ShortRows<Wide>;
    if (bytes >= 8) return ShortRows<uint64_t>;
    if (bytes >= 4) return ShortRows<uint32_t>;
    return bytes >= 2 ? ShortRows<uint16_t> : ShortRows<uint8_t>;
  }
  enum class Kind { kRepeatedRows, kTransposed, kStrided };
  template <typename T>
  static Kernel OfWidth(Kind kind) {
    if (kind == Kind::kRepeatedRows) return RepeatedRows<T>;
    return kind == Kind::kTransposed ? Transposed<T> : Strided<T>;
  }
  static Kernel Of(Kind kind, int element_bytes) {
    switch (element_bytes) {
      case 1:
        return OfWidth<uint8_t>(kind);
      case 2:
        return OfWidth<uint16_t>(kind);
      case 4:
        return OfWidth<uint32_t>(kind);
      case 8:
        return OfWidth<uint64_t>(kind);
      default:
        ASSAY_CHECK(element_bytes == 16);
        return OfWidth<Wide>(kind);
    }
  }
};

StridedMove::StridedMove(int element_bytes, std::span<const int64_t> sizes,
                         std::span<const int64_t> from_strides, std::span<const int64_t> to_strides) {
  for (int64_t size : sizes) empty_ |= size <= 0;
  if (empty_) return;
  absl::InlinedVector<Dimension, 6> dims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) {
      dims.push_back({sizes[d], from_strides[d] * element_bytes, to_strides[d] * element_bytes});
    }
  }
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dimension& a, const Dimension& b) { return std::abs(a.to) > std::abs(b.to); });
  for (const Dimension& d : dims) {
    if (!outer_.empty() && outer_.back().from == d.from * d.size && outer_.back().to == d.to * d.size) {
      outer_.back() = {outer_.back().size * d.size, d.from, d.to};
    } else {
      outer_.push_back(d);
    }
  }
  ChoosePlane(element_bytes);
}

void StridedMove::ChoosePlane(int element_bytes) {
  plane_.columns = {1, element_bytes, element_bytes};
  if (!outer_.empty() && outer_.back().to == element_bytes && outer_.back().from == element_bytes) {
    plane_.columns = outer_.back();
    outer_.pop_back();
  }
  if (plane_.columns.size > 1 || outer_.empty()) {
    plane_.columns = {plane_.columns.size * element_bytes, 1, 1};
    kernel_ = Kernels::RowsOf(plane_.columns.size);
    if (outer_.empty()) block_bytes_ = plane_.columns.size;
    if (!outer_.empty()) {
      plane_.rows = outer_.back();
      outer_.pop_back();
    }
    return;
  }
  plane_.columns = outer_.back();
  outer_.pop_back();
  auto rows =
      std::find_if(outer_.begin(), outer_.end(), [&](const Dimension& d) { return d.from == element_bytes; });
  const bool transposed =
      rows != outer_.end() && plane_.columns.to == element_bytes && plane_.columns.from != 0;
  if (rows == outer_.end() && !outer_.empty()) --rows;
  if (rows != outer_.end()) {
    plane_.rows = *rows;
    outer_.erase(rows);
  }
  Kernels::Kind kind = Kernels::Kind::kStrided;
  constexpr int64_t kShort = 8;
  if (std::min(plane_.columns.size, plane_.rows.size) < kShort) {
    if (plane_.columns.size < plane_.rows.size) std::swap(plane_.columns, plane_.rows);
  } else if (transposed) {
    kind = Kernels::Kind::kTransposed;
  }
  if (plane_.columns.from == 0 && plane_.columns.to == element_bytes) kind = Kernels::Kind::kRepeatedRows;
  kernel_ = Kernels::Of(kind, element_bytes);
}

void StridedMove::RunOuter(const std::byte* src, std::byte* dst) const {
  if (empty_) return;
  absl::InlinedVector<int64_t, 4> index(outer_.size(), 0);
  while (true) {
    kernel_(plane_, src, dst);
    size_t d = outer_.size();
    while (d > 0) {
      --d;
      src += outer_[d].from;
      dst += outer_[d].to;
      if (++index[d] < outer_[d].size) break;
      src -= outer_[d].from * outer_[d].size;
      dst -= outer_[d].to * outer_[d].size;
      index[d] = 0;
      if (d == 0) return;
    }
  }
}

void MoveElements(int element_bytes, std::span<const int64_t> sizes, const std::byte* src,
                  const AffineMap& from, std::byte* dst, const AffineMap& to) {
  const StridedMove move(element_bytes, sizes, from.strides, to.strides);
  move.Run(src + from.base * element_bytes, dst + to.base * element_bytes);
}

void FillElements(int element_bytes, const std::byte* value, std::byte* dst, int64_t n) {
  const int64_t zero = 0, one = 1;
  StridedMove(element_bytes, {&n, 1}, {&zero, 1}, {&one, 1}).Run(value, dst);
}

}  // namespace assay
