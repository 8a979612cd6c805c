// Which instructions of a program run.
#ifndef ASSAY_PLAN_LIVE_H_
#define ASSAY_PLAN_LIVE_H_

#include <vector>

#include "hlo/module.h"

namespace assay {

// True for each instruction of a computation that its root or a side effect needs (TOKEN-1). Where calls were
// inlined (inline_calls.h), that is everything: what is not live is left out there already.
std::vector<std::vector<bool>> LiveInstructions(const Module& module);
// True for each computation that a while reaches, so that it may run many times.
std::vector<bool> ComputationsInLoops(const Module& module);

}  // namespace assay

#endif  // ASSAY_PLAN_LIVE_H_
