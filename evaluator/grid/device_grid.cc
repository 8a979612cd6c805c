#include "evaluator/grid/device_grid.h"

#include <algorithm>
#include <vector>

#include "base/counted.h"
#include "base/run_guard.h"
#include "evaluator/op.h"
#include "evaluator/ops/control/manual_region.h"
#include "evaluator/registry.h"
#include "evaluator/replica_groups.h"
#include "fmt/format.h"
#include "hlo/manual_region.h"

namespace assay {
namespace {

// An instruction by which devices meet.
struct Meeting {
  const Computation* computation;
  const Instruction* instruction;
};

// A call that leaves no region, as its shape stays.
bool IsIdentity(const Meeting& meeting) {
  return ExitsRegion(*meeting.instruction) && !IsRegionBorder(*meeting.computation, *meeting.instruction);
}

bool IsBorder(const Meeting& meeting) { return IsRegionBorder(*meeting.computation, *meeting.instruction); }

std::vector<Meeting> MeetingsOf(const Module& module) {
  std::vector<bool> reached(module.computations.size(), false);
  reached[static_cast<size_t>(module.entry.value)] = true;
  std::vector<Meeting> meetings;
  for (size_t c = module.computations.size(); c-- > 0;) {  // callers stand behind what they call
    if (!reached[c]) continue;
    for (const Instruction& instruction : module.computations[c].instructions) {
      for (ComputationId id : CalledComputations(instruction)) reached[static_cast<size_t>(id.value)] = true;
      if (IsCollectiveOrTransfer(instruction) || IsRegionBorder(module.computations[c], instruction))
        meetings.push_back({&module.computations[c], &instruction});
    }
  }
  return meetings;
}

std::vector<Meeting> BordersAmong(std::span<const Meeting> meetings) {
  std::vector<Meeting> borders;
  std::copy_if(meetings.begin(), meetings.end(), std::back_inserter(borders),
               [](const Meeting& meeting) { return IsBorder(meeting); });
  return borders;
}

bool HasGlobalIds(const Instruction& instruction) {
  const std::span<const AttrSpec> attributes = DefinitionOf(instruction.opcode).attributes;
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const AttrSpec& spec) { return spec.attr == Attr::kUseGlobalDeviceIds; });
}

absl::Status CheckTransfer(const Instruction& instruction, const DeviceGrid& grid) {
  ASSAY_ASSIGN_OR_RETURN(const IntLists pairs, TransferPairs(instruction));
  const IdKind kind = TransferIdKind(grid);
  const int64_t ids = kind == IdKind::kPartition ? grid.partitions : grid.replicas;
  for (const Ints& pair : pairs) {
    for (int64_t id : pair) {
      if (id < ids) continue;
      return InvalidProgram({}, fmt::format("Send-C3: id {} in the source-target pairs, but there are {} {}",
                                            id, ids, kind == IdKind::kPartition ? "partitions" : "replicas"));
    }
  }
  return absl::OkStatus();
}

// The shape rule holds with the number of devices settled.
absl::Status CheckCollective(const Module& module, const Meeting& meeting, const DeviceGrid& grid) {
  const Instruction& instruction = *meeting.instruction;
  std::vector<const Shape*> operands;
  for (int32_t operand : instruction.operands)
    operands.push_back(meeting.computation->instructions[static_cast<size_t>(operand)].shape.get());
  const InferContext context{module, instruction, operands, instruction.shape.get(), meeting.computation,
                             &grid};
  const absl::StatusOr<Shape> inferred = DefinitionOf(instruction.opcode).infer(context);
  if (!inferred.ok()) return inferred.status();
  if (Shape::Compatible(*inferred, *instruction.shape)) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("{} gives {}, the program says {}", Name(instruction.opcode),
                                        inferred->ToString(), instruction.shape->ToString()));
}

absl::Status CheckMeetings(const Module& module, std::span<const Meeting> meetings, const DeviceGrid& grid) {
  for (const Meeting& meeting : meetings) {
    const Instruction& instruction = *meeting.instruction;
    if (IsIdentity(meeting)) continue;
    const absl::Status status = IsBorder(meeting)
                                    ? CheckBorder(module, *meeting.computation, instruction, grid)
                                : DefinitionOf(instruction.opcode).channel == Channel::kTransfer
                                    ? CheckTransfer(instruction, grid)
                                    : CheckCollective(module, meeting, grid);
    if (status.ok()) continue;
    return WithPosition(
        WithSuffix(status, fmt::format(" (on {} of {}; in '%{} = {}')", Counted(grid.replicas, "replica"),
                                       Counted(grid.partitions, "partition"), instruction.name,
                                       Name(instruction.opcode))),
        instruction.position);
  }
  return absl::OkStatus();
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How many ids of each kind the lists of the program name.
struct NamedIds {
  int64_t replicas = 1, partitions = 1, devices = 1, transfers = 1;
};

absl::StatusOr<NamedIds> NamedBy(std::span<const Meeting> meetings) {
  NamedIds named;
  for (const Meeting& meeting : meetings) {
    const Instruction& instruction = *meeting.instruction;
    if (IsBorder(meeting) || IsIdentity(meeting)) continue;
    if (DefinitionOf(instruction.opcode).channel == Channel::kTransfer) {
      ASSAY_ASSIGN_OR_RETURN(const IntLists pairs, TransferPairs(instruction));
      for (const Ints& pair : pairs)
        for (int64_t id : pair) named.transfers = std::max(named.transfers, std::min(id, kMaxDevices) + 1);
      continue;
    }
    const int64_t ids = IdsNamed(instruction.attributes);
    switch (IdKindOf(instruction.attributes, HasGlobalIds(instruction))) {
      case IdKind::kReplica:
      case IdKind::kReplicaAndPartitions:
        named.replicas = std::max(named.replicas, ids);
        break;
      case IdKind::kPartition:
        named.partitions = std::max(named.partitions, ids);
        break;
      case IdKind::kGlobal:
        named.devices = std::max(named.devices, ids);
    }
  }
  return named;
}

// A count that is not said is that of the ids named, and as much as flattened ids need.
DeviceGrid SmallestFor(const NamedIds& named, const DeviceGrid& said) {
  DeviceGrid grid{std::max(said.replicas, int64_t{1}), std::max(said.partitions, int64_t{1})};
  if (said.replicas == 0) grid.replicas = named.replicas;
  if (said.partitions == 0) grid.partitions = named.partitions;
  // Decision: transfer-ids
  int64_t& transfers = said.partitions == 0 && said.replicas == 0  ? grid.partitions
                       : grid.partitions > 1 || grid.replicas == 1 ? grid.partitions
                                                                   : grid.replicas;
  if ((&transfers == &grid.partitions ? said.partitions : said.replicas) == 0)
    transfers = std::max(transfers, named.transfers);
  if (grid.size() >= named.devices) return grid;
  if (said.partitions == 0) {
    grid.partitions = CeilDiv(named.devices, grid.replicas);
  } else if (said.replicas == 0) {
    grid.replicas = CeilDiv(named.devices, grid.partitions);
  }
  return grid;
}

// SDY-6: what devices exchange with the host inside of a region has no place in
// keys without names of devices.
absl::Status CheckRegionsForEffects(const Module& module) {
  std::vector<bool> inside(module.computations.size(), false);
  for (size_t c = module.computations.size(); c-- > 0;) {
    const Computation& computation = module.computations[c];
    for (const ManualRegion& region : ManualRegionsOf(module, computation)) {
      const Instruction& call = computation.instructions[static_cast<size_t>(region.call)];
      inside[static_cast<size_t>(call.attributes.Computation(Attr::kToApply)->value)] = true;
    }
    if (!inside[c]) continue;
    for (const Instruction& instruction : computation.instructions) {
      for (ComputationId id : CalledComputations(instruction)) inside[static_cast<size_t>(id.value)] = true;
      if (MeetsHost(instruction))
        return NotSupported(instruction.position,
                            fmt::format("SDY-6: {} inside of a manual region", Name(instruction.opcode)));
    }
  }
  return absl::OkStatus();
}

// Each device has a thread, and inputs of its own.
absl::Status CheckCount(const DeviceGrid& grid) {
  for (const int64_t count : {grid.replicas, grid.partitions})
    if (count > kMaxDevices) return LimitExceeded("devices", count, kMaxDevices);
  return grid.size() <= kMaxDevices ? absl::OkStatus() : LimitExceeded("devices", grid.size(), kMaxDevices);
}

// A program with manual regions: as many partitions as their meshes have, where the module does not say it
// (SDY-4); values outside the same on all (SDY-2).
absl::StatusOr<DeviceGrid> SettleRegions(const Module& module, std::span<const Meeting> meetings,
                                         std::span<const Meeting> borders, const DeviceGrid& said) {
  DeviceGrid grid{
      .replicas = std::max(said.replicas, int64_t{1}), .partitions = said.partitions, .logical = true};
  for (const Meeting& border : borders) {
    ASSAY_ASSIGN_OR_RETURN(const int64_t devices,
                           DevicesOfBorder(module, *border.computation, *border.instruction));
    if (said.partitions == 0) grid.partitions = std::max(grid.partitions, devices);
  }
  grid.partitions = std::max(grid.partitions, int64_t{1});
  ASSAY_RETURN_IF_ERROR(CheckCount(grid));
  ASSAY_RETURN_IF_ERROR(CheckRegionsForEffects(module));
  ASSAY_RETURN_IF_ERROR(CheckMeetings(module, meetings, grid));
  return grid;
}

}  // namespace

bool IsCollectiveOrTransfer(const Instruction& instruction) {
  return DefinitionOf(instruction.opcode).channel != Channel::kNone || ExitsRegion(instruction);
}

bool MeetsHost(const Instruction& instruction) {
  return instruction.opcode == Opcode::kInfeed || instruction.opcode == Opcode::kOutfeed ||
         instruction.attributes.Bool(Attr::kIsHostTransfer);
}

absl::Status CheckDevices(const Module& module, const DeviceGrid& grid) {
  return CheckMeetings(module, MeetingsOf(module), grid);
}

absl::StatusOr<DeviceGrid> ResolveDeviceGrid(const Module& module, const DeviceGrid& given) {
  DeviceGrid said = given;
  if (said.replicas == 0 && module.replica_count > 1) said.replicas = module.replica_count;
  if (said.partitions == 0 && module.num_partitions > 1) said.partitions = module.num_partitions;
  const std::vector<Meeting> meetings = MeetingsOf(module);
  if (const std::vector<Meeting> borders = BordersAmong(meetings); !borders.empty())
    return SettleRegions(module, meetings, borders, said);
  // SDY-3: without regions each device has values of its own.
  ASSAY_ASSIGN_OR_RETURN(const NamedIds named, NamedBy(meetings));
  const DeviceGrid smallest = SmallestFor(named, said);
  ASSAY_RETURN_IF_ERROR(CheckCount(smallest));
  const absl::Status fits = CheckMeetings(module, meetings, smallest);
  if (fits.ok()) return smallest;
  // Lists that are left out, and ids that stand for all their partitions, leave it to the shapes.
  const auto most = [](int64_t said_count, int64_t least) { return said_count > 0 ? least : kMaxDevices; };
  for (int64_t size = smallest.size() + 1; size <= kMaxDevices; ++size) {
    ASSAY_RETURN_IF_ERROR(PollWork());
    for (int64_t r = smallest.replicas; r <= std::min(size, most(said.replicas, smallest.replicas)); ++r) {
      if (size % r != 0 || size / r < smallest.partitions ||
          size / r > most(said.partitions, smallest.partitions))
        continue;
      if (CheckMeetings(module, meetings, {r, size / r}).ok()) return DeviceGrid{r, size / r};
    }
  }
  return fits;
}

}  // namespace assay
