// Programs by the engine "gpu" on the emulated driver, against the reference.
#ifndef ASSAY_TESTS_GPU_DEVICE_PROGRAMS_H_
#define ASSAY_TESTS_GPU_DEVICE_PROGRAMS_H_

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "find/fuzz/generator.h"
#include "plan/plan_text.h"
#include "run/inputs/random_inputs.h"
#include "tests/gpu/tested_driver.h"
#include "tests/run/program_testing.h"

namespace assay::gpu {

using Engines = std::span<const Engine* const>;
inline Engines Emulated(int64_t min_elements = 0) {
  return EnginesOf(EngineChoice::kGpu, MachineIsa(), false,
                   {.driver = TestedDriver(), .min_elements = min_elements});
}
// The same, with all dots by residues that they can take, on a device of compute capability 9.0.
inline Engines EmulatedResidues() {
  return EnginesOf(EngineChoice::kGpu, MachineIsa(), false,
                   {.driver = TestedDriver(), .min_elements = 0, .residues_from = 0});
}

// How often the emulated driver was called so; 0 of a GPU's.
inline uint64_t CallsOf(const char* function) {
  if (!TestsEmulatedDriver()) return 0;
  void* const handle = dlopen(ASSAY_EMULATED_CUDA, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  const auto calls = reinterpret_cast<uint64_t (*)(const char*)>(dlsym(handle, "assay_emulated_calls"));
  REQUIRE(calls != nullptr);
  return calls(function);
}

// The plan's text by the engine. The run's result has the reference's bits, no step fell back, and each step
// by itself, of operands that the reference made, agrees too.
inline std::string PlanOfEqualRun(const std::string& text, const std::vector<Literal>& arguments,
                                  Engines engines = Emulated()) {
  const Program program = ProgramOf(text);
  const Plan plan = PlanOf(program, engines);
  Executor executor(plan, {});
  const absl::StatusOr<Literal> found = executor.Run(arguments);
  INFO(PlanToText(plan) << found.status());
  REQUIRE(found.ok());
  for (const StepFallbacks& back : executor.statistics().fallbacks)
    FAIL(back.instruction << " fell back: " << back.reason);
  const absl::StatusOr<Literal> wanted = program.Run(arguments, {}, EnginesOf(EngineChoice::kReference));
  REQUIRE(wanted.ok());
  CHECK(Literal::BitwiseEqual(*found, *wanted));
  Executor checked(plan, {.crosscheck = Crosscheck::kFull});
  const absl::StatusOr<Literal> by_checked = checked.Run(arguments);
  INFO(by_checked.status());
  CHECK(by_checked.ok());
  CHECK(checked.statistics().crosschecked > 0);
  return PlanToText(plan);
}
inline std::string PlanOfEqualRun(const std::string& text, uint64_t seed = 1, Engines engines = Emulated()) {
  absl::StatusOr<std::vector<Literal>> arguments = RandomInputs(ProgramOf(text).verified(), seed);
  REQUIRE(arguments.ok());
  return PlanOfEqualRun(text, *arguments, engines);
}

// Array arguments of special values: NaNs of any payload, infinities, zeros of both signs, subnormals,
// ties, ends of the range.
inline std::vector<Literal> HostileArguments(const std::string& text, uint64_t seed) {
  const Program program = ProgramOf(text);
  fuzz::Choices choices(seed);
  std::vector<Literal> arguments;
  const Computation& entry = program.module().entry_computation();
  for (int32_t parameter : entry.parameters)
    arguments.push_back(
        fuzz::HostileLiteral(choices, *entry.instructions[static_cast<size_t>(parameter)].shape));
  return arguments;
}

// Of a program whose root is %r: that it is the device's, and has the reference's bits on
// ordinary and on hostile arguments.
inline void CheckOnDevice(const std::string& text, int hostile_runs = 3) {
  INFO(text);
  CHECK_THAT(PlanOfEqualRun(text), Catch::Contains("gpu        %r = "));
  for (int seed = 0; seed < hostile_runs; ++seed)
    PlanOfEqualRun(text, HostileArguments(text, static_cast<uint64_t>(seed)));
}

}  // namespace assay::gpu

#endif  // ASSAY_TESTS_GPU_DEVICE_PROGRAMS_H_
