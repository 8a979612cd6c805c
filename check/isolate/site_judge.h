// The instructions of a computation, each alone on the arrays that the backend had: whether its result lies
// within the bounds of a profile.
#ifndef ASSAY_CHECK_ISOLATE_SITE_JUDGE_H_
#define ASSAY_CHECK_ISOLATE_SITE_JUDGE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/conformance.h"
#include "check/isolate/isolation.h"
#include "check/isolate/sites.h"
#include "run/program.h"

namespace assay {

// An instruction on one set of values.
struct JudgedInstruction {
  int32_t instruction = 0;
  std::vector<BoundedOutput> bounds;  // of its arrays
  Conformance found;                  // of all of them
  std::string why_unchecked;          // where no element could be checked, and the reason is known
};

struct JudgedValues {
  std::vector<JudgedInstruction> instructions;  // those that can be checked, in program order
  std::map<int32_t, int64_t> iterations;        // of its loops, by the exact engine
};

class SiteJudge {
 public:
  SiteJudge(ModuleSources& sources, const Profile& profile, const IsolateOptions& options)
      : sources_(sources), profile_(profile), options_(options) {}

  absl::StatusOr<JudgedValues> JudgeInstructions(ComputationId id, const Values& values);
  // Whether a loop may go on, or end, in this state (its leaves), by its condition's bounds.
  absl::StatusOr<bool> ConditionAllows(const Instruction& loop, const std::vector<Literal>& state,
                                       bool goes_on);
  // Adds up what was found of one leaf of a result.
  static void Add(Conformance& total, const Conformance& leaf);

 private:
  // A program that computes what is judged, and its bounds.
  struct Checker {
    std::optional<Program> program;                     // none: there is nothing to judge
    std::vector<ValueId> parameters;                    // of the program
    std::vector<int32_t> instructions;                  // by output: what gives it
    std::vector<std::pair<int32_t, size_t>> counters;   // loops, and the outputs that count their iterations
    std::map<std::vector<bool>, PlannedBounds> bounds;  // by SubnormalLeaves of the arguments
  };
  absl::StatusOr<Checker*> InstructionsOf(ComputationId id);
  absl::StatusOr<Checker*> ConditionOf(ComputationId id);
  absl::StatusOr<std::vector<BoundedOutput>> BoundsOf(Checker& checker, const Values& values);

  ModuleSources& sources_;
  const Profile& profile_;
  const IsolateOptions& options_;
  std::map<int32_t, std::unique_ptr<Checker>> instructions_, conditions_;  // by computation
};

}  // namespace assay

#endif  // ASSAY_CHECK_ISOLATE_SITE_JUDGE_H_
