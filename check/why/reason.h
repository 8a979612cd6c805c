// Why elements of outputs are not decided by proof, and what to do next (docs/bounds.md, Why nothing is
// proven).
#ifndef ASSAY_CHECK_WHY_REASON_H_
#define ASSAY_CHECK_WHY_REASON_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/conformance.h"
#include "check/estimate/estimate.h"
#include "check/undecided.h"
#include "check/why/parting.h"

namespace assay {

// Of one output with plausible, implausible or undecided elements.
struct Reason {
  std::string key;
  int64_t plausible = 0, implausible = 0, undecided = 0;
  // From where on nothing is proven. Without a name of an instruction: not known, `why` says why.
  FirstUndecided first;
  bool lacks_rule = false;         // bounds have no rule for `first`'s operation on its operands
  std::optional<Parting> parting;  // of samples that disagree wildly; none: they do not, or it was not found
  std::string next;                // what to do
};

// What is known of the comparison that the reasons are for.
struct ReasonsFor {
  const Program& program;
  const Profile& profile;
  const std::vector<Literal>& arguments;
  const RunOptions& options;
  EstimateOptions estimate;  // as the outputs were estimated
  std::span<const Engine* const> engines;
  // A command that checks every instruction alone. Empty: that was done.
  std::string isolate_command;
};

// One for each output with elements that are not decided by proof, in order. `outputs` are the judgements of
// `bounded`, one each. Errors: the interruption of a run; what fails otherwise is told in `first.why`.
absl::StatusOr<std::vector<Reason>> ReasonsOf(const ReasonsFor& comparison, const BoundedOutputs& bounded,
                                              std::span<const Conformance> outputs);

// In plain words, one sentence each, names without control characters.
std::string ElementsOf(const Reason& reason);   // "1 plausible and 2 undecided elements"
std::string PlaceOf(const FirstUndecided& at);  // "'%z = multiply' in '%w', iteration 12"
std::string WhyOf(const Reason& reason);        // "from PLACE on: WHY"
std::string PartingOf(const Reason& reason);    // where the samples part; empty: nowhere

// All of it for a terminal. Outputs with one reason share a line.
std::string TextOf(std::span<const Reason> reasons);

}  // namespace assay

#endif  // ASSAY_CHECK_WHY_REASON_H_
