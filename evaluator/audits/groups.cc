// The order of the devices in a group (docs/audit.md, group-order).
#include <algorithm>

#include "evaluator/audits/rules.h"
#include "hlo/group_mode.h"

namespace assay::audit {
namespace {

// The last array of a value: of a start, (operands, results), a result.
const Shape& LastArray(const Shape& shape) {
  return shape.IsTuple() && !shape.elements().empty() ? LastArray(shape.elements().back()) : shape;
}

// How many devices an all-gather joins, or a reduce-scatter shares its result among, by their shapes;
// 0: nothing says it.
int64_t MembersByShape(const InstructionView& view) {
  if (!view.attributes().Has(Attr::kDimensions) || view.num_operands() == 0) return 0;
  const Shape &operand = view.operand(view.num_operands() - 1), &result = LastArray(view.result());
  const int64_t d = view.attributes().List(Attr::kDimensions)[0];
  if (!operand.IsArray() || !result.IsArray() || d < 0 || d >= std::min(operand.rank(), result.rank()))
    return 0;
  const int64_t larger = std::max(operand.size(d), result.size(d));
  const int64_t smaller = std::min(operand.size(d), result.size(d));
  return smaller > 0 && larger % smaller == 0 ? larger / smaller : 0;
}

// All-gathers and reduce-scatters have a dimension, and give other members other blocks; an all-reduce by a
// reducer of which nobody knows that its order does not matter.
bool ShowsOrder(AuditContext& c) {
  const std::optional<ComputationId> reducer = c.attributes().Computation(Attr::kToApply);
  if (!reducer || c.attributes().Has(Attr::kDimensions)) return true;
  const Combiner combiner = CombinerOf(c.module(), *reducer);
  return combiner == Combiner::kReplaces || combiner == Combiner::kUnknown;
}

}  // namespace

// StableHLO and HLO have two orders of several replicas with all their several partitions. Groups that the
// import of StableHLO wrote out say so by their frontend attribute; XLA's own import keeps them as they were.
void GroupOrder(AuditContext& c) {
  const AttributeMap& attributes = c.attributes();
  if (!ShowsOrder(c)) return;
  if (const std::string* mode = FrontendAttribute(c.view().instruction, kGroupMode);
      mode != nullptr && *mode == kAllPartitions)
    return c.Always(AuditPoint::kGroupOrder, "in StableHLO's order");
  if (attributes.Int(Attr::kChannelId, 0) == 0 || attributes.Bool(Attr::kUseGlobalDeviceIds)) return;
  // Counts of 1 are not said.
  const int64_t replicas = c.module().replica_count, partitions = c.module().num_partitions;
  const AttrValue* const listed = attributes.Find(Attr::kReplicaGroups);
  int64_t size = replicas;
  if (listed != nullptr) {
    size = 0;
    for (const Ints& group : std::get<std::shared_ptr<const ReplicaGroups>>(*listed)->groups)
      size = std::max<int64_t>(size, std::ssize(group));
  }
  const int64_t members = MembersByShape(c.view());
  const bool has_one_replica = size == 1 && (listed != nullptr || (partitions > 1 && members == partitions));
  const bool has_one_partition = partitions == 1 && (members == size || members <= 1);
  if (has_one_replica || has_one_partition) return;
  if (size > 1 && (partitions > 1 || members > size))
    return c.Always(AuditPoint::kGroupOrder, "in XLA's order");
  c.RecordPossible(AuditPoint::kGroupOrder, "in XLA's order; the module does not say its number of devices");
}

}  // namespace assay::audit
