// Maps written out: the computation's ops on whole arrays, which can be fused with what is around them.
//
//   map(x, y), f(a, b) = tanh(a * b) + c    becomes    add(tanh(multiply(x, y)), broadcast(c))
//
// For computations of constants, elementwise ops and moves of scalars; others are applied element by element.
#ifndef ASSAY_PLAN_INLINE_MAPS_H_
#define ASSAY_PLAN_INLINE_MAPS_H_

#include <cstdint>
#include <span>

#include "hlo/module.h"

namespace assay {

// Whether the ops of `body`, which `map` calls, have the same meaning on arrays of the map's sizes.
bool CanInlineMap(const Computation& body, const Instruction& map);

// Appends them to `result` and returns where the map's value is. `places`: of the caller's instructions in `result`. All of
// it counts as the map (Computation::inlined_steps, which must be set).
int32_t InsertMap(const Computation& body, const Computation& caller, const Instruction& map,
                  std::span<const int32_t> places, Computation& result);

}  // namespace assay

#endif  // ASSAY_PLAN_INLINE_MAPS_H_
