// Why elements of an output are undecided: the first instruction from which nothing is known.
#ifndef ASSAY_CHECK_UNDECIDED_H_
#define ASSAY_CHECK_UNDECIDED_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/derive_bounds.h"
#include "check/profile.h"
#include "devices/run_devices.h"
#include "run/program.h"

namespace assay {

struct FirstUndecided {
  std::string instruction, op;
  std::string inside;      // the call, branch or loop that it stands in; empty: the entry computation
  int64_t iteration = -1;  // of the innermost loop around it
  std::string why;
};

// Of the entry computation's instructions those with undecided elements: one run with flags of all.
absl::StatusOr<std::vector<bool>> FindUndecided(const Program& program, const Profile& profile,
                                                const std::vector<Literal>& arguments,
                                                const RunOptions& options,
                                                std::span<const Engine* const> engines);

// Of each leaf of the program's root that is named: the instruction, first in program order, with undecided
// elements whose operands have none, and on which the leaf depends by undecided elements. None where there is
// no such instruction. The program is run once more with flags of all instructions, and once each call,
// branch, and iteration of a loop that it is looked for in. `with_forms` as DeriveBounds takes them; in the
// iterations of a loop it is looked for by radii alone.
absl::StatusOr<std::vector<std::optional<FirstUndecided>>> FindFirstUndecided(
    const Program& program, const Profile& profile, const std::vector<Literal>& arguments,
    std::span<const int64_t> leaves, const RunOptions& options, std::span<const Engine* const> engines,
    const LoopSet& with_forms = {});

}  // namespace assay

#endif  // ASSAY_CHECK_UNDECIDED_H_
