// The tiles of integer products against plain loops, for every table that the machine can run.
#include "evaluator/native/integer_kernels.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

namespace assay::native {
namespace {

template <class Element, class Sum>
void CheckTile(const IntegerKernel& kernel, int64_t n, int low, int high) {
  std::mt19937_64 random(7);
  const int group = kernel.pairs ? 2 : 1;
  const auto draw = [&](int width) {
    std::vector<Element> panel(n * width);
    for (Element& x : panel)
      x = static_cast<Element>(high > low ? low + static_cast<int>(random() % (high - low + 1))
                                          : static_cast<int64_t>(random()));
    return panel;
  };
  const auto at = [&](const std::vector<Element>& panel, int width, int64_t k, int r) {
    return static_cast<uint64_t>(static_cast<int64_t>(panel[(k / group * width + r) * group + k % group]));
  };
  const std::vector<Element> a = draw(kernel.tile_rows), b = draw(kernel.tile_columns);
  std::vector<Sum> c(kernel.tile_rows * kernel.tile_columns);
  kernel.tile(n, a.data(), b.data(), c.data());
  int wrong = 0;
  for (int i = 0; i < kernel.tile_rows; ++i) {
    for (int j = 0; j < kernel.tile_columns; ++j) {
      uint64_t sum = 0;
      for (int64_t k = 0; k < n; ++k) sum += at(a, kernel.tile_rows, k, i) * at(b, kernel.tile_columns, k, j);
      wrong += c[i * kernel.tile_columns + j] != static_cast<Sum>(sum);
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("integer tiles", "[native][dot]") {
  std::vector<const IntegerKernels*> tables = {&kBaselineIntegers};
  if (MachineIsa() >= Isa::kAvx2) tables.push_back(&kAvx2Integers);
  if (MachineIsa() >= Isa::kAvx512) tables.push_back(&kAvx512Integers);
  if (MachineIsa() >= Isa::kAvx512 && HasVnni()) tables.push_back(&kVnniIntegers);
  for (const IntegerKernels* table : tables) {
    for (int64_t n : {2, 70, 40000}) {
      CheckTile<int16_t, uint32_t>(table->from16, n, -128, 255);
      CheckTile<int32_t, uint32_t>(table->from32, n, 0, 0);
      CheckTile<int64_t, uint64_t>(table->from64, n, 0, 0);
    }
  }
}

}  // namespace assay::native
