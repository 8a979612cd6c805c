// Instructions that read a large broadcast through: it is an index away from a smaller
// array and need not be stored.
#ifndef ASSAY_PLAN_BROADCAST_FUSION_H_
#define ASSAY_PLAN_BROADCAST_FUSION_H_

#include <optional>
#include <vector>

#include "plan/fusion.h"

namespace assay {

// A broadcast of fewer bytes is stored: kernels of arrays are quicker than those that go by an index.
inline constexpr int64_t kLeastReadThrough = 1 << 20;

// The instruction `reader` (an index in the computation) as the root of a fusion with the broadcast that is
// its operand 0, where both `may_join` and that is large; else nothing. Elementwise readers are none:
// fusion.h has them. Which others an engine takes is the engine's to say.
// A broadcast may be in several fusions, as there.
std::optional<Fusion> FusionWithBroadcast(const Computation& computation, int32_t reader,
                                          const std::vector<bool>& may_join);

}  // namespace assay

#endif  // ASSAY_PLAN_BROADCAST_FUSION_H_
