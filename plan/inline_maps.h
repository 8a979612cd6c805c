// Maps written out: the computation's ops on whole arrays, which can be fused with what is around them.
//
//   map(x, y), f(a, b) = tanh(a * b) + c    becomes    add(tanh(multiply(x, y)), broadcast(c))
//
// It takes computations of constants, elementwise ops and moves of scalars, and calls of such; others are
// applied element by element.
#ifndef ASSAY_PLAN_INLINE_MAPS_H_
#define ASSAY_PLAN_INLINE_MAPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "evaluator/inlining.h"

namespace assay {

// A map, where it stands.
struct MapSite {
  const Module& module;
  const Computation& caller;
  const Instruction& map;
  const std::vector<std::vector<bool>>& live;  // LiveInstructions(module)
};

// Appends the map's ops to `result`, at most `most` instructions, and returns where its value is; nothing,
// and `result` as it was, where some op has another meaning on arrays of the map's sizes. `places`: of the
// caller's instructions in `result`. All of it counts as the map (Computation::inlined_steps,
// which must be set).
std::optional<int32_t> InlineMap(const MapSite& site, std::span<const InlinedValue> places, size_t most,
                                 Computation& result);

}  // namespace assay

#endif  // ASSAY_PLAN_INLINE_MAPS_H_
