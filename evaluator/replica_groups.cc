#include "evaluator/replica_groups.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/counted.h"
#include "fmt/format.h"

namespace assay {
namespace {

// The number of ids that replica_groups may name, by the mode that channel_id and
// use_global_device_ids choose.
struct GroupMode {
  IdKind kind;
  std::string_view name;
  int64_t ids = 1;               // ids are in [0, ids)
  int64_t processes_per_id = 1;  // cross_replica_and_partition: each id stands for all its partitions
  bool is_settled = true;        // ids is what a run has
  bool has_settled_size = true;  // and processes_per_id
};

GroupMode ModeOf(const DeviceCounts& counts, const AttributeMap& attributes, bool has_global_ids) {
  const int64_t replicas = counts.grid.replicas, partitions = counts.grid.partitions;
  const IdKind kind = IdKindOf(attributes, has_global_ids);
  const bool has_replicas = counts.settled || replicas > 1, has_partitions = counts.settled || partitions > 1;
  switch (kind) {
    case IdKind::kReplica:
      return {kind, "cross_replica", replicas, 1, has_replicas, has_replicas};
    case IdKind::kPartition:
      return {kind, "cross_partition", partitions, 1, has_partitions, has_partitions};
    case IdKind::kReplicaAndPartitions:
      return {kind,         "cross_replica_and_partition", replicas, partitions,
              has_replicas, has_replicas && has_partitions};
    case IdKind::kGlobal:
      return {kind,
              "flattened",
              counts.grid.size(),
              1,
              has_replicas && has_partitions,
              has_replicas && has_partitions};
  }
  ASSAY_CHECK(false);
}

const IntLists& ListsOf(const AttributeMap& attributes) {
  static const IntLists none;
  const AttrValue* const value = attributes.Find(Attr::kReplicaGroups);
  return value == nullptr ? none : std::get<std::shared_ptr<const ReplicaGroups>>(*value)->groups;
}

// The devices that an id stands for, seen from device `id`, appended to `devices`.
void AddDevices(const DeviceGrid& grid, IdKind kind, int64_t listed, int64_t id,
                std::vector<int64_t>& devices) {
  switch (kind) {
    case IdKind::kReplica:
      devices.push_back(grid.id(listed, grid.partition(id)));
      return;
    case IdKind::kPartition:
      devices.push_back(grid.id(grid.replica(id), listed));
      return;
    case IdKind::kReplicaAndPartitions:
      for (int64_t p = 0; p < grid.partitions; ++p) devices.push_back(grid.id(listed, p));
      return;
    case IdKind::kGlobal:
      devices.push_back(listed);
      return;
  }
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
      return InvalidProgram({}, fmt::format("GRP-C4: id {} in replica_groups, but {} has {}", ids[i],
                                            mode.name, Counted(mode.ids, "id")));
    }
  }
  if (must_cover && mode.is_settled && listed != mode.ids) {
    return InvalidProgram({}, fmt::format("GRP-C4: replica_groups lists {}, {} has {}", Counted(listed, "id"),
                                          mode.name, mode.ids));
  }
  return absl::OkStatus();
}

}  // namespace

bool HasChannel(const AttributeMap& attributes) { return attributes.Int(Attr::kChannelId, 0) != 0; }

// A channel_id says the mode and nothing else (SYNC-2).
IdKind IdKindOf(const AttributeMap& attributes, bool has_global_ids) {
  if (!HasChannel(attributes)) return IdKind::kReplica;
  if (!has_global_ids) return IdKind::kPartition;
  // all-gather, all-reduce and reduce-scatter read an absent flag as false.
  // Decision: collective-mode-absent-flag
  return attributes.Bool(Attr::kUseGlobalDeviceIds) ? IdKind::kGlobal : IdKind::kReplicaAndPartitions;
}

absl::StatusOr<ReplicaGroupSize> CheckReplicaGroups(const DeviceCounts& counts,
                                                    const AttributeMap& attributes, const GroupRules& rules) {
  if (attributes.Bool(Attr::kUseGlobalDeviceIds) && !HasChannel(attributes)) {
    return InvalidProgram({}, "GRP-C1: use_global_device_ids=true needs channel_id");
  }
  const GroupMode mode = ModeOf(counts, attributes, rules.has_global_ids);
  const IntLists& lists = ListsOf(attributes);
  if (lists.empty()) {
    if (mode.kind == IdKind::kGlobal)
      return InvalidProgram({}, "GRP-C5: flattened mode needs replica_groups");
    return ReplicaGroupSize{mode.ids * mode.processes_per_id, mode.has_settled_size};
  }
  ASSAY_RETURN_IF_ERROR(CheckIds(lists, mode, rules.covers_all));
  // The number of partitions is a factor of the size where an id stands for all of them.
  ReplicaGroupSize groups{
      0, mode.kind != IdKind::kReplicaAndPartitions || counts.settled || counts.grid.partitions > 1};
  bool equal_sizes = true;
  for (const Ints& list : lists) {
    const int64_t size = static_cast<int64_t>(list.size()) * mode.processes_per_id;
    equal_sizes = equal_sizes && (groups.size == 0 || groups.size == size);
    groups.size = std::max(groups.size, size);
  }
  if (rules.equal_sizes && !equal_sizes) return InvalidProgram({}, "GRP-C6: replica groups differ in size");
  return groups;
}

absl::Status CheckSourceTargetPairs(const DeviceCounts& counts, const AttributeMap& attributes,
                                    int64_t most) {
  const int64_t ids = HasChannel(attributes) ? counts.grid.partitions : counts.grid.replicas;
  const bool is_settled = counts.settled || ids > 1;
  std::vector<int64_t> seen[2];
  for (const Ints& pair : attributes.Lists(Attr::kSourceTargetPairs)) {
    if (pair.size() != 2) {
      return InvalidProgram(
          {}, fmt::format("CollectivePermute-C2: a pair has {}, wanted 2", Counted(pair.size(), "entry")));
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
    std::vector<int64_t>& of_side = seen[side];
    std::sort(of_side.begin(), of_side.end());
    for (size_t i = static_cast<size_t>(most); i < of_side.size(); ++i) {
      if (of_side[i] != of_side[i - static_cast<size_t>(most)]) continue;
      return InvalidProgram(
          {}, fmt::format("CollectivePermute-C2: {} {} stands {}", side == 0 ? "source" : "target",
                          of_side[i], most == 1 ? "twice" : fmt::format("more than {} times", most)));
    }
  }
  return absl::OkStatus();
}

std::vector<int64_t> GroupOf(const DeviceGrid& grid, const AttributeMap& attributes, const GroupRules& rules,
                             int64_t id) {
  const GroupMode mode = ModeOf(DeviceCounts::Settled(grid), attributes, rules.has_global_ids);
  const IntLists& lists = ListsOf(attributes);
  std::vector<int64_t> devices;
  if (lists.empty()) {
    for (int64_t listed = 0; listed < mode.ids; ++listed) AddDevices(grid, mode.kind, listed, id, devices);
    return devices;
  }
  for (const Ints& list : lists) {
    devices.clear();
    for (int64_t listed : list) AddDevices(grid, mode.kind, listed, id, devices);
    if (std::find(devices.begin(), devices.end(), id) != devices.end()) return devices;
  }
  return {};
}

DevicePairs PairsOf(const DeviceGrid& grid, const IntLists& pairs, IdKind kind, int64_t id) {
  DevicePairs devices;
  for (const Ints& pair : pairs) {
    std::vector<int64_t> ends;
    for (int64_t listed : pair) AddDevices(grid, kind, listed, id, ends);
    devices.emplace_back(ends[0], ends[1]);
  }
  return devices;
}

absl::StatusOr<IntLists> TransferPairs(const Instruction& instruction) {
  const std::string* const text = FrontendAttribute(instruction, "_xla_send_recv_source_target_pairs");
  IntLists pairs;
  if (text == nullptr || instruction.attributes.Bool(Attr::kIsHostTransfer)) return pairs;
  if (text->find('-') != std::string::npos)
    return InvalidProgram({}, fmt::format("Send-C3: '{}' has a negative id", *text));
  std::vector<int64_t> ids;
  const char* const end = text->data() + text->size();
  for (const char* at = text->data(); at < end;) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    const auto [next, error] = std::from_chars(at, end, ids.emplace_back());
    if (error != std::errc())
      return InvalidProgram({}, fmt::format("Send-C3: an id of '{}' is out of range", *text));
    at = next;
  }
  if (ids.size() % 2 != 0)
    return InvalidProgram({}, fmt::format("Send-C3: '{}' is not a list of pairs of ids", *text));
  for (size_t i = 0; i < ids.size(); i += 2) pairs.push_back({ids[i], ids[i + 1]});
  return pairs;
}

int64_t IdsNamed(const AttributeMap& attributes) {
  int64_t ids = 0;
  const auto look = [&](const IntLists& lists) {
    for (const Ints& list : lists) {
      for (int64_t id : list) ids = std::max(ids, id < kMaxDevices ? id + 1 : kMaxDevices + 1);
    }
  };
  look(ListsOf(attributes));
  if (attributes.Has(Attr::kSourceTargetPairs)) look(attributes.Lists(Attr::kSourceTargetPairs));
  return ids;
}

}  // namespace assay
