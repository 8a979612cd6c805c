// Collectives and device numbers: the inverse of import_collective.cc. The starts of asynchronous pairs are written as
// the collective itself; their dones are in export_control.cc.
#include "fmt/format.h"
#include "hlo/mlir/exporter.h"

namespace assay::mlir {
namespace {

const IntLists& Groups(const OpExport& out) {
  static const auto* const kNone = new IntLists();
  const AttrValue* const groups = out.attributes().Find(Attr::kReplicaGroups);
  return groups == nullptr ? *kNone : std::get<std::shared_ptr<const ReplicaGroups>>(*groups)->groups;
}

void SetChannel(OpExport& out) {
  if (!out.attributes().Has(Attr::kChannelId)) return;
  out.Property("channel_handle", fmt::format("#stablehlo.channel_handle<handle = {}, type = 1>",
                                             out.attributes().Int(Attr::kChannelId)));
}

void SetGroups(OpExport& out) {
  if (out.attributes().Has(Attr::kMode)) return out.Refuse("attribute mode");
  SetChannel(out);
  out.Rows("replica_groups", Groups(out));
}

void SetGlobalIds(OpExport& out) {
  if (out.attributes().Bool(Attr::kUseGlobalDeviceIds)) out.Unit("use_global_device_ids");
}

// (operands, results, contexts...)
void BindStart(OpExport& out, NodeId results) {
  const Shape& shape = *out.hlo.shape;
  std::vector<NodeId> elements = {out.exporter.Add(Node()), results};
  while (elements.size() < shape.elements().size()) elements.push_back(out.exporter.Add(Node()));
  out.Bind(out.exporter.Tuple(shape, std::move(elements)));
}

NodeId AllGather(OpExport& out, const Shape& shape) {
  out.UseOperands();
  out.Int("all_gather_dim", out.attributes().List(Attr::kDimensions)[0]);
  SetGroups(out);
  SetGlobalIds(out);
  return out.Make("stablehlo.all_gather", shape);
}

void ExportAllGather(OpExport& out) { out.Bind(AllGather(out, *out.hlo.shape)); }
void ExportAllGatherStart(OpExport& out) { BindStart(out, AllGather(out, out.hlo.shape->element(1))); }

void ExportAllReduce(OpExport& out) {
  out.UseOperands();
  SetGroups(out);
  SetGlobalIds(out);
  out.Region(*out.attributes().Computation(Attr::kToApply));
  out.Emit("stablehlo.all_reduce");
}

// The operation `write` once for each operand, where StableHLO's takes one.
template <typename Write>
NodeId ForEachOperand(OpExport& out, const Shape& shape, Write write) {
  if (!shape.IsTuple()) return write(out.Operand(0), shape);
  std::vector<NodeId> results;
  for (size_t i = 0; i < out.num_operands(); ++i) {
    results.push_back(write(out.Operand(i), shape.element(static_cast<int64_t>(i))));
  }
  return out.exporter.Tuple(shape, std::move(results));
}

void ExportReduceScatter(OpExport& out) {
  out.Bind(ForEachOperand(out, *out.hlo.shape, [&](NodeId operand, const Shape& shape) {
    out.UseLeaves(operand);
    SetGroups(out);
    out.Int("scatter_dimension", out.attributes().List(Attr::kDimensions)[0]);
    SetGlobalIds(out);
    out.Region(*out.attributes().Computation(Attr::kToApply));
    return out.Make("stablehlo.reduce_scatter", shape);
  }));
}

void ExportAllToAll(OpExport& out) {
  if (!out.attributes().Has(Attr::kDimensions)) return out.Refuse("an operand for each member of the group");
  const Module& module = out.exporter.module();
  int64_t count = out.attributes().Has(Attr::kChannelId) ? module.num_partitions : module.replica_count;
  if (!Groups(out).empty()) count = static_cast<int64_t>(Groups(out)[0].size());
  const int64_t dimension = out.attributes().List(Attr::kDimensions)[0];
  out.UseOperands();
  SetGroups(out);
  out.Int("concat_dimension", dimension);
  out.Int("split_count", count);
  out.Int("split_dimension", dimension);
  out.Emit("stablehlo.all_to_all");
}

NodeId Permute(OpExport& out, const Shape& whole) {
  if (out.attributes().Has(Attr::kMode)) out.Refuse("attribute mode");
  return ForEachOperand(out, whole, [&](NodeId operand, const Shape& shape) {
    out.UseLeaves(operand);
    SetChannel(out);
    out.Rows("source_target_pairs", out.attributes().Lists(Attr::kSourceTargetPairs));
    return out.Make("stablehlo.collective_permute", shape);
  });
}

void ExportCollectivePermute(OpExport& out) { out.Bind(Permute(out, *out.hlo.shape)); }
void ExportCollectivePermuteStart(OpExport& out) { BindStart(out, Permute(out, out.hlo.shape->element(1))); }

void ExportCollectiveBroadcast(OpExport& out) {
  if (out.attributes().Bool(Attr::kHasDynamicRoot)) return out.Refuse("a root that an operand says");
  out.Bind(ForEachOperand(out, *out.hlo.shape, [&](NodeId operand, const Shape& shape) {
    out.UseLeaves(operand);
    SetGroups(out);
    return out.Make("stablehlo.collective_broadcast", shape);
  }));
}

void ExportDeviceNumber(OpExport& out) {
  out.Emit(out.hlo.opcode == Opcode::kReplicaId ? "stablehlo.replica_id" : "stablehlo.partition_id",
           {Syntax::Types::kResult, {}, {}});
}

constexpr ExportRow kRows[] = {
    {Opcode::kAllGather, ExportAllGather},
    {Opcode::kAllGatherStart, ExportAllGatherStart},
    {Opcode::kAllReduce, ExportAllReduce},
    {Opcode::kAllReduceStart, ExportAllReduce},
    {Opcode::kAllToAll, ExportAllToAll},
    {Opcode::kCollectiveBroadcast, ExportCollectiveBroadcast},
    {Opcode::kCollectivePermute, ExportCollectivePermute},
    {Opcode::kCollectivePermuteStart, ExportCollectivePermuteStart},
    {Opcode::kPartitionId, ExportDeviceNumber},
    {Opcode::kReduceScatter, ExportReduceScatter},
    {Opcode::kReplicaId, ExportDeviceNumber},
};

}  // namespace

std::span<const ExportRow> CollectiveExports() { return kRows; }

}  // namespace assay::mlir
