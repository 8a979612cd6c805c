#include "engines/native/contraction/split_tile.h"

#include <algorithm>
#include <memory>

namespace assay::native {
namespace {

// Products added in registers: the split panels of a tile stay in the cache.
constexpr int64_t kSplitDepth = 128;

// Each thread keeps these for its next tile.
struct SplitTileBuffers {
  alignas(64) double sums[3 * SplitTile::kMaxRows * SplitTile::kMaxColumns];
  alignas(64) double lhs_high[SplitTile::kMaxRows * kSplitDepth], lhs_low[SplitTile::kMaxRows * kSplitDepth];
  alignas(64) double rhs_high[SplitTile::kMaxColumns * kSplitDepth],
      rhs_low[SplitTile::kMaxColumns * kSplitDepth];
};
SplitTileBuffers& ThreadSplitTileBuffers() {
  static thread_local std::unique_ptr<SplitTileBuffers> buffers(new SplitTileBuffers);
  return *buffers;
}

}  // namespace

int64_t SplitTile::Chain(int64_t n) {
  return std::min(kSplitDepth, n) + 2 * ((n + kSplitDepth - 1) / kSplitDepth);
}

void SplitTile::Multiply(int64_t n, const SplitPanels& lhs, const SplitPanels& rhs, bool with_low) {
  SplitTileBuffers& buffers = ThreadSplitTileBuffers();
  const int64_t size = lhs.rows * rhs.rows;
  double *const high = buffers.sums, *const middle = high + size, *const low = middle + size;
  std::fill_n(high, (with_low ? 3 : 2) * size, 0.0);
  sums_ = high;
  rows_ = lhs.rows;
  columns_ = rhs.rows;
  with_low_ = with_low;
  const auto split = [&](const SplitPanels& side, int width, int64_t k, int64_t depth, double* highs,
                         double* lows) {
    for (int64_t r = 0; r < side.rows; r += width) {
      splits_.split(depth, side.panels + r * n + k * width, width, side.high_units + r, highs + r * depth,
                    lows + r * depth);
    }
  };
  const int rows = kernels_.tile_rows, columns = kernels_.tile_columns;
  for (int64_t k = 0; k < n; k += kSplitDepth) {
    const int64_t depth = std::min(kSplitDepth, n - k);
    split(lhs, rows, k, depth, buffers.lhs_high, buffers.lhs_low);
    split(rhs, columns, k, depth, buffers.rhs_high, buffers.rhs_low);
    for (int64_t j = 0; j < rhs.rows; j += columns) {
      const double* const bh = buffers.rhs_high + j * depth;
      const double* const bl = buffers.rhs_low + j * depth;
      const double* const b = rhs.panels + j * n + k * columns;
      for (int64_t i = 0; i < lhs.rows; i += rows) {
        const double* const ah = buffers.lhs_high + i * depth;
        const double* const al = buffers.lhs_low + i * depth;
        const int64_t at = i * rhs.rows + j;
        kernels_.tile(depth, ah, bh, high + at, rhs.rows);
        kernels_.tile(depth, ah, bl, middle + at, rhs.rows);
        kernels_.tile(depth, al, with_low ? bh : b, middle + at, rhs.rows);
        if (with_low) kernels_.tile(depth, al, bl, low + at, rhs.rows);
      }
    }
  }
}

SplitSums SplitTile::Row(int64_t r) const {
  const double* const high = sums_ + r * columns_;
  const int64_t size = rows_ * columns_;
  return {high, high + size, with_low_ ? high + 2 * size : nullptr};
}

}  // namespace assay::native
