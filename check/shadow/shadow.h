// Shadow evaluation: a program's values by numbers of 256 bits beside those that are rounded after each
// operation, and which roundings the error of its outputs comes from (docs/shadow.md).
#ifndef ASSAY_CHECK_SHADOW_SHADOW_H_
#define ASSAY_CHECK_SHADOW_SHADOW_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices/run_devices.h"
#include "run/program.h"

namespace assay {

// Over all elements and runs of an instruction that gives floats. An ulp is that of the rounded result.
struct ShadowInstruction {
  std::string computation, name, op, shape;
  int64_t runs = 0, elements = 0;
  double local_ulps = 0;      // the largest error by its own rounding
  double inherited_ulps = 0;  // the largest error by what its operands had
  double error_ulps = 0;      // the largest of both together
  double cancelled_digits =
      0;  // of sums and differences: how many decimal digits the largest term is ahead of the result
  int64_t otherwise = 0;  // elements that the shadow would decide otherwise: comparisons, floor, sign, …
  std::string restarted;  // its shadow is its rounded result: why; empty: it has a rule
  // The error that the roundings of it and of the group's other members alone make in an output, as a share
  // of that output's error: the largest over outputs. Groups are of one instruction where there was time for
  // it. -1: it rounds nothing.
  double share = -1;
  int64_t group = 0, group_size = 0;
};

struct ShadowOutput {
  std::string key;
  int64_t elements = 0;
  double error_ulps = 0;      // the largest
  double relative_error = 0;  // the root of the squared errors' sum by that of the squared values'
};

struct ShadowReport {
  std::vector<ShadowOutput> outputs;            // of floats
  std::vector<ShadowInstruction> instructions;  // in program order, callees first
  int64_t evaluations = 0;                      // of the program, by numbers of 256 bits
};

// Runs on one device, by the reference. Errors: NotSupported for dynamic dimensions; those of the run.
absl::StatusOr<ShadowReport> RunShadow(const Program& program, const DeviceInputs& inputs,
                                       const RunOptions& options);

// A call of a computation in a run of the program.
struct ShadowCall {
  int32_t caller = -1;        // the instruction that makes it, in the computation around
  int64_t iteration = -1;     // of a while; else -1
  bool is_condition = false;  // of that while
  auto operator<=>(const ShadowCall&) const = default;
};

// An element of what an instruction gives in a call. `calls`: this call and those around it, from the one
// that the entry computation makes inward.
struct ShadowElement {
  std::vector<ShadowCall> calls;
  int32_t instruction = -1;
  int64_t position = 0;
};

// How many ulps each element is off its shadow; nullopt where it is no finite float, and where its shadow is
// the element itself because its instruction has no rule. Runs and errors are RunShadow's.
absl::StatusOr<std::vector<std::optional<double>>> ShadowErrorsOf(const Program& program,
                                                                  const DeviceInputs& inputs,
                                                                  const RunOptions& options,
                                                                  std::span<const ShadowElement> elements);

}  // namespace assay

#endif  // ASSAY_CHECK_SHADOW_SHADOW_H_
