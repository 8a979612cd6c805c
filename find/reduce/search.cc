#include "find/reduce/search.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/functional/function_ref.h"
#include "base/run_guard.h"
#include "find/reduce/edit.h"
#include "find/reduce/roots.h"
#include "run/executor.h"

namespace assay {
namespace {

using Places = std::vector<ReductionPlace>;
using PlaceSpan = std::span<const ReductionPlace>;

bool HasLoops(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == Opcode::kWhile) return true;
    }
  }
  return false;
}

// What a run takes; nothing where it takes more than `most` (0: no limit), or can't be counted. A run that
// ends with another error has taken no more.
std::optional<int64_t> StepsOf(const CheckedCase& test_case, int64_t most) {
  RunOptions options;
  options.limits.max_steps = most;
  options.parent_guard = WorkScope::Current();
  options.jobs = 1;
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = test_case.program().PlanFor();
  if (!plan.ok()) return std::nullopt;
  Executor executor(**plan, options);
  const absl::Status status = executor.Run(test_case.arguments()).status();
  if (!PollWork().ok() || absl::IsResourceExhausted(status)) return std::nullopt;
  return executor.statistics().steps;
}

class Search {
 public:
  Search(CheckedCase given, std::string what, const InterestTest& test, const SearchOptions& options)
      : test_(test), options_(options), result_{std::move(given), std::move(what)} {
    if (options.seconds > 0) {
      deadline_ = Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
    }
    cost_ = CostOf(result_.best);
  }

  SearchResult Run() && {
    CountSteps();
    NeedAll();
    bool any = true;
    while (any && !MustEnd()) {
      any = false;
      for (const Reduction& reduction : options_.reductions) any = TryReduction(reduction) || any;
    }
    for (const auto& [name, count] : applied_) result_.applied.emplace_back(name, count);
    return std::move(result_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // From any thread.
  bool IsInterrupted() const { return options_.interrupted && options_.interrupted(); }
  bool IsOver() const { return IsInterrupted() || (deadline_ && Clock::now() >= *deadline_); }
  bool MustEnd() {
    if (!IsOver()) return false;
    result_.ended = IsInterrupted() ? "interrupted" : "out of time";
    return true;
  }

  // What programs with loops may take: twice the steps of the given one, and some more.
  void CountSteps() {
    if (!HasLoops(result_.best.module())) return;
    const WorkScope work(GuardOfTry([this] { return IsOver(); }));
    constexpr int64_t kAlwaysAllowed = 100'000;
    if (const std::optional<int64_t> steps = StepsOf(result_.best, 0))
      most_steps_ = 2 * *steps + kAlwaysAllowed;
  }

  // Reductions leave out what nobody needs. Where it is that which is interesting, it becomes a part of the
  // result first.
  void NeedAll() {
    const auto try_one = [this](TestCase test_case) {
      Try one;
      const auto make = [&]() -> absl::StatusOr<TestCase> { return std::move(test_case); };
      TryOne(
          make, [this] { return IsOver(); }, one, /*may_cost=*/true);
      if (!one.digest.empty() && asked_.insert(one.digest).second) ++result_.tries;
      if (one.candidate) Take(std::move(one));
    };
    TestCase without = result_.best.Copy();
    RemoveDead(without.module);
    if (NumInstructions(without.module) == NumInstructions(result_.best.module())) return;
    const std::string before = result_.best.digest();
    try_one(std::move(without));
    if (result_.best.digest() != before || IsOver()) return;
    absl::StatusOr<TestCase> with = WithAllOutputs(result_.best);
    if (with.ok()) try_one(*std::move(with));
  }

  bool TryReduction(const Reduction& reduction) {
    if (MustEnd()) return false;
    reduction_ = &reduction;
    return reduction.order == TryOrder::kHalving ? TryInHalves(reduction) : TryOneByOne(reduction);
  }

  Places ListPlaces(const Reduction& reduction) {
    const WorkScope work(GuardOfTry({}));
    RunOptions run = options_.run;
    run.parent_guard = WorkScope::Current();
    result_.best.ComputeValues(run);
    return reduction.places(result_.best);
  }

  bool TryOneByOne(const Reduction& reduction) {
    bool any = false;
    Places places = ListPlaces(reduction);
    for (size_t position = 0; position < places.size();) {
      const std::optional<size_t> taken = TakeFirst(reduction, places, position, 1);
      if (!taken) break;
      any = true;
      position = reduction.order == TryOrder::kFromStart ? 0 : *taken;
      places = ListPlaces(reduction);
    }
    return any;
  }

  bool TryInHalves(const Reduction& reduction) {
    bool any = false;
    Places places = ListPlaces(reduction);
    for (size_t size = places.size(); size > 0; size /= 2) {
      for (size_t position = 0; position < places.size();) {
        const std::optional<size_t> taken = TakeFirst(reduction, places, position, size);
        if (!taken) break;
        any = true;
        position = *taken;
        places = ListPlaces(reduction);
      }
      size = std::min(size, places.size());
    }
    return any;
  }

  // Tries places [position, position + size), the next `size` ones, and so on; the first that is interesting
  // becomes the best. Gives the position of its places.
  std::optional<size_t> TakeFirst(const Reduction& reduction, const Places& places, size_t position,
                                  size_t size) {
    std::vector<PlaceSpan> chunks;
    for (size_t at = position; at < places.size(); at += size)
      chunks.push_back(PlaceSpan(places).subspan(at, std::min(size, places.size() - at)));
    std::vector<Try> tries(chunks.size());
    TryAll(reduction, chunks, tries);
    for (size_t k = 0; k < tries.size(); ++k) {
      Try& one = tries[k];
      if (!one.is_done) {
        MustEnd();  // it was cut off
        break;
      }
      if (!one.digest.empty() && asked_.insert(one.digest).second) ++result_.tries;
      if (!one.candidate) continue;
      Take(std::move(one));
      ++applied_[std::string(reduction.name)];
      ShowProgress();
      return position + k * size;
    }
    ShowProgress();
    return std::nullopt;
  }

  // What became of some places.
  struct Try {
    bool is_done = false;
    std::string digest;                    // empty: there was nothing to ask
    std::optional<CheckedCase> candidate;  // where it is interesting
    std::string what;
  };

  void Take(Try one) {
    result_.best = *std::move(one.candidate);
    result_.what = std::move(one.what);
    cost_ = CostOf(result_.best);
  }

  // Up to the first interesting one all are done, unless the search has to end.
  void TryAll(const Reduction& reduction, const std::vector<PlaceSpan>& chunks, std::vector<Try>& tries) {
    std::atomic<size_t> next = 0, first = chunks.size();
    const auto work = [&] {
      for (size_t k = next++; k < first && !IsOver(); k = next++) {
        // One before it is interesting, or all has to end.
        const auto is_idle = [&, k] { return k > first || IsOver(); };
        TryOne([&] { return reduction.apply(result_.best, chunks[k]); }, is_idle, tries[k]);
        if (!tries[k].candidate) continue;
        size_t before = first;
        while (k < before && !first.compare_exchange_weak(before, k)) {
        }
      }
    };
    const size_t threads = std::min(static_cast<size_t>(std::max(options_.jobs, 1)), chunks.size());
    std::vector<std::thread> others;
    others.reserve(threads);
    try {
      for (size_t t = 1; t < threads; ++t) others.emplace_back(work);
    } catch (const std::exception&) {
      // The process may have no more threads, or no memory: those that there are do the work.
    }
    work();
    for (std::thread& other : others) other.join();
  }

  std::shared_ptr<RunGuard> GuardOfTry(std::function<bool()> interrupted) const {
    RunLimits limits = options_.limits;
    limits.timeout_seconds = options_.try_seconds;
    if (deadline_) {
      const double left = std::chrono::duration<double>(*deadline_ - Clock::now()).count();
      limits.timeout_seconds = std::clamp(left, 0.001, limits.timeout_seconds);
    }
    return std::make_shared<RunGuard>(limits, std::move(interrupted));
  }

  void TryOne(absl::FunctionRef<absl::StatusOr<TestCase>()> make, const std::function<bool()>& is_idle,
              Try& one, bool may_cost = false) {
    const WorkScope work(GuardOfTry(is_idle));
    absl::StatusOr<TestCase> reduced = make();
    absl::StatusOr<CheckedCase> candidate =
        reduced.ok() ? CheckedCase::Of(*std::move(reduced)) : reduced.status();
    if (!candidate.ok() || (!may_cost && CostOf(*candidate) >= cost_)) {
      one.is_done = !is_idle();
      return;
    }
    one.digest = candidate->digest();
    if (IsKnownToFail(one.digest)) {
      one.is_done = true;
      return;
    }
    absl::StatusOr<Interest> interest = RunsTooLong(*candidate) ? Interest{} : test_.Ask(*candidate);
    // An error of a test that was ended says nothing of the test case.
    if (!interest.ok() && is_idle()) return;
    one.is_done = true;
    if (interest.ok() && interest->is_interesting) {
      one.candidate = *std::move(candidate);
      one.what = std::move(interest->what);
      return;
    }
    const std::lock_guard lock(mutex_);
    failed_.insert(one.digest);
  }

  // A change of a loop may make it endless. A test would find that out by its time limit alone.
  bool RunsTooLong(const CheckedCase& candidate) const {
    return most_steps_ > 0 && HasLoops(candidate.module()) && !StepsOf(candidate, most_steps_);
  }

  bool IsKnownToFail(const std::string& digest) {
    const std::lock_guard lock(mutex_);
    return failed_.contains(digest);
  }

  void ShowProgress() {
    if (!options_.progress) return;
    options_.progress({result_.tries, NumInstructions(result_.best.module()),
                       NumElements(result_.best.module()), reduction_->name});
  }

  const InterestTest& test_;
  const SearchOptions& options_;
  int64_t most_steps_ = 0;  // of programs with loops; 0: not known
  SearchResult result_;
  std::optional<Clock::time_point> deadline_;
  Cost cost_;
  const Reduction* reduction_ = nullptr;
  std::map<std::string, int64_t> applied_;
  std::set<std::string> asked_;   // digests of the tries that count
  std::mutex mutex_;              // of failed_
  std::set<std::string> failed_;  // digests of what was not interesting, of all tries
};

}  // namespace

absl::StatusOr<Interest> AskOnce(const CheckedCase& test_case, const InterestTest& test,
                                 const SearchOptions& options) {
  RunLimits limits = options.limits;
  limits.timeout_seconds = options.try_seconds;
  if (options.seconds > 0) limits.timeout_seconds = std::min(limits.timeout_seconds, options.seconds);
  const WorkScope work(std::make_shared<RunGuard>(limits, options.interrupted));
  return test.Ask(test_case);
}

SearchResult Reduce(CheckedCase given, std::string what, const InterestTest& test,
                    const SearchOptions& options) {
  return Search(std::move(given), std::move(what), test, options).Run();
}

}  // namespace assay
