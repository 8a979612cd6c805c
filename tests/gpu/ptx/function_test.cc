// Functions as PTX: every value of the narrow types, hostile and dense f32 values.
#include <bit>
#include <cmath>
#include <functional>

#include "evaluator/registry.h"
#include "tests/gpu/ptx/hard_arguments.h"
#include "tests/gpu/ptx/ptx_testing.h"

namespace assay::testing {
namespace {

// Compared for every argument once, so that the kernel need not test them;
// those whose rounding it tests; those of two operands.
constexpr Opcode kProven[] = {Opcode::kExp,  Opcode::kExpm1, Opcode::kLogistic, Opcode::kTanh, Opcode::kSinh,
                              Opcode::kCosh, Opcode::kLog,   Opcode::kLog1p,    Opcode::kErf,  Opcode::kRsqrt,
                              Opcode::kCbrt, Opcode::kSin,   Opcode::kCos};
constexpr Opcode kTested[] = {Opcode::kTan,   Opcode::kAsin,  Opcode::kAcos,
                              Opcode::kAsinh, Opcode::kAcosh, Opcode::kAtanh};
constexpr Opcode kOfTwo[] = {Opcode::kAtan2, Opcode::kPower};

std::string Of(Opcode opcode, ElementType type, int64_t n) {
  return ProgramText(
      fmt::format("x = {0}[{1}] parameter(0)\nROOT r = {0}[{1}] {2}(x)\n", Name(type), n, Name(opcode)));
}

Literal AllPatterns(ElementType type) {
  const int64_t n = int64_t{1} << Bits(type);
  Literal value = *Literal::Make(*Shape::Array(type, std::vector<int64_t>{n}));
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(value.MutableBytes().data() + i * Bytes(type), &i, static_cast<size_t>(Bytes(type)));
  return value;
}

Literal Filled(ElementType type, int64_t n, const std::function<double()>& next) {
  Literal value = *Literal::Make(*Shape::Array(type, std::vector<int64_t>{n}));
  std::vector<double> values(static_cast<size_t>(n));
  for (double& v : values) v = RoundToFormat(next(), *Info(type).format);
  for (int64_t i = 0; i < n; i += kStrip) {
    const int64_t count = std::min(kStrip, n - i);
    StoreStrip(type, values.data() + i, count, value.MutableBytes().data() + i * Bytes(type), Bytes(type));
  }
  return value;
}

// The engine whose narrow functions were all compared with MPFR (prove/) is the oracle of f16 and bf16.
TEST_CASE("PTX: functions of every narrow float", "[gpu][ptx]") {
  Random random(41);
  for (ElementType type : RealTypes()) {
    if (!IsFloat(type) || Bits(type) > 16) continue;
    const int64_t n = int64_t{1} << Bits(type);
    const EngineChoice oracle = Bits(type) == 16 ? EngineChoice::kExact : EngineChoice::kReference;
    for (Opcode opcode : kProven)
      CHECK(CheckPtx(Of(opcode, type, n), random, {AllPatterns(type)}, oracle) == 0);
    for (Opcode opcode : kTested) {
      const int64_t open = CheckPtx(Of(opcode, type, n), random, {AllPatterns(type)}, oracle);
      INFO(Name(opcode) << " of " << Name(type) << " leaves open " << open);
      // Subnormals and others next to themselves: f(x) = x + a hair.
      CHECK(open >= 0);
      CHECK(open < n / 4 + 1);
    }
  }
}

TEST_CASE("PTX: functions of f32", "[gpu][ptx]") {
  Random random(42);
  for (Opcode opcode : kProven) CHECK(CheckPtx(Of(opcode, ElementType::kF32, 2500), random) >= 0);
  // One of every 65,537 floats, by the engine whose f32 functions were all compared.
  constexpr int64_t kStep = 65537, kCount = (int64_t{1} << 32) / kStep;
  const auto check = [&](Opcode opcode) {
    Literal value = *Literal::Make(*Shape::Array(ElementType::kF32, std::vector<int64_t>{kCount}));
    for (int64_t i = 0; i < kCount; ++i) {
      const auto bits = static_cast<uint32_t>(i * kStep + static_cast<int64_t>(random() % kStep));
      std::memcpy(value.MutableBytes().data() + 4 * i, &bits, 4);
    }
    const std::string text = Of(opcode, ElementType::kF32, kCount);
    const int64_t open = CheckPtx(text, random, {std::move(value)}, EngineChoice::kExact);
    INFO(Name(opcode) << " leaves open " << open);
    CHECK(open >= 0);
    return open;
  };
  for (Opcode opcode : kProven) CHECK(check(opcode) < 100);
  for (Opcode opcode : kTested) CHECK(check(opcode) < kCount / 2);
}

// Errors of a few units in the last place of a double show here, where they hardly do on other arguments.
TEST_CASE("PTX: functions of f32 whose results lie next to midpoints", "[gpu][ptx]") {
  Random random(44);
  for (const auto& [opcode, floats] : AllHardArguments()) {
    const auto n = static_cast<int64_t>(floats.size());
    Literal value = *Literal::Make(*Shape::Array(ElementType::kF32, std::vector<int64_t>{n}));
    std::memcpy(value.MutableBytes().data(), floats.data(), floats.size() * 4);
    CHECK(CheckPtx(Of(opcode, ElementType::kF32, n), random, {std::move(value)}) >= 0);
  }
}

TEST_CASE("PTX: functions of f64, and of two operands", "[gpu][ptx]") {
  Random random(43);
  std::vector<Opcode> opcodes(std::begin(kProven), std::end(kProven));
  opcodes.insert(opcodes.end(), std::begin(kTested), std::end(kTested));
  for (Opcode opcode : opcodes) {
    CHECK(CheckPtx(Of(opcode, ElementType::kF64, 2500), random) >= 0);
    // Of numbers that programs are full of, hardly one is open.
    const bool below_one = opcode == Opcode::kAsin || opcode == Opcode::kAcos || opcode == Opcode::kAtanh;
    const bool above_one = opcode == Opcode::kAcosh;
    const auto next = [&] {
      const double x = std::ldexp(static_cast<double>(random() >> 11), -53);
      return below_one ? 2 * x - 1
             : above_one
                 ? 1 + 20 * x
                 : 30 * x - (opcode == Opcode::kRsqrt || opcode == Opcode::kLog || opcode == Opcode::kLog1p
                                 ? 0
                                 : 15);
    };
    for (ElementType type : {ElementType::kF64, ElementType::kF32}) {
      const int64_t open = CheckPtx(Of(opcode, type, 2000), random, {Filled(type, 2000, next)});
      INFO(Name(opcode) << " of " << Name(type) << " leaves open " << open);
      CHECK((open == 0 || open == 1));
    }
  }
  for (Opcode opcode : kOfTwo) {
    for (ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF32, ElementType::kF64}) {
      const std::string text = ProgramText(fmt::format(
          "x = {0}[5000] parameter(0)\ny = {0}[5000] parameter(1)\nROOT r = {0}[5000] {1}(x, y)\n",
          Name(type), Name(opcode)));
      CHECK(CheckPtx(text, random) >= 0);
      const auto positive = [&] { return std::ldexp(static_cast<double>(random() >> 11), -50); };
      const auto any = [&] { return 8 - positive() * 2; };
      const int64_t open = CheckPtx(text, random, {Filled(type, 5000, positive), Filled(type, 5000, any)});
      INFO(Name(opcode) << " of " << Name(type) << " leaves open " << open);
      CHECK((open >= 0 && open < 50));
      const auto small = [&] { return static_cast<double>(random() % 7) / 2 - 1; };
      const int64_t exact = CheckPtx(text, random, {Filled(type, 5000, small), Filled(type, 5000, small)});
      INFO(Name(opcode) << " of small numbers leaves open " << exact);
      CHECK((exact >= 0 && exact < 50));
    }
  }
}

// More elements are open than there is room for: the count says how many,
// and no more than fit are in the list.
TEST_CASE("PTX: a list of open elements that overflows", "[gpu][ptx]") {
  const Program program = ProgramOf(Of(Opcode::kLog, ElementType::kF64, 700));
  const Plan plan = PlanOf(program, EngineChoice::kReference);
  const WholeFusion fusion(*plan.module);
  const absl::StatusOr<gpu::FusedKernel> kernel = gpu::MakeFusedPtx(fusion.view(), {8, 0});
  REQUIRE(kernel.ok());
  CHECK(kernel->may_leave_open);
  std::vector<double> x(700, 1e-310), result(700);
  x[5] = 1;
  std::vector<uint64_t> open(10, 99), count(1);
  HostRanges memory;
  memory.Add(x.data(), 5600);
  memory.Add(result.data(), 5600);
  memory.Add(open.data(), 80);
  memory.Add(count.data(), 8);
  const gpu::DeviceAddress operand = reinterpret_cast<gpu::DeviceAddress>(x.data());
  const auto address = [](const auto& v) { return reinterpret_cast<gpu::DeviceAddress>(v.data()); };
  const std::vector<std::byte> argument = kernel->Argument({.elements = 700,
                                                            .result = address(result),
                                                            .open = address(open),
                                                            .open_room = 10,
                                                            .open_count = address(count)},
                                                           {&operand, 1});
  std::string log;
  const auto module = emulated::CompilePtx(kernel->text, &log);
  REQUIRE(module != nullptr);
  emulated::Launch launch;
  launch.grid[0] = 2;
  launch.block[0] = 64;
  launch.argument = argument.data();
  CHECK(module->Find("fused")->Run(launch, memory) == "");
  CHECK(count[0] == 699);
  CHECK(result[5] == 0);
  for (uint64_t position : open) CHECK((position < 700 && position != 5));
}

}  // namespace
}  // namespace assay::testing
