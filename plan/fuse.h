// Steps of several instructions.
#ifndef ASSAY_PLAN_FUSE_H_
#define ASSAY_PLAN_FUSE_H_

#include <cstdint>
#include <span>

#include "plan/plan.h"

namespace assay {

// Grows fusions (fusion.h, move_fusion.h, broadcast_fusion.h) and offers each to the engines in their order.
// Where one is taken its root's step becomes the fusion's, and steps whose value nobody reads any more go.
// `fusions` counts those of a whole plan, which may have 2,048: each may have code in a few mappings of its
// own, of which a process may have about 65,000. Instructions that are `apart` (empty: none) are members of
// fusions only whose root is, too.
absl::Status FuseSteps(const Module& module, const Computation& computation,
                       std::span<const Engine* const> engines, bool in_loop, int64_t& fusions,
                       ComputationPlan& plan, const std::vector<bool>& apart = {});

}  // namespace assay

#endif  // ASSAY_PLAN_FUSE_H_
