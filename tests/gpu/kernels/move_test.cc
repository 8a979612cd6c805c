// The kernels of move.cu against loops over the same indices; each element says where it came from.
#include <array>
#include <random>

#include "gpu/kernels/move_arguments.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

// An element of N bytes that holds a number in each of them.
std::vector<unsigned char> Numbered(int64_t count, int bytes) {
  std::vector<unsigned char> elements(count * bytes);
  for (int64_t i = 0; i < count; ++i) {
    for (int j = 0; j < bytes; ++j)
      elements[i * bytes + j] = static_cast<unsigned char>((i >> (8 * (j % 4))) + 17 * j);
  }
  return elements;
}

constexpr int kWidths[] = {1, 2, 4, 8, 16};

struct Moved {
  std::vector<unsigned char> from, to;  // before
  int bytes;
  void Move(int64_t to_index, int64_t from_index) {
    std::memcpy(&to[to_index * bytes], &from[from_index * bytes], bytes);
  }
};

// What a kernel makes of `moved.to`, of which the arguments need only know the addresses.
template <typename Arguments>
std::vector<unsigned char> RunMove(const std::string& name, Arguments a, const Moved& moved, int64_t blocks,
                                   int64_t from_start, int64_t to_start, uint32_t shared_bytes = 0) {
  TestMemory memory;
  a.from = AddressOf(memory.Copy(moved.from)) + from_start * moved.bytes;
  unsigned char* const to = memory.Copy(moved.to);
  a.to = AddressOf(to) + to_start * moved.bytes;
  RunKernel("move", (name + "_" + std::to_string(moved.bytes)).c_str(), blocks, kMoveThreads, shared_bytes, a,
            memory);
  return {to, to + moved.to.size()};
}

}  // namespace

TEST_CASE("copies with any strides", "[kernels][move]") {
  for (const int bytes : kWidths) {
    // A transpose of [5, 6, 7] to [7, 5, 6], the second dimension reversed.
    Moved moved{Numbered(210, bytes), std::vector<unsigned char>(210 * bytes), bytes};
    Moved expected = moved;
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 6; ++j) {
        for (int64_t k = 0; k < 7; ++k) expected.Move((k * 5 + i) * 6 + j, (i * 6 + 5 - j) * 7 + k);
      }
    }
    CopyArguments a{0, 0, {3, {7, 5, 6}, {1, 42, -7}}, {30, 6, 1}};
    for (const int64_t blocks : {1, 3}) CHECK(RunMove("copy", a, moved, blocks, 35, 0) == expected.to);

    // A broadcast of [4] to [3, 4, 2], a padding of [3] to [9] with a hole of one between,
    // and a single element.
    Moved broadcast{Numbered(4, bytes), Numbered(24, bytes), bytes}, repeated = broadcast;
    for (int64_t i = 0; i < 24; ++i) repeated.Move(i, i / 2 % 4);
    CHECK(RunMove("copy", CopyArguments{0, 0, {3, {3, 4, 2}, {0, 1, 0}}, {8, 2, 1}}, broadcast, 1, 0, 0) ==
          repeated.to);
    Moved padded{Numbered(3, bytes), Numbered(9, bytes), bytes}, holes = padded;
    for (int64_t i = 0; i < 3; ++i) holes.Move(2 + 2 * i, i);
    CHECK(RunMove("copy", CopyArguments{0, 0, {1, {3}, {1}}, {2}}, padded, 1, 0, 2) == holes.to);
    Moved scalar{Numbered(3, bytes), Numbered(9, bytes), bytes}, moved_scalar = scalar;
    moved_scalar.Move(8, 1);
    CHECK(RunMove("copy", CopyArguments{}, scalar, 1, 1, 8) == moved_scalar.to);
    CHECK(RunMove("copy", CopyArguments{0, 0, {2, {3, 0}, {1, 1}}, {1, 1}}, scalar, 1, 0, 0) == scalar.to);
  }
}

TEST_CASE("copies of images have no -0", "[kernels][move]") {
  const std::vector<uint32_t> floats{0x80000000, 0, 0x80000001, 0x3f800000, 0xffc00001, 0x80000000};
  const std::vector<uint64_t> doubles{0x8000000000000000, 0, 0x8000000000000001, 0x80000000,
                                      0xfff8000000000001, 1};
  TestMemory memory;
  CopyArguments a{0, 0, {1, {6}, {1}}, {2}};
  a.from = AddressOf(memory.Copy(floats));
  auto* const narrow = memory.Copy(std::vector<uint32_t>(12, 7));
  a.to = AddressOf(narrow);
  RunKernel("move", "copy_image_4", 1, kMoveThreads, 0, a, memory);
  a.from = AddressOf(memory.Copy(doubles));
  auto* const wide = memory.Copy(std::vector<uint64_t>(12, 7));
  a.to = AddressOf(wide);
  RunKernel("move", "copy_image_8", 1, kMoveThreads, 0, a, memory);
  for (size_t i = 0; i < 6; ++i) {
    CHECK(narrow[2 * i] == (floats[i] == 0x80000000 ? 0 : floats[i]));
    CHECK(narrow[2 * i + 1] == 7);
    CHECK(wide[2 * i] == (doubles[i] == 0x8000000000000000 ? 0 : doubles[i]));
    CHECK(wide[2 * i + 1] == 7);
  }
}

TEST_CASE("copies of eight dimensions", "[kernels][move]") {
  CopyArguments a{
      0, 0, {8, {2, 1, 3, 2, 1, 2, 2, 3}, {1, 2, 2, 6, 12, 12, 24, 48}}, {72, 72, 24, 12, 12, 6, 3, 1}};
  Moved moved{Numbered(144, 4), std::vector<unsigned char>(144 * 4), 4}, expected = moved;
  const int64_t* const sizes = a.from_dimensions.sizes;
  for (int64_t i = 0; i < 144; ++i) {
    int64_t rest = i, from = 0;
    for (int d = 7; d >= 0; --d) {
      from += rest % sizes[d] * a.from_dimensions.strides[d];
      rest /= sizes[d];
    }
    expected.Move(i, from);
  }
  CHECK(RunMove("copy", a, moved, 2, 0, 0) == expected.to);
}

TEST_CASE("fills", "[kernels][move]") {
  for (const int bytes : kWidths) {
    TestMemory memory;
    std::vector<unsigned char> expected(40 * bytes, 0x11);
    unsigned char* const to = memory.Copy(expected);
    FillArguments a{AddressOf(to) + static_cast<uint64_t>(bytes),
                    {0x8877665544332211, 0xffeeddccbbaa9988},
                    {2, {4, 3}, {9, 2}}};
    RunKernel("move", ("fill_" + std::to_string(bytes)).c_str(), 1, kMoveThreads, 0, a, memory);
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 3; ++j) std::memcpy(&expected[(1 + i * 9 + j * 2) * bytes], a.value, bytes);
    }
    CHECK(std::vector<unsigned char>(to, to + expected.size()) == expected);
  }
}

TEST_CASE("transposes in tiles", "[kernels][move]") {
  for (const int bytes : kWidths) {
    for (const auto& [rows, columns] :
         {std::pair<int64_t, int64_t>{1, 1}, {33, 70}, {32, 31}, {5, 64}, {0, 4}}) {
      Moved moved{Numbered(3 * rows * (columns + 2), bytes),
                  std::vector<unsigned char>(3 * columns * (rows + 1) * bytes), bytes};
      Moved expected = moved;
      for (int64_t b = 0; b < 3; ++b) {
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            expected.Move((b * columns + c) * (rows + 1) + r, (b * rows + r) * (columns + 2) + c);
          }
        }
      }
      const TransposeArguments a{
          0,           0,       {1, {3}, {rows * (columns + 2)}}, {columns * (rows + 1)}, rows, columns,
          columns + 2, rows + 1};
      CHECK(RunMove("transpose", a, moved, TransposeBlocks(a, bytes), 0, 0, TransposeSharedBytes(bytes)) ==
            expected.to);
    }
  }
}

namespace {

// Windows of 2 x 3 of a 6 x 8 array, at places of [4] pairs of indices; results are [2, 4, 3].
template <typename Index>
void CheckGather(const std::array<Index, 8>& indices, int bytes) {
  TestMemory memory;
  Moved moved{Numbered(48, bytes), std::vector<unsigned char>(24 * bytes), bytes}, expected = moved;
  const auto clamped = [](Index index, int64_t most) -> int64_t {
    if constexpr (std::is_signed_v<Index>) {
      if (index < 0) return 0;
    }
    return static_cast<uint64_t>(index) > static_cast<uint64_t>(most) ? most : static_cast<int64_t>(index);
  };
  for (int64_t b = 0; b < 4; ++b) {
    const int64_t row = clamped(indices[2 * b], 4), column = clamped(indices[2 * b + 1], 5);
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 3; ++j) expected.Move((i * 4 + b) * 3 + j, (row + i) * 8 + column + j);
    }
  }
  Index* const on_device = memory.Copy(std::vector<Index>(indices.begin(), indices.end()));
  WindowArguments a{};
  a.from = AddressOf(memory.Copy(moved.from));
  unsigned char* const to = memory.Copy(moved.to);
  a.to = AddressOf(to);
  a.batch = {1, {4}, {0}};
  a.window = {2, {2, 3}, {8, 1}};
  a.batch_to_strides[0] = 3;
  a.window_to_strides[0] = 12;
  a.window_to_strides[1] = 1;
  a.batch_index_strides[0] = 2;
  a.starts[0] = {AddressOf(on_device), 4, 8};
  a.starts[1] = {AddressOf(on_device + 1), 5, 1};
  a.components = 2;
  a.index_bytes = sizeof(Index);
  a.index_is_signed = std::is_signed_v<Index> ? 1 : 0;
  RunKernel("move", ("window_" + std::to_string(bytes)).c_str(), 2, kMoveThreads, 0, a, memory);
  CHECK(std::vector<unsigned char>(to, to + expected.to.size()) == expected.to);
}

}  // namespace

TEST_CASE("gathers clamp indices of every type", "[kernels][move]") {
  for (const int bytes : kWidths) {
    CheckGather<int32_t>({0, 0, 4, 5, -1, 9, INT32_MIN, INT32_MAX}, bytes);
    CheckGather<int64_t>({1, 2, 3, 4, -1, INT64_MAX, INT64_MIN, 5}, bytes);
    CheckGather<uint64_t>({1, 2, 3, 4, UINT64_MAX, uint64_t{1} << 63, 0, 5}, bytes);
    CheckGather<uint32_t>({1, 2, 3, 4, UINT32_MAX, 0x80000000u, 0, 5}, bytes);
    CheckGather<int16_t>({1, 2, 3, 4, -32768, 32767, -1, 5}, bytes);
    CheckGather<uint16_t>({1, 2, 3, 4, 65535, 32768, 0, 5}, bytes);
    CheckGather<int8_t>({1, 2, 3, 4, -128, 127, -1, 5}, bytes);
    CheckGather<uint8_t>({1, 2, 3, 4, 255, 128, 0, 5}, bytes);
  }
}

TEST_CASE("a slice is put where indices say", "[kernels][move]") {
  for (const int bytes : kWidths) {
    for (const int32_t row : {-3, 0, 2, 7}) {
      TestMemory memory;
      Moved moved{Numbered(6, bytes), Numbered(100, bytes), bytes}, expected = moved;
      for (int64_t i = 0; i < 6; ++i) expected.Move((std::clamp(row, 0, 4) + i / 3) * 8 + 5 + i % 3, i);
      int32_t* const rows = memory.Copy<int32_t>({row});
      int32_t* const columns = memory.Copy<int32_t>({6});
      WindowArguments a{};
      a.window = {2, {2, 3}, {3, 1}};
      a.window_to_strides[0] = 8;
      a.window_to_strides[1] = 1;
      a.starts[0] = {AddressOf(rows), 4, 8};
      a.starts[1] = {AddressOf(columns), 5, 1};
      a.components = 2;
      a.index_bytes = 4;
      a.index_is_signed = 1;
      a.place_in_result = 1;
      a.from = AddressOf(memory.Copy(moved.from));
      unsigned char* const to = memory.Copy(moved.to);
      a.to = AddressOf(to);
      RunKernel("move", ("window_" + std::to_string(bytes)).c_str(), 1, kMoveThreads, 0, a, memory);
      CHECK(std::vector<unsigned char>(to, to + expected.to.size()) == expected.to);
    }
  }
}

TEST_CASE("boxes divide by multiplications", "[kernels][move]") {
  std::mt19937_64 random(7);
  for (uint32_t d : {1u, 2u, 3u, 5u, 7u, 641u, 65535u, 65536u, 65537u, 1000003u, 0x3fffffffu, 0x40000001u,
                     0x7ffffffeu, 0x7fffffffu}) {
    const Divisor divisor = DivisorOf(d);
    const auto quotient = [&](uint32_t n) {
      return d == 1 ? n : static_cast<uint32_t>(uint64_t{n} * divisor.magic >> 32) >> divisor.shift;
    };
    for (int i = 0; i < 2000; ++i) {
      const auto n = static_cast<uint32_t>(random() >> 33);
      const uint32_t multiple = n / d * d;
      CHECK(quotient(n) == n / d);
      CHECK(quotient(multiple) == multiple / d);
      if (multiple > 0) CHECK(quotient(multiple - 1) == (multiple - 1) / d);
    }
    CHECK(quotient(0x7fffffff) == 0x7fffffff / d);
  }
  for (const int bytes : kWidths) {
    // [7, 5, 6] of [5, 6, 7], the second dimension reversed; over several blocks, and a single element.
    for (const int64_t rows : {int64_t{7}, int64_t{97}}) {
      Moved moved{Numbered(30 * rows, bytes), std::vector<unsigned char>(30 * rows * bytes), bytes},
          expected = moved;
      for (int64_t i = 0; i < 5; ++i) {
        for (int64_t j = 0; j < 6; ++j) {
          for (int64_t k = 0; k < rows; ++k) expected.Move((k * 5 + i) * 6 + j, (i * 6 + 5 - j) * rows + k);
        }
      }
      BoxArguments a{};
      a.count = static_cast<uint32_t>(30 * rows);
      a.rank = 3;
      a.dimensions[0] = {DivisorOf(6), -rows, 1, 0};
      a.dimensions[1] = {DivisorOf(5), 6 * rows, 6, 0};
      a.dimensions[2] = {DivisorOf(static_cast<uint32_t>(rows)), 1, 30, 0};
      CHECK(RunMove("box", a, moved, BoxBlocks(a.count), 5 * rows, 0) == expected.to);
    }
    Moved scalar{Numbered(3, bytes), Numbered(9, bytes), bytes}, moved_scalar = scalar;
    moved_scalar.Move(8, 1);
    BoxArguments one{};
    one.count = 1;
    CHECK(RunMove("box", one, scalar, 1, 1, 8) == moved_scalar.to);
  }
}

}  // namespace assay::gpu
