// The frontend attribute of a collective whose groups the import of StableHLO wrote out as flattened ids, and
// its value: the mode that they are of there. It changes no value (Decision: stablehlo-group-order).
#ifndef ASSAY_HLO_GROUP_MODE_H_
#define ASSAY_HLO_GROUP_MODE_H_

#include <string_view>

namespace assay {

inline constexpr std::string_view kGroupMode = "stablehlo.group_mode",
                                  kAllPartitions = "cross_replica_and_partition";

}  // namespace assay

#endif  // ASSAY_HLO_GROUP_MODE_H_
