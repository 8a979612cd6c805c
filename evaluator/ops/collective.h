// What the files of the collective family share.
#ifndef ASSAY_EVALUATOR_OPS_COLLECTIVE_H_
#define ASSAY_EVALUATOR_OPS_COLLECTIVE_H_

#include "evaluator/op.h"

namespace assay {

// GRP-C1 to GRP-C6 for a collective that has no use_global_device_ids and needs groups of one size that cover
// every process: that size.
absl::StatusOr<int64_t> CheckedGroupSize(const InferContext& context);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_COLLECTIVE_H_
