// The tiles of integer products against plain loops, for every table that the machine can run.
#include "engines/native/contraction/integer_kernels.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

namespace assay::native {
namespace {

// An element of a panel of bytes, pairs, … whose `group` neighbours of a row lie together.
int64_t At(int width, int group, int64_t k, int r) { return (k / group * width + r) * group + k % group; }

template <class Left, class Right, class Sum>
void CheckTile(const IntegerKernel& kernel, int64_t n, const std::vector<int64_t>& left,
               const std::vector<int64_t>& right) {
  std::mt19937_64 random(7);
  const int left_group = kernel.left_in_lines ? 64 : kernel.group;
  const auto draw = [&random](const std::vector<int64_t>& values) {
    return values.empty() ? static_cast<int64_t>(random()) : values[random() % values.size()];
  };
  std::vector<Left> a(n * kernel.tile_rows);
  std::vector<Right> b(n * kernel.tile_columns);
  for (Left& x : a) x = static_cast<Left>(draw(left));
  for (Right& x : b) x = static_cast<Right>(draw(right));
  const int64_t stride = kernel.tile_columns + 3;
  std::vector<Sum> c(kernel.tile_rows * stride, 77);
  if (kernel.begin != nullptr) kernel.begin();
  kernel.tile(n, a.data(), b.data(), c.data(), stride);
  if (kernel.end != nullptr) kernel.end();
  int wrong = 0;
  for (int i = 0; i < kernel.tile_rows; ++i) {
    for (int j = 0; j < stride; ++j) {
      uint64_t sum = j < kernel.tile_columns ? 0 : 77;
      for (int64_t k = 0; k < n && j < kernel.tile_columns; ++k) {
        sum += static_cast<uint64_t>(int64_t{a[At(kernel.tile_rows, left_group, k, i)]}) *
               static_cast<uint64_t>(int64_t{b[At(kernel.tile_columns, kernel.group, k, j)]});
      }
      wrong += c[i * stride + j] != static_cast<Sum>(sum);
    }
  }
  CHECK(wrong == 0);
}

std::vector<int64_t> Range(int64_t low, int64_t high) {
  std::vector<int64_t> values;
  for (int64_t v = low; v <= high; ++v) values.push_back(v);
  return values;
}

}  // namespace

TEST_CASE("integer tiles", "[native][dot]") {
  std::vector<const IntegerKernels*> tables = {&IntegerKernelsOf(Isa::kBaseline)};
  if (MachineIsa() >= Isa::kAvx2) tables.push_back(&IntegerKernelsOf(Isa::kAvx2));
  if (MachineIsa() >= Isa::kAvx512) tables.push_back(&IntegerKernelsOf(Isa::kAvx512, false));
  if (MachineIsa() >= Isa::kAvx512 && HasVnni()) tables.push_back(&IntegerKernelsOf(Isa::kAvx512, true));
  for (const IntegerKernels* table : tables) {
    for (int64_t n : {2, 70, 40000}) {
      CheckTile<int16_t, int16_t, uint32_t>(table->from16, n, Range(-128, 255), Range(-128, 255));
      CheckTile<int32_t, int32_t, uint32_t>(table->from32, n, {}, {});
      CheckTile<int64_t, int64_t, uint64_t>(table->from64, n, {}, {});
    }
    // 40000 products of extremes overflow 32 bits: sums are modulo 2^32, not saturated.
    if (table->from8.tile != nullptr) {
      for (int64_t n : {4, 72, 40000}) {
        CheckTile<uint8_t, int8_t, uint32_t>(table->from8, n, {}, {});
        CheckTile<uint8_t, int8_t, uint32_t>(table->from8, n, {255}, {-128});
        CheckTile<uint8_t, int8_t, uint32_t>(table->from8, n, {255}, {127});
      }
    }
  }
}

TEST_CASE("tiles of bytes in matrix registers", "[native][dot]") {
  if (MachineIsa() < Isa::kAvx512 || !HasByteTiles()) return;
  for (int64_t n : {64, 192, 40000 / 64 * 64, 1 << 17}) {
    CheckTile<int8_t, int8_t, uint32_t>(ByteTiles(true, true), n, {}, {});
    CheckTile<int8_t, int8_t, uint32_t>(ByteTiles(true, true), n, {-128}, {-128});
    CheckTile<int8_t, uint8_t, uint32_t>(ByteTiles(true, false), n, {}, {});
    CheckTile<int8_t, uint8_t, uint32_t>(ByteTiles(true, false), n, {-128}, {255});
    CheckTile<uint8_t, int8_t, uint32_t>(ByteTiles(false, true), n, {}, {});
    CheckTile<uint8_t, uint8_t, uint32_t>(ByteTiles(false, false), n, {255}, {255});
  }
}

TEST_CASE("sums of rows of bytes", "[native][dot]") {
  if (MachineIsa() < Isa::kAvx512 || !HasVnni()) return;
  const IntegerKernel& kernel = IntegerKernelsOf(Isa::kAvx512, true).from8;
  std::mt19937_64 random(3);
  for (int width : {kernel.tile_rows, kernel.tile_columns}) {
    const int64_t n = 36;
    std::vector<uint8_t> panel(n * width);
    for (uint8_t& x : panel) x = static_cast<uint8_t>(random());
    for (bool is_signed : {false, true}) {
      std::vector<uint32_t> sums(width + 1, 5);
      kernel.sums(n, panel.data(), width, is_signed, sums.data());
      for (int r = 0; r < width; ++r) {
        int64_t sum = 0;
        for (int64_t k = 0; k < n; ++k) {
          const uint8_t x = panel[At(width, 4, k, r)];
          sum += is_signed ? static_cast<int8_t>(x) : x;
        }
        CHECK(sums[r] == static_cast<uint32_t>(sum));
      }
      CHECK(sums[width] == 5);
    }
  }
}

}  // namespace assay::native
