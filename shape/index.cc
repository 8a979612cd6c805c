// Strides, multi-indices, runs and window sizes: see index.h.
#include "shape/index.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "base/checked.h"
#include "base/error.h"

namespace assay {

DimVector RowMajorStrides(std::span<const int64_t> sizes) {
  DimVector strides(sizes.size(), 1);
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 2; d >= 0; --d) {
    // With a zero size there is no element, and the other sizes may be anything: wrap, never trap.
    strides[d] = static_cast<int64_t>(static_cast<uint64_t>(strides[d + 1]) * sizes[d + 1]);
  }
  return strides;
}

int64_t LinearPosition(std::span<const int64_t> index, std::span<const int64_t> strides) {
  int64_t position = 0;
  for (size_t d = 0; d < index.size(); ++d) position += index[d] * strides[d];
  return position;
}

bool NextIndex(std::span<const int64_t> sizes, std::span<int64_t> index) {
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

void IndexOfPosition(int64_t position, std::span<const int64_t> sizes, std::span<int64_t> index) {
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    index[d] = position % sizes[d];
    position /= sizes[d];
  }
}

namespace {

// The walked space after dimensions of size 1 are dropped and contiguous neighbours merged.
struct MergedSpace {
  absl::InlinedVector<int64_t, 8> sizes;
  absl::InlinedVector<int64_t, 48> strides;  // [dimension][map], kMaxMaps entries a dimension
  int64_t* row(int64_t d) { return strides.data() + d * kMaxMaps; }
};

bool ContiguousWithLast(MergedSpace& space, std::span<const AffineMap> maps, int64_t d, int64_t size) {
  const int64_t* outer = space.row(static_cast<int64_t>(space.sizes.size()) - 1);
  for (size_t m = 0; m < maps.size(); ++m) {
    int64_t step;
    if (__builtin_mul_overflow(maps[m].strides[d], size, &step) || outer[m] != step) return false;
  }
  return true;
}

MergedSpace Merge(std::span<const int64_t> sizes, std::span<const AffineMap> maps) {
  MergedSpace space;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if (!space.sizes.empty() && ContiguousWithLast(space, maps, d, sizes[d])) {
      space.sizes.back() *= sizes[d];
    } else {
      space.sizes.push_back(sizes[d]);
      space.strides.resize(space.sizes.size() * kMaxMaps, 0);
    }
    int64_t* row = space.row(static_cast<int64_t>(space.sizes.size()) - 1);
    for (size_t m = 0; m < maps.size(); ++m) row[m] = maps[m].strides[d];
  }
  return space;
}

}  // namespace

void ForEachRun(std::span<const int64_t> sizes, std::span<const AffineMap> maps, RunFn run) {
  ASSAY_CHECK(maps.size() <= static_cast<size_t>(kMaxMaps));
  for (int64_t size : sizes) {
    if (size == 0) return;
  }
  int64_t offsets[kMaxMaps] = {};
  const int64_t zero_strides[kMaxMaps] = {};
  for (size_t m = 0; m < maps.size(); ++m) offsets[m] = maps[m].base;
  MergedSpace space = Merge(sizes, maps);
  if (space.sizes.empty()) return run(offsets, zero_strides, 1);

  const int64_t inner = static_cast<int64_t>(space.sizes.size()) - 1;
  const int64_t length = space.sizes[inner];
  const int64_t* inner_strides = space.row(inner);
  absl::InlinedVector<int64_t, 8> index(inner, 0);
  while (true) {
    run(offsets, inner_strides, length);
    int64_t d = inner - 1;
    for (; d >= 0; --d) {
      const int64_t* row = space.row(d);
      if (++index[d] < space.sizes[d]) {
        for (size_t m = 0; m < maps.size(); ++m) offsets[m] += row[m];
        break;
      }
      index[d] = 0;
      for (size_t m = 0; m < maps.size(); ++m) offsets[m] -= row[m] * (space.sizes[d] - 1);
    }
    if (d < 0) return;
  }
}

std::optional<int64_t> DilatedSize(int64_t n, int64_t factor) {
  if (n <= 0) return n == 0 ? std::optional<int64_t>(0) : std::nullopt;
  const auto spread = CheckedMul(n - 1, factor);
  return spread ? CheckedAdd(*spread, 1) : std::nullopt;
}

std::optional<int64_t> WindowOutputSize(int64_t size, const WindowDimension& window) {
  const auto base = DilatedSize(size, window.base_dilation);
  const auto win = DilatedSize(window.size, window.window_dilation);
  if (!base || !win || window.stride <= 0) return std::nullopt;
  const auto low = CheckedAdd(window.padding_low, *base);
  const auto padded = low ? CheckedAdd(*low, window.padding_high) : std::nullopt;
  if (!padded || *padded < 0) return std::nullopt;
  if (*padded == 0 || *win > *padded) return 0;
  return (*padded - *win) / window.stride + 1;
}

}  // namespace assay
