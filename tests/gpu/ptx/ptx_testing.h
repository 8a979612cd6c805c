// Fusions as PTX, run by the interpreter, against the reference.
#ifndef ASSAY_TESTS_GPU_PTX_PTX_TESTING_H_
#define ASSAY_TESTS_GPU_PTX_PTX_TESTING_H_

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "gpu/ptx/fused.h"
#include "gpu/ptx/repair.h"
#include "literal/compare.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "run/executor.h"
#include "tests/gpu/emulator/emulated_module.h"
#include "tests/run/program_testing.h"

namespace assay::testing {

using Random = std::mt19937_64;

// Ranges of the host's memory.
class HostRanges final : public emulated::Memory {
 public:
  void Add(const void* begin, size_t bytes) { ranges_.push_back({reinterpret_cast<uint64_t>(begin), bytes}); }
  bool Contains(uint64_t address, uint64_t bytes) const override {
    for (const auto& [begin, size] : ranges_) {
      if (address >= begin && bytes <= size && address - begin <= size - bytes) return true;
    }
    return false;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

// The entry computation but for parameters and constants, as one step.
struct WholeFusion {
  explicit WholeFusion(const Module& m) : module(m) {
    const Computation& entry = m.entry_computation();
    for (size_t i = 0; i < entry.instructions.size(); ++i) {
      const Opcode opcode = entry.instructions[i].opcode;
      const bool outside = opcode == Opcode::kParameter || opcode == Opcode::kConstant;
      (outside ? operands : members).push_back(static_cast<int32_t>(i));
    }
  }
  FusionView view() const { return {module, module.entry_computation(), members, operands}; }

  const Module& module;
  std::vector<int32_t> members, operands;
};

// Elements of a type, as stored: special values, extremes, neighbours of what rounds, any bits.
inline void FillHostile(ElementType type, int64_t n, Random& random, std::byte* out) {
  const int bits = Bits(type);
  const uint64_t mask = ~uint64_t{0} >> (64 - bits), top = uint64_t{1} << (bits - 1);
  for (int64_t i = 0; i < n; ++i, out += Bytes(type)) {
    uint64_t pattern = random() & mask;
    if (type == ElementType::kPred) {
      pattern = random() & 1;
    } else if (!IsFloat(type)) {
      const uint64_t special[] = {pattern,
                                  top - random() % 3,
                                  top + random() % 3,
                                  0 - random() % 4,
                                  random() % (2 * static_cast<uint64_t>(bits)),
                                  random() % 5};
      pattern = special[random() % 6] & mask;
      if (IsSignedIntegral(type))
        pattern = static_cast<uint64_t>(WrapSigned(static_cast<int64_t>(pattern), bits));
    } else if (random() % 3 != 0) {
      const FloatFormat& format = *Info(type).format;
      const double values[] = {
          0,
          0.25,
          0.5,
          1,
          1.5,
          2,
          2.5,
          3,
          7,
          100,
          127.5,
          128,
          255.5,
          32767.5,
          65535,
          0x1p31,
          0x1p32,
          0x1.fffffep30,
          0x1p63,
          0x1p64,
          8388607.5,
          0x1.fffffffffffffp-2,
          1e-5,
          format.max_finite,
          format.min_subnormal,
          std::ldexp(1.0, format.min_exponent),
          std::ldexp(1.0, format.min_exponent) * 1.25,
          INFINITY,
          NAN,
          1 + static_cast<double>(random() % 4096) / 2048,
          std::ldexp(static_cast<double>(random() % 4096), static_cast<int>(random() % 24) - 20)};
      const double sign = random() % 2 == 0 ? 1 : -1;
      pattern = EncodeFloat(RoundToFormat(sign * values[random() % std::size(values)], format), format);
      if (random() % 8 == 0) pattern = (pattern + random() % 3 - 1) & mask;
    }
    std::memcpy(out, &pattern, static_cast<size_t>(Bytes(type)));
  }
}

inline std::vector<Literal> HostileParameters(const Module& module, Random& random) {
  const Computation& entry = module.entry_computation();
  std::vector<Literal> arguments;
  for (int32_t parameter : entry.parameters) {
    const Shape& shape = *entry.instructions[static_cast<size_t>(parameter)].shape;
    Literal value = *Literal::Make(shape);
    FillHostile(shape.element_type(), shape.num_elements(), random, value.MutableBytes().data());
    arguments.push_back(std::move(value));
  }
  return arguments;
}

struct PtxResult {
  std::vector<std::byte> bytes;
  int64_t open = 0;
};

// By the interpreter, on two "multiprocessors", with the open elements repaired.
// Guards stand on both sides of the result.
inline PtxResult RunPtx(const FusionView& step, const gpu::FusedKernel& kernel,
                        std::span<const Literal> operands) {
  INFO(kernel.text);
  std::string log;
  const std::unique_ptr<emulated::Module> module = emulated::CompilePtx(kernel.text, &log);
  INFO(log);
  REQUIRE(module != nullptr);
  const emulated::Kernel* const entry = module->Find(gpu::FusedKernel::kName);
  REQUIRE(entry != nullptr);
  const Shape& shape = *step.root().shape;
  const auto bytes = static_cast<size_t>(shape.num_elements() * Bytes(shape.element_type()));
  constexpr size_t kGuard = 64;
  std::vector<std::byte> result(bytes + 2 * kGuard, std::byte{0x77});
  std::vector<uint64_t> open(static_cast<size_t>(shape.num_elements()));
  alignas(8) uint64_t open_count = 0;
  HostRanges memory;
  memory.Add(result.data() + kGuard, bytes);
  memory.Add(open.data(), open.size() * 8);
  memory.Add(&open_count, 8);
  std::vector<gpu::DeviceAddress> addresses;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Shape& of = operands[k].shape();
    if (kernel.is_read[k])
      memory.Add(operands[k].data(), static_cast<size_t>(of.num_elements() * Bytes(of.element_type())));
    addresses.push_back(reinterpret_cast<gpu::DeviceAddress>(operands[k].data()));
  }
  const std::vector<std::byte> argument = kernel.Argument(
      {.elements = static_cast<uint64_t>(shape.num_elements()),
       .result = reinterpret_cast<gpu::DeviceAddress>(result.data() + kGuard),
       .open = kernel.may_leave_open ? reinterpret_cast<gpu::DeviceAddress>(open.data()) : 0,
       .open_room = open.size(),
       .open_count = kernel.may_leave_open ? reinterpret_cast<gpu::DeviceAddress>(&open_count) : 0},
      addresses);
  CHECK(entry->argument_bytes() == argument.size());
  const gpu::LaunchShape launch = kernel.Shape(2);
  emulated::Launch run;
  run.grid[0] = launch.blocks[0];
  run.block[0] = launch.threads[0];
  run.argument = argument.data();
  const std::string wrong = entry->Run(run, memory);
  INFO(wrong);
  REQUIRE(wrong.empty());
  for (size_t i = 0; i < kGuard; ++i) {
    REQUIRE(result[i] == std::byte{0x77});
    REQUIRE(result[kGuard + bytes + i] == std::byte{0x77});
  }
  REQUIRE(open_count <= open.size());
  const std::vector<int64_t> at(open.begin(), open.begin() + static_cast<int64_t>(open_count));
  const auto gather = [&](size_t k, std::span<const int64_t> from, std::span<std::byte> elements) {
    const auto size = static_cast<size_t>(Bytes(operands[k].shape().element_type()));
    for (size_t i = 0; i < from.size(); ++i)
      std::memcpy(elements.data() + i * size, operands[k].data() + static_cast<size_t>(from[i]) * size, size);
    return absl::OkStatus();
  };
  const absl::StatusOr<std::vector<std::byte>> repaired = gpu::RepairElements(step, at, gather);
  REQUIRE(repaired.ok());
  const auto size = static_cast<size_t>(Bytes(shape.element_type()));
  for (size_t i = 0; i < at.size(); ++i)
    std::memcpy(result.data() + kGuard + static_cast<size_t>(at[i]) * size, repaired->data() + i * size,
                size);
  return {{result.begin() + kGuard, result.end() - kGuard}, static_cast<int64_t>(open_count)};
}

// The program's root has the reference's bits (or another engine's); gives how many elements were open, or -1
// where there is no PTX for it.
inline int64_t CheckPtx(const std::string& text, Random& random, std::vector<Literal> arguments = {},
                        EngineChoice oracle = EngineChoice::kReference) {
  INFO(text);
  const Program program = ProgramOf(text);
  const Plan plan = PlanOf(program, oracle);
  const WholeFusion fusion(*plan.module);
  const FusionView step = fusion.view();
  const absl::StatusOr<gpu::FusedKernel> kernel = gpu::MakeFusedPtx(step, {8, 0});
  if (!kernel.ok()) return -1;
  if (arguments.empty()) arguments = HostileParameters(*plan.module, random);
  std::vector<Literal> operands;
  for (int32_t i : fusion.operands) {
    const Instruction& instruction = step.computation.instructions[static_cast<size_t>(i)];
    operands.push_back(instruction.literal != nullptr
                           ? *instruction.literal
                           : arguments[static_cast<size_t>(instruction.parameter_number)]);
  }
  const PtxResult result = RunPtx(step, *kernel, operands);
  Executor executor(plan, {});
  const absl::StatusOr<Literal> wanted = executor.Run(arguments);
  REQUIRE(wanted.ok());
  Literal made = *Literal::Make(*step.root().shape);
  std::copy(result.bytes.begin(), result.bytes.end(), made.MutableBytes().begin());
  if (!Literal::BitwiseEqual(*wanted, made)) {
    INFO(kernel->text << CompareLiterals(*wanted, made, {.bitwise = true}).Report());
    CHECK(Literal::BitwiseEqual(*wanted, made));
  }
  return result.open;
}

inline std::string ProgramText(std::string_view body) {
  return fmt::format("HloModule m\nENTRY e {{\n{}}}\n", body);
}

inline std::vector<ElementType> RealTypes() {
  std::vector<ElementType> types;
  for (int i = 0; i < kNumElementTypes; ++i) {
    if (!IsComplex(static_cast<ElementType>(i))) types.push_back(static_cast<ElementType>(i));
  }
  return types;
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_GPU_PTX_PTX_TESTING_H_
