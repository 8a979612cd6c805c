// assay audit PROGRAM: where the program depends on what its specification leaves open.
#include "check/audit.h"

#include <algorithm>
#include <set>

#include "base/counted.h"
#include "base/json_writer.h"
#include "devices/device_io.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

constexpr size_t kShownOfPoint = 10;

std::string_view StatusOf(const AuditFinding& finding, bool ran) {
  if (finding.runs > 0) return finding.met > 0 ? "depends" : "did not depend";
  if (finding.always) return "depends";
  return ran ? "not looked at" : "may depend";
}

void WriteFinding(const AuditFinding& finding, bool ran, int32_t lines_before, JsonWriter& json) {
  json.Begin("{");
  json.Fields("point", Name(finding.point), "status", StatusOf(finding, ran), "instruction",
              finding.instruction, "op", finding.op, "computation", finding.computation);
  if (finding.position.known())
    json.Fields("line", finding.position.line + lines_before, "column", finding.position.column);
  json.Fields("by_text", finding.always ? "always" : "may", "note", finding.note);
  if (finding.runs > 0)
    json.Fields("runs", finding.runs, "runs_met", finding.met, "count", finding.count, "of", finding.of);
  if (finding.met > 0)
    json.Fields("first", [&] { json.Object("run", finding.first_run, "what", finding.first); });
  json.End("}");
}

// {"ran": true, "instructions": 12, "findings": […], "points": {"NAME": {"open": …, "stablehlo": …, …}}}
std::string AuditJson(const AuditReport& report, int32_t lines_before) {
  std::set<AuditPoint> found;
  for (const AuditFinding& finding : report.findings) found.insert(finding.point);
  JsonWriter json;
  const auto write_finding = [&](const AuditFinding& of) {
    WriteFinding(of, report.ran, lines_before, json);
  };
  const auto write_points = [&] {
    json.Begin("{", ",\n");
    for (const AuditPoint point : found) {
      const AuditPointFacts& facts = FactsOf(point);
      json.Fields(Name(point), [&] {
        json.Object("open", facts.open, "stablehlo", facts.stablehlo, "xla_cpu", facts.xla_cpu, "xla_gpu",
                    facts.xla_gpu, "assay", facts.assay);
      });
    }
    json.End("}");
  };
  json.Object(
      "ran", report.ran, "instructions", report.instructions, "findings",
      [&] { json.Array(report.findings, write_finding, ",\n"); }, "points", write_points);
  return json.text() + "\n";
}

std::string AuditText(const AuditFinding& finding, const AuditFlags& flags, int32_t lines_before) {
  std::string text = "  ";
  if (finding.position.known()) {
    text += fmt::format("{}:{}:{}: ", EscapeControls(flags.program), finding.position.line + lines_before,
                        finding.position.column);
  }
  text += fmt::format("'%{} = {}'", EscapeControls(finding.instruction), finding.op);
  if (finding.met > 0) {
    text += fmt::format(": {} of {}", finding.count, finding.of);
    if (finding.runs > 1) text += fmt::format(" in {} of {}", finding.met, Counted(finding.runs, "run"));
    if (!finding.first.empty()) {
      text +=
          fmt::format("; first{} {}", finding.runs > 1 ? fmt::format(" in run {}", finding.first_run) : "",
                      finding.first);
    }
  } else if (!finding.note.empty()) {
    text += ": " + finding.note;
  }
  return text + "\n";
}

// The findings of a point that have a status, under a title.
std::string AuditText(const std::vector<const AuditFinding*>& findings, std::string_view title,
                      const AuditFlags& flags, int32_t lines_before) {
  if (findings.empty()) return "";
  std::string text = fmt::format(" {}:\n", title);
  for (size_t k = 0; k < std::min(findings.size(), kShownOfPoint); ++k)
    text += AuditText(*findings[k], flags, lines_before);
  if (findings.size() > kShownOfPoint)
    text += fmt::format("  and {} more\n", findings.size() - kShownOfPoint);
  return text;
}

std::string AuditText(const AuditReport& report, const AuditFlags& flags, int32_t lines_before) {
  std::string text;
  int64_t open = 0, met = 0;
  for (int p = 0; p < kNumAuditPoints; ++p) {
    const auto point = static_cast<AuditPoint>(p);
    std::vector<const AuditFinding*> depend, may;
    for (const AuditFinding& finding : report.findings) {
      if (finding.point != point) continue;
      if (finding.Depends()) {
        depend.push_back(&finding);
      } else if (finding.runs == 0 && !report.ran) {
        may.push_back(&finding);
      } else {
        ++open;
      }
    }
    if (depend.empty() && may.empty()) continue;
    met += static_cast<int64_t>(depend.size());
    const AuditPointFacts& facts = FactsOf(point);
    text += fmt::format("{}: {}\n StableHLO: {}\n XLA:CPU:   {}\n XLA:GPU:   {}\n Assay:     {}\n",
                        Name(point), facts.open, facts.stablehlo, facts.xla_cpu, facts.xla_gpu, facts.assay);
    text += AuditText(depend, "depends", flags, lines_before);
    text += AuditText(may, "may depend", flags, lines_before);
    text += "\n";
  }
  if (!report.ran) {
    if (report.findings.empty()) return "nothing found: no instruction depends on what is left open\n";
    return text + "read without inputs: --inputs or --random-inputs say where it does\n";
  }
  if (met == 0) text = "nothing found: on these inputs no value depends on what is left open\n";
  if (open > 0) {
    text += fmt::format("with other values {} more may depend (--json lists them)\n", open);
  }
  return text;
}

absl::StatusOr<AuditReport> Look(const AuditFlags& flags, const LoadedProgram& loaded) {
  // Nobody gave inputs: the text alone.
  if (LacksInputs(flags, loaded)) return AuditText(loaded.program.module());
  ASSAY_ASSIGN_OR_RETURN(const DeviceGrid grid, GridOf(flags, loaded));
  ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceInputs> inputs, InputsFor(flags, loaded, grid));
  RunOptions options = OptionsOf(flags);
  options.interrupted = Interrupted;
  return AuditRun(loaded.program, grid, std::move(inputs), options);
}

}  // namespace

int Audit(const AuditFlags& flags) {
  if (ReadsStandardInputTwice({flags.program, flags.inputs})) return 2;
  if (const int code = CheckFilesOf(flags, {}); code != 0) return code;
  return ForEachProgram(flags, [&](const LoadedProgram& loaded, size_t count) {
    if (count > 1 && (!flags.inputs.empty() || flags.json)) {
      return UsageError(fmt::format("{} holds {}: --inputs and --json are for one",
                                    EscapeControls(flags.program), Counted(count, "program")));
    }
    const absl::StatusOr<AuditReport> report = Look(flags, loaded);
    if (!report.ok()) return FailIn(loaded, report.status(), flags.program);
    const std::string text =
        flags.json ? AuditJson(*report, loaded.lines_before) : AuditText(*report, flags, loaded.lines_before);
    return Write(text) ? 0 : 5;
  });
}

}  // namespace assay::cli
