// Collectives and device numbers (spec/stablehlo-text.md section 6).
#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/importer.h"

namespace assay::mlir {
namespace {

// replica_groups: a row a group, filled up with -1.
void ReadGroups(OpImport& in, AttributeMap* attributes) {
  const Attribute* const groups = in.Find("replica_groups");
  if (groups != nullptr &&
      (groups->kind == Attribute::Kind::kOpaque || groups->kind == Attribute::Kind::kStruct)) {
    return in.Unsupported("replica_groups over the axes of a mesh");
  }
  auto value = std::make_shared<ReplicaGroups>();
  value->groups = in.IntRows("replica_groups", 0);
  for (Ints& group : value->groups) group.erase(std::remove(group.begin(), group.end(), -1), group.end());
  if (!value->groups.empty())
    attributes->Set(Attr::kReplicaGroups, std::shared_ptr<const ReplicaGroups>(std::move(value)));
}

void ReadChannel(OpImport& in, AttributeMap* attributes) {
  const int64_t handle =
      in.Find("channel_id") != nullptr ? in.Int("channel_id") : in.Int("handle", 0, "channel_handle");
  if (in.Find("channel_handle") != nullptr || handle != 0) {
    if (handle != 0) attributes->Set(Attr::kChannelId, handle);
  }
}

AttributeMap Common(OpImport& in) {
  AttributeMap attributes;
  ReadGroups(in, &attributes);
  ReadChannel(in, &attributes);
  return attributes;
}

void ReadGlobalIds(OpImport& in, AttributeMap* attributes) {
  if (in.Bool("use_global_device_ids")) attributes->Set(Attr::kUseGlobalDeviceIds, true);
}

void ImportAllReduce(OpImport& in) {
  const std::optional<ComputationId> body = in.Body();
  if (!body) return;
  AttributeMap attributes = Common(in);
  ReadGlobalIds(in, &attributes);
  attributes.Set(Attr::kToApply, *body);
  in.Emit(Opcode::kAllReduce, in.operands, std::move(attributes));
}

void ImportReduceScatter(OpImport& in) {
  const std::optional<ComputationId> body = in.Body();
  if (!body) return;
  AttributeMap attributes = Common(in);
  ReadGlobalIds(in, &attributes);
  attributes.Set(Attr::kToApply, *body);
  attributes.Set(Attr::kDimensions, Ints{in.Int("scatter_dimension")});
  in.Emit(Opcode::kReduceScatter, in.operands, std::move(attributes));
}

void ImportAllGather(OpImport& in) {
  AttributeMap attributes = Common(in);
  ReadGlobalIds(in, &attributes);
  attributes.Set(Attr::kDimensions, Ints{in.Int("all_gather_dim")});
  in.Emit(Opcode::kAllGather, in.operands, std::move(attributes));
}

// all_to_all: HLO exchanges along one dimension. With another one to concatenate along, the exchanged pieces,
// which lie one after the other in the split dimension, are moved there:
// [.., n * (s / n), ..] -> [.., n, s / n, ..] -> n in front of the concatenated dimension -> [.., n * c, ..].
void ImportAllToAll(OpImport& in) {
  if (!in.Arity(1)) return;
  const int64_t split = in.Int("split_dimension"), concat = in.Int("concat_dimension"),
                count = in.Int("split_count");
  AttributeMap attributes = Common(in);
  attributes.Set(Attr::kDimensions, Ints{split});
  const SharedShape operand = in.scope.computation.instructions[in.operands[0]].shape;
  if (split == concat || !in.ok()) return in.Emit(Opcode::kAllToAll, in.operands, std::move(attributes));
  const int64_t rank = operand->IsArray() ? operand->rank() : 0;
  if (split < 0 || split >= rank || concat < 0 || concat >= rank || count < 1 ||
      operand->size(split) % count != 0) {
    return in.Invalid(fmt::format("can't split dimension {} of {} in {} pieces for dimension {}", split,
                                  operand->ToString(), count, concat));
  }
  const int32_t exchanged = in.Add(Opcode::kAllToAll, operand, in.operands, std::move(attributes));
  std::vector<int64_t> sizes(operand->sizes().begin(), operand->sizes().end());
  sizes[static_cast<size_t>(split)] /= count;
  sizes.insert(sizes.begin() + split, count);
  Ints order;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == concat) order.push_back(split);
    order.push_back(d < split ? d : d + 1);
  }
  std::vector<int64_t> moved;
  for (int64_t d : order) moved.push_back(sizes[static_cast<size_t>(d)]);
  const absl::StatusOr<Shape> apart = Shape::Array(operand->element_type(), sizes);
  const absl::StatusOr<Shape> transposed = Shape::Array(operand->element_type(), moved);
  if (!apart.ok()) return in.Fail(apart.status());
  if (!transposed.ok()) return in.Fail(transposed.status());
  const int32_t pieces = in.Add(Opcode::kReshape, std::make_shared<const Shape>(*apart), {exchanged});
  const int32_t turned = in.Add(Opcode::kTranspose, std::make_shared<const Shape>(*transposed), {pieces},
                                in.Map({{Attr::kDimensions, std::move(order)}}));
  in.Emit(Opcode::kReshape, {turned});
}

void ImportCollectivePermute(OpImport& in) {
  AttributeMap attributes;
  ReadChannel(in, &attributes);
  attributes.Set(Attr::kSourceTargetPairs, in.IntRows("source_target_pairs", 2));
  in.Emit(Opcode::kCollectivePermute, in.operands, std::move(attributes));
}

void ImportCollectiveBroadcast(OpImport& in) {
  AttributeMap attributes = Common(in);
  if (in.Bool("has_dynamic_root")) attributes.Set(Attr::kHasDynamicRoot, true);
  in.Emit(Opcode::kCollectiveBroadcast, in.operands, std::move(attributes));
}

// cross-replica-sum: an all-reduce with addition.
template <Opcode opcode>
void ImportDeviceNumber(OpImport& in) {
  if (in.Arity(0)) in.Emit(opcode, {});
}

constexpr ImportRow kCollectiveRows[] = {
    {"stablehlo.all_reduce", ImportAllReduce},
    {"stablehlo.reduce_scatter", ImportReduceScatter},
    {"stablehlo.all_gather", ImportAllGather},
    {"stablehlo.all_to_all", ImportAllToAll},
    {"stablehlo.collective_permute", ImportCollectivePermute},
    {"stablehlo.collective_broadcast", ImportCollectiveBroadcast},
    {"stablehlo.replica_id", ImportDeviceNumber<Opcode::kReplicaId>},
    {"stablehlo.partition_id", ImportDeviceNumber<Opcode::kPartitionId>},
};

}  // namespace

std::span<const ImportRow> CollectiveRows() { return kCollectiveRows; }

}  // namespace assay::mlir
