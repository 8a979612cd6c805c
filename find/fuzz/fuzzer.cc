#include "find/fuzz/fuzzer.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "base/file_io.h"
#include "base/run_guard.h"
#include "check/backends/command_backend.h"
#include "find/fuzz/features.h"
#include "find/fuzz/journal.h"
#include "find/fuzz/meaning.h"
#include "find/fuzz/rewrites.h"
#include "find/reduce/edit.h"
#include "find/reduce/finding.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"

namespace assay::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsBetweenJournals = 10;
constexpr int64_t kMostRewrites = 4;  // of one program

// Of four programs in a row, one is rewritten in a way that keeps every bit, one in a way that moves
// roundings, and one for several devices.
struct WayToRewrite {
  bool (*is_wanted)(const EqualRewrite&);
  int64_t most;
  Keeps keeps;
};
constexpr WayToRewrite kBitForBit = {KeepsBits, kMostRewrites, Keeps::kBits};
constexpr WayToRewrite kRegrouped = {
    [](const EqualRewrite& r) { return r.keeps == Keeps::kMeaning && !r.is_of_devices; }, 1, Keeps::kMeaning};
constexpr WayToRewrite kForDevices = {
    [](const EqualRewrite& r) { return r.keeps == Keeps::kBits && r.is_of_devices; }, 1, Keeps::kBits};
constexpr WayToRewrite kRegroupedForDevices = {
    [](const EqualRewrite& r) { return r.keeps == Keeps::kMeaning && r.is_of_devices; }, 1, Keeps::kMeaning};

std::string Words(const absl::Status& status) { return std::string(status.message()); }

class Campaign {
 public:
  Campaign(const FuzzOptions& options, const FuzzQuestions& questions,
           const std::function<void(const FuzzProgress&)>& progress)
      : options_(options), questions_(questions), progress_(progress) {}

  absl::StatusOr<FuzzState> Run() {
    ASSAY_RETURN_IF_ERROR(Resume());
    const double before = state_.seconds;
    const auto start = Clock::now();
    const int64_t end = options_.programs == 0 ? INT64_MAX : state_.next + options_.programs;
    double written = 0;
    while (state_.next < end && !Ended()) {
      ASSAY_RETURN_IF_ERROR(Next());
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      state_.seconds = before + seconds;
      if (progress_) progress_({state_, ""});
      if (seconds - written > kSecondsBetweenJournals) {
        ASSAY_RETURN_IF_ERROR(SaveJournal());
        written = seconds;
      }
      if (options_.seconds > 0 && seconds >= options_.seconds) break;
      if (options_.findings > 0 && static_cast<int64_t>(state_.findings.size()) >= options_.findings) break;
    }
    ASSAY_RETURN_IF_ERROR(SaveJournal());
    return std::move(state_);
  }

 private:
  bool Ended() const { return options_.interrupted && options_.interrupted(); }
  std::string JournalPath() const { return options_.folder + "/journal.txt"; }
  std::string Question() const { return fmt::format("{}, seed {}", options_.what, options_.seed); }

  absl::Status Resume() {
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    if (error) return BadInput(fmt::format("cannot make the folder: {}", error.message()));
    state_.seed = options_.seed;
    if (!std::filesystem::exists(JournalPath(), error)) return SaveJournal();
    ASSAY_ASSIGN_OR_RETURN(const std::string text, ReadFile(JournalPath()));
    ASSAY_ASSIGN_OR_RETURN(state_, ReadJournal(text, Question()));
    return absl::OkStatus();
  }

  absl::Status SaveJournal() const {
    return WriteFileAtomically(JournalPath(), WriteJournal(state_, Question()));
  }

  // Makes the next program and asks all questions of it.
  absl::Status Next() {
    RandomSource random(DerivedSeed(options_.seed, static_cast<uint64_t>(state_.next)));
    bytes_ = state_.corpus.Next(random);
    GeneratorOptions generator = options_.generator;
    generator.instructions = static_cast<int>(random.Between(2, options_.generator.instructions));
    const uint64_t rewrite_seed = random.Next();
    const int64_t number = state_.next++;
    Choices choices(bytes_);
    GeneratedProgram generated = GenerateProgram(choices, generator);
    absl::StatusOr<CheckedCase> made =
        CheckedCase::Of({std::move(generated.module), std::move(generated.arguments)});
    if (!made.ok())
      return WithPrefix(made.status(), fmt::format("program {} of seed {}", number, options_.seed));
    const auto plan = made->program().PlanFor(options_.ask.engines);
    if (!plan.ok()) return plan.status();
    state_.corpus.Add(bytes_, FeaturesOf(made->module(), **plan));
    Choices rewrite_choices(rewrite_seed);
    switch (number % 4) {
      case 0:
        return AskRewritten(*made, kBitForBit, rewrite_choices, number);
      case 2:
        return AskRewritten(*made, kRegrouped, rewrite_choices, number);
      case 3: {
        // The backend has one device.
        const WayToRewrite& way = rewrite_choices.OneIn(2) ? kForDevices : kRegroupedForDevices;
        const absl::StatusOr<CheckedCase> rewritten = Rewritten(*made, way, rewrite_choices, number);
        if (!rewritten.ok()) return rewritten.status();
        break;
      }
      default:
        break;
    }
    return AskWrong(*made, number);
  }

  absl::Status AskRewritten(const CheckedCase& made, const WayToRewrite& way, Choices& choices,
                            int64_t number) {
    absl::StatusOr<CheckedCase> rewritten = Rewritten(made, way, choices, number);
    if (!rewritten.ok()) return rewritten.status();
    return AskWrong(*rewritten, number);
  }

  // The program written in another way, which must mean the same; a difference is a finding.
  absl::StatusOr<CheckedCase> Rewritten(const CheckedCase& made, const WayToRewrite& way, Choices& choices,
                                        int64_t number) {
    TestCase other = made.Copy();
    const auto count = static_cast<int>(1 + choices.Below(way.most));
    const std::vector<std::string_view> applied = RewriteEqually(choices, count, way.is_wanted, other.module);
    if (applied.empty()) return made;
    absl::StatusOr<CheckedCase> rewritten = CheckedCase::Of(std::move(other));
    if (!rewritten.ok()) {
      return WithPrefix(rewritten.status(), fmt::format("program {} of seed {}, rewritten by '{}'", number,
                                                        options_.seed, applied[0]));
    }
    ++state_.rewritten;
    const WorkScope work(TryGuard());
    const MeaningOptions meaning{options_.ask, options_.profile};
    const absl::StatusOr<std::string> differ = OutputsDiffer(made, *rewritten, way.keeps, meaning);
    // What has no result is counted when it is judged.
    if (differ.ok() && !differ->empty()) {
      const std::unique_ptr<InterestTest> test = AskMeaning(meaning);
      ASSAY_RETURN_IF_ERROR(Found(FindingKind::kMeaning, made, *test, *differ, std::string(applied[0])));
    }
    return rewritten;
  }

  std::shared_ptr<RunGuard> TryGuard() const {
    RunLimits limits = options_.search.limits;
    limits.timeout_seconds = options_.search.try_seconds;
    return std::make_shared<RunGuard>(limits, options_.interrupted);
  }

  // Whether Assay itself evaluates the program.
  bool HasResult(const CheckedCase& test_case) const {
    const WorkScope work(TryGuard());
    RunOptions run = options_.ask.run;
    run.parent_guard = WorkScope::Current();
    run.jobs = 1;
    return test_case.program().Run(test_case.arguments(), run, options_.ask.engines).ok();
  }

  absl::Status AskWrong(const CheckedCase& test_case, int64_t number) {
    if (!HasResult(test_case)) {
      ++state_.without_result;
      return absl::OkStatus();
    }
    const absl::StatusOr<Interest> interest = AskOnce(test_case, *questions_.wrong, options_.search);
    if (Ended()) {
      state_.next = number;  // asked again by the next session
      return absl::OkStatus();
    }
    if (interest.ok()) {
      ++state_.judged;
      state_.corpus.Add(bytes_, FeaturesOfShares(test_case.module(), interest->shares));
      if (!interest->is_interesting) return absl::OkStatus();
      return Found(FindingKind::kWrong, test_case, *questions_.wrong, interest->what,
                   questions_.sign ? questions_.sign(test_case) : std::string());
    }
    state_.corpus.Add(bytes_, {"error " + Skeleton(Words(interest.status()))});
    if (SignalOf(interest.status()) == 0 || !questions_.crash) {
      ++state_.refused[Skeleton(Words(interest.status()))];
      return absl::OkStatus();
    }
    const std::unique_ptr<InterestTest> crash = questions_.crash();
    const absl::StatusOr<Interest> again = AskOnce(test_case, *crash, options_.search);
    if (!again.ok() || !again->is_interesting) {
      ++state_.refused["not again: " + Skeleton(Words(interest.status()))];
      return absl::OkStatus();
    }
    return Found(FindingKind::kCrash, test_case, *crash, again->what, Skeleton(again->what));
  }

  // Makes the finding smaller and keeps it, unless its cause is known. `sign`: findings that look so have one
  // cause; empty: that is known only when it is small.
  absl::Status Found(FindingKind kind, const CheckedCase& test_case, const InterestTest& test,
                     const std::string& what, const std::string& sign) {
    const std::string known = sign.empty() ? "" : fmt::format("{}: {}", KindName(kind), sign);
    if (const auto it = state_.signs.find(known); it != state_.signs.end()) {
      for (const size_t index : it->second) {
        FuzzFinding& finding = state_.findings[index];
        if (kind == FindingKind::kCrash && !HasOperationsOf(test_case.module(), finding.cause)) continue;
        ++finding.count;
        return absl::OkStatus();
      }
    }
    if (progress_) progress_({state_, "reducing"});
    const SearchResult smaller = Reduce(test_case, what, test, options_.search);
    const std::string cause = CauseOf(smaller.best.module());
    size_t index = 0;
    while (index < state_.findings.size() &&
           (state_.findings[index].kind != kind || state_.findings[index].cause != cause))
      ++index;
    if (index < state_.findings.size()) {
      ++state_.findings[index].count;
    } else {
      ASSAY_ASSIGN_OR_RETURN(const std::string folder, Keep(kind, smaller, test, cause));
      state_.findings.push_back({kind, cause, folder});
    }
    if (!known.empty()) state_.signs[known].insert(index);
    return SaveJournal();
  }

  // Writes the folder of a finding; gives its name in the campaign's.
  absl::StatusOr<std::string> Keep(FindingKind kind, const SearchResult& smaller, const InterestTest& test,
                                   const std::string& cause) const {
    std::optional<OtherMeaning> other;
    if (kind == FindingKind::kMeaning) {
      const WorkScope work(TryGuard());
      ASSAY_ASSIGN_OR_RETURN(other, FindOtherMeaning(smaller.best, {options_.ask, options_.profile}));
    }
    FindingFolder finding;
    finding.title = fmt::format("{}: {}", KindName(kind), cause);
    finding.what = smaller.what;
    finding.command = [&](const std::string& program, const std::string& inputs) {
      return other ? MeaningCommand(*other, options_.profile.name, program, "rewritten.hlo", inputs)
                   : test.Command(program, inputs);
    };
    finding.notes.push_back(fmt::format("Found by `assay fuzz` ({}), program {}; made smaller in {}.",
                                        Question(), state_.next - 1, Counted(smaller.tries, "try")));
    ASSAY_ASSIGN_OR_RETURN(
        const std::string folder,
        WriteFinding(fmt::format("{}/{}-{}", options_.folder, KindName(kind), state_.findings.size() + 1),
                     finding, smaller.best.module(), smaller.best.arguments(), options_.ask.form));
    if (other) {
      ASSAY_RETURN_IF_ERROR(
          WriteFileAtomically(folder + "/rewritten.hlo", ModuleToText(other->program.module())));
    }
    return std::filesystem::path(folder).filename().string();
  }

  const FuzzOptions& options_;
  const FuzzQuestions& questions_;
  const std::function<void(const FuzzProgress&)>& progress_;
  FuzzState state_;
  ChoiceBytes bytes_;  // of the program that is asked about
};

}  // namespace

std::string_view KindName(FindingKind kind) {
  switch (kind) {
    case FindingKind::kWrong:
      return "wrong";
    case FindingKind::kCrash:
      return "crash";
    case FindingKind::kMeaning:
      return "meaning";
  }
  return "";
}

absl::StatusOr<FuzzState> Fuzz(const FuzzOptions& options, const FuzzQuestions& questions,
                               const std::function<void(const FuzzProgress&)>& progress) {
  return Campaign(options, questions, progress).Run();
}

}  // namespace assay::fuzz
