// The programs of golden/programs_spmd: JAX functions, partitioned by JAX, against the whole ones.
#include "devices/partitioned.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file_io.h"
#include "devices/device_io.h"
#include "evaluator/grid/device_grid.h"
#include "literal/compare.h"
#include "run/program.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

Program Loaded(const fs::path& path) {
  const absl::StatusOr<std::string> text = ReadFile(path.string());
  REQUIRE(text.ok());
  absl::StatusOr<Program> program = Program::Load(path.filename().string(), *text);
  INFO(path << program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

DeviceGrid GridOf(const Program& program) {
  const absl::StatusOr<DeviceGrid> grid =
      ResolveDeviceGrid(program.module(), {.replicas = 0, .partitions = 0});
  INFO(grid.status());
  REQUIRE(grid.ok());
  return *grid;
}

std::vector<DeviceOutputs> Ran(const Program& program, const DeviceGrid& grid,
                               std::vector<DeviceInputs> inputs, EngineChoice choice) {
  const auto plan = program.PlanFor(EnginesOf(choice));
  REQUIRE(plan.ok());
  absl::StatusOr<std::vector<DeviceOutputs>> outputs = RunDevices(**plan, grid, std::move(inputs), {});
  INFO(outputs.status());
  REQUIRE(outputs.ok());
  return *std::move(outputs);
}

// The whole program in this form and the partitioned one.
void CheckForm(const fs::path& folder, const std::string& form, EngineChoice choice) {
  INFO(folder.filename() << " " << form);
  const Program whole = Loaded(folder / form), partitioned = Loaded(folder / "partitioned.hlo");
  const auto arrays = ReadNpzFile((folder / "inputs.npz").string());
  REQUIRE(arrays.ok());
  const DeviceGrid whole_grid = GridOf(whole), grid = GridOf(partitioned);
  CHECK(grid.size() >= 4);
  auto inputs = InputsOfDevices(whole.verified(), whole_grid, *arrays);
  INFO(inputs.status());
  REQUIRE(inputs.ok());
  auto pieces = SplitArguments(partitioned.verified(), grid, (*inputs)[0].arguments);
  INFO(pieces.status());
  REQUIRE(pieces.ok());
  const auto expected = Ran(whole, whole_grid, *std::move(inputs), choice);
  const auto outputs = Ran(partitioned, grid, *std::move(pieces), choice);
  const auto assembled = AssembleRoot(whole.verified(), grid, outputs);
  INFO(assembled.status());
  REQUIRE(assembled.ok());
  const NamedLiterals wanted = ResultsOf(expected[0].root), actual = ResultsOf(*assembled);
  for (size_t k = 0; k < wanted.size(); ++k) {
    const Comparison comparison = CompareLiterals(wanted[k].second, actual[k].second, {.scale_rtol = 1e-6});
    INFO(wanted[k].first << " " << comparison.Report());
    CHECK(comparison.ok());
  }
}

TEST_CASE("programs that JAX partitioned agree with the whole ones", "[devices][spmd]") {
  int programs = 0;
  for (const fs::directory_entry& folder : fs::directory_iterator(ASSAY_SOURCE_DIR "/golden/programs_spmd")) {
    if (!folder.is_directory()) continue;
    ++programs;
    for (const char* const form : {"whole.hlo", "whole.mlir", "whole.mlirbc"}) {
      CheckForm(folder.path(), form, EngineChoice::kExact);
      CheckForm(folder.path(), form, EngineChoice::kReference);
    }
  }
  CHECK(programs == 6);
}

}  // namespace
}  // namespace assay::testing
