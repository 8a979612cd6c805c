// Programs with their bounds.
#ifndef ASSAY_TESTS_CHECK_BOUNDS_TESTING_H_
#define ASSAY_TESTS_CHECK_BOUNDS_TESTING_H_

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "check/conformance.h"

namespace assay::testing {

// By the profile strict, and what the text adds to it.
inline BoundedOutputs Bounded(const std::string& text, std::vector<Literal> arguments,
                              const std::string& more = "") {
  const absl::StatusOr<Profile> profile = ParseProfile("test", "inherit strict\n" + more);
  REQUIRE(profile.ok());
  const absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  INFO(program.status());
  REQUIRE(program.ok());
  std::vector<DeviceInputs> inputs(1);
  inputs[0].arguments = std::move(arguments);
  const absl::StatusOr<BoundedOutputs> outputs =
      RunWithBounds(*program, *profile, DeviceGrid{}, std::move(inputs), RunOptions());
  INFO(outputs.status());
  REQUIRE(outputs.ok());
  return *outputs;
}

// The radii of the first output.
inline std::vector<double> RadiiOf(const std::string& text, std::vector<Literal> arguments,
                                   const std::string& more = "") {
  const BoundedOutputs bounded = Bounded(text, std::move(arguments), more);
  REQUIRE(bounded.outputs.size() >= 1);
  const BoundedOutput& output = bounded.outputs[0];
  std::vector<double> radii;
  for (int64_t i = 0; i < output.exact.shape().num_elements(); ++i)
    radii.push_back(output.radius.has_value() ? output.radius->GetDouble(i) : 0);
  return radii;
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_CHECK_BOUNDS_TESTING_H_
