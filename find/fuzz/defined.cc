#include "find/fuzz/defined.h"

#include <string>
#include <utility>

#include "base/run_guard.h"
#include "check/audit.h"
#include "fmt/format.h"

namespace assay::fuzz {
namespace {

class DefinedTest final : public InterestTest {
 public:
  DefinedTest(std::unique_ptr<InterestTest> test, AskOptions options)
      : test_(std::move(test)), options_(std::move(options)) {}

  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    ASSAY_ASSIGN_OR_RETURN(Interest interest, test_->Ask(test_case));
    if (!interest.is_interesting) return interest;
    RunOptions run = options_.run;
    run.parent_guard = WorkScope::Current();
    run.jobs = 1;
    DeviceInputs inputs;
    inputs.arguments = test_case.arguments();
    ASSAY_ASSIGN_OR_RETURN(const AuditReport report,
                           AuditRun(test_case.program(), DeviceGrid(), {inputs}, run));
    for (const AuditFinding& finding : report.findings) {
      // Of some instructions the text alone is read: whether their values depend on the point is not known.
      const bool is_unknown = finding.runs == 0;
      if (!finding.Depends() && !is_unknown) continue;
      if (finding.point == AuditPoint::kSubnormals) continue;
      return Interest{
          false, fmt::format("%{} depends on {}, which is open", finding.instruction, Name(finding.point))};
    }
    return interest;
  }
  std::string Command(const std::string& program, const std::string& inputs) const override {
    return test_->Command(program, inputs);
  }

 private:
  const std::unique_ptr<InterestTest> test_;
  const AskOptions options_;
};

}  // namespace

std::unique_ptr<InterestTest> AskWhereDefined(std::unique_ptr<InterestTest> test, AskOptions options) {
  return std::make_unique<DefinedTest>(std::move(test), std::move(options));
}

}  // namespace assay::fuzz
