#include "find/fuzz/defined.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/run_guard.h"
#include "check/audit.h"
#include "fmt/format.h"

namespace assay::fuzz {
namespace {

// Whether the element lies in the triangle that a Cholesky factor was not asked for.
bool IsInOtherTriangle(const Shape& factor, bool is_lower, int64_t position) {
  const int64_t n = factor.size(factor.rank() - 1);
  const int64_t row = position / n % n, column = position % n;
  return is_lower ? column > row : column < row;
}

// Whether nobody reads the open triangle of the Cholesky factor: each user is a select whose predicate leaves
// it out.
bool IsCutOff(const CheckedCase& test_case, const AuditFinding& finding, const RunOptions& run) {
  const Computation& entry = test_case.entry();
  if (finding.computation != entry.name) return false;
  const auto at = std::ranges::find(entry.instructions, finding.instruction, &Instruction::name);
  if (at == entry.instructions.end() || at->opcode != Opcode::kCholesky) return false;
  const auto factor = static_cast<int32_t>(at - entry.instructions.begin());
  if (entry.root == factor) return false;
  CheckedCase with_values = test_case;
  with_values.ComputeValues(run);
  const bool is_lower = at->attributes.Bool(Attr::kLower);
  for (const Instruction& user : entry.instructions) {
    if (std::ranges::find(user.operands, factor) == user.operands.end()) continue;
    if (user.opcode != Opcode::kSelect || with_values.values().empty()) return false;
    const std::optional<Literal>& predicate = with_values.values()[static_cast<size_t>(user.operands[0])];
    if (!predicate || !std::ranges::equal(predicate->shape().sizes(), at->shape->sizes())) return false;
    for (int64_t i = 0; i < at->shape->num_elements(); ++i) {
      const int32_t chosen = user.operands[predicate->GetInt(i) != 0 ? 1 : 2];
      if (chosen == factor && IsInOtherTriangle(*at->shape, is_lower, i)) return false;
    }
  }
  return true;
}

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
      if (finding.point == AuditPoint::kOtherTriangle && IsCutOff(test_case, finding, run)) continue;
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
