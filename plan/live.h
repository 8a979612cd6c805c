// Which instructions of a program run.
#ifndef ASSAY_PLAN_LIVE_H_
#define ASSAY_PLAN_LIVE_H_

#include <vector>

#include "hlo/module.h"

namespace assay {

// By computation and instruction: what the computation's root or a side effect needs (TOKEN-1). Where calls were inlined
// (inline_calls.h), everything: what is not live is left out there already.
std::vector<std::vector<bool>> LiveInstructions(const Module& module);
// By computation: a while reaches it, so that it may run many times.
std::vector<bool> ComputationsInLoops(const Module& module);

}  // namespace assay

#endif  // ASSAY_PLAN_LIVE_H_
