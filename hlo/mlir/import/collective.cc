// Collectives and device numbers (docs/spec/stablehlo-text.md section 6).
#include <algorithm>
#include <numeric>

#include "fmt/format.h"
#include "hlo/group_mode.h"
#include "hlo/mlir/import/importer.h"

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

// A channel of 0 or less is none (StableHLO: cross_replica where channel_id <= 0).
void ReadChannel(OpImport& in, AttributeMap* attributes) {
  const int64_t handle =
      in.Find("channel_id") != nullptr ? in.Int("channel_id") : in.Int("handle", 0, "channel_handle");
  if (handle > 0) attributes->Set(Attr::kChannelId, handle);
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

// JAX's custom call of this target has groups and channel in its backend_config (SDY-22).
void ImportRaggedAllToAll(OpImport& in) {
  if (in.Arity(6)) in.Emit(Opcode::kRaggedAllToAll, in.operands, Common(in));
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

// --- The order of groups
// -------------------------------------------------------------------------------------------

// Listed ids of all groups together, like those of compact groups in HLO text (Decision: device-list-limit).
constexpr int64_t kMaxIds = int64_t{1} << 22;

bool ShowsOrder(const Module& module, ComputationId id) {
  const Computation& reducer = module.computation(id);
  const Instruction& root = reducer.root_instruction();
  if (reducer.instructions.size() != 3 || root.operands.size() != 2) return true;
  const ElementType type = root.shape->IsArray() ? root.shape->element_type() : ElementType::kPred;
  switch (root.opcode) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return root.operands[0] == root.operands[1];
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return root.operands[0] == root.operands[1] || IsComplex(type);
    case Opcode::kMultiply:
      return root.operands[0] == root.operands[1] || IsFloat(type) || IsComplex(type);
    default:
      return true;
  }
}

// Writes out the groups of one module's collectives.
class GroupWriter {
 public:
  GroupWriter(Module& module, DeviceCountsSaid said) : module_(module), said_(said) {}

  absl::Status Write(const Computation& computation, Instruction& instruction) {
    const Opcode opcode = instruction.opcode;
    if (opcode != Opcode::kAllGather && opcode != Opcode::kAllReduce && opcode != Opcode::kReduceScatter)
      return absl::OkStatus();
    const AttributeMap& attributes = instruction.attributes;
    if (attributes.Int(Attr::kChannelId, 0) == 0 || attributes.Bool(Attr::kUseGlobalDeviceIds) ||
        instruction.operands.empty() || !ShowsGroupOrder(module_, instruction))
      return absl::OkStatus();
    const bool moves = opcode != Opcode::kAllReduce;
    const int64_t members = MembersByShape(computation, instruction);
    ASSAY_ASSIGN_OR_RETURN(const IntLists groups, Listed(instruction, members));
    const auto has_several = [](const Ints& group) { return group.size() > 1; };
    if (std::none_of(groups.begin(), groups.end(), has_several)) return absl::OkStatus();
    const auto size = static_cast<int64_t>(groups[0].size());
    // What the module does not say follows from the shapes; of an all-reduce it is 1.
    const int64_t partitions = said_.partitions ? module_.num_partitions
                               : !moves         ? 1
                               : size > 0       ? members / size
                                                : 0;
    if (partitions < 1) return absl::OkStatus();  // for Verify to refuse
    // One partition, which shapes or the module say: no order but one.
    // Else ids of devices hold an all-reduce to it.
    const bool is_said = moves || said_.partitions || (said_.replicas && module_.replica_count == 1);
    if (partitions == 1 && is_said) return absl::OkStatus();
    return WriteOut(groups, partitions, instruction);
  }

 private:
  // The groups, those that are left out too; empty where there is one replica in each.
  absl::StatusOr<IntLists> Listed(const Instruction& instruction, int64_t members) const {
    const AttrValue* const value = instruction.attributes.Find(Attr::kReplicaGroups);
    if (value != nullptr) return std::get<std::shared_ptr<const ReplicaGroups>>(*value)->groups;
    int64_t replicas = module_.replica_count;
    if (!said_.replicas) {
      if (!said_.partitions || members == 0) {
        if (members == 1) return IntLists();
        return NotSupported(
            instruction.position,
            fmt::format("{} with a channel and without groups, in a module that does not say "
                        "mhlo.num_replicas and mhlo.num_partitions: the order of the group depends "
                        "on them",
                        Name(instruction.opcode)));
      }
      replicas = members / module_.num_partitions;
    }
    if (replicas > kMaxIds) return LimitExceeded("device ids", replicas, kMaxIds);
    Ints all(static_cast<size_t>(std::max(replicas, int64_t{0})));
    std::iota(all.begin(), all.end(), 0);
    return IntLists{std::move(all)};
  }

  absl::Status WriteOut(const IntLists& groups, int64_t partitions, Instruction& instruction) {
    int64_t listed = 0, most = 0;
    for (const Ints& group : groups) {
      listed += static_cast<int64_t>(group.size());
      for (const int64_t id : group) {
        if (id < 0 || id >= kMaxIds) return absl::OkStatus();  // for Verify to refuse
        most = std::max(most, id);
      }
    }
    if (partitions > kMaxIds || (num_ids_ += listed * partitions) > kMaxIds)
      return LimitExceeded("device ids", std::max(num_ids_, partitions), kMaxIds);
    auto written = std::make_shared<ReplicaGroups>();
    for (const Ints& group : groups) {
      Ints& ids = written->groups.emplace_back();
      for (int64_t p = 0; p < partitions; ++p)
        for (const int64_t r : group) ids.push_back(r * partitions + p);
    }
    instruction.attributes.Set(Attr::kReplicaGroups,
                               std::shared_ptr<const ReplicaGroups>(std::move(written)));
    instruction.attributes.Set(Attr::kUseGlobalDeviceIds, true);
    if (partitions > 1) SetMode(instruction);
    // Flattened ids say nothing of replicas; the ids that they come from did.
    if (!said_.partitions) module_.num_partitions = std::max(module_.num_partitions, partitions);
    if (!said_.replicas) module_.replica_count = std::max(module_.replica_count, most + 1);
    return absl::OkStatus();
  }

  static void SetMode(Instruction& instruction) {
    auto extras = instruction.extras == nullptr ? std::make_shared<InstructionExtras>()
                                                : std::make_shared<InstructionExtras>(*instruction.extras);
    std::erase_if(extras->frontend_attributes, [](const auto& known) { return known.first == kGroupMode; });
    extras->frontend_attributes.emplace_back(std::string(kGroupMode),
                                             StringOrJson{std::string(kAllPartitions), false});
    std::sort(extras->frontend_attributes.begin(), extras->frontend_attributes.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    instruction.extras = std::move(extras);
  }

  Module& module_;
  const DeviceCountsSaid said_;
  int64_t num_ids_ = 0;
};

constexpr ImportRow kCollectiveRows[] = {
    {"stablehlo.all_reduce", ImportAllReduce},
    {"stablehlo.reduce_scatter", ImportReduceScatter},
    {"stablehlo.all_gather", ImportAllGather},
    {"stablehlo.all_to_all", ImportAllToAll},
    {"stablehlo.collective_permute", ImportCollectivePermute},
    {"stablehlo.collective_broadcast", ImportCollectiveBroadcast},
    {"custom_call.ragged_all_to_all", ImportRaggedAllToAll},
    {"stablehlo.replica_id", ImportDeviceNumber<Opcode::kReplicaId>},
    {"stablehlo.partition_id", ImportDeviceNumber<Opcode::kPartitionId>},
};

}  // namespace

bool ShowsGroupOrder(const Module& module, const Instruction& collective) {
  switch (collective.opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kReduceScatter:
      return true;
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      return ShowsOrder(module, *collective.attributes.Computation(Attr::kToApply));
    default:
      return false;
  }
}

int64_t MembersByShape(const Computation& computation, const Instruction& collective) {
  const bool gathers =
      collective.opcode == Opcode::kAllGather || collective.opcode == Opcode::kAllGatherStart;
  if ((!gathers && collective.opcode != Opcode::kReduceScatter) || collective.operands.empty() ||
      collective.shape == nullptr)
    return 0;
  const Shape& operand = *computation.instructions[static_cast<size_t>(collective.operands[0])].shape;
  const Shape* result = collective.shape.get();  // of a start (operands, results)
  if (collective.opcode == Opcode::kAllGatherStart && result->IsTuple() && result->elements().size() > 1)
    result = &result->element(1);
  if (result->IsTuple() && !result->elements().empty()) result = &result->element(0);
  const int64_t d = collective.attributes.List(Attr::kDimensions)[0];
  if (!operand.IsArray() || !result->IsArray() || d < 0 || d >= operand.rank() || d >= result->rank())
    return 0;
  const int64_t larger = gathers ? result->size(d) : operand.size(d);
  const int64_t smaller = gathers ? operand.size(d) : result->size(d);
  return smaller > 0 && larger > 0 && larger % smaller == 0 ? larger / smaller : 0;
}

std::span<const ImportRow> CollectiveRows() { return kCollectiveRows; }

absl::Status WriteOutGroups(Module& module, DeviceCountsSaid said) {
  GroupWriter writer(module, said);
  for (Computation& computation : module.computations)
    for (Instruction& instruction : computation.instructions)
      ASSAY_RETURN_IF_ERROR(writer.Write(computation, instruction));
  return absl::OkStatus();
}

}  // namespace assay::mlir
