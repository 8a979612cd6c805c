// Functions as PTX: every value of the narrow types, hostile and dense f32 values.
#include <bit>
#include <cmath>

#include "evaluator/registry.h"
#include "tests/gpu/ptx/ptx_testing.h"

namespace assay::testing {
namespace {

constexpr Opcode kFunctions[] = {Opcode::kExp,  Opcode::kExpm1, Opcode::kLogistic, Opcode::kTanh,
                                 Opcode::kSinh, Opcode::kCosh,  Opcode::kLog,      Opcode::kLog1p,
                                 Opcode::kErf,  Opcode::kRsqrt, Opcode::kCbrt,     Opcode::kSin,
                                 Opcode::kCos};

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

// The engine whose narrow functions were all compared with MPFR (prove/) is the oracle of f16 and bf16.
TEST_CASE("PTX: functions of every narrow float", "[gpu][ptx]") {
  Random random(41);
  for (ElementType type : RealTypes()) {
    if (!IsFloat(type) || Bits(type) > 16) continue;
    for (Opcode opcode : kFunctions) {
      const int64_t n = int64_t{1} << Bits(type);
      const EngineChoice oracle = Bits(type) == 16 ? EngineChoice::kExact : EngineChoice::kReference;
      const int64_t open = CheckPtx(Of(opcode, type, n), random, {AllPatterns(type)}, oracle);
      INFO(open);
      // Huge angles of bf16 alone.
      const bool angle = opcode == Opcode::kSin || opcode == Opcode::kCos;
      CHECK((open == 0 || (open > 0 && angle && type == ElementType::kBF16)));
    }
  }
}

TEST_CASE("PTX: functions of f32", "[gpu][ptx]") {
  Random random(42);
  for (Opcode opcode : kFunctions) CHECK(CheckPtx(Of(opcode, ElementType::kF32, 2500), random) >= 0);
  // Every 65,537th float, by the engine whose f32 functions were all compared.
  constexpr int64_t kStep = 65537, kCount = (int64_t{1} << 32) / kStep;
  for (Opcode opcode : kFunctions) {
    Literal value = *Literal::Make(*Shape::Array(ElementType::kF32, std::vector<int64_t>{kCount}));
    for (int64_t i = 0; i < kCount; ++i) {
      const auto bits = static_cast<uint32_t>(i * kStep + static_cast<int64_t>(random() % kStep));
      std::memcpy(value.MutableBytes().data() + 4 * i, &bits, 4);
    }
    const int64_t open =
        CheckPtx(Of(opcode, ElementType::kF32, kCount), random, {std::move(value)}, EngineChoice::kExact);
    INFO(Name(opcode) << " leaves open " << open);
    const bool angle = opcode == Opcode::kSin || opcode == Opcode::kCos;
    CHECK(open >= 0);
    CHECK(open < (angle ? kCount / 2 : 100));
  }
}

// More elements are open than there is room for: the count says how many, and no more than fit are in the list.
TEST_CASE("PTX: a list of open elements that overflows", "[gpu][ptx]") {
  const Program program = ProgramOf(Of(Opcode::kSin, ElementType::kF32, 700));
  const Plan plan = PlanOf(program, EngineChoice::kReference);
  const WholeFusion fusion(*plan.module);
  const absl::StatusOr<gpu::FusedKernel> kernel = gpu::MakeFusedPtx(fusion.view(), {8, 0});
  REQUIRE(kernel.ok());
  CHECK(kernel->may_leave_open);
  std::vector<float> x(700, 1e10f), result(700);
  x[5] = 0;
  std::vector<uint64_t> open(10, 99), count(1);
  HostRanges memory;
  memory.Add(x.data(), 2800);
  memory.Add(result.data(), 2800);
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
