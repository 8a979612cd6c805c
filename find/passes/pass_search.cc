#include "find/passes/pass_search.h"

#include <algorithm>
#include <utility>

#include "base/run_guard.h"
#include "fmt/format.h"

namespace assay {
namespace {

using Compile = std::function<absl::StatusOr<Program>(int64_t passes)>;
using Holds = bool PassPoint::*;

class Searcher {
 public:
  Searcher(const Baseline& baseline, const std::optional<Profile>& profile, const Compile& compile,
           PassSearch& result)
      : baseline_(baseline), profile_(profile), compile_(compile), result_(result) {}

  // Both ends, without which nothing can be said.
  absl::Status EvaluateEnds() {
    for (const int64_t end : {result_.low, result_.high}) {
      ASSAY_ASSIGN_OR_RETURN(const PassPoint* const point, At(end));
      if (point->why.empty()) continue;
      return WithPrefix(errors_.at(end), fmt::format("after {} passes", end));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<PassBoundary>> Find(Holds holds) {
    int64_t low = result_.low, high = result_.high;
    if (result_.points.at(low).*holds == result_.points.at(high).*holds) return std::optional<PassBoundary>();
    // The ends may differ the other way round: what holds at first no longer does.
    const bool at_low = result_.points.at(low).*holds;
    while (true) {
      ASSAY_ASSIGN_OR_RETURN(const std::optional<int64_t> middle, Between(low, high));
      if (!middle) break;
      (result_.points.at(*middle).*holds == at_low ? low : high) = *middle;
    }
    PassBoundary boundary{low, high, {}};
    ASSAY_ASSIGN_OR_RETURN(const Program before, compile_(low));
    ASSAY_ASSIGN_OR_RETURN(const Program after, compile_(high));
    ASSAY_ASSIGN_OR_RETURN(boundary.detail, ComparePass(baseline_, before, after, profile_));
    return std::optional(std::move(boundary));
  }

 private:
  // The number nearest to the middle that can be evaluated; nullopt: none between the two can.
  absl::StatusOr<std::optional<int64_t>> Between(int64_t low, int64_t high) {
    const int64_t middle = low + (high - low) / 2;
    for (int64_t away = 0; away <= high - low; ++away) {
      for (const int64_t candidate : {middle + away, middle - away}) {
        if (candidate <= low || candidate >= high) continue;
        ASSAY_ASSIGN_OR_RETURN(const PassPoint* const point, At(candidate));
        if (point->why.empty()) return std::optional(candidate);
      }
    }
    return std::optional<int64_t>();
  }

  absl::StatusOr<const PassPoint*> At(int64_t passes) {
    if (const auto it = result_.points.find(passes); it != result_.points.end()) return &it->second;
    ASSAY_RETURN_IF_ERROR(PollWork());
    PassPoint point;
    const absl::Status status = Evaluate(passes, point);
    ASSAY_RETURN_IF_ERROR(PollWork());
    if (!status.ok()) {
      point.why = std::string(status.message());
      point.exit_code = ExitCodeOf(status);
      errors_[passes] = status;
    }
    return &result_.points.emplace(passes, std::move(point)).first->second;
  }

  absl::Status Evaluate(int64_t passes, PassPoint& point) {
    ASSAY_ASSIGN_OR_RETURN(const Program program, compile_(passes));
    ASSAY_ASSIGN_OR_RETURN(const BaselineRun run, baseline_.Run(program));
    point.outputs = baseline_.Compare(run);
    for (const OutputChange& output : point.outputs) {
      point.changed = point.changed || output.different > 0;
      point.outside = point.outside || output.outside > 0;
    }
    return absl::OkStatus();
  }

  const Baseline& baseline_;
  const std::optional<Profile>& profile_;
  const Compile& compile_;
  PassSearch& result_;
  std::map<int64_t, absl::Status> errors_;
};

}  // namespace

absl::StatusOr<PassSearch> SearchPasses(const Baseline& baseline, const std::optional<Profile>& profile,
                                        int64_t low, int64_t high, const Compile& compile) {
  PassSearch result;
  result.low = low;
  result.high = high;
  result.has_bounds = baseline.has_bounds();
  result.why_no_bounds = std::string(baseline.bounds_status().message());
  Searcher searcher(baseline, profile, compile, result);
  ASSAY_RETURN_IF_ERROR(searcher.EvaluateEnds());
  for (const auto& [holds, boundary] :
       {std::pair(&PassPoint::changed, &result.change), std::pair(&PassPoint::outside, &result.outside)}) {
    absl::StatusOr<std::optional<PassBoundary>> found = searcher.Find(holds);
    if (!found.ok()) {
      // What was evaluated stays.
      result.ended = found.status();
      break;
    }
    *boundary = *std::move(found);
  }
  return result;
}

}  // namespace assay
