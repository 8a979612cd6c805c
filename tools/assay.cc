// The command `assay`: parses arguments (declarations.h) and hands them to the subcommands (commands.h). The
// names, keys and exit codes are a contract that outside scripts rely on.
#include <pthread.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iostream>
#include <new>
#include <sstream>

#include "base/quoted.h"
#include "base/run_guard.h"
#include "base/suggestion.h"
#include "base/work_stage.h"
#include "devices/transport.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/about/progress.h"
#include "tools/commands.h"
#include "tools/declarations.h"

namespace {

using assay::cli::CommandLine;
using assay::cli::TraceFlag;

// The trace's path, by whichever name it was given.
std::string PathOf(const TraceFlag& trace) {
  if (trace.by_old_name.empty()) return trace.path;
  std::fputs(
      "assay: note: --profile of run and bench is now --trace; the next release removes the old name\n",
      stderr);
  return trace.by_old_name;
}

// `group` is the command, or its subcommand, that has no command `name`.
int UnknownCommand(const CLI::App& group, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* const command : group.get_subcommands({})) names.push_back(command->get_name());
  const std::string near = assay::DidYouMean(name, names);
  const std::string prefix = group.get_parent() == nullptr ? "" : group.get_name() + " ";
  return assay::cli::UsageError(fmt::format("unknown command '{}{}'{} see assay {}--help", prefix,
                                            assay::EscapeControls(name),
                                            near.empty() ? ";" : assay::EscapeControls(near), prefix));
}

// The command that was given, as far as it is known.
const CLI::App* GivenCommand(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? &app : GivenCommand(*parsed.back());
}

// What flags of the command are like the one that it has not.
std::string NearFlags(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options({})) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& word : command.remaining()) {
    if (word.starts_with("-")) return assay::DidYouMean(word.substr(0, word.find('=')), names);
  }
  return "";
}

std::string WordsOf(const CLI::App* app, const CLI::Error& error) {
  const CLI::App& command = *GivenCommand(*app);
  const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  std::string name;
  for (const CLI::App* part = &command; part->get_parent() != nullptr; part = part->get_parent())
    name = part->get_name() + " " + name;
  return fmt::format("assay: error: {}{}\nsee assay {}\n", assay::EscapeControls(error.what()),
                     is_extra ? assay::EscapeControls(NearFlags(command)) : "",
                     name.empty() ? "help and assay COMMAND --help" : name + "--help");
}

// What all work asks again and again.
bool Polled() {
  assay::cli::TickProgress();
  return assay::cli::Interrupted();
}

// The command as a shell takes it.
std::string CommandOf(int argc, char** argv) {
  std::string command = "assay";
  for (int i = 1; i < argc; ++i) command += " " + assay::ShellArgument(argv[i]);
  return command;
}

int Main(int argc, char** argv) {
  CLI::App app("Assay: reference evaluator and conformance checker for XLA programs (HLO, StableHLO)",
               "assay");
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.footer(
      "assay help tells of topics (assay help bugs), flags, operations and rules.\n"
      "Most used: assay run P.hlo --random-inputs 1; assay diff P.hlo --inputs IN.npz --actual OUT.npz "
      "--profile "
      "xla-cpu");
  app.require_subcommand(1);
  CommandLine line;
  line.diff.command = line.replay.command = CommandOf(argc, argv);
  assay::cli::Declare(app, line);
  app.failure_message(WordsOf);
  const auto lacks = [&](CLI::App& parent, int i) {
    const auto is_it = [&](const CLI::App* command) { return command->get_name() == argv[i]; };
    return argc > i && argv[i][0] != '-' && parent.get_subcommands(is_it).empty();
  };
  if (lacks(app, 1)) return UnknownCommand(app, argv[1]);
  for (const char* const group : {"golden", "profile", "conformance"}) {
    if (argc > 1 && argv[1] == std::string_view(group) && lacks(*app.get_subcommand(group), 2))
      return UnknownCommand(*app.get_subcommand(group), argv[2]);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    if (app.exit(error, help, std::cerr) != 0) return 2;
    return assay::cli::Write(help.str()) ? 0 : 5;
  }
  line.run.trace = PathOf(line.run_trace);
  line.bench.trace = PathOf(line.bench_trace);
  // The limits hold from here, the first byte read, to the last one written.
  assay::cli::EnforceTimeout(*line.given);
  const assay::WorkScope work(std::make_shared<assay::RunGuard>(line.given->options.limits, Polled));
  const assay::WorkObserverScope shown(assay::cli::ShowStage);
  assay::cli::StartProgress(line.quiet);
  const int exit_code = line.action();
  assay::cli::ClearProgress();
  return exit_code;
}

struct Command {
  int argc;
  char** argv;
  int exit_code = 5;
};

void* RunCommand(void* state) {
  Command& command = *static_cast<Command*>(state);
  try {
    command.exit_code = Main(command.argc, command.argv);
  } catch (const std::bad_alloc&) {
    std::fputs("assay: error: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay: error: %s\n", error.what());
  }
  return nullptr;
}

// Nested programs, within the limits of base/limits.h, need up to this much; a smaller stack is passed by for
// one of a thread's own.
constexpr size_t kStackBytes = size_t{8} << 20;

bool StackIsSmall() {
  rlimit limit;
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < kStackBytes;
}

}  // namespace

int main(int argc, char** argv) {
  assay::cli::OccupyStandardStreams();
  assay::cli::InstallSignalHandlers();
  assay::cli::InstallTerminateHandler();
  assay::cli::SilenceOtherProcesses();
  Command command{argc, argv};
  pthread_attr_t attributes;
  pthread_t thread;
  if (!StackIsSmall() || pthread_attr_init(&attributes) != 0) {
    RunCommand(&command);
  } else if (pthread_attr_setstacksize(&attributes, kStackBytes) != 0 ||
             pthread_create(&thread, &attributes, RunCommand, &command) != 0 ||
             pthread_join(thread, nullptr) != 0) {
    std::fputs("assay: error: out of memory\n", stderr);
  }
  assay::CloseTransport();
  return command.exit_code;
}
