// Large gathers of the native engine against plain index arithmetic.
#include <catch2/catch.hpp>
#include <random>

#include "fmt/format.h"
#include "tests/engines/native/native_testing.h"

namespace assay::testing {
namespace {

template <class T>
Literal LiteralOf(ElementType type, std::vector<int64_t> sizes, const std::vector<T>& values) {
  Literal literal = *Literal::Make(*Shape::Array(type, sizes));
  REQUIRE(literal.MutableBytes().size() == values.size() * sizeof(T));
  std::memcpy(literal.MutableBytes().data(), values.data(), values.size() * sizeof(T));
  return literal;
}

std::vector<uint8_t> RandomBytes(int64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(n));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// The next array of as many bytes finds something else in its memory than the result of the run before.
void Dirty(int64_t bytes) {
  Literal array = *Literal::Make(*Shape::Array(ElementType::kU8, std::vector<int64_t>{bytes}));
  std::memset(array.MutableBytes().data(), 0xa5, static_cast<size_t>(bytes));
}

// The bytes that the program gives on every instruction set with 1, 2 and 7 threads.
void CheckBytes(const std::string& body, const std::vector<Literal>& arguments,
                const std::vector<uint8_t>& wanted) {
  const Plan reference = ReferencePlan(body);
  for (Isa isa : MachineIsas()) {
    int kernels = 0;
    const Plan plan = NativePlan(reference, isa, &kernels);
    REQUIRE(RootHasKernel(plan));
    for (int jobs : {1, 2, 7}) {
      Dirty(static_cast<int64_t>(wanted.size()));
      const absl::StatusOr<Literal> result = RunPlan(plan, arguments, jobs);
      REQUIRE(result.ok());
      REQUIRE(result->bytes().size() == wanted.size());
      INFO(body << "\ninstruction set " << static_cast<int>(isa) << " jobs " << jobs);
      CHECK(std::memcmp(result->data(), wanted.data(), wanted.size()) == 0);
    }
  }
}

// Rows of any length of any type; indices of any type, a tenth of them outside.
template <class Index>
void CheckRows(const std::string& type, int64_t bytes, const std::string& index_type, int64_t rows,
               int64_t columns, int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(rows * columns + count));
  std::vector<Index> index;
  for (int64_t i = 0; i < count; ++i) {
    index.push_back(random() % 10 == 0 ? static_cast<Index>(random())
                                       : static_cast<Index>(random() % static_cast<uint64_t>(rows)));
  }
  const std::vector<uint8_t> x = RandomBytes(rows * columns * bytes, 3);
  std::vector<uint8_t> wanted;
  for (Index i : index) {
    int64_t row = i < Index{0}                                             ? 0
                  : static_cast<uint64_t>(i) < static_cast<uint64_t>(rows) ? static_cast<int64_t>(i)
                                                                           : rows - 1;
    wanted.insert(wanted.end(), x.begin() + row * columns * bytes, x.begin() + (row + 1) * columns * bytes);
  }
  const std::string body = fmt::format(
      R"(x = {0}[{2},{3}] parameter(0)
i = {1}[{4}] parameter(1)
ROOT y = {0}[{4},{3}] gather(x, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{3}}})",
      type, index_type, rows, columns, count);
  CheckBytes(body,
             {LiteralOf(*ElementTypeFromName(type), {rows, columns}, x),
              LiteralOf(*ElementTypeFromName(index_type), {count}, index)},
             wanted);
}

}  // namespace

TEST_CASE("native gather: rows of every length", "[native][gather]") {
  for (int64_t columns : {1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33, 100, 1500}) {
    CheckRows<int32_t>("f32", 4, "s32", 41, columns, 600);
    CheckRows<int32_t>("s8", 1, "s32", 41, columns, 257);
  }
  CheckRows<int32_t>("f32", 4, "s32", 1000, 1, 70001);
  CheckRows<int32_t>("f64", 8, "s32", 1000, 1, 70001);
  CheckRows<int32_t>("f32", 4, "s32", 300, 32, 20011);
  CheckRows<int32_t>("c128", 16, "s32", 300, 3, 1000);
}

TEST_CASE("native gather: indices of every type", "[native][gather]") {
  for (int64_t columns : {1, 9}) {
    CheckRows<int8_t>("f32", 4, "s8", 41, columns, 1003);
    CheckRows<uint8_t>("bf16", 2, "u8", 300, columns, 1003);
    CheckRows<int16_t>("f32", 4, "s16", 41, columns, 1003);
    CheckRows<uint32_t>("f64", 8, "u32", 41, columns, 1003);
    CheckRows<int64_t>("u8", 1, "s64", 41, columns, 1003);
    CheckRows<uint64_t>("f32", 4, "u64", 41, columns, 1003);
  }
}

TEST_CASE("native gather: windows by two components, and a batch", "[native][gather]") {
  // y[b, n, p, q] = x[b, clamp(i[b, 0, n]) + p, clamp(i[b, 1, n]) + q]: windows of 3 x 5,
  // index vectors in the middle.
  constexpr int64_t kBatch = 3, kRows = 20, kColumns = 31, kCount = 301, kP = 3, kQ = 5;
  std::mt19937_64 random(11);
  std::vector<int32_t> index;
  for (int64_t i = 0; i < kBatch * 2 * kCount; ++i) index.push_back(static_cast<int32_t>(random() % 40) - 5);
  const std::vector<uint8_t> x = RandomBytes(kBatch * kRows * kColumns * 4, 4);
  std::vector<uint8_t> wanted;
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t n = 0; n < kCount; ++n) {
      const int64_t r = std::clamp<int64_t>(index[(b * 2) * kCount + n], 0, kRows - kP);
      const int64_t c = std::clamp<int64_t>(index[(b * 2 + 1) * kCount + n], 0, kColumns - kQ);
      for (int64_t p = 0; p < kP; ++p) {
        const auto at = x.begin() + ((b * kRows + r + p) * kColumns + c) * 4;
        wanted.insert(wanted.end(), at, at + kQ * 4);
      }
    }
  }
  CheckBytes(
      R"(x = f32[3,20,31] parameter(0)
i = s32[3,2,301] parameter(1)
ROOT y = f32[3,301,3,5] gather(x, i), offset_dims={2,3}, collapsed_slice_dims={}, start_index_map={1,2}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,3,5})",
      {LiteralOf(ElementType::kF32, {kBatch, kRows, kColumns}, x),
       LiteralOf(ElementType::kS32, {kBatch, 2, kCount}, index)},
      wanted);
}

TEST_CASE("native gather: slices that are not the result's last dimensions", "[native][gather]") {
  // y[p, n] = x[clamp(i[n]) + p]
  constexpr int64_t kSize = 50, kCount = 777, kP = 4;
  std::mt19937_64 random(12);
  std::vector<int32_t> index;
  for (int64_t i = 0; i < kCount; ++i) index.push_back(static_cast<int32_t>(random() % 60) - 5);
  const std::vector<uint8_t> x = RandomBytes(kSize * 2, 5);
  std::vector<uint8_t> wanted;
  for (int64_t p = 0; p < kP; ++p) {
    for (int64_t n = 0; n < kCount; ++n) {
      const auto at = x.begin() + (std::clamp<int64_t>(index[n], 0, kSize - kP) + p) * 2;
      wanted.insert(wanted.end(), at, at + 2);
    }
  }
  CheckBytes(
      R"(x = bf16[50] parameter(0)
i = s32[777,1] parameter(1)
ROOT y = bf16[4,777] gather(x, i), offset_dims={0}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={4})",
      {LiteralOf(ElementType::kBF16, {kSize}, x), LiteralOf(ElementType::kS32, {kCount, 1}, index)}, wanted);
}

// y[n] = x[clamp(i[n], 0, limit) * stride / columns, ...]: one element of each row, or of the first row.
void CheckElements(bool of_rows, int64_t rows, int64_t columns, int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(13 + rows));
  std::vector<int32_t> index = {INT32_MIN, -1, 0, 1, INT32_MAX};
  while (std::ssize(index) < count) index.push_back(static_cast<int32_t>(random() % 2000) - 500);
  const std::vector<uint8_t> x = RandomBytes(rows * columns * 4, 6);
  std::vector<uint8_t> wanted;
  for (int32_t i : index) {
    const int64_t at =
        of_rows ? std::clamp<int64_t>(i, 0, rows - 1) * columns : std::clamp<int64_t>(i, 0, columns - 1);
    wanted.insert(wanted.end(), x.begin() + at * 4, x.begin() + at * 4 + 4);
  }
  CheckBytes(fmt::format(R"(x = s32[{0},{1}] parameter(0)
i = s32[{2}] parameter(1)
ROOT y = s32[{2}] gather(x, i), offset_dims={{}}, collapsed_slice_dims={{0,1}}, start_index_map={{{3}}}, index_vector_dim=1, slice_sizes={{1,1}})",
                         rows, columns, count, of_rows ? 0 : 1),
             {LiteralOf(ElementType::kS32, {rows, columns}, x), LiteralOf(ElementType::kS32, {count}, index)},
             wanted);
}

TEST_CASE("native gather: single elements, with a stride and without", "[native][gather]") {
  for (int64_t count : {5, 16, 33, 512, 513, 1500, 40003}) {
    CheckElements(true, 700, 9, count);
    CheckElements(false, 9, 700, count);
    CheckElements(true, 1, 1, count);
  }
}

}  // namespace assay::testing
