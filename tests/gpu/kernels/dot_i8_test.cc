// The kernel of dot_i8.cu, and that of residue_product.cu which multiplies integers by their bytes, against
// sums of 64-bit integers.
#include <functional>
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
  int64_t passes_of = 0;    // terms that the passes are made for; 0: k
  bool is_largest = false;  // all bytes are 255
};

struct IntegerType {
  int bytes;
  bool is_signed;
};

// Element `at` of an array.
int64_t ElementAt(const std::vector<uint8_t>& values, int64_t at, IntegerType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, values.data() + at * type.bytes, static_cast<size_t>(type.bytes));
  const int unused = 64 - 8 * type.bytes;
  return type.is_signed ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

// By clusters of sm_90a.
void RunByteProduct(const ByteDotArguments& a, IntegerType lhs, IntegerType rhs, TestMemory& memory) {
  const auto tiles = [](int64_t count, int64_t to) { return static_cast<int32_t>((count + to - 1) / to); };
  const ResidueTiles shape{
      static_cast<int32_t>(SizeOf(a.lhs.batch)), 2 * tiles(SizeOf(a.lhs.rows), kPaddedRows),
      tiles(SizeOf(a.rhs.rows), kPaddedColumns), tiles(SizeOf(a.lhs.depth), kResidueDepth)};
  uint64_t slices[2];
  for (int side = 0; side < 2; ++side) {
    const int bytes = side == 0 ? lhs.bytes : rhs.bytes, count = std::min(bytes, a.result_bytes);
    slices[side] = AddressOf(memory.Allocate<uint8_t>(count * shape.batch * PaddedRows(shape, side) *
                                                      shape.depth_steps * kResidueDepth));
    RunKernel("residues", ("byte_slice_" + std::to_string(bytes)).c_str(), SliceBlocks(shape, side),
              kSliceThreads, SliceSharedBytes(bytes, ByteSlicePitch(bytes)),
              ByteSliceArguments{side == 0 ? a.lhs : a.rhs, slices[side], shape, side, count}, memory);
  }
  RunKernel("residue_product", a.result_bytes == 8 ? "byte_product_wide" : "byte_product", 2, kResidueThreads,
            kResidueSharedBytes, ByteProductArguments{slices[0], slices[1], a, shape}, memory);
}

// Random bytes with many that are -128, 128 or 255, so that every carry and sign counts.
std::vector<uint8_t> RandomBytes(int64_t count) {
  static std::mt19937_64 generator(24);
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) {
    const uint64_t kind = generator() % 8;
    byte = static_cast<uint8_t>(kind == 0 ? 0x80 : kind == 1 ? 0xff : generator());
  }
  return bytes;
}

using PlantPasses = std::function<void(BytePasses&)>;

struct ByteDotOutcome {
  bool by_tiles = true, by_product = true;  // whether the results are right
};

ByteDotOutcome RunByteDot(const ByteDotCase& x, IntegerType lhs_type, IntegerType rhs_type, int result_bytes,
                          const PlantPasses& plant = nullptr) {
  const auto furthest = [&](const int64_t(&strides)[3], int64_t rows) {
    return (x.batch - 1) * strides[0] + (rows - 1) * strides[1] + (x.k - 1) * strides[2] + 1;
  };
  std::vector<uint8_t> lhs = RandomBytes(furthest(x.lhs_strides, x.m) * lhs_type.bytes),
                       rhs = RandomBytes(furthest(x.rhs_strides, x.n) * rhs_type.bytes);
  if (x.is_largest) {
    std::fill(lhs.begin(), lhs.end(), uint8_t{255});
    std::fill(rhs.begin(), rhs.end(), uint8_t{255});
  }
  TestMemory memory;
  const auto operand = [&](const std::vector<uint8_t>& values, const int64_t(&strides)[3], int64_t rows,
                           IntegerType type) {
    return ByteOperand{AddressOf(memory.Copy(values, x.offset * type.bytes)),
                       {1, {x.batch}, {strides[0]}},
                       {1, {rows}, {strides[1]}},
                       {1, {x.k}, {strides[2]}}};
  };
  ByteDotArguments a{};
  a.lhs = operand(lhs, x.lhs_strides, x.m, lhs_type);
  a.rhs = operand(rhs, x.rhs_strides, x.n, rhs_type);
  a.passes = BytePassesOf(lhs_type.bytes, lhs_type.is_signed, rhs_type.bytes, rhs_type.is_signed,
                          result_bytes, x.passes_of != 0 ? x.passes_of : x.k);
  if (plant) plant(a.passes);
  a.batch_strides[0] = x.m * x.n;
  a.row_strides[0] = x.n;
  a.column_strides[0] = 1;
  a.result_bytes = result_bytes;
  a.unused_bits = std::max(0, 32 - 8 * result_bytes);
  const int64_t count = x.batch * x.m * x.n;
  auto* const other = memory.Allocate<unsigned char>(count * result_bytes);
  a.result = AddressOf(other);
  RunByteProduct(a, lhs_type, rhs_type, memory);
  auto* const result = memory.Allocate<unsigned char>(count * result_bytes);
  a.result = AddressOf(result);
  const auto to_bytes = [](ByteOperand& of, int bytes) {
    for (Strides* strides : {&of.batch, &of.rows, &of.depth}) strides->strides[0] *= bytes;
  };
  to_bytes(a.lhs, lhs_type.bytes);
  to_bytes(a.rhs, rhs_type.bytes);
  const bool is_wide = result_bytes == 8;
  RunKernel("dot_i8", is_wide ? "dot_i8_wide" : "dot_i8", ByteDotBlocks(a), kByteDotThreads,
            is_wide ? kWideDotSharedBytes : kByteDotSharedBytes, a, memory);
  ByteDotOutcome outcome;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t b = i / (x.m * x.n), row = i / x.n % x.m, column = i % x.n;
    const int64_t left = b * x.lhs_strides[0] + row * x.lhs_strides[1],
                  right = b * x.rhs_strides[0] + column * x.rhs_strides[1];
    uint64_t sum = 0;  // modulo 2^64
    for (int64_t k = 0; k < x.k; ++k) {
      sum += static_cast<uint64_t>(ElementAt(lhs, left + k * x.lhs_strides[2], lhs_type)) *
             static_cast<uint64_t>(ElementAt(rhs, right + k * x.rhs_strides[2], rhs_type));
    }
    uint64_t bits = 0;
    std::memcpy(&bits, &sum, static_cast<size_t>(result_bytes));
    outcome.by_tiles &= LoadBits(result + i * result_bytes, result_bytes) == bits;
    outcome.by_product &= LoadBits(other + i * result_bytes, result_bytes) == bits;
  }
  return outcome;
}

void CheckByteDot(const ByteDotCase& x, IntegerType lhs, IntegerType rhs, int result_bytes) {
  INFO(lhs.bytes << (lhs.is_signed ? "s " : "u ") << rhs.bytes << (rhs.is_signed ? "s " : "u ")
                 << result_bytes);
  const ByteDotOutcome outcome = RunByteDot(x, lhs, rhs, result_bytes);
  CHECK(outcome.by_tiles);
  CHECK(outcome.by_product);
}

constexpr IntegerType kSignedByte{1, true};

}  // namespace

TEST_CASE("dots of bytes, signed or not, of every layout and odd sizes", "[kernels][dot]") {
  for (const bool lhs : {false, true}) {
    for (const bool rhs : {false, true}) {
      const IntegerType left{1, lhs}, right{1, rhs};
      // k side by side, and aligned; the same not aligned; rows side by side; nothing side by side.
      CheckByteDot({1, 130, 20, 160, {0, 160, 1}, {0, 160, 1}}, left, right, 4);
      CheckByteDot({2, 33, 17, 75, {33 * 75, 75, 1}, {17 * 75, 75, 1}}, left, right, 4);
      CheckByteDot({2, 33, 17, 75, {33 * 75, 1, 33}, {17 * 75, 1, 17}}, left, right, 4);
      CheckByteDot({1, 9, 129, 5, {0, 12, 2}, {0, 15, 3}, 1}, left, right, 4);
      CheckByteDot({1, 5, 6, 100, {0, 112, 1}, {0, 0, 1}}, left, right, 4);
    }
  }
}

TEST_CASE("dots of bytes to narrower integers, and of one term", "[kernels][dot]") {
  for (const int bytes : {1, 2})
    CheckByteDot({1, 20, 20, 70, {0, 70, 1}, {0, 70, 1}}, kSignedByte, kSignedByte, bytes);
  CheckByteDot({3, 1, 1, 1, {1, 1, 1}, {1, 1, 1}}, kSignedByte, {1, false}, 4);
}

TEST_CASE("dots of integers of any two widths and signs, by their bytes", "[kernels][dot]") {
  for (const int lhs : {1, 2, 4}) {
    for (const int rhs : {1, 2, 4}) {
      for (const int signs : {0, 1, 2, 3}) {
        for (const int result : {1, 2, 4}) {
          CheckByteDot({1, 9, 7, 70, {0, 70, 1}, {0, 1, 7}}, {lhs, signs % 2 != 0}, {rhs, signs / 2 != 0},
                       result);
        }
      }
    }
  }
}

TEST_CASE("dots of integers of any two widths and signs to 64 bits", "[kernels][dot]") {
  for (const int lhs : {1, 2, 4, 8}) {
    for (const int rhs : {1, 2, 4, 8}) {
      for (const int signs : {0, 1, 2, 3}) {
        ByteDotCase x{1, 9, 7, 70, {0, 70, 1}, {0, 1, 7}};
        CheckByteDot(x, {lhs, signs % 2 != 0}, {rhs, signs / 2 != 0}, 8);
        // Each product by itself.
        x.passes_of = kExactTerms + 1;
        CheckByteDot(x, {lhs, signs % 2 != 0}, {rhs, signs / 2 != 0}, 8);
      }
    }
  }
  for (const int result : {1, 2, 4}) {
    CheckByteDot({1, 9, 7, 70, {0, 70, 1}, {0, 1, 7}}, {8, true}, {8, true}, result);
    CheckByteDot({1, 9, 7, 70, {0, 70, 1}, {0, 1, 7}}, {8, false}, {2, true}, result);
  }
}

TEST_CASE("dots of wide integers of every layout", "[kernels][dot]") {
  for (const IntegerType type : {IntegerType{2, true}, {4, true}, {8, true}}) {
    const int result = std::max(4, type.bytes);
    CheckByteDot({2, 33, 17, 75, {33 * 75, 1, 33}, {17 * 75, 75, 1}}, type, type, result);
    CheckByteDot({1, 130, 20, 160, {0, 160, 1}, {0, 160, 1}}, type, type, result);
    CheckByteDot({1, 9, 129, 5, {0, 12, 2}, {0, 15, 3}, 1}, type, type, result);
    CheckByteDot({1, 5, 6, 100, {0, 112, 1}, {0, 0, 1}}, type, type, result);
    CheckByteDot({3, 1, 1, 1, {1, 1, 1}, {1, 1, 1}}, type, type, result);
  }
}

// Sums of products of bytes that would not fit into 32 bits, of several pieces and of one that is full.
// Slow: not part of the ordinary run.
TEST_CASE("dots of very long rows of integers to 64 bits", "[.long][kernels][dot]") {
  for (const int64_t k : {int64_t{kExactTerms}, int64_t{2 * kExactTerms + 100}}) {
    ByteDotCase x{1, 2, 2, k, {0, k, 1}, {0, k, 1}};
    x.is_largest = true;
    CheckByteDot(x, {1, false}, {1, false}, 8);
  }
  const int64_t k = kExactTerms / 2 + 1;
  ByteDotCase x{1, 2, 2, k, {0, k, 1}, {0, k, 1}};
  x.is_largest = true;
  CheckByteDot(x, {2, false}, {2, false}, 8);
}

TEST_CASE("the passes over the bytes of integers", "[kernels][dot]") {
  const auto count = [](int lhs, int rhs, int result) {
    return BytePassesOf(lhs, true, rhs, true, result, 100).count;
  };
  CHECK(count(1, 1, 4) == 1);
  CHECK(count(2, 2, 4) == 4);
  CHECK(count(2, 2, 2) == 3);
  CHECK(count(4, 4, 4) == 10);
  CHECK(count(8, 8, 8) == kMostBytePasses);
  CHECK(count(4, 4, 8) == 16);
  CHECK(count(4, 4, 1) == 1);
  CHECK(count(1, 4, 4) == 4);
  CHECK(count(2, 4, 4) == 7);
  // Where sums are added to results of 64 bits: i + j from 7 down to 4 together, then each one by itself, all
  // products of it together where they fit.
  const auto places = [](int64_t k) {
    const BytePasses passes = BytePassesOf(8, true, 8, true, 8, k);
    std::vector<int> found;
    for (int i = 0; i < passes.count; ++i) {
      if (passes.list[i].place >= 0) found.push_back(passes.list[i].place);
    }
    return found;
  };
  CHECK(places(8192) == std::vector{32, 24, 16, 8, 0});
  CHECK(places(8193) == std::vector{32, 24, 24, 24, 24, 16, 8, 0});
  CHECK(places(100000) == std::vector{32, 24, 24, 24, 24, 16, 16, 16, 8, 8, 0});
}

TEST_CASE("a wrong pass over the bytes of integers shows in the sums", "[kernels][dot]") {
  const IntegerType type{2, true};
  const auto wrong = [&](const PlantPasses& plant) {
    const ByteDotOutcome outcome = RunByteDot({1, 20, 20, 70, {0, 70, 1}, {0, 70, 1}}, type, type, 4, plant);
    return !outcome.by_tiles && !outcome.by_product;
  };
  CHECK_FALSE(wrong([](BytePasses&) {}));
  CHECK(wrong([](BytePasses& p) { --p.count; }));
  CHECK(wrong([](BytePasses& p) { p.list[1].shift = 0; }));
  CHECK(wrong([](BytePasses& p) { p.list[2].shift = kByteShift; }));
  CHECK(wrong([](BytePasses& p) { p.list[0].lhs_signed = 0; }));
  CHECK(wrong([](BytePasses& p) { p.list[3].rhs_signed = 1; }));
  CHECK(wrong([](BytePasses& p) { std::swap(p.list[1].lhs, p.list[1].rhs); }));
  const auto wrong_wide = [&](const PlantPasses& plant) {
    const ByteDotOutcome outcome =
        RunByteDot({1, 20, 20, 70, {0, 70, 1}, {0, 70, 1}}, {4, true}, {4, true}, 8, plant);
    return !outcome.by_tiles && !outcome.by_product;
  };
  CHECK_FALSE(wrong_wide([](BytePasses&) {}));
  CHECK(wrong_wide([](BytePasses& p) { p.list[p.count - 1].place = 8; }));
  CHECK(wrong_wide([](BytePasses& p) { p.list[5].place = 24; }));
  CHECK(wrong_wide([](BytePasses& p) { p.list[7].shift = kByteShift; }));
}

}  // namespace assay::gpu
