// assay diff FIRST SECOND of two programs: their outputs on the same inputs, and where they part.
#include <filesystem>
#include <fstream>

#include "base/json_writer.h"
#include "check/profile.h"
#include "devices/device_io.h"
#include "find/programs/pair.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/compare.h"
#include "tools/commands.h"
#include "tools/pair_text.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

enum class FileKind { kArrays, kProgram, kUnknown };

// By the first bytes, where the file has some that can be read twice.
FileKind KindOf(const std::string& path) {
  const std::string ending = fs::path(path).extension().string();
  if (ending == ".npz" || ending == ".npy") return FileKind::kArrays;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return FileKind::kUnknown;
  std::ifstream file(path, std::ios::binary);
  char begin[6] = {};
  file.read(begin, sizeof(begin));
  const std::string_view bytes(begin, static_cast<size_t>(file.gcount()));
  return bytes.starts_with("PK") || bytes == "\x93NUMPY" ? FileKind::kArrays : FileKind::kProgram;
}

// Both programs, on the same inputs.
struct Loaded {
  LoadedProgram first, second;
  ProgramInputs first_inputs, second_inputs;
};

struct ProgramFindings {
  std::vector<std::pair<std::string, Comparison>> outputs;
  std::vector<PairBounds> bounds;  // with a profile
  std::optional<FirstDifference> difference;
  bool has_other_bits = false, conforms = true;
};

std::optional<Loaded> LoadBoth(const DiffFlags& flags, const DiffFlags& second_flags, int& exit_code) {
  std::optional<LoadedProgram> first = Load(flags, exit_code);
  if (!first) return std::nullopt;
  std::optional<LoadedProgram> second = Load(second_flags, exit_code);
  if (!second) return std::nullopt;
  const auto failed = [&](int code) {
    exit_code = code;
    return std::nullopt;
  };
  if (LacksInputs(flags, *first)) return failed(AskForInputs(flags, *first));
  const absl::Status alike = CheckSameInterface(first->program.module(), second->program.module());
  if (!alike.ok()) return failed(Fail(alike, second_flags.program));
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, *first);
  if (!grid.ok()) return failed(FailIn(*first, grid.status(), flags.program));
  const absl::StatusOr<DeviceGrid> second_grid = GridOf(second_flags, *second);
  if (!second_grid.ok()) return failed(FailIn(*second, second_grid.status(), second_flags.program));
  if (*grid != *second_grid) {
    return failed(
        Fail(InvalidProgram({}, fmt::format("it runs on {} replicas of {} partitions, want {} of {} "
                                            "as the first program; see diff --spmd",
                                            second_grid->replicas, second_grid->partitions, grid->replicas,
                                            grid->partitions)),
             second_flags.program));
  }
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, *first, *grid);
  if (!inputs.ok()) return failed(Fail(inputs.status(), InputsOf(flags)));
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  std::vector<DeviceInputs> regrouped = RegroupedFor(second->program.module(), *inputs);
  return Loaded{*std::move(first),
                *std::move(second),
                {*grid, *std::move(inputs), options},
                {*grid, std::move(regrouped), options}};
}

absl::StatusOr<NamedLiterals> ResultsFrom(const DiffFlags& flags, const Program& program,
                                          const ProgramInputs& inputs) {
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor(EnginesOf(flags)));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<DeviceOutputs> outputs,
                         RunDevices(*plan, inputs.grid, inputs.inputs, inputs.options));
  return ResultsOfDevices(inputs.grid, outputs);
}

absl::Status CompareOutputs(const DiffFlags& flags, const NamedLiterals& first, const NamedLiterals& second,
                            ProgramFindings& found) {
  Tolerance tolerance;
  tolerance.rtol = flags.rtol;
  tolerance.atol = flags.atol;
  tolerance.ulps = flags.ulps;
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ResultPair> pairs, PairResults(first, second));
  for (const ResultPair& pair : pairs) {
    Comparison comparison = CompareLiterals(pair.first, pair.second, tolerance);
    for (const LeafComparison& leaf : comparison.leaves)
      found.has_other_bits = found.has_other_bits || leaf.different > 0 || !leaf.error.empty();
    if (flags.profile.empty()) found.conforms = found.conforms && comparison.ok();
    found.outputs.emplace_back(pair.key, std::move(comparison));
  }
  return absl::OkStatus();
}

std::string ProgramsJson(const ProgramFindings& found, const DiffFlags& flags) {
  JsonWriter json;
  const auto write_outputs = [&] {
    json.Begin("{");
    for (size_t k = 0; k < found.outputs.size(); ++k) {
      const auto& [key, comparison] = found.outputs[k];
      const LeafComparison& leaf = comparison.leaves[0];
      json.Fields(key, [&] {
        json.Begin("{");
        json.Fields("elements", leaf.elements, "different", leaf.different, "outside_tolerance", leaf.outside,
                    "max_ulps", leaf.max_ulps, "max_difference", leaf.max_abs, "worst", leaf.worst);
        if (k < found.bounds.size()) json.Fields("bounds", [&] { WriteJson(found.bounds[k], json); });
        json.End("}");
      });
    }
    json.End("}");
  };
  const auto write_difference = [&] {
    found.difference ? WriteJson(*found.difference, json) : json.Write(JsonText{"null"});
  };
  json.Object("outputs", write_outputs, "same_bits", !found.has_other_bits, "first_difference",
              write_difference, "profile",
              flags.profile.empty() ? std::nullopt : std::optional(flags.profile), "conforms",
              found.conforms);
  return json.text() + "\n";
}

std::string ProgramsText(const ProgramFindings& found, const DiffFlags& flags) {
  std::string text;
  for (const auto& [key, comparison] : found.outputs) {
    if (flags.profile.empty()) text += fmt::format("{}: {}", EscapeControls(key), comparison.Report());
  }
  for (const PairBounds& bounds : found.bounds) text += cli::TextOf(bounds);
  if (found.difference) text += cli::TextOf(*found.difference);
  return text;
}

std::string Usage(const DiffFlags& flags, FileKind first, FileKind second) {
  if ((first == FileKind::kArrays) != (second == FileKind::kArrays)) {
    return fmt::format("diff takes two .npz files or two programs, and {} is an .npz file",
                       EscapeControls(first == FileKind::kArrays ? flags.program : flags.second));
  }
  const std::pair<bool, std::string_view> rules[] = {
      {flags.isolate, "--isolate is of a backend"},
      {!flags.html.empty(), "--html is of a backend's outputs"},
      {!flags.tolerances.empty(), "--tolerances is of a backend's outputs"},
      {!flags.types.empty(), "--types is of .npz files"},
      {!flags.profile.empty() && (flags.rtol > 0 || flags.atol > 0 || flags.ulps > 0),
       "diff takes either a --profile or tolerances (--rtol, --atol, --ulps)"},
  };
  for (const auto& [is_broken, message] : rules) {
    if (is_broken) return fmt::format("diff of two programs: {}", message);
  }
  return {};
}

}  // namespace

bool ComparesPrograms(const DiffFlags& flags) {
  if (flags.spmd || flags.second.empty() || !flags.actual.empty()) return false;
  const FileKind first = KindOf(flags.program), second = KindOf(flags.second);
  return first == FileKind::kProgram || second == FileKind::kProgram;
}

int DiffPrograms(const DiffFlags& flags) {
  if (std::string wrong = Usage(flags, KindOf(flags.program), KindOf(flags.second)); !wrong.empty())
    return UsageError(wrong);
  if (const int code = CheckFiles({flags.program, flags.second, flags.inputs}, {}); code != 0) return code;
  std::optional<Profile> profile;
  if (!flags.profile.empty()) {
    absl::StatusOr<Profile> loaded = LoadProfile(flags.profile);
    if (!loaded.ok()) return Fail(loaded.status(), flags.profile);
    profile = *std::move(loaded);
  }
  DiffFlags second_flags = flags;
  second_flags.program = flags.second;
  int exit_code = 0;
  const std::optional<Loaded> both = LoadBoth(flags, second_flags, exit_code);
  if (!both) return exit_code;
  const absl::StatusOr<NamedLiterals> first = ResultsFrom(flags, both->first.program, both->first_inputs);
  if (!first.ok()) return FailIn(both->first, first.status(), flags.program);
  const absl::StatusOr<NamedLiterals> second = ResultsFrom(flags, both->second.program, both->second_inputs);
  if (!second.ok()) return FailIn(both->second, second.status(), flags.second);

  ProgramFindings found;
  if (const absl::Status status = CompareOutputs(flags, *first, *second, found); !status.ok())
    return Fail(status, flags.second);
  if (profile) {
    absl::StatusOr<std::vector<PairBounds>> bounds = BoundPair(
        both->first.program, both->first_inputs, both->second.program, both->second_inputs, *profile);
    if (!bounds.ok()) return Fail(bounds.status(), flags.program);
    found.bounds = *std::move(bounds);
    for (const PairBounds& of : found.bounds)
      found.conforms = found.conforms && of.outside == 0 && of.by_first.error.empty();
  }
  if (found.has_other_bits) {
    absl::StatusOr<std::optional<FirstDifference>> difference =
        FirstDifferenceOf(both->first.program, both->first_inputs, both->second.program, both->second_inputs,
                          profile && !found.conforms ? &*profile : nullptr);
    if (!difference.ok()) return Fail(difference.status(), flags.second);
    found.difference = *std::move(difference);
  }
  if (!Write(flags.json ? ProgramsJson(found, flags) : ProgramsText(found, flags))) return 5;
  return found.conforms ? 0 : 1;
}

}  // namespace assay::cli
