// The kernels of dot_i8.cu, and those of residue_product.cu that multiply bytes, against sums of 64-bit
// integers.
#include <random>

#include "gpu/kernels/dot_i8_arguments.h"
#include "gpu/kernels/residues/residue_arguments.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

struct ByteDotCase {
  int64_t batch, m, n, k;
  int64_t lhs_strides[3], rhs_strides[3];
  int64_t offset = 0;
};

int64_t ByteValue(uint8_t byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : byte; }

// By clusters of sm_90a.
void RunByteProduct(const ByteDotArguments& a, const std::string& signs, TestMemory& memory) {
  const auto tiles = [](int64_t count, int64_t to) { return static_cast<int32_t>((count + to - 1) / to); };
  const ResidueTiles shape{
      static_cast<int32_t>(SizeOf(a.lhs.batch)), 2 * tiles(SizeOf(a.lhs.rows), kPaddedRows),
      tiles(SizeOf(a.rhs.rows), kPaddedColumns), tiles(SizeOf(a.lhs.depth), kResidueDepth)};
  uint64_t slices[2];
  for (int side = 0; side < 2; ++side) {
    slices[side] = AddressOf(
        memory.Allocate<uint8_t>(shape.batch * PaddedRows(shape, side) * shape.depth_steps * kResidueDepth));
    RunKernel("residues", "byte_slice", SliceBlocks(shape, side), kSliceThreads,
              SliceSharedBytes(1, kByteSlicePitch),
              ByteSliceArguments{side == 0 ? a.lhs : a.rhs, slices[side], shape, side}, memory);
  }
  RunKernel("residue_product", ("byte_product_" + signs).c_str(), 2, kResidueThreads, kResidueSharedBytes,
            ByteProductArguments{slices[0], slices[1], a, shape}, memory);
}

void CheckByteDot(const ByteDotCase& x, bool lhs_signed, bool rhs_signed, int result_bytes) {
  static std::mt19937_64 generator(24);
  const auto furthest = [&](const int64_t(&strides)[3], int64_t rows) {
    return (x.batch - 1) * strides[0] + (rows - 1) * strides[1] + (x.k - 1) * strides[2] + 1;
  };
  std::vector<uint8_t> lhs(furthest(x.lhs_strides, x.m)), rhs(furthest(x.rhs_strides, x.n));
  for (auto* const values : {&lhs, &rhs}) {
    for (uint8_t& value : *values) value = static_cast<uint8_t>(generator() % 8 == 0 ? 0x80 : generator());
  }
  TestMemory memory;
  ByteDotArguments a{};
  a.lhs = {AddressOf(memory.Copy(lhs, x.offset)),
           {1, {x.batch}, {x.lhs_strides[0]}},
           {1, {x.m}, {x.lhs_strides[1]}},
           {1, {x.k}, {x.lhs_strides[2]}}};
  a.rhs = {AddressOf(memory.Copy(rhs, x.offset)),
           {1, {x.batch}, {x.rhs_strides[0]}},
           {1, {x.n}, {x.rhs_strides[1]}},
           {1, {x.k}, {x.rhs_strides[2]}}};
  auto* const result = memory.Allocate<unsigned char>(x.batch * x.m * x.n * result_bytes);
  a.result = AddressOf(result);
  a.batch_strides[0] = x.m * x.n;
  a.row_strides[0] = x.n;
  a.column_strides[0] = 1;
  a.result_bytes = result_bytes;
  a.unused_bits = 32 - 8 * result_bytes;
  const std::string signs = std::string(lhs_signed ? "s" : "u") + (rhs_signed ? "s" : "u");
  RunKernel("dot_i8", ("dot_i8_" + signs).c_str(), ByteDotBlocks(a), kByteDotThreads, kByteDotSharedBytes, a,
            memory);
  auto* const other = memory.Allocate<unsigned char>(x.batch * x.m * x.n * result_bytes);
  ByteDotArguments by_product = a;
  by_product.result = AddressOf(other);
  RunByteProduct(by_product, signs, memory);
  bool same = true, same_by_product = true;
  for (int64_t i = 0; i < x.batch * x.m * x.n; ++i) {
    const int64_t b = i / (x.m * x.n), row = i / x.n % x.m, column = i % x.n;
    int64_t sum = 0;
    for (int64_t k = 0; k < x.k; ++k) {
      sum +=
          ByteValue(lhs[b * x.lhs_strides[0] + row * x.lhs_strides[1] + k * x.lhs_strides[2]], lhs_signed) *
          ByteValue(rhs[b * x.rhs_strides[0] + column * x.rhs_strides[1] + k * x.rhs_strides[2]], rhs_signed);
    }
    uint64_t bits = 0;
    std::memcpy(&bits, &sum, result_bytes);
    same &= LoadBits(result + i * result_bytes, result_bytes) == bits;
    same_by_product &= LoadBits(other + i * result_bytes, result_bytes) == bits;
  }
  CHECK(same);
  CHECK(same_by_product);
}

}  // namespace

TEST_CASE("dots of bytes, signed or not, of every layout and odd sizes", "[kernels][dot]") {
  for (const bool lhs : {false, true}) {
    for (const bool rhs : {false, true}) {
      // k side by side, and aligned; the same not aligned; rows side by side; nothing side by side.
      CheckByteDot({1, 130, 20, 160, {0, 160, 1}, {0, 160, 1}}, lhs, rhs, 4);
      CheckByteDot({2, 33, 17, 75, {33 * 75, 75, 1}, {17 * 75, 75, 1}}, lhs, rhs, 4);
      CheckByteDot({2, 33, 17, 75, {33 * 75, 1, 33}, {17 * 75, 1, 17}}, lhs, rhs, 4);
      CheckByteDot({1, 9, 129, 5, {0, 12, 2}, {0, 15, 3}, 1}, lhs, rhs, 4);
      CheckByteDot({1, 5, 6, 100, {0, 112, 1}, {0, 0, 1}}, lhs, rhs, 4);
    }
  }
}

TEST_CASE("dots of bytes to narrower integers, and of one term", "[kernels][dot]") {
  for (const int bytes : {1, 2}) CheckByteDot({1, 20, 20, 70, {0, 70, 1}, {0, 70, 1}}, true, true, bytes);
  CheckByteDot({3, 1, 1, 1, {1, 1, 1}, {1, 1, 1}}, true, false, 4);
}

}  // namespace assay::gpu
