#include "evaluator/replica_groups.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "fmt/format.h"

namespace assay {
namespace {

// The number of ids that replica_groups may name, by the mode that channel_id and use_global_device_ids
// choose.
struct GroupMode {
  std::string_view name;
  int64_t ids = 1;               // ids are in [0, ids)
  int64_t processes_per_id = 1;  // cross_replica_and_partition: each id stands for all its partitions
  bool is_settled = true;        // those two are what a run has
};

GroupMode ModeOf(const Module& module, const AttributeMap& attributes, bool has_global_ids,
                 DeviceCounts counts) {
  const int64_t replicas = module.replica_count, partitions = module.num_partitions;
  const auto mode = [&](std::string_view name, int64_t ids, int64_t processes_per_id) {
    return GroupMode{name, ids, processes_per_id,
                     counts == DeviceCounts::kSettled || ids * processes_per_id > 1};
  };
  if (!attributes.Has(Attr::kChannelId)) return mode("cross_replica", replicas, 1);
  if (!has_global_ids || !attributes.Has(Attr::kUseGlobalDeviceIds)) {
    // all-gather, all-reduce and reduce-scatter read an absent flag as false.
    // Decision: collective-mode-absent-flag
    return has_global_ids ? mode("cross_replica_and_partition", replicas, partitions)
                          : mode("cross_partition", partitions, 1);
  }
  if (attributes.Bool(Attr::kUseGlobalDeviceIds)) return mode("flattened", replicas * partitions, 1);
  return mode("cross_replica_and_partition", replicas, partitions);
}

absl::Status CheckIds(const IntLists& groups, const GroupMode& mode, bool must_cover) {
  int64_t listed = 0;
  for (const Ints& group : groups) {
    if (group.empty()) return InvalidProgram({}, "GRP-C2: a replica group is empty");
    listed += static_cast<int64_t>(group.size());
  }
  std::vector<int64_t> ids;
  ids.reserve(listed);
  for (const Ints& group : groups) ids.insert(ids.end(), group.begin(), group.end());
  std::sort(ids.begin(), ids.end());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0 && ids[i] == ids[i - 1])
      return InvalidProgram({}, fmt::format("GRP-C3: id {} stands twice", ids[i]));
    if (ids[i] < 0 || (mode.is_settled && ids[i] >= mode.ids)) {
      return InvalidProgram(
          {}, fmt::format("GRP-C4: id {} in replica_groups, but {} has {} ids", ids[i], mode.name, mode.ids));
    }
  }
  if (must_cover && mode.is_settled && listed != mode.ids) {
    return InvalidProgram(
        {}, fmt::format("GRP-C4: replica_groups lists {} ids, {} has {}", listed, mode.name, mode.ids));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReplicaGroupSize> CheckReplicaGroups(const Module& module, const AttributeMap& attributes,
                                                    const GroupRules& rules, DeviceCounts counts) {
  if (attributes.Bool(Attr::kUseGlobalDeviceIds) && !attributes.Has(Attr::kChannelId)) {
    return InvalidProgram({}, "GRP-C1: use_global_device_ids=true needs channel_id");
  }
  const GroupMode mode = ModeOf(module, attributes, rules.has_global_ids, counts);
  const AttrValue* value = attributes.Find(Attr::kReplicaGroups);
  const IntLists empty;
  const IntLists& lists =
      value == nullptr ? empty : std::get<std::shared_ptr<const ReplicaGroups>>(*value)->groups;
  if (lists.empty()) {
    if (mode.name == "flattened") return InvalidProgram({}, "GRP-C5: flattened mode needs replica_groups");
    return ReplicaGroupSize{mode.ids * mode.processes_per_id, mode.is_settled};
  }
  ASSAY_RETURN_IF_ERROR(CheckIds(lists, mode, rules.covers_all));
  // The number of partitions is a factor of the size where an id stands for all of them.
  ReplicaGroupSize groups{0, mode.is_settled || mode.name != "cross_replica_and_partition"};
  bool equal_sizes = true;
  for (const Ints& list : lists) {
    const int64_t size = static_cast<int64_t>(list.size()) * mode.processes_per_id;
    equal_sizes = equal_sizes && (groups.size == 0 || groups.size == size);
    groups.size = std::max(groups.size, size);
  }
  if (rules.equal_sizes && !equal_sizes) return InvalidProgram({}, "GRP-C6: replica groups differ in size");
  return groups;
}

absl::Status CheckSourceTargetPairs(const Module& module, const AttributeMap& attributes,
                                    DeviceCounts counts) {
  const int64_t ids = attributes.Has(Attr::kChannelId) ? module.num_partitions : module.replica_count;
  const bool is_settled = counts == DeviceCounts::kSettled || ids > 1;
  std::vector<int64_t> seen[2];
  for (const Ints& pair : attributes.Lists(Attr::kSourceTargetPairs)) {
    if (pair.size() != 2) {
      return InvalidProgram(
          {}, fmt::format("CollectivePermute-C2: a pair has {} entries, wanted 2", pair.size()));
    }
    for (int side = 0; side < 2; ++side) {
      if (pair[side] < 0 || (is_settled && pair[side] >= ids)) {
        return InvalidProgram({},
                              fmt::format("CollectivePermute-C3: id {}, but there are {}", pair[side], ids));
      }
      seen[side].push_back(pair[side]);
    }
  }
  for (int side = 0; side < 2; ++side) {
    std::sort(seen[side].begin(), seen[side].end());
    const auto twice = std::adjacent_find(seen[side].begin(), seen[side].end());
    if (twice == seen[side].end()) continue;
    return InvalidProgram(
        {}, fmt::format("CollectivePermute-C2: {} {} stands twice", side == 0 ? "source" : "target", *twice));
  }
  return absl::OkStatus();
}

}  // namespace assay
