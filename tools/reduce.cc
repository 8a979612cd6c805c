// assay reduce: a smaller program that still shows what a given one does.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>

#include "base/counted.h"
#include "base/quoted.h"
#include "base/run_guard.h"
#include "find/reduce/edit.h"
#include "find/reduce/finding.h"
#include "find/reduce/search.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"
#include "hlo/load/load.h"
#include "tools/about/progress.h"
#include "tools/backend.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

// The questions that are asked of test cases, each named by a flag.
std::vector<std::string_view> ReduceQuestionsOf(const ReduceFlags& flags) {
  std::vector<std::string_view> questions;
  if (!flags.while_command.empty()) questions.push_back("--while");
  if (flags.while_outside) questions.push_back("--while-outside");
  if (flags.while_implausible) questions.push_back("--while-implausible");
  if (flags.while_crash) questions.push_back("--while-crash");
  if (!flags.while_message.empty()) questions.push_back("--while-message");
  if (flags.while_differs) questions.push_back("--while-differs");
  return questions;
}

std::string RunnerUsage(const ReduceFlags& flags, std::string_view question) {
  const bool has_backend = !flags.backend.empty() || !flags.plugin.empty();
  const bool has_command = !flags.command.empty();
  if (question == "--while" || question == "--while-differs") {
    return has_backend || has_command || !flags.profile.empty()
               ? fmt::format("reduce {} takes no backend, command or profile", question)
               : "";
  }
  if (question == "--while-outside" || question == "--while-implausible") {
    return has_backend && !has_command && !flags.profile.empty()
               ? ""
               : fmt::format(
                     "reduce {} takes a --profile, and --backend 'CMD {{program}} {{inputs}} {{outputs}}' "
                     "or --plugin LIB.so",
                     question);
  }
  return has_backend != has_command && flags.profile.empty()
             ? ""
             : fmt::format(
                   "reduce {} takes one of --backend 'CMD {{program}} {{inputs}} {{outputs}}', --plugin "
                   "LIB.so and --command 'CMD {{program}} {{inputs}}'",
                   question);
}

// What is wrong with the flags; empty: nothing.
std::string ReduceUsage(const ReduceFlags& flags) {
  const std::vector<std::string_view> questions = ReduceQuestionsOf(flags);
  if (questions.size() != 1) {
    return fmt::format(
        "reduce takes one of --while, --while-outside, --while-implausible, --while-crash, "
        "--while-message and --while-differs{}",
        questions.empty() ? "" : fmt::format("; {} are given", fmt::join(questions, " and ")));
  }
  for (const std::string* const command : {&flags.while_command, &flags.command}) {
    if (!command->empty() && command->find("{program}") == std::string::npos)
      return "--while and --command take a command with {program}, and {inputs} where it needs inputs";
  }
  if (std::string wrong = BackendUsage(flags.backend); !wrong.empty()) return wrong;
  if (flags.output.empty()) return "reduce takes --output FOLDER, where the smaller program is written";
  std::error_code error;
  if (std::filesystem::exists(flags.output, error))
    return fmt::format("--output names '{}', which is there already", EscapeControls(flags.output));
  return RunnerUsage(flags, questions[0]);
}

absl::StatusOr<std::unique_ptr<InterestTest>> TestOf(const ReduceFlags& flags, AskOptions options) {
  if (!flags.while_command.empty()) return AskCommand(flags.while_command, std::move(options));
  if (flags.while_differs) return AskDiffers(flags.engine, std::move(options));
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<Backend> backend, BackendInOwnProcess(flags, flags.backend));
  if (flags.while_outside || flags.while_implausible) {
    ASSAY_ASSIGN_OR_RETURN(Profile profile, LoadProfile(flags.profile));
    return AskBounds({std::move(profile), std::move(backend),
                      BackendFlagsText(flags, flags.backend, flags.profile), flags.while_implausible},
                     std::move(options));
  }
  FailingRunner runner{std::move(backend), flags.command,
                       BackendFlagsText(flags, flags.backend, flags.profile)};
  if (flags.while_crash) return AskCrash(std::move(runner), std::move(options));
  return AskMessage(std::move(runner), flags.while_message, std::move(options));
}

void ShowReduceProgress(const SearchProgress& progress) {
  ShowWords(fmt::format("{}, {}, {}: {}", Counted(progress.instructions, "instruction"),
                        Counted(progress.elements, "element"), Counted(progress.tries, "try"),
                        progress.reduction));
}

std::string SizeOf(const CheckedCase& test_case) {
  return fmt::format("{} and {}", Counted(NumInstructions(test_case.module()), "instruction"),
                     Counted(NumElements(test_case.module()), "element"));
}

FindingFolder FolderOf(const ReduceFlags& flags, const CheckedCase& given, const SearchResult& result,
                       const InterestTest& test) {
  FindingFolder folder;
  folder.title = fmt::format("Reduced from {}", flags.program);
  folder.what = result.what;
  folder.command = [&test](const std::string& program, const std::string& inputs) {
    return test.Command(program, inputs);
  };
  folder.notes.push_back(fmt::format("- before: {}\n- after: {}\n- {}", SizeOf(given), SizeOf(result.best),
                                     Counted(result.tries, "try")));
  if (!result.ended.empty())
    folder.notes.push_back(
        fmt::format("The search was {} before it was done: there may be a smaller program.", result.ended));
  std::string applied = "Reductions that were applied:\n";
  for (const auto& [name, count] : result.applied) applied += fmt::format("\n- {}: {}", name, count);
  if (!result.applied.empty()) folder.notes.push_back(std::move(applied));
  return folder;
}

SearchOptions OptionsOfSearch(const ReduceFlags& flags) {
  SearchOptions options;
  options.jobs = std::max(flags.options.jobs, 1);
  options.try_seconds = flags.try_timeout;
  options.seconds = flags.timeout;
  options.limits = flags.options.limits;
  options.run = OptionsOf(flags);
  options.run.jobs = 1;
  options.interrupted = Interrupted;
  options.progress = ShowReduceProgress;
  return options;
}

int DeliverReduced(const ReduceFlags& flags, const CheckedCase& given, const SearchResult& result,
                   const InterestTest& test, ProgramForm form) {
  // What is found is written even where the search was interrupted.
  const WorkScope work(std::make_shared<RunGuard>(RunLimits()));
  const absl::StatusOr<std::string> written =
      WriteFinding(flags.output, FolderOf(flags, given, result, test), result.best.module(),
                   result.best.arguments(), form);
  if (!written.ok()) return Fail(written.status(), flags.output);
  std::string text =
      fmt::format("{} -> {}, {}\n{}: {}\n", SizeOf(given), SizeOf(result.best), Counted(result.tries, "try"),
                  EscapeControls(*written), EscapeControls(result.what.substr(0, result.what.find('\n'))));
  if (!result.ended.empty()) text += fmt::format("{}: this is the smallest program so far\n", result.ended);
  return Write(text) ? 0 : 5;
}

int ReduceGiven(const ReduceFlags& flags, CheckedCase given, ProgramForm form) {
  const SearchOptions options = OptionsOfSearch(flags);
  AskOptions ask;
  ask.form = form;
  ask.run = options.run;
  ask.engines = EnginesOf(flags);
  const absl::StatusOr<std::unique_ptr<InterestTest>> test = TestOf(flags, std::move(ask));
  if (!test.ok()) return Fail(test.status(), flags.profile.empty() ? flags.program : flags.profile);
  const absl::StatusOr<Interest> first = AskOnce(given, **test, options);
  if (!first.ok()) return Fail(WithPrefix(first.status(), "the program itself"), flags.program);
  if (!first->is_interesting) {
    return Fail(ComparisonFailed("the program itself is not interesting: " + EscapeControls(first->what)),
                flags.program);
  }
  const SearchResult result = Reduce(given, first->what, **test, options);
  return DeliverReduced(flags, given, result, **test, form);
}

}  // namespace

int ReduceProgram(const ReduceFlags& flags) {
  if (std::string wrong = ReduceUsage(flags); !wrong.empty()) return UsageError(wrong);
  if (ReadsStandardInputTwice({flags.program, flags.inputs})) return 2;
  if (const int code = CheckFiles({flags.program, flags.inputs}, {}); code != 0) return code;
  if (const absl::Status status = CheckEngine(flags); !status.ok()) return Fail(status, flags.program);
  int exit_code = 0;
  const std::optional<LoadedProgram> loaded = Load(flags, exit_code);
  if (!loaded) return exit_code;
  if (LacksInputs(flags, *loaded)) return AskForInputs(flags, *loaded);
  const absl::StatusOr<DeviceGrid> grid = GridOf(flags, *loaded);
  if (!grid.ok()) return FailIn(*loaded, grid.status(), flags.program);
  absl::StatusOr<std::vector<DeviceInputs>> inputs = InputsFor(flags, *loaded, *grid);
  if (!inputs.ok()) return Fail(inputs.status(), InputsOf(flags));
  if (const absl::Status status = CheckBackendInputs(*grid, *inputs); !status.ok())
    return Fail(status, flags.program);
  EndOnSecondSignal();
  return ReduceGiven(flags, CheckedCase::AsRead(loaded->program, (*inputs)[0].arguments),
                     FormOfProgram(flags.program, loaded->OwnText()));
}

}  // namespace assay::cli
