// What bounds cost: runs of the derived programs of golden/programs beside plain ones. It is hidden, since
// times depend on the machine's other work: assay_tests "[.cost]".
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/file_io.h"
#include "fmt/format.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"
#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

// The least of some runs, in seconds.
double TimeOf(const Program& program, const std::vector<Literal>& arguments) {
  double least = 1e9;
  for (int run = 0; run < 7; ++run) {
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(program.Run(arguments).ok());
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

}  // namespace

TEST_CASE("bounds: what they cost", "[.cost]") {
  const absl::StatusOr<Profile> profile = LoadProfile("xla-cpu");
  REQUIRE(profile.ok());
  std::vector<double> ratios;
  for (const auto& entry : fs::directory_iterator(ASSAY_SOURCE_DIR "/golden/programs")) {
    if (!entry.is_directory()) continue;
    const absl::StatusOr<std::string> text = ReadFile(entry.path() / "program.hlo");
    const absl::StatusOr<Program> program = Program::Load("program.hlo", *text);
    REQUIRE(program.ok());
    const auto arrays = ReadNpzFile(entry.path() / "inputs.npz");
    const absl::StatusOr<std::vector<Literal>> arguments =
        ArgumentsFrom(program->verified(), *arrays, nullptr);
    REQUIRE(arguments.ok());
    absl::StatusOr<DerivedBounds> bounds = DeriveBounds(program->verified(), *profile);
    REQUIRE(bounds.ok());
    const absl::StatusOr<Program> derived = Program::OfModule(std::move(bounds->module));
    INFO(derived.status());
    REQUIRE(derived.ok());
    const double plain = TimeOf(*program, *arguments), with_bounds = TimeOf(*derived, *arguments);
    ratios.push_back(with_bounds / plain);
    WARN(fmt::format("{}: {:.3g} ms, with bounds {:.3g} ms, {:.3g} times", entry.path().filename().string(),
                     plain * 1e3, with_bounds * 1e3, ratios.back()));
  }
  std::sort(ratios.begin(), ratios.end());
  WARN(fmt::format("median {:.3g} times", ratios[ratios.size() / 2]));
}

}  // namespace assay::testing
