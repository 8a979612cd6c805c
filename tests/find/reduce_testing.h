// Test cases of HLO text for the tests of reductions.
#ifndef ASSAY_TESTS_FIND_REDUCE_TESTING_H_
#define ASSAY_TESTS_FIND_REDUCE_TESTING_H_

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "find/reduce/reduction.h"
#include "find/reduce/test_case.h"
#include "hlo/text/printer.h"
#include "run/inputs/random_inputs.h"
#include "tests/run/program_testing.h"

namespace assay {

inline CheckedCase CaseOf(const std::string& text, std::vector<Literal> arguments) {
  CheckedCase test_case = CheckedCase::AsRead(ProgramOf(text), std::move(arguments));
  test_case.ComputeValues({});
  return test_case;
}
// On random arguments.
inline CheckedCase CaseOf(const std::string& text) {
  absl::StatusOr<std::vector<Literal>> arguments = RandomInputs(ProgramOf(text).verified(), 1);
  REQUIRE(arguments.ok());
  return CaseOf(text, *std::move(arguments));
}

inline const Reduction& ReductionNamed(std::string_view name) {
  for (const Reduction& reduction : Reductions()) {
    if (reduction.name == name) return reduction;
  }
  FAIL("no reduction " << name);
  return Reductions()[0];
}

inline CheckedCase Applied(const CheckedCase& from, std::string_view name,
                           std::span<const ReductionPlace> places) {
  absl::StatusOr<TestCase> to = ReductionNamed(name).apply(from, places);
  INFO(name << to.status());
  REQUIRE(to.ok());
  absl::StatusOr<CheckedCase> checked = CheckedCase::Of(*std::move(to));
  INFO(name << checked.status());
  REQUIRE(checked.ok());
  return *std::move(checked);
}
// At all places together.
inline CheckedCase Applied(const CheckedCase& from, std::string_view name) {
  const std::vector<ReductionPlace> places = ReductionNamed(name).places(from);
  INFO(name);
  REQUIRE(!places.empty());
  return Applied(from, name, places);
}
// At one place.
inline CheckedCase AppliedAt(const CheckedCase& from, std::string_view name, size_t k) {
  const std::vector<ReductionPlace> places = ReductionNamed(name).places(from);
  INFO(name);
  REQUIRE(k < places.size());
  return Applied(from, name, {&places[k], 1});
}

// The canonical text of a program that is written by hand.
inline std::string Canonical(const std::string& text) { return ModuleToText(ProgramOf(text).as_written()); }
inline std::string TextOf(const CheckedCase& test_case) { return ModuleToText(test_case.module()); }

}  // namespace assay

#endif  // ASSAY_TESTS_FIND_REDUCE_TESTING_H_
