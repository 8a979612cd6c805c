// Groups of replicas with all their partitions (a channel, and no global ids), of which HLO and StableHLO have two orders: HLO has, for
// each replica, its partitions; StableHLO, for each partition, the replicas of the group (Decision: stablehlo-group-order).
#ifndef ASSAY_HLO_GROUP_MODE_H_
#define ASSAY_HLO_GROUP_MODE_H_

#include <cstdint>
#include <string_view>

#include "hlo/module.h"

namespace assay {

// The frontend attribute of a collective whose groups the import of StableHLO wrote out as flattened ids, and its value: the mode that
// they are of there. It changes no value.
inline constexpr std::string_view kGroupMode = "stablehlo.group_mode",
                                  kAllPartitions = "cross_replica_and_partition";

// Whether the order of a group shows in the result of an all-gather, a reduce-scatter, or an all-reduce, whose reducer then is none
// that is associative and commutative to the last bit (sums of floats are exact).
bool ShowsGroupOrder(const Module& module, const Instruction& collective);

// How many devices an all-gather joins, or a reduce-scatter shares its result among, by their shapes; 0: they don't say.
int64_t MembersByShape(const Computation& computation, const Instruction& collective);

}  // namespace assay

#endif  // ASSAY_HLO_GROUP_MODE_H_
