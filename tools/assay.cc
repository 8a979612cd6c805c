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
#include "devices/transport.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
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

int UnknownCommand(const std::string& name) {
  return assay::cli::UsageError("unknown command '" + assay::EscapeControls(name) + "'; see assay --help");
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
  app.require_subcommand(1);
  CommandLine line;
  line.diff.command = line.replay.command = CommandOf(argc, argv);
  assay::cli::Declare(app, line);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "assay: error: " + assay::EscapeControls(error.what()) +
           "\nsee assay --help and assay COMMAND --help\n";
  });
  const auto lacks = [&](CLI::App& parent, int i) {
    const auto is_it = [&](const CLI::App* command) { return command->get_name() == argv[i]; };
    return argc > i && argv[i][0] != '-' && parent.get_subcommands(is_it).empty();
  };
  if (lacks(app, 1)) return UnknownCommand(argv[1]);
  for (const char* const group : {"golden", "profile", "conformance"}) {
    if (argc > 1 && argv[1] == std::string_view(group) && lacks(*app.get_subcommand(group), 2))
      return UnknownCommand(fmt::format("{} {}", group, argv[2]));
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
  const assay::WorkScope work(
      std::make_shared<assay::RunGuard>(line.given->options.limits, assay::cli::Interrupted));
  return line.action();
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
