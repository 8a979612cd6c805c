// Rows of bf16 as pairs: bytes written out by hand.
#include "engines/approximate/pair_rows.h"

#include <bit>
#include <catch2/catch.hpp>

namespace assay::testing {
namespace {

uint32_t BitsOf(float x) { return std::bit_cast<uint32_t>(x); }

// Two rows of five elements, of rows of six: element k of row r has the bits 0x4000 + 16 r + k.
TEST_CASE("pairs of bf16: panels and rows, with a zero beside the last of an odd number",
          "[approximate][dot]") {
  std::vector<uint16_t> elements(12, 0x7fc0);
  for (int r = 0; r < 2; ++r) {
    for (int k = 0; k < 5; ++k) elements[6 * r + k] = static_cast<uint16_t>(0x4000 + 16 * r + k);
  }
  const native::StridedRows<float> rows(
      native::SumKernelsOf(Isa::kBaseline), ElementType::kBF16,
      reinterpret_cast<const std::byte*>(elements.data()),
      {native::LoopDims{}, native::LoopDims{{2, {6, 0, 0}}}, native::LoopDims{{5, {1, 0, 0}}}, 0});
  const approximate::PairRows pairs(rows, 5);
  const uint32_t wanted[2][3] = {{0x40014000, 0x40034002, 0x4004}, {0x40114010, 0x40134012, 0x4014}};
  for (int width : {4, 6}) {
    std::vector<float> panel(3 * width, -1.0f);
    pairs.Pack(0, 0, 2, width, panel.data());
    for (int k = 0; k < 3; ++k) {
      for (int r = 0; r < width; ++r) CHECK(BitsOf(panel[k * width + r]) == (r < 2 ? wanted[r][k] : 0));
    }
  }
  std::vector<float> two(8, -1.0f);
  pairs.Rows(0, 0, 2, two.data(), 4);
  for (int r = 0; r < 2; ++r) {
    for (int k = 0; k < 3; ++k) CHECK(BitsOf(two[4 * r + k]) == wanted[r][k]);
    CHECK(two[4 * r + 3] == -1.0f);
  }
}

}  // namespace
}  // namespace assay::testing
