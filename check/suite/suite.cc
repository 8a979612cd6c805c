#include "check/suite/suite.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/file_io.h"
#include "base/json_writer.h"
#include "base/new_folder.h"
#include "base/sha256.h"
#include "base/work_stage.h"
#include "check/audit.h"
#include "check/conformance.h"
#include "check/suite/edge_values.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/mlir/export/export.h"
#include "hlo/text/printer.h"
#include "literal/element_io.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"
#include "run/program.h"

namespace assay {
namespace {

constexpr std::string_view kIndex = "index.json";

// Points at which StableHLO says what happens, so that answers are judged there; and subnormal numbers, of
// which the profile says whether they may be zero.
bool IsJudged(AuditPoint point) {
  constexpr AuditPoint kSaid[] = {AuditPoint::kIndexClamped, AuditPoint::kNanInExtreme,
                                  AuditPoint::kNanInCompare, AuditPoint::kClampCrossed,
                                  AuditPoint::kSubnormals};
  return std::find(std::begin(kSaid), std::end(kSaid), point) != std::end(kSaid);
}

absl::Status InCase(const SuiteCase& of, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), fmt::format("case {}: {}", of.id, std::string(status.message())));
}

std::string ModuleName(std::string_view id) {
  std::string name(id);
  for (char& c : name) {
    if (c == '/' || c == '-') c = '_';
  }
  return name;
}

// The elements of the outputs that findings leave open, by output.
using Mask = std::vector<uint8_t>;

class OpenElements {
 public:
  explicit OpenElements(const NamedLiterals& outputs) {
    for (const auto& [key, value] : outputs)
      masks_[key].assign(static_cast<size_t>(value.shape().num_elements()), 0);
  }

  // Returns how many elements the finding leaves open.
  int64_t Add(const AuditFinding& finding, const Module& module) {
    const Computation& entry = module.computation(module.entry);
    const Instruction& root = entry.instructions[static_cast<size_t>(entry.root)];
    const bool is_root = finding.computation == entry.name && finding.instruction == root.name;
    if (is_root && masks_.size() == 1 && static_cast<int64_t>(finding.elements.size()) == finding.count) {
      for (const int64_t element : finding.elements) masks_.begin()->second[static_cast<size_t>(element)] = 1;
      return finding.count;
    }
    return AddAll();
  }
  int64_t AddAll() {
    int64_t count = 0;
    for (auto& [key, mask] : masks_) {
      std::fill(mask.begin(), mask.end(), 1);
      count += static_cast<int64_t>(mask.size());
    }
    return count;
  }

  int64_t count() const {
    int64_t open = 0;
    for (const auto& [key, mask] : masks_) open += std::count(mask.begin(), mask.end(), 1);
    return open;
  }
  const Mask& of(const std::string& key) const { return masks_.at(key); }

 private:
  std::map<std::string, Mask> masks_;
};

Literal MaskLiteral(const Mask& mask, const Shape& shape) {
  Literal literal = *Literal::Make(Shape::ArrayOrDie(ElementType::kPred, shape.sizes()));
  std::memcpy(literal.MutableBytes().data(), mask.data(), mask.size());
  return literal;
}

absl::Status AddBounds(const Program& program, const SuiteCase& of, const SuiteOptions& options,
                       const OpenElements& open, MadeCase& made) {
  for (size_t p = 0; p < options.profiles.size(); ++p) {
    const Profile& profile = options.profiles[p];
    ASSAY_ASSIGN_OR_RETURN(
        const BoundedOutputs bounded,
        RunWithBounds(program, profile, DeviceGrid(), {DeviceInputs{of.arguments, {}}}, options.run));
    for (const BoundedOutput& output : bounded.outputs) {
      const auto add = [&](std::string_view what, const std::optional<Literal>& value) {
        if (value.has_value())
          made.arrays.emplace_back(fmt::format("{}/{}/{}", what, profile.name, output.key), *value);
      };
      add("radius", output.radius);
      add("low", output.low);
      add("high", output.high);
      if (p > 0 || !output.radius.has_value()) continue;
      const Mask& mask = open.of(output.key);
      for (size_t i = 0; i < mask.size(); ++i)
        made.unbounded += mask[i] == 0 && !(output.radius->GetDouble(static_cast<int64_t>(i)) < HUGE_VAL);
    }
  }
  return absl::OkStatus();
}

absl::Status MakeAnswers(const Program& program, const SuiteCase& of, const SuiteOptions& options,
                         MadeCase& made) {
  ASSAY_ASSIGN_OR_RETURN(const Literal root,
                         program.Run(of.arguments, options.run, EnginesOf(EngineChoice::kReference)));
  const NamedLiterals outputs = ResultsOf(root);
  OpenElements open(outputs);
  ASSAY_ASSIGN_OR_RETURN(const AuditReport audit,
                         AuditRun(program, DeviceGrid(), {DeviceInputs{of.arguments, {}}}, options.run,
                                  /*keeps_elements=*/true));
  for (const AuditFinding& finding : audit.findings) {
    if (!finding.Depends() || IsJudged(finding.point) ||
        std::find(of.settled.begin(), of.settled.end(), finding.point) != of.settled.end())
      continue;
    const int64_t count = open.Add(finding, program.module());
    made.points.push_back({std::string(Name(finding.point)), finding.op, count});
  }
  if (!of.open_by.empty()) made.points.push_back({of.open_by, std::string(Name(of.op)), open.AddAll()});
  for (const auto& [key, value] : outputs) {
    made.results.push_back(value.shape().ToString());
    made.elements += value.shape().num_elements();
    made.arrays.emplace_back(key, value);
    const Mask& mask = open.of(key);
    if (std::count(mask.begin(), mask.end(), 1) > 0)
      made.arrays.emplace_back("open/" + key, MaskLiteral(mask, value.shape()));
  }
  made.open = open.count();
  return AddBounds(program, of, options, open, made);
}

// The case as an item of index.json. Files are named by the id.
void WriteEntry(const SuiteCase& of, const MadeCase& made, const SuiteOptions& options,
                const std::map<std::string, std::string>& digests, JsonWriter& json) {
  const auto write_files = [&] {
    json.Begin("{");
    for (const auto& one : digests)
      json.Fields(one.first, [&] { json.Object("file", of.id + "." + one.first, "sha256", one.second); });
    json.End("}");
  };
  const auto write_point = [&](const OpenPoint& point) {
    json.Object("point", point.point, "operation", point.operation, "elements", point.count);
  };
  const auto write_expected = [&] {
    json.Object("elements", made.elements, "open", made.open, "unbounded", made.unbounded, "points",
                [&] { json.Array(made.points, write_point); });
  };
  json.Begin("{", ",\n   ");
  json.Fields("id", of.id, "op", Name(of.op), "type", Name(of.type), "what", of.what);
  if (!StableHloName(of.op).empty()) json.Fields("stablehlo", StableHloName(of.op));
  if (!made.why_no_stablehlo.empty()) json.Fields("why_no_stablehlo", made.why_no_stablehlo);
  json.Fields("tags", of.tags);
  if (options.rules_of != nullptr) json.Fields("rules", options.rules_of(of.op));
  json.Fields("arguments", made.arguments, "results", made.results, "expected", write_expected, "files",
              write_files);
  json.End("}");
}

// Without the flush of WriteFileAtomically, which would take most of the time of 20,000 files: the folder
// is a temporary one until it is whole, and the index has their digests.
absl::Status WriteQuickly(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file.good() ? absl::OkStatus() : BadInput(fmt::format("can't write '{}'", path));
}

// The folders between `folder` and the file, which the id names by a path.
absl::Status MakeFoldersOf(const std::string& folder, const std::string& id, UnfinishedFiles& files) {
  for (size_t slash = id.find('/'); slash != std::string::npos; slash = id.find('/', slash + 1)) {
    const std::string path = fmt::format("{}/{}", folder, id.substr(0, slash));
    std::error_code error;
    if (std::filesystem::exists(path, error)) continue;
    files.Add(path);
    std::filesystem::create_directory(path, error);
    if (error) return BadInput(fmt::format("can't make the folder '{}': {}", path, error.message()));
  }
  return absl::OkStatus();
}

// Writes the files of one case; returns their digests by the ends of their names.
absl::StatusOr<std::map<std::string, std::string>> WriteFiles(const std::string& folder, const SuiteCase& of,
                                                              const MadeCase& made, UnfinishedFiles& files) {
  const std::string path = fmt::format("{}/{}", folder, of.id);
  ASSAY_RETURN_IF_ERROR(MakeFoldersOf(folder, of.id, files));
  ASSAY_ASSIGN_OR_RETURN(const std::string arrays, EncodeNpz(made.arrays));
  std::map<std::string, std::string> digests;
  for (const auto& [form, bytes] :
       {std::pair("hlo", &made.hlo), {"mlir", &made.stablehlo}, {"npz", &arrays}}) {
    if (bytes->empty()) continue;
    const std::string file = fmt::format("{}.{}", path, form);
    files.Add(file);
    ASSAY_RETURN_IF_ERROR(WriteQuickly(file, *bytes));
    digests[form] = Sha256Hex(*bytes);
  }
  return digests;
}

void WriteWithoutCases(JsonWriter& json) {
  json.Begin("{", ",\n  ");
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto op = static_cast<Opcode>(i);
    if (const std::string_view why = ReasonWithoutCases(op); !why.empty()) json.Fields(Name(op), why);
  }
  json.End("}");
}

// Writes all files, the index last.
absl::Status FillFolder(const std::string& folder, const std::vector<SuiteCase>& cases,
                        const SuiteOptions& options, UnfinishedFiles& files) {
  std::vector<std::string> profiles;
  for (const Profile& profile : options.profiles) profiles.push_back(profile.name);
  JsonWriter json;
  json.Begin("{", ",\n ");
  json.Fields("format", 1, "generator", options.generator, "seed", options.seed, "profiles", profiles,
              "without_cases", [&] { WriteWithoutCases(json); });
  json.Fields("cases", [&] { json.Begin("[", ",\n  "); });
  const WorkStage stage("cases", static_cast<int64_t>(cases.size()));
  int64_t done = 0;
  for (const SuiteCase& of : cases) {
    stage.Done(done++);
    if (options.run.interrupted != nullptr && options.run.interrupted())
      return absl::CancelledError("interrupted");
    ASSAY_ASSIGN_OR_RETURN(const MadeCase made, MakeCase(of, options));
    ASSAY_ASSIGN_OR_RETURN(const auto digests, WriteFiles(folder, of, made, files));
    WriteEntry(of, made, options, digests, json);
  }
  json.End("]");
  json.End("}");
  const std::string index = fmt::format("{}/{}", folder, kIndex);
  files.Add(index);
  return WriteFileAtomically(index, json.text() + "\n");
}

}  // namespace

absl::StatusOr<std::vector<SuiteCase>> ChosenSuiteCases(const SuiteOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<SuiteCase> cases, AllSuiteCases(options.seed));
  const auto is_left_out = [&](const SuiteCase& one) {
    return !options.only.empty() &&
           std::none_of(options.only.begin(), options.only.end(),
                        [&](const std::string& prefix) { return one.id.starts_with(prefix); });
  };
  cases.erase(std::remove_if(cases.begin(), cases.end(), is_left_out), cases.end());
  const auto wanted = static_cast<size_t>(options.sample);
  if (wanted == 0 || wanted >= cases.size()) return cases;
  // By a hash of the id: a case that is added moves no other one far.
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < cases.size(); ++i)
    order.emplace_back(SuiteRandom(options.seed, cases[i].id).Next(), i);
  std::sort(order.begin(), order.end());
  std::set<size_t> taken;
  for (size_t k = 0; k < wanted; ++k) taken.insert(order[k].second);
  std::vector<SuiteCase> sample;
  for (const size_t i : taken) sample.push_back(std::move(cases[i]));
  return sample;
}

absl::StatusOr<MadeCase> MakeCase(const SuiteCase& of, const SuiteOptions& options) {
  const std::string text = fmt::format("HloModule {}\n\n{}", ModuleName(of.id), of.program);
  absl::StatusOr<Program> program = Program::Load(of.id + ".hlo", text);
  if (!program.ok()) return InCase(of, program.status());
  MadeCase made;
  made.hlo = ModuleToText(program->as_written());
  absl::StatusOr<std::string> stablehlo = ExportStableHlo(program->as_written());
  if (stablehlo.ok()) {
    made.stablehlo = *std::move(stablehlo);
  } else if (absl::IsUnimplemented(stablehlo.status())) {
    made.why_no_stablehlo = std::string(stablehlo.status().message());
  } else {
    return InCase(of, stablehlo.status());
  }
  for (size_t k = 0; k < of.arguments.size(); ++k) {
    made.arguments.push_back(of.arguments[k].shape().ToString());
    made.arrays.emplace_back(fmt::format("arg{}", k), of.arguments[k]);
  }
  if (const absl::Status status = MakeAnswers(*program, of, options, made); !status.ok())
    return InCase(of, status);
  return made;
}

absl::StatusOr<int64_t> WriteSuite(const std::string& folder, const SuiteOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<SuiteCase> cases, ChosenSuiteCases(options));
  if (cases.empty()) return BadInput("no case has an id that begins so");
  ASSAY_RETURN_IF_ERROR(
      WriteIntoFolder(folder, kIndex, [&](const std::string& temporary, UnfinishedFiles& files) {
        return FillFolder(temporary, cases, options, files);
      }));
  return static_cast<int64_t>(cases.size());
}

}  // namespace assay
