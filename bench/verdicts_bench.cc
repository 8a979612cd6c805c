// What verdicts cost: for each directory with program.hlo and inputs.npz, the least processor time of some
// runs of the plan, of the plan with bounds, of the second one with forms of loops (0: there is none), and of
// N samples with what is kept of them; all plans are warm.
// JSON lines, in seconds.
// Usage: verdicts_bench PROFILE SAMPLES DIRECTORY...
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/file_io.h"
#include "check/estimate/estimate.h"
#include "fmt/format.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

constexpr double kSeconds = 1;  // of each measurement, at least two runs
constexpr int kWarmRuns = 3;

// Processor time of all threads, which other work on the machine does not change much.
double Now() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The least of the runs, but for the first ones, which make code.
absl::StatusOr<double> LeastTime(absl::FunctionRef<absl::Status()> run) {
  double least = 1e300;
  const double begin = Now();
  for (int k = 0; k < kWarmRuns + 2 || Now() - begin < kSeconds; ++k) {
    const double start = Now();
    ASSAY_RETURN_IF_ERROR(run());
    if (k >= kWarmRuns) least = std::min(least, Now() - start);
  }
  return least;
}

absl::StatusOr<std::string> Measured(const std::string& directory, const Profile& profile, int64_t samples) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(directory + "/program.hlo"));
  ASSAY_ASSIGN_OR_RETURN(const Program program, Program::Load(directory + "/program.hlo", text));
  ASSAY_ASSIGN_OR_RETURN(const auto arrays, ReadNpzFile(directory + "/inputs.npz"));
  std::vector<DeviceInputs> inputs(1);
  ASSAY_ASSIGN_OR_RETURN(inputs[0].arguments, ArgumentsFrom(program.verified(), arrays, nullptr));
  const std::vector<bool> subnormals = SubnormalLeaves(inputs[0].arguments);
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor(EnginesOf()));
  ASSAY_ASSIGN_OR_RETURN(const double plain, LeastTime([&] {
                           return RunDevices(*plan, DeviceGrid{}, inputs, RunOptions()).status();
                         }));
  ASSAY_ASSIGN_OR_RETURN(const PlannedBounds bounds, PlanBounds(program, profile, subnormals));
  std::vector<BoundedOutput> outputs;
  ASSAY_ASSIGN_OR_RETURN(const double proofs, LeastTime([&]() -> absl::Status {
                           ASSAY_ASSIGN_OR_RETURN(outputs,
                                                  RunBounds(bounds, DeviceGrid{}, inputs, RunOptions()));
                           return absl::OkStatus();
                         }));
  // Where loops leave elements undecided a second run follows, with forms.
  ASSAY_ASSIGN_OR_RETURN(const LoopSet loops,
                         LoopsForForms(program, profile, outputs, inputs, RunOptions(), EnginesOf()));
  double forms = 0;
  if (!loops.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const PlannedBounds second,
                           PlanBounds(program, profile, subnormals, EnginesOf(), loops));
    ASSAY_ASSIGN_OR_RETURN(forms, LeastTime([&]() -> absl::Status {
                             ASSAY_ASSIGN_OR_RETURN(outputs,
                                                    RunBounds(second, DeviceGrid{}, inputs, RunOptions()));
                             return absl::OkStatus();
                           }));
  }
  // Where bounds decide all elements no sample is run; what they would cost is measured all the same.
  const bool needed = std::any_of(outputs.begin(), outputs.end(), HasUndecided);
  ASSAY_ASSIGN_OR_RETURN(const PlannedSamples planned, PlanSamples(program, profile, subnormals));
  const EstimateOptions estimate{samples, 42};
  ASSAY_ASSIGN_OR_RETURN(const double sampled, LeastTime([&] {
                           return RunSamples(planned, program, profile, DeviceGrid{}, inputs[0], RunOptions(),
                                             estimate, outputs);
                         }));
  return fmt::format(
      R"({{"program": "{}", "plain": {:.4g}, "proofs": {:.4g}, "forms": {:.4g}, "samples": {:.4g}, "needed": {}}})",
      directory.substr(directory.find_last_of('/') + 1), plain, proofs, forms, sampled, needed);
}

int Main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: verdicts_bench PROFILE SAMPLES DIRECTORY...\n");
    return 2;
  }
  const absl::StatusOr<Profile> profile = LoadProfile(argv[1]);
  if (!profile.ok()) {
    fmt::print(stderr, "{}\n", std::string(profile.status().message()));
    return 2;
  }
  int failed = 0;
  for (int k = 3; k < argc; ++k) {
    const absl::StatusOr<std::string> line = Measured(argv[k], *profile, std::atoll(argv[2]));
    if (line.ok()) {
      fmt::print("{}\n", *line);
    } else {
      fmt::print(stderr, "{}: {}\n", argv[k], std::string(line.status().message()));
      failed = 1;
    }
    std::fflush(stdout);
  }
  return failed;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::Main(argc, argv); }
