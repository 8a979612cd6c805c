#include "find/fuzz/meaning.h"

#include <utility>

#include "base/quoted.h"
#include "base/run_guard.h"
#include "find/fuzz/rewrites.h"
#include "fmt/format.h"
#include "literal/compare.h"

namespace assay::fuzz {
namespace {

// The choices that rewrites make when a test case is reduced: the same at each try.
constexpr uint64_t kSeed = 1;

absl::StatusOr<Literal> RunCase(const CheckedCase& test_case, const AskOptions& options) {
  RunOptions run = options.run;
  run.parent_guard = WorkScope::Current();
  run.jobs = 1;
  return test_case.program().Run(test_case.arguments(), run, options.engines);
}

class MeaningTest final : public InterestTest {
 public:
  explicit MeaningTest(AskOptions options) : options_(std::move(options)) {}

  absl::StatusOr<Interest> Ask(const CheckedCase& test_case) const override {
    ASSAY_ASSIGN_OR_RETURN(const std::optional<OtherMeaning> found, FindOtherMeaning(test_case, options_));
    if (!found) return Interest{false, "programs that mean the same give the same"};
    return Interest{true, found->what};
  }
  std::string Command(const std::string& program, const std::string& inputs) const override {
    return fmt::format("assay diff {} rewritten.hlo --inputs {}", ShellArgument(program),
                       ShellArgument(inputs));
  }

 private:
  const AskOptions options_;
};

}  // namespace

absl::StatusOr<std::string> OutputsDiffer(const CheckedCase& one, const CheckedCase& other,
                                          const AskOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Literal expected, RunCase(one, options));
  ASSAY_ASSIGN_OR_RETURN(const Literal actual, RunCase(other, options));
  const Comparison comparison = CompareLiterals(expected, actual, {});
  return comparison.ok() ? std::string() : comparison.Report();
}

absl::StatusOr<std::optional<OtherMeaning>> FindOtherMeaning(const CheckedCase& test_case,
                                                             const AskOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Literal expected, RunCase(test_case, options));
  for (const EqualRewrite& rewrite : EqualRewrites()) {
    for (int32_t k = 0; k < static_cast<int32_t>(test_case.entry().instructions.size()); ++k) {
      const Instruction& instruction = test_case.entry().instructions[static_cast<size_t>(k)];
      if (!rewrite.applies(test_case.module(), instruction)) continue;
      ASSAY_RETURN_IF_ERROR(PollWork());
      TestCase rewritten = test_case.Copy();
      Choices choices(kSeed);
      if (!ApplyRewrite(rewrite, k, choices, rewritten.module).ok()) continue;
      absl::StatusOr<CheckedCase> other = CheckedCase::Of(std::move(rewritten));
      if (!other.ok()) {
        return other.status();
      }
      ASSAY_ASSIGN_OR_RETURN(const Literal actual, RunCase(*other, options));
      const Comparison comparison = CompareLiterals(expected, actual, {});
      if (comparison.ok()) continue;
      std::string what = fmt::format("'{}' of %{}: {}", rewrite.name, instruction.name, comparison.Report());
      return OtherMeaning{*std::move(other), std::move(what)};
    }
  }
  return std::optional<OtherMeaning>();
}

std::unique_ptr<InterestTest> AskMeaning(AskOptions options) {
  return std::make_unique<MeaningTest>(std::move(options));
}

}  // namespace assay::fuzz
