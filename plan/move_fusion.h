// Small concatenates that read through their operands: a slice, or an instruction that leaves elements in
// their places (KeepsPositions), between them and an array needs no step of its own then.
#ifndef ASSAY_PLAN_MOVE_FUSION_H_
#define ASSAY_PLAN_MOVE_FUSION_H_

#include <optional>
#include <vector>

#include "plan/fusion.h"

namespace assay {

// The most elements that such a concatenate moves; of large ones the time is the copy's.
inline constexpr int64_t kMaxConcatenated = 1 << 14;

// The concatenate (an index in the computation) as the root of a fusion with those of its operands that
// `may_join`; nothing where there are none. Members other than the root may be in several fusions,
// as in fusion.h.
std::optional<Fusion> FusionOfConcatenate(const Computation& computation, int32_t concatenate,
                                          const std::vector<bool>& may_join);

}  // namespace assay

#endif  // ASSAY_PLAN_MOVE_FUSION_H_
