// Replica groups of collectives: GRP-C1 to GRP-C6 of docs/spec/operations-collective.md, and the devices that
// they name.
#ifndef ASSAY_EVALUATOR_REPLICA_GROUPS_H_
#define ASSAY_EVALUATOR_REPLICA_GROUPS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "evaluator/device.h"
#include "hlo/module.h"

namespace assay {

// What a collective asks of its groups.
struct GroupRules {
  bool has_global_ids = false;  // reads use_global_device_ids
  bool covers_all = false;      // every id stands in a group
  bool equal_sizes = false;
};

// The groups of a collective: `size` members in each (in the largest where sizes differ); where it is not
// exact, a multiple of it, which the number of devices decides.
struct ReplicaGroupSize {
  int64_t size = 1;
  bool exact = true;
  // The size of the groups where shapes are in the ratio `ratio`, 0 where they do not say it.
  int64_t For(int64_t ratio) const { return !exact && ratio > 0 && ratio % size == 0 ? ratio : size; }
};

// The number of devices that a program is checked for. Before a run a count of 1 in the module's header means
// that it is not said, so ids may be of any range (Decision: device-counts); with a run's grid it is settled.
struct DeviceCounts {
  DeviceGrid grid;
  bool settled = false;

  static DeviceCounts AsWritten(const Module& module) {
    return {{module.replica_count, module.num_partitions}, /*settled=*/false};
  }
  static DeviceCounts Settled(const DeviceGrid& grid) { return {grid, /*settled=*/true}; }
};

absl::StatusOr<ReplicaGroupSize> CheckReplicaGroups(const DeviceCounts& counts,
                                                    const AttributeMap& attributes, const GroupRules& rules);

// CollectivePermute-C2, C3: no source and no target stands in more than `most` pairs, and all are in range.
absl::Status CheckSourceTargetPairs(const DeviceCounts& counts, const AttributeMap& attributes,
                                    int64_t most = 1);

// What the ids of a list are.
enum class IdKind : uint8_t {
  kReplica,               // cross_replica: the replicas of one partition
  kPartition,             // cross_partition: the partitions of one replica
  kReplicaAndPartitions,  // cross_replica_and_partition: a replica with all its partitions
  kGlobal,                // flattened: devices
};
IdKind IdKindOf(const AttributeMap& attributes, bool has_global_ids);
// A channel_id of 0 is none. Decision: collective-channel-0
bool HasChannel(const AttributeMap& attributes);

// The devices of the group that device `id` is in, in group order, for groups that CheckReplicaGroups has
// passed for this grid; none where no group has it.
std::vector<int64_t> GroupOf(const DeviceGrid& grid, const AttributeMap& attributes, const GroupRules& rules,
                             int64_t id);

// (source, target) pairs of devices, among those that differ from device `id` in `kind`,
// kReplica or kPartition, alone.
using DevicePairs = std::vector<std::pair<int64_t, int64_t>>;
DevicePairs PairsOf(const DeviceGrid& grid, const IntLists& pairs, IdKind kind, int64_t id);

// The pairs of a send or recv between devices, _xla_send_recv_source_target_pairs={{s,t},...}; none where
// each device talks to itself. InvalidProgram: no such list.
absl::StatusOr<IntLists> TransferPairs(const Instruction& instruction);
// What the ids of those pairs are. Decision: transfer-ids
inline IdKind TransferIdKind(const DeviceGrid& grid) {
  return grid.partitions > 1 || grid.replicas == 1 ? IdKind::kPartition : IdKind::kReplica;
}

// How many of each kind the lists of a collective name: one more than the largest id, or 0.
int64_t IdsNamed(const AttributeMap& attributes);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_REPLICA_GROUPS_H_
