// Calls written out where they stand: a loop's body that calls functions becomes one list of instructions,
// whose steps can be fused across the calls and run without arguments, frames and tuples in between.
//
// No result, error or number of steps can show it: what runs is what ran, in the same order, and counts the
// same. Maps are written out too (inline_maps.h); elements that broadcasts of their constants write count
// towards steps. Left as they are: calls whose types differ in anything from what they call, calls that
// control dependencies name, programs that send and receive, and programs whose calls are nested deeply or
// would become much longer.
#ifndef ASSAY_PLAN_INLINE_CALLS_H_
#define ASSAY_PLAN_INLINE_CALLS_H_

#include <memory>

#include "hlo/module.h"

namespace assay {

// The program without such calls, of `call`, of `fusion` and of `map`; null where it has none. Computation
// ids stay. A computation that is called no more has no instructions. The module is verified.
std::shared_ptr<const Module> InlineCalls(const Module& module);

}  // namespace assay

#endif  // ASSAY_PLAN_INLINE_CALLS_H_
