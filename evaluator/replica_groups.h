// Replica groups of collectives: GRP-C1 to GRP-C6 of spec/operations-collective.md.
#ifndef ASSAY_EVALUATOR_REPLICA_GROUPS_H_
#define ASSAY_EVALUATOR_REPLICA_GROUPS_H_

#include <cstdint>

#include "hlo/module.h"
#include "shape/error.h"

namespace assay {

// What a collective asks of its groups.
struct GroupRules {
  bool has_global_ids = false;  // reads use_global_device_ids
  bool covers_all = false;      // every id stands in a group
  bool equal_sizes = false;
};

// The groups of a collective: `size` members in each (in the largest where sizes differ); where it is not exact, a multiple
// of it, which the number of devices decides.
struct ReplicaGroupSize {
  int64_t size = 1;
  bool exact = true;
  // The size of the groups where shapes are in the ratio `ratio`, 0 where they do not say it.
  int64_t For(int64_t ratio) const { return !exact && ratio > 0 && ratio % size == 0 ? ratio : size; }
};

// The number of devices a program is checked for: before a run a count of 1 in the module's header means that it is not
// said, so ids may be of any range.
enum class DeviceCounts : uint8_t { kAsWritten, kSettled };

absl::StatusOr<ReplicaGroupSize> CheckReplicaGroups(const Module& module, const AttributeMap& attributes,
                                                    const GroupRules& rules, DeviceCounts counts);

// CollectivePermute-C2, C3: sources and targets are distinct, and in range.
absl::Status CheckSourceTargetPairs(const Module& module, const AttributeMap& attributes,
                                    DeviceCounts counts);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_REPLICA_GROUPS_H_
