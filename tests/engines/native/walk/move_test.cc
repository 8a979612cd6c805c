// StridedMove against a plain walk over indices.
#include "engines/native/walk/move.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

namespace assay::native {
namespace {

struct Case {
  std::vector<int64_t> sizes;
  AffineMap from, to;
  int64_t src_elements = 0, dst_elements = 0;
};

// The destination is a permuted dense array with gaps; the source any affine map with its base shifted so
// that all offsets are >= 0.
Case RandomCase(std::mt19937& random, int max_size) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Case c;
  const int rank = pick(0, 4);
  for (int d = 0; d < rank; ++d) c.sizes.push_back(pick(1, max_size));
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  c.to.strides.assign(rank, 0);
  c.from.strides.assign(rank, 0);
  int64_t scale = 1;
  for (int d : order) {
    c.to.strides[d] = pick(0, 3) == 0 ? -scale : scale;
    if (c.to.strides[d] < 0) c.to.base += scale * (c.sizes[d] - 1);
    scale *= c.sizes[d] + (pick(0, 3) == 0 ? 1 : 0);
  }
  c.dst_elements = scale;
  std::shuffle(order.begin(), order.end(), random);
  scale = 1;
  c.src_elements = 1;
  for (int d : order) {
    const int kind = pick(0, 7);
    const int64_t step = kind == 0 ? 0 : kind == 1 ? scale * 2 : scale;
    c.from.strides[d] = kind == 2 ? -step : step;
    if (kind == 2) c.from.base += step * (c.sizes[d] - 1);
    c.src_elements += step * (c.sizes[d] - 1);
    scale *= c.sizes[d];
  }
  return c;
}

// The destination begins at a cache line, as large arrays do, and nothing outside its elements may change.
void CheckCase(const Case& c, int bytes) {
  constexpr size_t kLine = 64;
  std::vector<std::byte> src(c.src_elements * bytes),
      memory(c.dst_elements * bytes + 2 * kLine, std::byte{0xee});
  for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<std::byte>(i * 37 + i / 251);
  const size_t begin = kLine - reinterpret_cast<uintptr_t>(memory.data()) % kLine;
  std::vector<std::byte> expected = memory;
  DimVector index(c.sizes.size(), 0);
  do {
    const int64_t from = c.from.base + LinearPosition(index, c.from.strides);
    const int64_t to = c.to.base + LinearPosition(index, c.to.strides);
    std::memcpy(&expected[begin + to * bytes], &src[from * bytes], bytes);
  } while (NextIndex(c.sizes, {index.data(), index.size()}));
  MoveElements(bytes, c.sizes, src.data(), c.from, memory.data() + begin, c.to);
  REQUIRE((memory == expected));  // megabytes, not to be printed
}

}  // namespace

TEST_CASE("move: any affine maps, every element size", "[native][walk]") {
  std::mt19937 random(1);
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (int i = 0; i < 400; ++i) CheckCase(RandomCase(random, 9), bytes);
    for (int i = 0; i < 20; ++i) CheckCase(RandomCase(random, 40), bytes);
  }
}

TEST_CASE("move: transposes of sides around the tile and block sizes", "[native][walk]") {
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (int64_t rows : {8, 15, 16, 17, 64, 65, 257}) {
      for (int64_t columns : {8, 31, 64, 130, 300}) {
        Case c;
        c.sizes = {rows, columns};
        c.from.strides = {1, rows};
        c.to.strides = {columns, 1};
        c.src_elements = c.dst_elements = rows * columns;
        CheckCase(c, bytes);
      }
    }
  }
}

// The large kernel: its blocks, tiles and edges, on result rows that are whole cache lines and on others.
TEST_CASE("move: transposes above the size that is streamed", "[native][walk]") {
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (int64_t columns : {320, 257}) {
      for (int64_t batch : {1, 3}) {
        const int64_t rows = (int64_t{4} << 20) / (columns * bytes * batch) + 37;
        Case c;
        c.sizes = {batch, rows, columns};
        c.from.strides = {rows * columns, 1, rows};
        c.to.strides = {rows * columns, columns, 1};
        c.src_elements = c.dst_elements = batch * rows * columns;
        CheckCase(c, bytes);
      }
    }
  }
}

TEST_CASE("move: reversed rows and rows of every second element", "[native][walk]") {
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (int64_t columns = 1; columns < 70; ++columns) {
      for (int64_t step : {-1, 2, -2, 3}) {
        Case c;
        c.sizes = {3, columns};
        c.from.strides = {3 * columns, step};
        c.from.base = step < 0 ? -step * (columns - 1) : 0;
        c.to.strides = {columns + 1, 1};
        // The source ends with the last element read: nothing beyond it may be touched.
        c.src_elements = 6 * columns + std::abs(step) * (columns - 1) + 1;
        c.dst_elements = 3 * (columns + 1);
        CheckCase(c, bytes);
      }
    }
  }
}

TEST_CASE("move: rows of every short length", "[native][walk]") {
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (int64_t columns = 1; columns < 70; ++columns) {
      Case c;
      c.sizes = {5, columns};
      c.from.strides = {columns + 3, 1};
      c.to.strides = {columns + 1, 1};
      c.src_elements = 5 * (columns + 3);
      c.dst_elements = 5 * (columns + 1);
      CheckCase(c, bytes);
    }
  }
}

TEST_CASE("move: an empty space moves nothing", "[native][walk]") {
  const int64_t sizes[] = {3, 0, 2};
  std::byte src{1}, dst{2};
  MoveElements(1, sizes, &src, {0, {0, 0, 0}}, &dst, {0, {0, 0, 1}});
  CHECK(dst == std::byte{2});
}

TEST_CASE("move: fill repeats one element", "[native][walk]") {
  const uint32_t value = 0x7fc01234;
  std::vector<uint32_t> out(19, 0);
  FillElements(4, reinterpret_cast<const std::byte*>(&value), reinterpret_cast<std::byte*>(out.data()), 18);
  CHECK(std::count(out.begin(), out.begin() + 18, value) == 18);
  CHECK(out[18] == 0);
}

}  // namespace assay::native
