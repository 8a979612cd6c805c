// Programs of HLO text and their plans, for tests: what can't be read, verified or planned fails the test.
#ifndef ASSAY_TESTS_RUN_PROGRAM_TESTING_H_
#define ASSAY_TESTS_RUN_PROGRAM_TESTING_H_

#include <catch2/catch.hpp>
#include <memory>
#include <span>
#include <string>

#include "run/program.h"

namespace assay {

inline Program ProgramOf(const std::string& text) {
  absl::StatusOr<Program> program = Program::Load("program.hlo", text);
  INFO(text << program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

// A copy, which the test may change.
inline Plan PlanOf(const Program& program, std::span<const Engine* const> engines = EnginesOf()) {
  const absl::StatusOr<std::shared_ptr<const Plan>> plan = program.PlanFor(engines);
  INFO(plan.status());
  REQUIRE(plan.ok());
  return **plan;
}
inline Plan PlanOf(const Program& program, EngineChoice choice, Isa isa = MachineIsa()) {
  return PlanOf(program, EnginesOf(choice, isa));
}
inline Plan PlanOf(const std::string& text, EngineChoice choice = EngineChoice::kExact,
                   Isa isa = MachineIsa()) {
  return PlanOf(ProgramOf(text), choice, isa);
}

}  // namespace assay

#endif  // ASSAY_TESTS_RUN_PROGRAM_TESTING_H_
