// Strided moves of elements (move.h).
//
// The dimensions of the walked space may be taken in any order, so they are sorted by destination stride and
// merged where both sides allow it. What is left is moved in planes of two dimensions by one of five kernels:
// rows that are contiguous on both sides, rows of one repeated element, reversed rows and rows of every
// second element, transposition in tiles, and anything else. Elements are moved as integers of their width.
#include "engines/native/walk/move.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace assay::native {
namespace {

struct SixteenBytes {
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
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kLine = 64;
  const T v = Load<T>(value);
  std::byte line[kLine];
  for (int64_t i = 0; i < kLine; i += kWidth) Store<T>(line + i, v);
  int64_t at = 0;
  for (; at + kLine <= n * kWidth; at += kLine) std::memcpy(dst + at, line, kLine);
  for (; at < n * kWidth; at += kWidth) Store<T>(dst + at, v);
}

constexpr int64_t kCacheLine = 64;
// A transposition of this size and more is written past the caches: lines that are written whole need not be
// read first, which they otherwise are, and the result would push everything else out.
constexpr int64_t kStreamedBytes = 4 << 20;

// 16 bytes of elements of width T, for shuffles that every compiler turns into a few instructions.
template <typename T>
struct VectorOf {
  static constexpr int kLanes = 16 / sizeof(T);
  using Lane = std::conditional_t<sizeof(T) == 16, uint64_t, T>;
  typedef Lane Type __attribute__((vector_size(16)));
  using Lanes = std::make_index_sequence<kLanes>;
};
template <typename T>
using Vector = typename VectorOf<T>::Type;

// a[0] b[0] a[1] b[1] ... of the lower or (from = lanes / 2) upper halves.
template <size_t from, typename V, size_t... lane>
inline V Interleave(V a, V b, std::index_sequence<lane...>) {
  return __builtin_shufflevector(a, b, (from + lane / 2 + lane % 2 * sizeof...(lane))...);
}
// step 2: a[0] a[2] ... b[0] b[2] ...; step -1: the elements of b, last first.
template <int step, typename V, size_t... lane>
inline V Pick(V a, V b, std::index_sequence<lane...>) {
  constexpr size_t kLast = 2 * sizeof...(lane) - 1;
  if constexpr (step == -1 && sizeof...(lane) == 16) {  // without SSSE3 there is no shuffle of bytes
    typedef uint64_t Halves __attribute__((vector_size(16)));
    const Halves halves = reinterpret_cast<Halves>(b);
    return reinterpret_cast<V>(Halves{__builtin_bswap64(halves[1]), __builtin_bswap64(halves[0])});
  }
  return __builtin_shufflevector(a, b, (step == 2 ? 2 * lane : kLast - lane)...);
}

// One cache line, past the caches.
inline void StreamLine(const std::byte* src, std::byte* dst) {
#if defined(__SSE2__)
  for (int64_t i = 0; i < kCacheLine; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(dst + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(src + i)));
  }
#else
  std::memcpy(dst, src, kCacheLine);
#endif
}

// dst[r][c] = src[c][r] for as many elements a side as fit 16 bytes. Interleaving row i with row i + n/2
// turns the bits of (row, column) by one; after log2(n) rounds rows and columns have changed places.
template <typename T>
inline void TransposeSquare(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride) {
  using V = Vector<T>;
  constexpr int n = VectorOf<T>::kLanes;
  constexpr typename VectorOf<T>::Lanes kLanes{};
  V rows[n];
  for (int i = 0; i < n; ++i) rows[i] = Load<V>(src + i * src_stride);
  if constexpr (n > 1) {
    for (int round = 1; round < n; round *= 2) {
      V next[n];
      for (int i = 0; i < n / 2; ++i) {
        next[2 * i] = Interleave<0>(rows[i], rows[i + n / 2], kLanes);
        next[2 * i + 1] = Interleave<n / 2>(rows[i], rows[i + n / 2], kLanes);
      }
      std::copy(next, next + n, rows);
    }
  }
  for (int i = 0; i < n; ++i) Store<V>(dst + i * dst_stride, rows[i]);
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

  // Columns are contiguous in dst and `step` elements apart in src: 2 or -1.
  template <typename T, int step>
  static void SteppedRows(const Plane& p, const std::byte* src, std::byte* dst) {
    using V = Vector<T>;
    constexpr int64_t kWidth = sizeof(T), kLanes = VectorOf<T>::kLanes;
    const int64_t n = p.columns.size;
    for (int64_t r = 0; r < p.rows.size; ++r) {
      const std::byte* from = src + r * p.rows.from;
      std::byte* to = dst + r * p.rows.to;
      int64_t c = 0;
      // The source has an element n, so two vectors that end before it can be read whole.
      for (; c + kLanes < n; c += kLanes, to += sizeof(V), from += step * int64_t{sizeof(V)}) {
        const std::byte* first = step == 2 ? from : from - (kLanes - 1) * kWidth;
        const V low = Load<V>(first), high = step == 2 ? Load<V>(first + sizeof(V)) : low;
        Store<V>(to, Pick<step>(low, high, typename VectorOf<T>::Lanes{}));
      }
      for (; c < n; ++c, to += kWidth, from += step * kWidth) Store<T>(to, Load<T>(from));
    }
  }

  // Columns are contiguous in dst, rows in src. Tiles are a cache line wide on both sides, so that each line
  // is read and written once, even where sides of a power of two make all lines of a tile fight for the same
  // cache sets. Streaming walks along src, which the hardware then fetches ahead; else the walk is along dst,
  // in blocks that keep both sides in the first-level caches.
  template <typename T, bool stream>
  static void TransposedTiles(const Plane& p, const std::byte* src, std::byte* dst) {
    constexpr int64_t kTile = kCacheLine / sizeof(T);
    constexpr int64_t kRows = stream ? 1024 : 256, kColumns = stream ? kTile : 256;
    for (int64_t r0 = 0; r0 < p.rows.size; r0 += kRows) {
      for (int64_t c0 = 0; c0 < p.columns.size; c0 += kColumns) {
        const int64_t r1 = std::min(r0 + kRows, p.rows.size), c1 = std::min(c0 + kColumns, p.columns.size);
        for (int64_t r = r0; r < r1; r += kTile) {
          for (int64_t c = c0; c < c1; c += kTile) {
            TransposeTile<T, stream>(src + r * p.rows.from + c * p.columns.from, p.columns.from,
                                     dst + r * p.rows.to + c * p.columns.to, p.rows.to,
                                     std::min(kTile, r1 - r), std::min(kTile, c1 - c));
          }
        }
      }
    }
#if defined(__SSE2__)
    if constexpr (stream) _mm_sfence();
#endif
  }
  template <typename T, bool stream>
  static void TransposeTile(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride,
                            int64_t rows, int64_t columns) {
    constexpr int64_t kTile = kCacheLine / sizeof(T), kSquare = VectorOf<T>::kLanes, kWidth = sizeof(T);
    if (rows == kTile && columns == kTile) {
      if constexpr (stream) {
        // The tile after three more along src: its lines are more streams than the
        // hardware follows by itself.
        for (int64_t i = 0; i < kTile; ++i) __builtin_prefetch(src + i * src_stride + 4 * kCacheLine);
      } else {
        for (int64_t i = 0; i < kTile; ++i) {
          __builtin_prefetch(src + (kTile + i) * src_stride);
          __builtin_prefetch(dst + i * dst_stride + kCacheLine, 1);
        }
      }
      alignas(kCacheLine) std::byte lines[kTile * kCacheLine];
      std::byte* const squares = stream ? lines : dst;
      const int64_t stride = stream ? kCacheLine : dst_stride;
      for (int64_t r = 0; r < kTile; r += kSquare) {
        for (int64_t c = 0; c < kTile; c += kSquare) {
          TransposeSquare<T>(src + c * src_stride + r * kWidth, src_stride, squares + r * stride + c * kWidth,
                             stride);
        }
      }
      for (int64_t r = 0; stream && r < kTile; ++r) StreamLine(lines + r * kCacheLine, dst + r * dst_stride);
      return;
    }
    for (int64_t r = 0; r < rows; ++r, dst += dst_stride) {
      for (int64_t c = 0; c < columns; ++c) {
        Store<T>(dst + c * kWidth, Load<T>(src + c * src_stride + r * kWidth));
      }
    }
  }
  template <typename T>
  static void Transposed(const Plane& p, const std::byte* src, std::byte* dst) {
    TransposedTiles<T, false>(p, src, dst);
  }
  // Streaming needs whole lines.
  template <typename T>
  static void LargeTransposed(const Plane& p, const std::byte* src, std::byte* dst) {
    const bool lines = reinterpret_cast<uintptr_t>(dst) % kCacheLine == 0 && p.rows.to % kCacheLine == 0;
    lines ? TransposedTiles<T, true>(p, src, dst) : TransposedTiles<T, false>(p, src, dst);
  }

  static Kernel RowsOf(int64_t bytes) {
    if (bytes > 32) return LongRows;
    if (bytes >= 16) return ShortRows<SixteenBytes>;
    if (bytes >= 8) return ShortRows<uint64_t>;
    if (bytes >= 4) return ShortRows<uint32_t>;
    return bytes >= 2 ? ShortRows<uint16_t> : ShortRows<uint8_t>;
  }
  enum class Kind { kRepeatedRows, kReversedRows, kEverySecond, kTransposed, kLargeTransposed, kStrided };
  template <typename T>
  static Kernel OfWidth(Kind kind) {
    switch (kind) {
      case Kind::kRepeatedRows:
        return RepeatedRows<T>;
      case Kind::kTransposed:
        return Transposed<T>;
      case Kind::kLargeTransposed:
        return LargeTransposed<T>;
      case Kind::kReversedRows:
        if constexpr (sizeof(T) < 16) return SteppedRows<T, -1>;
        break;
      case Kind::kEverySecond:
        if constexpr (sizeof(T) < 16) return SteppedRows<T, 2>;
        break;
      case Kind::kStrided:
        break;
    }
    return Strided<T>;
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
        return OfWidth<SixteenBytes>(kind);
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
    int64_t bytes = plane_.columns.size * plane_.rows.size * element_bytes;
    for (const Dimension& d : outer_) bytes *= d.size;
    kind = bytes >= kStreamedBytes ? Kernels::Kind::kLargeTransposed : Kernels::Kind::kTransposed;
  }
  if (kind == Kernels::Kind::kStrided && plane_.columns.to == element_bytes) {
    const int64_t from = plane_.columns.from;
    if (from == 0) kind = Kernels::Kind::kRepeatedRows;
    if (from == -element_bytes) kind = Kernels::Kind::kReversedRows;
    if (from == 2 * element_bytes) kind = Kernels::Kind::kEverySecond;
  }
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

namespace {

template <class T>
void InterleaveAs(const std::byte* src, const std::byte* value, int64_t n, std::byte* dst) {
  constexpr int64_t kWidth = sizeof(T);
  const T v = Load<T>(value);
  int64_t i = 0;
  if constexpr (kWidth < 16) {
    using V = Vector<T>;
    constexpr typename VectorOf<T>::Lanes kLanes{};
    constexpr int64_t kStep = VectorOf<T>::kLanes;
    const V values = V{} + v;
    for (; i + kStep <= n; i += kStep) {
      const V x = Load<V>(src + i * kWidth);
      Store<V>(dst + 2 * i * kWidth, Interleave<0>(x, values, kLanes));
      Store<V>(dst + 2 * i * kWidth + int64_t{sizeof(V)}, Interleave<kStep / 2>(x, values, kLanes));
    }
  }
  for (; i < n; ++i) {
    Store<T>(dst + 2 * i * kWidth, Load<T>(src + i * kWidth));
    Store<T>(dst + (2 * i + 1) * kWidth, v);
  }
}

template <class T>
void FillAs(const std::byte* value, std::byte* dst, int64_t n) {
  T element;
  std::memcpy(&element, value, sizeof(T));
  for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i * static_cast<int64_t>(sizeof(T)), &element, sizeof(T));
}

}  // namespace

void InterleaveElements(int element_bytes, const std::byte* src, const std::byte* value, int64_t n,
                        std::byte* dst) {
  switch (element_bytes) {
    case 1:
      return InterleaveAs<uint8_t>(src, value, n, dst);
    case 2:
      return InterleaveAs<uint16_t>(src, value, n, dst);
    case 4:
      return InterleaveAs<uint32_t>(src, value, n, dst);
    case 8:
      return InterleaveAs<uint64_t>(src, value, n, dst);
    default:
      return InterleaveAs<SixteenBytes>(src, value, n, dst);
  }
}

void FillElements(int element_bytes, const std::byte* value, std::byte* dst, int64_t n) {
  constexpr int64_t kFew = 256;  // the plan of a move would cost more
  if (n <= kFew && element_bytes == 4) return FillAs<uint32_t>(value, dst, n);
  if (n <= kFew && element_bytes == 2) return FillAs<uint16_t>(value, dst, n);
  if (n <= kFew && element_bytes == 8) return FillAs<uint64_t>(value, dst, n);
  if (element_bytes == 1) {
    std::memset(dst, std::to_integer<int>(*value), static_cast<size_t>(n));
    return;
  }
  const int64_t zero = 0, one = 1;
  StridedMove(element_bytes, {&n, 1}, {&zero, 1}, {&one, 1}).Run(value, dst);
}

}  // namespace assay::native
