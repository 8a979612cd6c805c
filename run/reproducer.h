// A step that the cross-check found wrong, as a directory that repeats it: program.hlo
// (the instruction or fusion alone), inputs.npz, expected.npz and actual.npz (what
// reference and kernel gave; where the reference would take long, expected.npz has a few elements, and
// "positions" says which), and README, which says what was wrong, with which flags and on which processor,
// and the command that repeats it.
#ifndef ASSAY_RUN_REPRODUCER_H_
#define ASSAY_RUN_REPRODUCER_H_

#include "run/elements_at.h"

namespace assay {

struct WrongStep {
  const Module& module;
  const StepValues& values;
  const Literal& expected;
  std::span<const int64_t> positions;  // of the elements that `expected` has; empty: it is the whole result
  const Literal& actual;
};

// A module whose entry computation is the step; parameter k is what it reads as operand k.
Module ModuleOfStep(const Module& module, const Computation& computation, std::span<const int32_t> members,
                    std::span<const int32_t> operands);

// Writes the reproducer to options.repro_dir, or where that exists to the first of repro_dir-2, -3, … that
// does not: whole or not at all. The status, with the command that repeats it,
// or with why nothing could be written.
absl::Status WithReproducer(const absl::Status& failure, const WrongStep& step, const RunOptions& options);

}  // namespace assay

#endif  // ASSAY_RUN_REPRODUCER_H_
