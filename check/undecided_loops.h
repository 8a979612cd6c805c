// Loops that may be why bounds leave elements undecided: of these, forms are derived in a second run.
#ifndef ASSAY_CHECK_UNDECIDED_LOOPS_H_
#define ASSAY_CHECK_UNDECIDED_LOOPS_H_

#include <span>
#include <vector>

#include "check/derive_bounds.h"
#include "hlo/module.h"

namespace assay {

// Instructions of the entry computation that are loops, or call some, and which these leaves of the
// program's root depend on.
std::vector<int32_t> LoopsBehind(const Module& module, std::span<const int64_t> leaves);

// The loops that an instruction of the entry computation is, or holds in what it calls.
LoopSet LoopsIn(const Module& module, int32_t instruction);

}  // namespace assay

#endif  // ASSAY_CHECK_UNDECIDED_LOOPS_H_
