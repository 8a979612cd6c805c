// --memory-limit means the same to each engine: what the reference can do within it, the exact engine can.
#include <catch2/catch.hpp>

#include "base/file_io.h"
#include "check/golden/golden.h"
#include "run/inputs/program_io.h"
#include "run/program.h"

namespace assay {
namespace {

struct Ran {
  absl::Status status;
  int64_t peak = 0;
};

// Runs the golden's program by these engines with this limit; no limit where it is 0.
Ran RunWithin(const Program& program, const Golden& golden, EngineChoice choice, int64_t limit) {
  const auto plan = program.PlanFor(EnginesOf(choice));
  if (!plan.ok()) return {plan.status()};
  RunOptions options = golden.options;
  options.jobs = 1;
  options.limits.memory_limit = limit;
  Executor executor(**plan, options);
  auto arguments = ArgumentsFrom(program.verified(), golden.inputs, &executor.process());
  if (!arguments.ok()) return {arguments.status()};
  const absl::Status status = executor.Run(*std::move(arguments)).status();
  return {status, executor.statistics().peak_bytes};
}

TEST_CASE("memory limit: what the reference can do within it, the exact engine can", "[golden][memory]") {
  int compared = 0;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    REQUIRE(text.ok());
    const absl::StatusOr<Golden> golden = ParseGolden(*text);
    if (!golden.ok() || golden->refuse_code || !golden->inputs_file.empty()) continue;
    const absl::StatusOr<Program> program = Program::Load(path, golden->program);
    if (!program.ok()) continue;
    const Ran reference = RunWithin(*program, *golden, EngineChoice::kReference, 0);
    if (!reference.status.ok() || reference.peak == 0) continue;
    // A few scalars more: a loop as generated code holds its state once more.
    const Ran exact = RunWithin(*program, *golden, EngineChoice::kExact, reference.peak + 64);
    INFO(path << ": the reference took " << reference.peak << " bytes; the exact engine: " << exact.status);
    CHECK(exact.status.ok());
    ++compared;
  }
  CHECK(compared > 1000);
}

}  // namespace
}  // namespace assay
