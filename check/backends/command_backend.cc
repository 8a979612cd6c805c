#include "check/backends/command_backend.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/file_io.h"
#include "base/quoted.h"
#include "check/backends/command_process.h"
#include "check/backends/output_keys.h"
#include "check/backends/written_program.h"
#include "fmt/format.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// To stand behind a message; empty where there are none.
std::string Wrote(const std::string& words) { return words.empty() ? "" : "; it wrote: " + words; }

constexpr char kSignalPayload[] = "assay/signal";

void SetSignal(absl::Status& status, int signal) {
  if (signal != 0) status.SetPayload(kSignalPayload, absl::Cord(std::to_string(signal)));
}

absl::Status StatusOf(const CommandEnd& end) {
  if (end.signal != 0) {
    absl::Status status = EvalError({}, fmt::format("the backend was ended by signal {} ({}){}", end.signal,
                                                    strsignal(end.signal), Wrote(end.words)));
    SetSignal(status, end.signal);
    return status;
  }
  if (end.exit_code == 0) return absl::OkStatus();
  absl::Status status = EvalError(
      {}, fmt::format("the backend ended with exit code {}, want 0{}", end.exit_code, Wrote(end.words)));
  SetSignal(status, end.SignalBehindShell());
  return status;
}

}  // namespace

int SignalOf(const absl::Status& status) {
  const auto signal = status.GetPayload(kSignalPayload);
  int number = 0;
  return signal && absl::SimpleAtoi(std::string(*signal), &number) ? number : 0;
}

absl::StatusOr<Backend::Outputs> CommandBackend::Run(const Request& request) {
  const TemporaryDirectory directory;
  if (!directory.ok())
    return EvalError({}, fmt::format("no temporary directory for the backend: {}", std::strerror(errno)));
  const std::string inputs = directory.File("inputs.npz"), outputs = directory.File("outputs.npz");
  std::string program = request.path;
  if (program.empty()) {
    absl::StatusOr<WrittenProgram> written = WriteProgram(request.module, form_);
    if (absl::IsUnimplemented(written.status()))
      written = WriteProgram(request.module, ProgramForm::kHloText);
    ASSAY_RETURN_IF_ERROR(written.status());
    program = directory.File(written->file.c_str());
    ASSAY_RETURN_IF_ERROR(WriteFileAtomically(program, written->bytes));
  }
  NamedLiterals leaves;
  for (auto& [key, value] : LeavesOfArguments(request.arguments)) leaves.emplace_back(key, value);
  ASSAY_RETURN_IF_ERROR(WriteNpzFile(inputs, leaves));
  const std::string command = absl::StrReplaceAll(command_, {{"{program}", ShellWord(program)},
                                                             {"{inputs}", ShellWord(inputs)},
                                                             {"{outputs}", ShellWord(outputs)}});
  ASSAY_ASSIGN_OR_RETURN(const CommandEnd end, RunShellCommand(command));
  ASSAY_RETURN_IF_ERROR(StatusOf(end));
  std::error_code error;
  if (!fs::exists(outputs, error))
    return EvalError({}, fmt::format("the backend wrote no {{outputs}}{}", Wrote(end.words)));
  const auto arrays = ReadOutputs(outputs);
  absl::StatusOr<Outputs> read = arrays.ok() ? DecodeOutputs(request.module, *arrays) : arrays.status();
  if (read.ok()) return read;
  return EvalError({}, fmt::format("outputs of the backend: {}{}", std::string(read.status().message()),
                                   Wrote(end.words)));
}

}  // namespace assay
