#include "find/reduce/interest.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "base/counted.h"
#include "base/file_io.h"
#include "base/quoted.h"
#include "base/run_guard.h"
#include "check/backends/command_backend.h"
#include "check/conformance.h"
#include "check/estimate/estimate.h"
#include "fmt/format.h"
#include "literal/compare.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

std::string Words(const absl::Status& status) { return std::string(status.message()); }

std::string InCommand(const std::string& command, const std::string& program, const std::string& inputs) {
  return absl::StrReplaceAll(command,
                             {{"{program}", ShellArgument(program)}, {"{inputs}", ShellArgument(inputs)}});
}

RunOptions RunUnderGuard(const RunOptions& options) {
  RunOptions run = options;
  run.parent_guard = WorkScope::Current();
  run.jobs = 1;  // test cases are asked in parallel
  return run;
}

std::string ArgumentsFlag(const std::string& inputs) { return " --inputs " + ShellArgument(inputs); }

std::string Ending(const CommandEnd& end) {
  return end.signal != 0 ? fmt::format("was ended by signal {} ({})", end.signal, strsignal(end.signal))
                         : fmt::format("ended with exit code {}", end.exit_code);
}

class CommandTest final : public InterestTest {
 public:
  CommandTest(std::string command, AskOptions options)
      : command_(std::move(command)), options_(std::move(options)) {}

  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    ASSAY_ASSIGN_OR_RETURN(const auto files, CaseFiles::Write(test_case, options_.form));
    ASSAY_ASSIGN_OR_RETURN(const CommandEnd end,
                           RunShellCommand(InCommand(command_, files->program(), files->inputs())));
    std::string what = "the command " + Ending(end);
    if (!end.words.empty()) what += "; it wrote: " + end.words;
    return Interest{end.ok(), std::move(what)};
  }
  std::string Command(const std::string& program, const std::string& inputs) const override {
    return InCommand(command_, program, inputs);
  }

 private:
  const std::string command_;
  const AskOptions options_;
};

std::string DiffCommand(const std::string& flags, const std::string& program, const std::string& inputs) {
  return "assay diff " + ShellArgument(program) + ArgumentsFlag(inputs) + " " + flags;
}

absl::StatusOr<Backend::Outputs> RunOn(Backend& backend, const CheckedCase& test_case, ProgramForm form) {
  ASSAY_ASSIGN_OR_RETURN(const auto files, CaseFiles::Write(test_case, form));
  return backend.Run({test_case.module(), files->program(), test_case.arguments()});
}

class BoundsTest final : public InterestTest {
 public:
  BoundsTest(BoundsQuestion question, AskOptions options)
      : question_(std::move(question)), options_(std::move(options)) {}

  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    const RunOptions run = RunUnderGuard(options_.run);
    const Program& program = test_case.program();
    DeviceInputs inputs;
    inputs.arguments = test_case.arguments();
    ASSAY_ASSIGN_OR_RETURN(const Backend::Outputs actual,
                           RunOn(*question_.backend, test_case, options_.form));
    ASSAY_ASSIGN_OR_RETURN(BoundedOutputs bounded, RunWithBounds(program, question_.profile, DeviceGrid(),
                                                                 {inputs}, run, options_.engines));
    if (question_.or_implausible) {
      ASSAY_RETURN_IF_ERROR(AddSamples(program, question_.profile, DeviceGrid(), inputs, run,
                                       {question_.samples, run.run_seed}, bounded.outputs, options_.engines)
                                .status());
    }
    std::vector<std::pair<int64_t, double>> shares;
    for (const BoundedOutput& output : bounded.outputs) {
      const Conformance found = CompareToBounds(output, ActualOf(actual, output));
      shares.emplace_back(output.leaf, found.largest_share);
      if (!found.error.empty()) return Interest{false, found.key + ": " + found.error};
      if (found.outside > 0) return Interest{true, Outside(found)};
      if (question_.or_implausible && found.implausible > 0) return Interest{true, Implausible(found)};
    }
    return Interest{
        false, question_.or_implausible ? "no element is outside or implausible" : "no element is outside",
        std::move(shares)};
  }
  std::string Command(const std::string& program, const std::string& inputs) const override {
    return DiffCommand(question_.backend_flags, program, inputs);
  }

 private:
  static std::string Outside(const Conformance& found) {
    std::string what = fmt::format("{} of {} of {} outside of the bounds", found.outside,
                                   Counted(found.elements, "element"), found.key);
    if (found.worst.empty()) return what;
    const Conformance::Element& worst = found.worst[0];
    return fmt::format("{}: element {{{}}} is {}, exactly {}, and the bound is {:.3g}", what,
                       fmt::join(worst.index, ","), worst.actual, worst.exact, worst.radius);
  }
  static std::string Implausible(const Conformance& found) {
    std::string what = fmt::format("{} of {} of {} implausible", found.implausible,
                                   Counted(found.elements, "element"), found.key);
    if (found.farthest.empty()) return what;
    const Conformance::Estimated& worst = found.farthest[0];
    return fmt::format("{}: element {{{}}} is {}, exactly {}, and samples spread by {:.3g}", what,
                       fmt::join(worst.index, ","), worst.actual, worst.exact, worst.spread);
  }

  const BoundsQuestion question_;
  const AskOptions options_;
};

// How the runner failed; nothing: it did not.
struct RunFailure {
  std::string what;
  int signal = 0;
};

class FailureTest : public InterestTest {
 public:
  FailureTest(FailingRunner runner, AskOptions options)
      : runner_(std::move(runner)), options_(std::move(options)) {}
  std::string Command(const std::string& program, const std::string& inputs) const override {
    return runner_.backend == nullptr ? InCommand(runner_.command, program, inputs)
                                      : DiffCommand(runner_.backend_flags, program, inputs);
  }

 protected:
  absl::StatusOr<std::optional<RunFailure>> Run(const CheckedCase& test_case) const {
    if (runner_.backend != nullptr) {
      const absl::Status status = RunOn(*runner_.backend, test_case, options_.form).status();
      ASSAY_RETURN_IF_ERROR(PollWork());
      if (status.ok()) return std::optional<RunFailure>();
      return RunFailure{Words(status), SignalOf(status)};
    }
    ASSAY_ASSIGN_OR_RETURN(const auto files, CaseFiles::Write(test_case, options_.form));
    ASSAY_ASSIGN_OR_RETURN(const CommandEnd end,
                           RunShellCommand(InCommand(runner_.command, files->program(), files->inputs())));
    if (end.ok()) return std::optional<RunFailure>();
    std::string what = "the command " + Ending(end);
    if (!end.words.empty()) what += "; it wrote: " + end.words;
    return RunFailure{std::move(what), end.SignalBehindShell()};
  }
  const AskOptions& options() const { return options_; }

 private:
  const FailingRunner runner_;
  const AskOptions options_;
};

class CrashTest final : public FailureTest {
 public:
  using FailureTest::FailureTest;

  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    ASSAY_ASSIGN_OR_RETURN(const std::optional<RunFailure> failure, Run(test_case));
    if (!failure) return Interest{false, "the backend does not fail"};
    const absl::Status evaluated =
        test_case.program()
            .Run(test_case.arguments(), RunUnderGuard(options().run), options().engines)
            .status();
    ASSAY_RETURN_IF_ERROR(PollWork());
    if (!evaluated.ok())
      return Interest{false, "Assay can't evaluate the program either: " + Words(evaluated)};
    int unknown = kUnknown;
    signal_.compare_exchange_strong(unknown, failure->signal);
    if (failure->signal != signal_) return Interest{false, "it fails in another way: " + failure->what};
    return Interest{true, failure->what};
  }

 private:
  static constexpr int kUnknown = -1;
  mutable std::atomic<int> signal_ = kUnknown;  // that ended the first one; 0: none did
};

class MessageTest final : public FailureTest {
 public:
  MessageTest(FailingRunner runner, std::string text, AskOptions options)
      : FailureTest(std::move(runner), std::move(options)), text_(std::move(text)) {}

  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    ASSAY_ASSIGN_OR_RETURN(const std::optional<RunFailure> failure, Run(test_case));
    if (!failure) return Interest{false, "the backend does not fail"};
    return Interest{absl::StrContains(failure->what, text_), failure->what};
  }

 private:
  const std::string text_;
};

class DiffersTest final : public InterestTest {
 public:
  DiffersTest(std::string engine, AskOptions options)
      : engine_(std::move(engine)), options_(std::move(options)) {}

  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    const RunOptions run = RunUnderGuard(options_.run);
    const Program& program = test_case.program();
    ASSAY_ASSIGN_OR_RETURN(const Literal actual, program.Run(test_case.arguments(), run, options_.engines));
    ASSAY_ASSIGN_OR_RETURN(const Literal expected,
                           program.Run(test_case.arguments(), run, EnginesOf(EngineChoice::kReference)));
    const Comparison comparison = CompareLiterals(expected, actual, {});
    return Interest{!comparison.ok(), comparison.Report()};
  }
  std::string Command(const std::string& program, const std::string& inputs) const override {
    const std::string run = "assay run " + ShellArgument(program) + ArgumentsFlag(inputs);
    return fmt::format(
        "{0} --engine reference --output reference.npz && {0} --engine {1} --output {1}.npz && "
        "assay diff reference.npz {1}.npz",
        run, engine_);
  }

 private:
  const std::string engine_;
  const AskOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CaseFiles>> CaseFiles::Write(const CheckedCase& test_case, ProgramForm form) {
  auto files = std::make_unique<CaseFiles>();
  if (!files->directory_.ok())
    return EvalError({}, fmt::format("no temporary directory: {}", std::strerror(errno)));
  ASSAY_ASSIGN_OR_RETURN(const WrittenProgram written, WriteProgram(test_case.module(), form));
  files->program_ = files->directory_.File(written.file.c_str());
  files->inputs_ = files->directory_.File("inputs.npz");
  ASSAY_RETURN_IF_ERROR(WriteFileAtomically(files->program_, written.bytes));
  NamedLiterals leaves;
  for (auto& [key, value] : LeavesOfArguments(test_case.arguments())) leaves.emplace_back(key, value);
  ASSAY_RETURN_IF_ERROR(WriteNpzFile(files->inputs_, leaves));
  return files;
}

std::unique_ptr<InterestTest> AskCommand(std::string command, AskOptions options) {
  return std::make_unique<CommandTest>(std::move(command), std::move(options));
}
std::unique_ptr<InterestTest> AskBounds(BoundsQuestion question, AskOptions options) {
  return std::make_unique<BoundsTest>(std::move(question), std::move(options));
}
std::unique_ptr<InterestTest> AskCrash(FailingRunner runner, AskOptions options) {
  return std::make_unique<CrashTest>(std::move(runner), std::move(options));
}
std::unique_ptr<InterestTest> AskMessage(FailingRunner runner, std::string text, AskOptions options) {
  return std::make_unique<MessageTest>(std::move(runner), std::move(text), std::move(options));
}
std::unique_ptr<InterestTest> AskDiffers(std::string engine, AskOptions options) {
  return std::make_unique<DiffersTest>(std::move(engine), std::move(options));
}

}  // namespace assay
