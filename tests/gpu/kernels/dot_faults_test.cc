// Faults that are planted in the kernels of dots: each must be found, by an error of the emulation or by a
// result that differs. Faults in the tables of residues: residues_test.cc; in the passes over the bytes of
// integers: dot_i8_test.cc; each error of the emulation by itself: emulator/device.
#include <functional>
#include <random>

#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/dot_i8_arguments.h"
#include "gpu/kernels/residues/residue_arguments.h"
#include "gpu/residue_systems.h"
#include "tests/gpu/kernels/formats.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

using emulated::Fault;

// A kernel that is ready to run, again and again.
struct Subject {
  std::string name;
  // With the fault: what was wrong, or the bytes of its result.
  std::function<std::string(Fault)> run;
};

constexpr int64_t kRows = 40, kColumns = 36;

template <typename T>
std::vector<T> RandomNumbers(int64_t count) {
  static std::mt19937_64 generator(17);
  std::vector<T> numbers(static_cast<size_t>(count));
  for (T& x : numbers) {
    if constexpr (std::is_floating_point_v<T>) {
      x = std::normal_distribution<T>()(generator);
    } else {
      x = static_cast<T>(generator());
    }
  }
  return numbers;
}

template <typename Arguments>
void SetResult(Arguments& a, TestMemory& memory, int64_t bytes) {
  a.result = AddressOf(memory.Copy(std::vector<unsigned char>(kRows * kColumns * bytes)));
  a.row_strides[0] = kColumns;
  a.column_strides[0] = 1;
}

std::string ResultOf(uint64_t address, int64_t bytes) {
  return std::string(reinterpret_cast<const char*>(address), static_cast<size_t>(kRows * kColumns * bytes));
}

// The tiles of floats, with the repair of what is open.
template <typename T>
Subject FloatDot(TestMemory& memory, const char* name, const DotTile& tile, int64_t k, double norm_factor = 1,
                 const std::function<T(int64_t)>& left = nullptr) {
  constexpr bool kIsDouble = sizeof(T) == 8;
  const char *const module = kIsDouble ? "dot_f64" : "dot",
                    *const scales = kIsDouble ? "dot_scales_f64" : "dot_scales_f32",
                    *const repair = kIsDouble ? "dot_repair_f64" : "dot_repair_f32";
  DotArguments a{};
  // Random numbers; or rows of lhs that are `left`, beside ones.
  const auto operand = [&](int64_t rows, bool is_left) {
    std::vector<T> numbers = RandomNumbers<T>(rows * k);
    for (int64_t i = 0; left && i < rows * k; ++i)
      numbers[static_cast<size_t>(i)] = is_left ? left(i % k) : T{1};
    const DotOperand made{AddressOf(memory.Copy(numbers)),
                          AddressOf(memory.Allocate<RowScale>(rows)),
                          {},
                          {1, {rows}, {k}},
                          {1, {k}, {1}}};
    RunKernel(module, scales, ScaleBlocks(made), kScaleThreads, kScaleSharedBytes, DotScaleArguments{made},
              memory);
    for (int64_t row = 0; row < rows; ++row)
      reinterpret_cast<RowScale*>(made.scales)[row].norm *= norm_factor;
    return made;
  };
  a.lhs = operand(kRows, true);
  a.rhs = operand(kColumns, false);
  SetResult(a, memory, sizeof(T));
  a.open = AddressOf(memory.Allocate<uint32_t>(kRows * kColumns));
  a.open_count = AddressOf(memory.Copy<uint32_t>({0, 0}));
  a.result_type = kIsDouble ? Float::kF64 : Float::kF32;
  return {name, [=, &memory](Fault fault) {
            *reinterpret_cast<uint32_t*>(a.open_count) = 0;
            const std::string problem = TryKernel(module, name, DotBlocks(tile, a), tile.threads,
                                                  tile.shared_bytes, a, memory, 0, fault);
            if (!problem.empty()) return problem;
            RunKernel(module, repair, 2, kRepairThreads, 0, a, memory);
            return ResultOf(a.result, sizeof(T));
          }};
}

ByteOperand IntegersOf(TestMemory& memory, int64_t rows, int64_t k, int64_t stride) {
  return {AddressOf(memory.Copy(RandomNumbers<uint16_t>(rows * k))),
          {},
          {1, {rows}, {k * stride}},
          {1, {k}, {stride}}};
}

Subject ByteTiles(TestMemory& memory, int64_t k) {
  ByteDotArguments a{};
  a.lhs = IntegersOf(memory, kRows, k, 2);
  a.rhs = IntegersOf(memory, kColumns, k, 2);
  a.passes = BytePassesOf(2, true, 2, true, 4, k);
  a.result_bytes = 4;
  SetResult(a, memory, 4);
  return {"dot_i8", [=, &memory](Fault fault) {
            const std::string problem = TryKernel("dot_i8", "dot_i8", ByteDotBlocks(a), kByteDotThreads,
                                                  kByteDotSharedBytes, a, memory, 0, fault);
            return problem.empty() ? ResultOf(a.result, 4) : problem;
          }};
}

ResidueTiles TilesFor(int64_t k) {
  return {1, kResidueCluster, 1, static_cast<int32_t>((k + kResidueDepth - 1) / kResidueDepth)};
}
uint64_t RandomSlices(TestMemory& memory, const ResidueTiles& tiles, int side, int64_t matrices) {
  return AddressOf(memory.Copy(
      RandomNumbers<uint8_t>(matrices * PaddedRows(tiles, side) * tiles.depth_steps * kResidueDepth)));
}

Subject ByteClusters(TestMemory& memory, int64_t k) {
  ByteProductArguments a{};
  a.tiles = TilesFor(k);
  a.lhs = RandomSlices(memory, a.tiles, 0, 2);
  a.rhs = RandomSlices(memory, a.tiles, 1, 2);
  a.dot.lhs = IntegersOf(memory, kRows, k, 1);
  a.dot.rhs = IntegersOf(memory, kColumns, k, 1);
  a.dot.passes = BytePassesOf(2, true, 2, true, 4, k);
  a.dot.result_bytes = 4;
  SetResult(a.dot, memory, 4);
  return {"byte_product", [=, &memory](Fault fault) {
            const std::string problem = TryKernel("residue_product", "byte_product", 2, kResidueThreads,
                                                  kResidueSharedBytes, a, memory, 0, fault);
            return problem.empty() ? ResultOf(a.dot.result, 4) : problem;
          }};
}

Subject ResidueClusters(TestMemory& memory, int64_t k) {
  constexpr int kModuli = 2;
  ResidueProductArguments a{};
  a.tiles = TilesFor(k);
  a.lhs = RandomSlices(memory, a.tiles, 0, kModuli);
  a.rhs = RandomSlices(memory, a.tiles, 1, kModuli);
  const int64_t bytes = int64_t{kModuli} * a.tiles.row_tiles * a.tiles.column_tiles * kResidueTileBytes;
  a.residues = AddressOf(memory.Allocate<uint8_t>(bytes));
  a.systems = AddressOf(memory.Copy(ResidueSystems()));
  a.control = AddressOf(memory.Copy<ResidueControl>({{kModuli, 0, {0, 0}}}));
  a.piece_steps = kResiduePieceSteps;
  return {"residue_product", [=, &memory](Fault fault) {
            const std::string problem = TryKernel("residue_product", "residue_product", 2, kResidueThreads,
                                                  kResidueSharedBytes, a, memory, 0, fault);
            return problem.empty()
                       ? std::string(reinterpret_cast<const char*>(a.residues), static_cast<size_t>(bytes))
                       : problem;
          }};
}

bool IsFound(const Subject& subject, Fault fault) {
  const std::string right = subject.run({});
  return subject.run(fault) != right;
}

constexpr int64_t kLong = 1000;  // more stages than shared memory has

}  // namespace

TEST_CASE("every barrier that a dot's tiles leave out is found", "[kernels][dot][faults]") {
  TestMemory memory;
  for (const Subject& subject :
       {FloatDot<float>(memory, "dot_f32", kDotTile, 100),
        FloatDot<float>(memory, "dot_small_f32", kSmallDotTile, 100),
        FloatDot<double>(memory, "dot_f64", kPairDotTile, 60), ByteTiles(memory, 300)}) {
    INFO(subject.name);
    // The first one, those between the stages, and those around what is stored.
    for (uint32_t number = 0; number < 6; ++number) {
      INFO(number);
      CHECK(IsFound(subject, {Fault::Kind::kSkipBarrier, number}));
    }
  }
}

TEST_CASE("a stage that a dot's tiles read before its copies are there is found", "[kernels][dot][faults]") {
  TestMemory memory;
  for (const Subject& subject : {FloatDot<float>(memory, "dot_f32", kDotTile, 200),
                                 FloatDot<float>(memory, "dot_small_f32", kSmallDotTile, 200)}) {
    INFO(subject.name);
    for (uint32_t number = 0; number < 6; ++number)
      CHECK(IsFound(subject, {Fault::Kind::kEarlyCopies, number}));
  }
}

TEST_CASE("every wait that products of clusters leave out is found", "[kernels][residues][faults]") {
  TestMemory memory;
  for (const Subject& subject : {ResidueClusters(memory, kLong), ByteClusters(memory, kLong)}) {
    INFO(subject.name);
    for (uint32_t number = 0; number < 8; ++number) {
      INFO(number);
      CHECK(IsFound(subject, {Fault::Kind::kSkipWait, number}));
    }
  }
}

TEST_CASE("a swizzle that is off by one is found", "[kernels][residues][faults]") {
  TestMemory memory;
  for (const Subject& subject : {ResidueClusters(memory, 100), ByteClusters(memory, 100)}) {
    INFO(subject.name);
    CHECK(IsFound(subject, {Fault::Kind::kSwizzle, 0}));
  }
}

// Without its waits for free stages the producer overwrites stages early; the first four are free anyway.
TEST_CASE("a stage that products of clusters overwrite early is found", "[kernels][residues][faults]") {
  TestMemory memory;
  for (const Subject& subject : {ResidueClusters(memory, kLong), ByteClusters(memory, kLong)}) {
    INFO(subject.name);
    for (uint32_t number = 0; number < 8; ++number)
      CHECK(IsFound(subject, {Fault::Kind::kSkipWait, number, 1}) == (number >= kResidueStages));
  }
}

// Sums next to a tie, of which doubles (and pairs of them) lose the last term: norms that are too small let
// the rounding test take them for exact.
TEST_CASE("a wrong bound of a dot's tiles is found", "[kernels][dot][faults]") {
  const auto check = [](const auto& type, const char* name, const DotTile& tile, double tie, double rest) {
    using T = std::decay_t<decltype(type)>;
    INFO(name);
    for (const bool wrong : {false, true}) {
      TestMemory memory;
      const Subject subject = FloatDot<T>(memory, name, tile, 40, wrong ? 0x1p-60 : 1.0, [=](int64_t i) {
        return static_cast<T>(i == 0 ? 1.0 : i == 1 ? tie : i == 2 ? rest : 0.0);
      });
      const std::string bytes = subject.run({});
      T first = 0;
      std::memcpy(&first, bytes.data(), sizeof first);
      CHECK((first == std::nextafter(T{1}, T{2})) == !wrong);
    }
  };
  check(0.0f, "dot_f32", kDotTile, 0x1p-24, 0x1p-80);
  check(0.0f, "dot_small_f32", kSmallDotTile, 0x1p-24, 0x1p-80);
  check(0.0, "dot_f64", kPairDotTile, 0x1p-53, 0x1p-160);
}

}  // namespace assay::gpu
