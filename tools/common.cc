#include <csignal>
#include <cstdio>

#include "evaluator/program_io.h"
#include "evaluator/random_inputs.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "hlo/load.h"
#include "hlo/proto/import.h"
#include "literal/npz.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void OnSignal(int) { interrupted = 1; }

}  // namespace

bool Interrupted() { return interrupted != 0; }

void InstallSignalHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the process at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an output that could not be written: exit 5
}

bool Write(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

int Fail(const absl::Status& status, const std::string& file, std::string_view source) {
  std::fputs(RenderDiagnostic(status, file, source).c_str(), stderr);
  return ExitCodeOf(status);
}

int UsageError(const std::string& message) {
  std::fprintf(stderr, "assay: error: %s\n", message.c_str());
  return 2;
}

absl::Status CheckEngine(const RunFlags& flags) {
  if (flags.engine == "fast" || flags.engine == "gpu") {
    return NotSupported(
        {}, fmt::format("engine '{}' is not part of this build; use exact or reference", flags.engine));
  }
  if (!flags.load_ops.empty()) {
    return NotSupported(
        {}, fmt::format("loading operations from '{}' is not part of this build", flags.load_ops[0]));
  }
  return absl::OkStatus();
}

EngineChoice ChoiceOf(const RunFlags& flags) {
  return flags.engine == "reference" ? EngineChoice::kReference : EngineChoice::kExact;
}

std::optional<Program> Load(const RunFlags& flags, int& exit_code) {
  absl::StatusOr<std::string> text = ReadFile(flags.program);
  if (!text.ok()) {
    exit_code = Fail(text.status(), flags.program);
    return std::nullopt;
  }
  absl::StatusOr<Module> parsed = LoadProgram(flags.program, *text);
  if (!parsed.ok()) {
    exit_code = Fail(parsed.status(), flags.program, *text);
    return std::nullopt;
  }
  if (flags.replicas > 0) parsed->replica_count = flags.replicas;
  if (flags.partitions > 0) parsed->num_partitions = flags.partitions;
  absl::StatusOr<VerifiedModule> verified = Verify(*std::move(parsed));
  if (!verified.ok()) {
    exit_code = Fail(verified.status(), flags.program, *text);
    return std::nullopt;
  }
  return Program{*std::move(text), *std::move(verified)};
}

bool HasSnapshot(const Program& program) {
  const absl::StatusOr<std::optional<Snapshot>> snapshot = ReadSnapshot(program.text);
  return !snapshot.ok() || snapshot->has_value();
}

absl::StatusOr<std::vector<Literal>> Arguments(const RunFlags& flags, const Program& program,
                                               std::deque<StreamItem>* infeed) {
  const VerifiedModule& module = program.module;
  if (flags.random_inputs) return RandomInputs(module, *flags.random_inputs);
  if (flags.inputs.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const std::optional<Snapshot> snapshot, ReadSnapshot(program.text));
    if (snapshot) return ArgumentsFrom(module, LeavesOfArguments(snapshot->arguments), infeed);
  }
  std::map<std::string, NpyArray> arrays;
  if (!flags.inputs.empty()) {
    ASSAY_ASSIGN_OR_RETURN(arrays, ReadNpzFile(flags.inputs));
    if (arrays.size() == 1 && arrays.count("") == 1) arrays["arg0"] = std::move(arrays.extract("").mapped());
  }
  return ArgumentsFrom(module, arrays, infeed);
}

}  // namespace assay::cli
