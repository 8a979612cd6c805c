// assay golden check, update, record.
#include <cstdio>

#include "evaluator/program_io.h"
#include "fmt/format.h"
#include "golden/golden.h"
#include "hlo/load.h"
#include "hlo/text/printer.h"
#include "literal/npz.h"
#include "tools/commands.h"

namespace assay::cli {

int GoldenCheck(const std::vector<std::string>& paths, const RunFlags& flags) {
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, paths[0]);
  const GoldenEngine engine{.choice = ChoiceOf(flags),
                            .isa = *IsaOf(flags),
                            .crosscheck = OptionsOf(flags).crosscheck,
                            .jobs = flags.options.jobs};
  int64_t passed = 0, failed = 0;
  for (const std::string& path : FindGoldens(paths)) {
    const GoldenResult result = CheckGolden(path, engine);
    ++(result.passed ? passed : failed);
    if (!result.passed && !Write(fmt::format("FAILED {}\n{}", path, result.report))) return 5;
    if (Interrupted()) return Fail(absl::CancelledError("interrupted"), path);
  }
  if (passed + failed == 0) return Fail(BadInput("no golden found"), paths[0]);
  if (!Write(fmt::format("{} passed, {} failed\n", passed, failed))) return 5;
  return failed == 0 ? 0 : 1;
}

int GoldenUpdateFiles(const std::vector<std::string>& paths) {
  int exit_code = 0;
  for (const std::string& path : FindGoldens(paths)) {
    const absl::StatusOr<GoldenUpdate> update = UpdateGolden(path);
    absl::Status status = update.status();
    if (status.ok() && !update->diff.empty()) {
      status = WriteFileAtomically(path, update->new_text);
      if (status.ok() && !Write(fmt::format("--- {}\n{}", path, update->diff))) return 5;
    }
    if (!status.ok()) exit_code = std::max(exit_code, Fail(status, path));
  }
  return exit_code;
}

int GoldenRecord(const RunFlags& flags) {
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  int exit_code = 0;
  const std::optional<Program> program = Load(flags, exit_code);
  if (!program) return exit_code;
  if (LacksInputs(flags, *program)) return AskForInputs(flags, *program);
  std::deque<StreamItem> infeed;
  absl::StatusOr<std::vector<Literal>> arguments = Arguments(flags, *program, &infeed);
  if (!arguments.ok()) return Fail(arguments.status(), InputsOf(flags));
  if (!infeed.empty()) return Fail(NotSupported({}, "recording a golden with infeed items"), flags.inputs);
  NamedLiterals inputs;
  for (size_t i = 0; i < arguments->size(); ++i) {
    for (auto& leaf : LeavesOf(fmt::format("arg{}", i), (*arguments)[i])) inputs.push_back(std::move(leaf));
  }
  // A golden is text, whatever the program was.
  const bool is_text = FormOfProgram(flags.program, program->text) == ProgramForm::kHloText;
  const absl::StatusOr<std::string> text =
      RecordGolden(is_text ? program->text : ModuleToText(program->module.module()), inputs);
  if (!text.ok()) return Fail(text.status(), flags.program, program->text);
  if (flags.output.empty()) return Write(*text) ? 0 : 5;
  const absl::Status status = WriteFileAtomically(flags.output, *text);
  return status.ok() ? 0 : Fail(status, flags.output);
}

}  // namespace assay::cli
