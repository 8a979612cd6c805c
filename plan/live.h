// Which instructions of a program run.
#ifndef ASSAY_PLAN_LIVE_H_
#define ASSAY_PLAN_LIVE_H_

#include <vector>

#include "hlo/module.h"

namespace assay {

// By computation and instruction: what the computation's root or a side effect needs (TOKEN-1). Where calls were inlined
// (inline_calls.h), everything: what nobody needed is left out there already.
std::vector<std::vector<bool>> NeededInstructions(const Module& module);

}  // namespace assay

#endif  // ASSAY_PLAN_LIVE_H_
