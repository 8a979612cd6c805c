// The derived program: the values of a program, and beside them how far a conforming
// backend's may lie from them.
#ifndef ASSAY_CHECK_DERIVE_BOUNDS_H_
#define ASSAY_CHECK_DERIVE_BOUNDS_H_

#include <set>
#include <string>
#include <vector>

#include "check/profile.h"
#include "evaluator/verify.h"
#include "literal/literal.h"

namespace assay {

struct DerivedBounds {
  // Takes what the program takes. Its root is a tuple: the program's root,
  // the radii of some of its leaves, and the ends of some.
  Module module;
  // By leaf of the program's root, in order: the element of the tuple with its radius; -1: it is exact.
  std::vector<int64_t> radius_of_leaf;
  // The same of its smallest value that can be reached, behind which stands the largest; -1:
  // what the radius says.
  std::vector<int64_t> ends_of_leaf;
  // Instructions of which nothing is known, and why.
  struct Note {
    std::string instruction, op, why;
  };
  std::vector<Note> unchecked;
  // A loop or branch with collectives of which it may be undecided whether they run: on several devices
  // nothing is known of what others receive then. Empty: there is none.
  std::string undecided_collectives = {};
  // The names of loops of whose state forms are carried.
  std::vector<std::string> loops_with_forms = {};
};

// Loops of a module, which outlives it.
using LoopSet = std::set<const Instruction*>;

// By how much element i changes at most where numbers that are smaller than the smallest normal one are taken
// for zero: its magnitude if it is one of these. Of a complex number it is the sum over its parts, infinite
// where the number is not finite.
double SubnormalParts(const Literal& array, int64_t i);
// Whether that is more than zero for any element.
bool HasSubnormals(const Literal& array);

// `subnormal_arguments`: by leaf of the parameters, one parameter after the other, whether the array that
// will be given has subnormal numbers: where the profile flushes these they are not exact. Empty: none has.
// `with_forms`: loops of whose state first-order forms are derived, where the profile and the state allow it
// (check/computation_loop_forms.cc).
// Errors: NotSupported for programs with dynamic dimensions, and where the derived
// program would be too large.
absl::StatusOr<DerivedBounds> DeriveBounds(const VerifiedModule& program, const Profile& profile,
                                           const std::vector<bool>& subnormal_arguments = {},
                                           const LoopSet& with_forms = {});

}  // namespace assay

#endif  // ASSAY_CHECK_DERIVE_BOUNDS_H_
