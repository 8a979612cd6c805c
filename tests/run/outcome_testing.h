// A program run by an engine of choice: result, statistics and plan.
#ifndef ASSAY_TESTS_RUN_OUTCOME_TESTING_H_
#define ASSAY_TESTS_RUN_OUTCOME_TESTING_H_

#include <string>
#include <vector>

#include "plan/plan_text.h"
#include "tests/run/program_testing.h"
#include "tests/run/run_text.h"

namespace assay {

struct Outcome {
  absl::StatusOr<Literal> result;
  RunStatistics statistics;
  std::string plan;
};

inline Outcome RunBy(EngineChoice choice, const std::string& program, const std::vector<Literal>& arguments,
                     RunOptions options = {}) {
  const Plan plan = PlanOf(ProgramOf(program), choice);
  Executor executor(plan, std::move(options));
  absl::StatusOr<Literal> result = executor.Run(arguments);
  return {std::move(result), executor.statistics(), PlanToText(plan)};
}

}  // namespace assay

#endif  // ASSAY_TESTS_RUN_OUTCOME_TESTING_H_
