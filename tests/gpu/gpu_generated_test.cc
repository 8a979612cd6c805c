// Generated programs by the engine "gpu" on the emulated driver: the reference's bits and errors,
// each step by itself too.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "find/fuzz/generator.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "run/program.h"
#include "tests/gpu/tested_driver.h"

namespace assay::testing {
namespace {

struct Tally {
  int evaluated = 0, on_device = 0;
};

std::string Message(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// What differs from the reference, or nothing.
std::string DifferenceOf(fuzz::GeneratedProgram generated, Tally& tally, int64_t residues_from) {
  const absl::StatusOr<Program> program = Program::OfModule(std::move(generated.module));
  if (!program.ok()) return "invalid: " + Message(program.status());
  const absl::StatusOr<Literal> wanted =
      program->Run(generated.arguments, {}, EnginesOf(EngineChoice::kReference));
  const auto engines =
      EnginesOf(EngineChoice::kGpu, MachineIsa(), false,
                {.driver = gpu::TestedDriver(), .min_elements = 0, .residues_from = residues_from});
  const auto plan = program->PlanFor(engines);
  if (!plan.ok()) return "plan: " + Message(plan.status());
  for (const ComputationPlan& computation : (*plan)->computations) {
    for (const Step& step : computation.steps)
      tally.on_device += step.kernel != nullptr && step.kernel->is_on_device();
  }
  tally.evaluated += wanted.ok();
  for (const Crosscheck crosscheck : {Crosscheck::kOff, Crosscheck::kFull}) {
    const absl::StatusOr<Literal> found =
        program->Run(generated.arguments, {.crosscheck = crosscheck}, engines);
    std::string text;
    if (found.ok() != wanted.ok() ||
        (!found.ok() && ExitCodeOf(found.status()) != ExitCodeOf(wanted.status())))
      text = fmt::format("{}, the reference: {}", found.ok() ? "a value" : Message(found.status()),
                         wanted.ok() ? "a value" : Message(wanted.status()));
    if (found.ok() && wanted.ok() && !Literal::BitwiseEqual(*found, *wanted)) text = "another value";
    if (!text.empty()) return text + "\n" + ModuleToText(program->module());
  }
  return "";
}

void CompareMany(uint64_t first, int count, int64_t residues_from = -1) {
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    fuzz::Choices choices(seed);
    INFO("seed " << seed);
    CHECK(DifferenceOf(fuzz::GenerateProgram(choices, {.instructions = 4 + static_cast<int>(seed % 20)}),
                       tally, residues_from) == "");
  }
  WARN(count << " programs, " << tally.evaluated << " with results; " << tally.on_device
             << " steps on the device");
  CHECK(tally.evaluated > count * 3 / 4);
  CHECK(tally.on_device > 2 * count);
}

TEST_CASE("generated programs on the emulated device agree with the reference", "[gpu][generated]") {
  CompareMany(1000, 100);
}

// assay_gpu_tests "[all-generated]"
TEST_CASE("1,000 generated programs on the emulated device", "[.all-generated]") { CompareMany(1, 1000); }
TEST_CASE("1,000 other generated programs on the emulated device", "[.all-generated]") {
  CompareMany(100001, 1000);
}
TEST_CASE("200 generated programs with all dots by residues", "[.all-generated][residues]") {
  CompareMany(200001, 200, 0);
}

}  // namespace
}  // namespace assay::testing
