// The order of the devices in a group (docs/audit.md, group-order).
#include <algorithm>

#include "evaluator/audits/rules.h"
#include "hlo/group_mode.h"

namespace assay::audit {

// StableHLO and HLO have two orders of several replicas with all their several partitions. Groups that the import of StableHLO
// wrote out say so by their frontend attribute; XLA's own import keeps them as they were.
void GroupOrder(AuditContext& c) {
  const Instruction& collective = c.view().instruction;
  if (!ShowsGroupOrder(c.module(), collective)) return;
  if (const std::string* mode = FrontendAttribute(collective, kGroupMode);
      mode != nullptr && *mode == kAllPartitions)
    return c.Always(AuditPoint::kGroupOrder, "in StableHLO's order");
  const AttributeMap& attributes = c.attributes();
  if (attributes.Int(Attr::kChannelId, 0) == 0 || attributes.Bool(Attr::kUseGlobalDeviceIds)) return;
  // Counts of 1 are not said.
  const int64_t replicas = c.module().replica_count, partitions = c.module().num_partitions;
  const AttrValue* const listed = attributes.Find(Attr::kReplicaGroups);
  int64_t size = replicas;
  if (listed != nullptr) {
    size = 0;
    for (const Ints& group : std::get<std::shared_ptr<const ReplicaGroups>>(*listed)->groups)
      size = std::max(size, std::ssize(group));
  }
  const int64_t members = MembersByShape(c.view().computation, collective);
  const bool has_one_replica = size == 1 && (listed != nullptr || (partitions > 1 && members == partitions));
  const bool has_one_partition = partitions == 1 && (members == size || members <= 1);
  if (has_one_replica || has_one_partition) return;
  if (size > 1 && (partitions > 1 || members > size))
    return c.Always(AuditPoint::kGroupOrder, "in XLA's order");
  c.May(AuditPoint::kGroupOrder, "in XLA's order; the module does not say its number of devices");
}

}  // namespace assay::audit
