// assay_mutants [--first N] [--count N | --rounds N] [--generated N] [--seconds S] [--keep DIR] PATH...:
// mutants number N, N + 1, … of the programs below the paths, by every exact engine and by the reference
// (comparison.h). A round is a mutant of each program. One in N of --generated is of a generated program.
// Exit code 1 where something was found; with
// --keep, the mutant is written there.
//
// A program's mutant of a round depends on its path and text alone, so that a further program changes no
// other's; a number gives the same mutant again, as long as the programs are the same.
//
// Mutants run in processes of their own, a few hundred each: one that dies or hangs is a finding,
// and the next goes on.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "check/golden/golden.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "run/program.h"
#include "tests/mutants/comparison.h"
#include "tests/mutants/text_mutator.h"

namespace assay::testing {
namespace {

constexpr int kBatch = 400;
constexpr unsigned kSecondsOfMutant = 150;
constexpr size_t kLongestProgram = 20000;  // in bytes; longer ones take long, and hold little else

struct MutantFlags {
  uint64_t first = 0, count = 50000;
  uint64_t rounds = 0;    // 0: count says how many
  int64_t generated = 0;  // one mutant in this many is of a generated program; 0: none
  double seconds = 0;     // 0: no limit
  std::string keep;
  std::vector<std::string> paths;
};

struct SeedProgram {
  std::string path, text;
};

// What the processes tell each other.
struct Progress {
  std::atomic<uint64_t> current;
  std::atomic<int64_t> ends[kNumMutantEnds];
};

struct Mutant {
  std::string path, text;                 // of the program that it is made of
  std::map<std::string, Literal> values;  // that program's inputs
};

// 64-bit FNV-1a: the same on every machine, which std::hash is not.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

// One in `flags.generated` is a generated program as it is, or a mutant of one.
Mutant MutantOf(const MutantFlags& flags, const std::vector<SeedProgram>& programs, uint64_t number) {
  const SeedProgram& seed = programs[number % programs.size()];
  const bool is_generated = flags.generated > 0 && Choices(number).OneIn(flags.generated);
  Choices choices(is_generated ? number : HashOf(seed.path) + number / programs.size());
  Mutant mutant;
  if (is_generated) {
    mutant.path = "generated.hlo";
    fuzz::GeneratedProgram generated =
        fuzz::GenerateProgram(choices, {.instructions = 10, .max_elements = 200});
    for (size_t i = 0; i < generated.arguments.size(); ++i)
      mutant.values.emplace(fmt::format("arg{}", i), generated.arguments[i]);
    const absl::StatusOr<Program> program = Program::OfModule(std::move(generated.module));
    if (program.ok()) mutant.text = ModuleToText(program->module());
    if (choices.OneIn(2)) return mutant;
  } else {
    mutant.path = seed.path;
    mutant.text = seed.text;
    if (const absl::StatusOr<Golden> golden = ParseGolden(seed.text); golden.ok())
      mutant.values = golden->inputs;
  }
  mutant.text = MutateText(mutant.text, choices, 1 + static_cast<int>(choices.Below(2) * choices.Below(3)));
  return mutant;
}

void Tell(const MutantFlags& flags, const Mutant& mutant, uint64_t number, const std::string& what) {
  std::printf("mutant %llu of %s: %s\n", static_cast<unsigned long long>(number), mutant.path.c_str(),
              what.c_str());
  std::fflush(stdout);
  if (flags.keep.empty()) return;
  const std::string form = std::filesystem::path(mutant.path).extension();
  std::ofstream(fmt::format("{}/mutant_{}{}", flags.keep, number, form)) << mutant.text;
}

void RunBatch(const MutantFlags& flags, const std::vector<SeedProgram>& programs, uint64_t first,
              uint64_t end, Progress& progress) {
  for (uint64_t number = first; number < end; ++number) {
    progress.current = number;
    alarm(kSecondsOfMutant);
    const Mutant mutant = MutantOf(flags, programs, number);
    const MutantOutcome outcome = CompareMutant(mutant.path, mutant.text, mutant.values, number);
    ++progress.ends[static_cast<int>(outcome.end)];
    if (outcome.end == MutantEnd::kDifferent) Tell(flags, mutant, number, outcome.text);
  }
  progress.current = end;
}

std::vector<SeedProgram> ReadPrograms(const std::vector<std::string>& paths) {
  std::vector<SeedProgram> programs;
  for (const std::string& path : FindGoldens(paths).files) {
    absl::StatusOr<std::string> text = ReadFile(path);
    const bool is_text = path.size() > 4 && path.substr(path.size() - 3) != ".pb";
    if (text.ok() && is_text && text->size() <= kLongestProgram) programs.push_back({path, *std::move(text)});
  }
  return programs;
}

int RunAll(MutantFlags flags) {
  const std::vector<SeedProgram> programs = ReadPrograms(flags.paths);
  if (programs.empty()) {
    std::fprintf(stderr, "assay_mutants: no programs\n");
    return 5;
  }
  if (flags.rounds > 0) flags.count = flags.rounds * programs.size();
  void* const shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 5;
  auto& progress = *new (shared) Progress();
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  int64_t died = 0;
  uint64_t next = flags.first;
  while (next < flags.first + flags.count && (flags.seconds == 0 || seconds() < flags.seconds)) {
    const uint64_t end = std::min(next + kBatch, flags.first + flags.count);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      RunBatch(flags, programs, next, end, progress);
      std::fflush(nullptr);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 5;
    next = progress.current;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    ++died;
    Tell(flags, MutantOf(flags, programs, next), next,
         WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                             : fmt::format("exit code {}", WEXITSTATUS(status)));
    ++next;
  }
  const auto count = [&](MutantEnd end) { return progress.ends[static_cast<int>(end)].load(); };
  std::printf(
      "%llu mutants of %zu programs in %.0f s: %lld refused, %lld not run, %lld over time, %lld the same "
      "error, "
      "%lld equal; %lld different, %lld died\n",
      static_cast<unsigned long long>(next - flags.first), programs.size(), seconds(),
      static_cast<long long>(count(MutantEnd::kRefused)), static_cast<long long>(count(MutantEnd::kNotRun)),
      static_cast<long long>(count(MutantEnd::kTimedOut)), static_cast<long long>(count(MutantEnd::kFailed)),
      static_cast<long long>(count(MutantEnd::kEqual)), static_cast<long long>(count(MutantEnd::kDifferent)),
      static_cast<long long>(died));
  return count(MutantEnd::kDifferent) + died > 0 ? 1 : 0;
}

int Main(int argc, char** argv) {
  MutantFlags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool takes_value = flag.substr(0, 2) == "--";
    if (takes_value && i + 1 == argc) return 2;
    const char* const value = takes_value ? argv[++i] : argv[i];
    if (flag == "--first") {
      flags.first = std::strtoull(value, nullptr, 10);
    } else if (flag == "--count") {
      flags.count = std::strtoull(value, nullptr, 10);
    } else if (flag == "--rounds") {
      flags.rounds = std::strtoull(value, nullptr, 10);
    } else if (flag == "--generated") {
      flags.generated = std::strtoll(value, nullptr, 10);
    } else if (flag == "--seconds") {
      flags.seconds = std::strtod(value, nullptr);
    } else if (flag == "--keep") {
      flags.keep = value;
    } else if (takes_value) {
      return 2;
    } else {
      flags.paths.emplace_back(value);
    }
  }
  if (flags.paths.empty()) return 2;
  return RunAll(flags);
}

}  // namespace
}  // namespace assay::testing

int main(int argc, char** argv) {
  const int code = assay::testing::Main(argc, argv);
  if (code == 2) {
    std::fprintf(
        stderr,
        "usage: assay_mutants [--first N] [--count N | --rounds N] [--generated N] [--seconds S] [--keep DIR]"
        " PATH...\n");
  }
  return code;
}
