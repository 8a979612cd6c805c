// Collectives and device numbers: the inverse of import/collective.cc. The starts of asynchronous pairs are
// written as the collective itself; their dones are in export/control.cc.
#include <algorithm>
#include <numeric>
#include <optional>

#include "base/counted.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/import/importer.h"

namespace assay::mlir {
namespace {

using Types = Syntax::Types;

constexpr int64_t kMaxListed = 1 << 16;

const IntLists& Groups(const OpExport& out) {
  static const auto* const kNone = new IntLists();
  const AttrValue* const groups = out.attributes().Find(Attr::kReplicaGroups);
  return groups == nullptr ? *kNone : std::get<std::shared_ptr<const ReplicaGroups>>(*groups)->groups;
}

void SetChannel(OpExport& out) {
  if (out.attributes().Int(Attr::kChannelId, 0) == 0) return;  // none
  out.Property("channel_handle", fmt::format("#stablehlo.channel_handle<handle = {}, type = 1>",
                                             out.attributes().Int(Attr::kChannelId)));
}

// The ids of a module that does not say its number of devices may leave some out;
// StableHLO's verifier wants 0 to n - 1.
bool LeavesOutIds(const IntLists& groups) {
  int64_t listed = 0, most = -1;
  for (const Ints& group : groups) {
    listed += static_cast<int64_t>(group.size());
    for (const int64_t id : group) most = std::max(most, id);
  }
  return most >= listed;
}

void SetGroups(OpExport& out, const IntLists& groups) {
  if (out.attributes().Has(Attr::kMode)) return out.Refuse("attribute mode");
  if (out.hlo.opcode != Opcode::kCollectiveBroadcast && LeavesOutIds(groups))
    return out.Refuse("replica groups that leave out an id");
  SetChannel(out);
  out.Rows("replica_groups", groups);
}
void SetGroups(OpExport& out) { SetGroups(out, Groups(out)); }

// Groups in HLO's order as lists of device ids, where StableHLO has another order of the same groups: of
// several replicas with all their several partitions. Else none. Decision: stablehlo-group-order
std::optional<IntLists> WrittenOutGroups(OpExport& out) {
  const AttributeMap& attributes = out.attributes();
  const Module& module = out.exporter.module();
  if (attributes.Int(Attr::kChannelId, 0) == 0 || attributes.Bool(Attr::kUseGlobalDeviceIds) ||
      !ShowsGroupOrder(module, out.hlo))
    return std::nullopt;
  // Counts of 1 are not said; then shapes say what an all-gather or a reduce-scatter needs.
  const bool says_replicas = module.replica_count > 1, says_partitions = module.num_partitions > 1;
  const int64_t members = MembersByShape(*out.block.computation, out.hlo);
  IntLists groups = Groups(out);
  const bool is_open = groups.empty() && !says_replicas;
  if (is_open && members == module.num_partitions) return std::nullopt;  // one replica
  if (groups.empty()) {
    if (is_open || module.replica_count > kMaxListed) {
      out.Refuse("a group that is left out, in a module that does not say its number of devices");
      return std::nullopt;
    }
    Ints& all = groups.emplace_back(static_cast<size_t>(module.replica_count));
    std::iota(all.begin(), all.end(), 0);
  }
  const auto has_several = [](const Ints& group) { return group.size() > 1; };
  const bool one_partition =
      !says_partitions && (members == 0 || members == static_cast<int64_t>(groups[0].size()));
  if (std::none_of(groups.begin(), groups.end(), has_several)) return std::nullopt;
  if (one_partition) {
    // The ids of replicas are those of devices. Shapes do not say it of an all-reduce,
    // so that the ids have to, as in what is read.
    if (out.hlo.opcode == Opcode::kAllReduce && !says_partitions) return groups;
    return std::nullopt;
  }
  if (!says_partitions) {
    out.Refuse("replica groups with all their partitions, in a module that does not say their number");
    return std::nullopt;
  }
  int64_t listed = 0;
  for (const Ints& group : groups) listed += static_cast<int64_t>(group.size());
  if (module.num_partitions > kMaxListed || listed * module.num_partitions > kMaxListed) {
    out.Refuse(fmt::format("groups of {} of {}", Counted(listed, "replica"),
                           Counted(module.num_partitions, "partition")));
    return std::nullopt;
  }
  for (Ints& group : groups) {
    Ints ids;
    for (const int64_t replica : group)
      for (int64_t p = 0; p < module.num_partitions; ++p) ids.push_back(replica * module.num_partitions + p);
    group = std::move(ids);
  }
  return groups;
}

// Groups, and whether their ids are those of devices. `middle` writes the attributes that stand between.
template <typename Middle>
void SetGroupsAndIds(OpExport& out, Middle middle) {
  const std::optional<IntLists> written = WrittenOutGroups(out);
  if (!out.ok()) return;
  SetGroups(out, written ? *written : Groups(out));
  middle();
  if (written || out.attributes().Bool(Attr::kUseGlobalDeviceIds)) out.Unit("use_global_device_ids");
}

// StableHLO's verifier wants a size where the operation cuts or joins.
bool IsEmptyAlong(OpExport& out, const Shape& shape, int64_t dimension) {
  if (shape.IsTuple() || shape.size(dimension) != 0) return false;
  out.Refuse("a dimension of size 0");
  return true;
}

// (operands, results, contexts...)
void BindStart(OpExport& out, NodeId results) {
  const Shape& shape = *out.hlo.shape;
  std::vector<NodeId> elements = {out.exporter.Add(Node()), results};
  while (elements.size() < shape.elements().size()) elements.push_back(out.exporter.Add(Node()));
  out.Bind(out.exporter.Tuple(shape, std::move(elements)));
}

NodeId AllGather(OpExport& out, const Shape& shape) {
  const int64_t dimension = out.attributes().List(Attr::kDimensions)[0];
  for (size_t i = 0; i < out.num_operands(); ++i) {
    if (IsEmptyAlong(out, out.OperandShape(i), dimension)) return -1;
  }
  out.UseOperands();
  out.Int("all_gather_dim", dimension);
  SetGroupsAndIds(out, [] {});
  return out.Make("stablehlo.all_gather", shape);
}

void ExportAllGather(OpExport& out) { out.Bind(AllGather(out, *out.hlo.shape)); }
void ExportAllGatherStart(OpExport& out) { BindStart(out, AllGather(out, out.hlo.shape->element(1))); }

// StableHLO's results have the reducer's type.
bool IsOfOtherType(OpExport& out) {
  const Computation& reducer =
      out.exporter.module().computation(*out.attributes().Computation(Attr::kToApply));
  const ElementType type = reducer.root_instruction().shape->element_type();
  for (size_t i = 0; i < out.num_operands(); ++i) {
    if (out.OperandShape(i).element_type() == type) continue;
    out.Refuse("a reducer of another type than its operand");
    return true;
  }
  return false;
}

void ExportAllReduce(OpExport& out) {
  if (IsOfOtherType(out)) return;
  out.UseOperands();
  SetGroupsAndIds(out, [] {});
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
  if (IsOfOtherType(out)) return;
  out.Bind(ForEachOperand(out, *out.hlo.shape, [&](NodeId operand, const Shape& shape) {
    const int64_t dimension = out.attributes().List(Attr::kDimensions)[0];
    if (IsEmptyAlong(out, shape, dimension)) return -1;
    out.UseLeaves(operand);
    SetGroupsAndIds(out, [&] { out.Int("scatter_dimension", dimension); });
    out.Region(*out.attributes().Computation(Attr::kToApply));
    return out.Make("stablehlo.reduce_scatter", shape);
  }));
}

// Whether groups or pairs of a module that says one device name others: as many as they name run it.
bool NamesMoreThanOneDevice(const Module& module) {
  if (module.replica_count > 1 || module.num_partitions > 1) return false;
  const auto names = [](const IntLists& lists) {
    return std::any_of(lists.begin(), lists.end(), [](const Ints& list) {
      return std::any_of(list.begin(), list.end(), [](int64_t id) { return id > 0; });
    });
  };
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const AttrValue* const groups = instruction.attributes.Find(Attr::kReplicaGroups);
      if (groups != nullptr && names(std::get<std::shared_ptr<const ReplicaGroups>>(*groups)->groups))
        return true;
      if (instruction.attributes.Has(Attr::kSourceTargetPairs) &&
          names(instruction.attributes.Lists(Attr::kSourceTargetPairs)))
        return true;
    }
  }
  return false;
}

// All members, where no groups are listed: StableHLO's verifier divides by their number.
IntLists ListedGroups(OpExport& out) {
  if (!Groups(out).empty()) return Groups(out);
  const Module& module = out.exporter.module();
  if (NamesMoreThanOneDevice(module)) {
    out.Refuse("replica groups that are left out, in a module that does not say its number of devices");
    return {};
  }
  const int64_t count =
      out.attributes().Int(Attr::kChannelId, 0) != 0 ? module.num_partitions : module.replica_count;
  if (count > kMaxListed) {
    out.Refuse(fmt::format("a group of {}", Counted(count, "member")));
    return {};
  }
  Ints all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return {std::move(all)};
}

NodeId AllToAll(OpExport& out, NodeId operand, const Shape& shape, int64_t dimension) {
  const IntLists groups = ListedGroups(out);
  if (!out.ok() || IsEmptyAlong(out, shape, dimension)) return -1;
  out.UseLeaves(operand);
  SetGroups(out, groups);
  out.Int("concat_dimension", dimension);
  out.Int("split_count", static_cast<int64_t>(groups[0].size()));
  out.Int("split_dimension", dimension);
  return out.Make("stablehlo.all_to_all", shape);
}

// An operand for each member: stacked along a new dimension, which is exchanged, and taken apart again.
void ExportAllToAllTuple(OpExport& out) {
  const Shape& part = out.OperandShape(0);
  const auto count = static_cast<int64_t>(out.num_operands());
  const IntLists groups = ListedGroups(out);
  if (!out.ok()) return;
  if (static_cast<int64_t>(groups[0].size()) !=
      count) {  // of a count of devices that the module does not say
    return out.Refuse(fmt::format("{} for groups of {}", Counted(count, "operand"), groups[0].size()));
  }
  std::vector<int64_t> sizes(part.sizes().begin(), part.sizes().end());
  sizes.insert(sizes.begin(), 1);
  const absl::StatusOr<Shape> row = Shape::Array(part.element_type(), sizes);
  sizes[0] = count;
  const absl::StatusOr<Shape> all = Shape::Array(part.element_type(), sizes);
  if (!row.ok() || !all.ok() || part.HasDynamic())
    return out.Refuse("operands too large or dynamic to be stacked");
  const Shape &row_shape = out.exporter.Keep(*row), &stack_shape = out.exporter.Keep(*all);
  std::vector<NodeId> rows, results;
  for (size_t i = 0; i < out.num_operands(); ++i) {
    out.UseLeaves(out.Operand(i));
    rows.push_back(out.Make("stablehlo.reshape", row_shape, {Types::kFunction, {}, {}}));
  }
  for (const NodeId row_value : rows) out.UseLeaves(row_value);
  const NodeId stack = out.Make("stablehlo.concatenate", stack_shape, {Types::kFunction, {}, ", dim = 0"});
  const NodeId exchanged = AllToAll(out, stack, stack_shape, 0);
  for (int64_t i = 0; i < count && out.ok(); ++i) {
    std::string ranges = fmt::format("{}:{}", i, i + 1);
    for (const int64_t size : part.sizes()) ranges += fmt::format(", 0:{}", size);
    out.UseLeaves(exchanged);
    out.UseLeaves(
        out.Make("stablehlo.slice", row_shape, {Types::kFunction, {}, fmt::format(" [{}]", ranges)}));
    results.push_back(out.Make("stablehlo.reshape", part, {Types::kFunction, {}, {}}));
  }
  out.Bind(out.exporter.Tuple(*out.hlo.shape, std::move(results)));
}

void ExportAllToAll(OpExport& out) {
  if (!out.attributes().Has(Attr::kDimensions)) return ExportAllToAllTuple(out);
  out.Bind(AllToAll(out, out.Operand(0), *out.hlo.shape, out.attributes().List(Attr::kDimensions)[0]));
}

NodeId Permute(OpExport& out, const Shape& whole) {
  if (out.attributes().Has(Attr::kMode)) out.Refuse("attribute mode");
  return ForEachOperand(out, whole, [&](NodeId operand, const Shape& shape) {
    out.UseLeaves(operand);
    SetChannel(out);
    out.Rows("source_target_pairs", out.attributes().Lists(Attr::kSourceTargetPairs), 2);
    return out.Make("stablehlo.collective_permute", shape);
  });
}

void ExportCollectivePermute(OpExport& out) {
  if (out.attributes().Has(Attr::kSliceSizes)) return out.Refuse("attribute slice_sizes");
  out.Bind(Permute(out, *out.hlo.shape));
}
void ExportCollectivePermuteStart(OpExport& out) {
  if (out.attributes().Has(Attr::kSliceSizes)) return out.Refuse("attribute slice_sizes");
  BindStart(out, Permute(out, out.hlo.shape->element(1)));
}

void ExportCollectiveBroadcast(OpExport& out) {
  if (out.attributes().Bool(Attr::kHasDynamicRoot)) return out.Refuse("a root that an operand says");
  out.Bind(ForEachOperand(out, *out.hlo.shape, [&](NodeId operand, const Shape& shape) {
    out.UseLeaves(operand);
    SetGroups(out);
    return out.Make("stablehlo.collective_broadcast", shape);
  }));
}

// StableHLO has a custom call of this form for it (SDY-22).
void ExportRaggedAllToAll(OpExport& out) {
  if (out.attributes().Has(Attr::kMode)) return out.Refuse("attribute mode");
  const IntLists groups = ListedGroups(out);
  if (!out.ok()) return;
  std::string rows;
  for (const Ints& group : groups)
    rows += fmt::format("{}[{}]", rows.empty() ? "" : ", ", fmt::join(group, ", "));
  std::string config =
      fmt::format("replica_groups = dense<[{}]> : tensor<{}x{}xi64>", rows, groups.size(), groups[0].size());
  if (out.attributes().Has(Attr::kChannelId))
    config = fmt::format("channel_id = {} : i64, {}", out.attributes().Int(Attr::kChannelId), config);
  out.UseOperands();
  out.Int("api_version", 4, "i32");
  out.Property("backend_config", fmt::format("{{{}}}", config));
  out.Text("call_target_name", "ragged_all_to_all");
  out.Emit("stablehlo.custom_call");
}

void ExportDeviceNumber(OpExport& out) {
  out.Emit(out.hlo.opcode == Opcode::kReplicaId ? "stablehlo.replica_id" : "stablehlo.partition_id",
           {Types::kResult, {}, {}});
}

constexpr ExportRow kCollectiveExports[] = {
    {Opcode::kAllGather, ExportAllGather},
    {Opcode::kAllGatherStart, ExportAllGatherStart},
    {Opcode::kAllReduce, ExportAllReduce},
    {Opcode::kAllReduceStart, ExportAllReduce},
    {Opcode::kAllToAll, ExportAllToAll},
    {Opcode::kCollectiveBroadcast, ExportCollectiveBroadcast},
    {Opcode::kCollectivePermute, ExportCollectivePermute},
    {Opcode::kCollectivePermuteStart, ExportCollectivePermuteStart},
    {Opcode::kPartitionId, ExportDeviceNumber},
    {Opcode::kRaggedAllToAll, ExportRaggedAllToAll},
    {Opcode::kReduceScatter, ExportReduceScatter},
    {Opcode::kReplicaId, ExportDeviceNumber},
};

}  // namespace

std::span<const ExportRow> CollectiveExports() { return kCollectiveExports; }

}  // namespace assay::mlir
