// Programs with their bounds.
#ifndef ASSAY_TESTS_CHECK_BOUNDS_TESTING_H_
#define ASSAY_TESTS_CHECK_BOUNDS_TESTING_H_

#include <catch2/catch.hpp>
#include <cmath>
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

inline std::vector<double> RadiiOf(const BoundedOutput& output) {
  std::vector<double> radii;
  for (int64_t i = 0; i < output.exact.shape().num_elements(); ++i)
    radii.push_back(output.radius.has_value() ? output.radius->GetDouble(i) : 0);
  return radii;
}

// The radii of the first output.
inline std::vector<double> RadiiOf(const std::string& text, std::vector<Literal> arguments,
                                   const std::string& more = "") {
  const BoundedOutputs bounded = Bounded(text, std::move(arguments), more);
  REQUIRE(bounded.outputs.size() >= 1);
  return RadiiOf(bounded.outputs[0]);
}

// Half the ulp of 1 in f32, the unit of roundoff.
inline const double kHalfUlpOfOne = std::ldexp(1, -24);

inline Literal FloatMatrix(int64_t rows, int64_t columns, const std::vector<double>& elements) {
  const int64_t sizes[] = {rows, columns};
  return Literal::FromDoubles(ElementType::kF32, sizes, elements);
}

// The radius behind `ten`, which is 10 with a radius of 50 half ulps of 1: of four terms in any order, and
// two roundings (bounds_test.cc). `zero` is a scalar as well.
inline const double kRadiusBehindTen = 50 * kHalfUlpOfOne;

inline double RadiusBehindTen(const std::string& rest) {
  const std::string text = R"(add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)
  zero = f32[] constant(0)
  ten = f32[] reduce(x, zero), dimensions={0}, to_apply=add
)" + rest + "}";
  const std::vector<double> radii =
      RadiiOf(text, {Literal::FromDoubles(ElementType::kF32, {{4}}, {{1, 2, 3, 4}})});
  REQUIRE(radii.size() == 1);
  return radii[0];
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_CHECK_BOUNDS_TESTING_H_
