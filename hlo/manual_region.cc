#include "hlo/manual_region.h"

#include <algorithm>

#include "base/hash_map.h"
#include "fmt/format.h"
#include "hlo/sharding_syntax.h"

namespace assay {
namespace {

std::string_view TargetOf(const Instruction& instruction) {
  return instruction.opcode == Opcode::kCustomCall ? instruction.attributes.Text(Attr::kCustomCallTarget)
                                                   : std::string_view();
}

absl::StatusOr<std::string_view> Wanted(const Instruction& call, std::string_view key) {
  const std::string* const text = FrontendAttribute(call, key);
  if (text != nullptr) return std::string_view(*text);
  return InvalidProgram(call.position,
                        fmt::format("custom call {}: no frontend attribute {}", TargetOf(call), key));
}

// The first mesh that is not empty; all others are the same (SDY-V14) or empty.
absl::Status FindCommonMesh(std::span<const NamedMesh> meshes, ManualBorder* border) {
  for (const Sharding& sharding : border->shardings) {
    ASSAY_ASSIGN_OR_RETURN(const Mesh* const mesh, FindMesh(meshes, sharding));
    if (mesh->IsEmpty()) continue;
    if (border->mesh.IsEmpty()) border->mesh = *mesh;
    if (*mesh == border->mesh) continue;
    return InvalidProgram({},
                          fmt::format("SDY-V14: the shardings of a manual region are on the meshes {} and {}",
                                      ToString(border->mesh), ToString(*mesh)));
  }
  return absl::OkStatus();
}

// The instruction of which `index` is an element, or which it is; -1: no such custom call.
int32_t BorderBehind(const Computation& computation, int32_t index, std::string_view target) {
  const Instruction* instruction = &computation.instructions[static_cast<size_t>(index)];
  if (instruction->opcode == Opcode::kGetTupleElement) {
    index = instruction->operands[0];
    instruction = &computation.instructions[static_cast<size_t>(index)];
  }
  return TargetOf(*instruction) == target ? index : -1;
}

// One sharding, or one for each element of a tuple. Other numbers of them say nothing of ranks.
absl::Status CheckShardingText(std::span<const NamedMesh> meshes, const Shape& shape, std::string_view text) {
  std::vector<Sharding> shardings;
  if (text.find("sharding_per_value") != std::string_view::npos) {
    ASSAY_ASSIGN_OR_RETURN(shardings, ParseShardings(text));
  } else {
    ASSAY_ASSIGN_OR_RETURN(shardings.emplace_back(), ParseSharding(text));
  }
  const auto rank_of = [](const Shape& part) { return part.IsArray() ? part.rank() : 0; };
  std::vector<int64_t> ranks;
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements()) ranks.push_back(rank_of(element));
  } else {
    ranks.push_back(rank_of(shape));
  }
  for (size_t i = 0; i < shardings.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const Mesh* const mesh, FindMesh(meshes, shardings[i]));
    ASSAY_RETURN_IF_ERROR(CheckMesh(*mesh));
    const int64_t rank = ranks.size() == shardings.size() ? ranks[i] : std::ssize(shardings[i].dims);
    ASSAY_RETURN_IF_ERROR(CheckSharding(shardings[i], *mesh, rank));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<NamedMesh>> MeshesOf(const Module& module) {
  for (const auto& [key, value] : module.frontend_attributes) {
    if (key == kMeshes) return ParseMeshes(value.text);
  }
  return std::vector<NamedMesh>();
}

absl::Status CheckShardingTexts(const Module& module) {
  std::optional<std::vector<NamedMesh>> meshes;  // read where an instruction has a sharding
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const std::string* const text = FrontendAttribute(instruction, kSharding);
      if (text == nullptr) continue;
      if (!meshes) {
        ASSAY_ASSIGN_OR_RETURN(meshes, MeshesOf(module));
      }
      const absl::Status status = CheckShardingText(*meshes, *instruction.shape, *text);
      if (!status.ok())
        return WithPosition(WithSuffix(status, fmt::format(" (sharding of '%{}')", instruction.name)),
                            instruction.position);
    }
  }
  return absl::OkStatus();
}

bool IsManualBorder(const Instruction& instruction) {
  const std::string_view target = TargetOf(instruction);
  return target == kGlobalToLocalShape || target == kLocalToGlobalShape;
}

absl::StatusOr<ManualBorder> BorderOf(std::span<const NamedMesh> meshes, const Instruction& call) {
  ManualBorder border;
  border.enters = TargetOf(call) == kGlobalToLocalShape;
  const std::string_view key = border.enters ? kInShardings : kOutShardings;
  ASSAY_ASSIGN_OR_RETURN(const std::string_view shardings, Wanted(call, key));
  ASSAY_ASSIGN_OR_RETURN(const std::string_view axes, Wanted(call, kManualAxes));
  const auto with_place = [&](const absl::Status& status) { return WithPosition(status, call.position); };
  absl::StatusOr<std::vector<Sharding>> parsed = ParseShardings(shardings);
  if (!parsed.ok()) return with_place(parsed.status());
  border.shardings = *std::move(parsed);
  absl::StatusOr<std::vector<std::string>> parsed_axes = ParseManualAxes(axes);
  if (!parsed_axes.ok()) return with_place(parsed_axes.status());
  border.manual_axes = *std::move(parsed_axes);
  if (absl::Status status = FindCommonMesh(meshes, &border); !status.ok()) return with_place(status);
  return border;
}

std::vector<ManualRegion> ManualRegionsOf(const Module& module, const Computation& computation) {
  std::vector<ManualRegion> regions;
  HashMap<int32_t, size_t> region_of;  // by call
  const std::vector<Instruction>& instructions = computation.instructions;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i];
    const auto index = static_cast<int32_t>(i);
    if (instruction.opcode == Opcode::kCall) {
      ManualRegion region{.call = index};
      if (!instruction.operands.empty())
        region.enter = BorderBehind(computation, instruction.operands[0], kGlobalToLocalShape);
      region_of.emplace(index, regions.size());
      regions.push_back(region);
    }
    if (TargetOf(instruction) != kLocalToGlobalShape || instruction.operands.empty()) continue;
    int32_t call = instruction.operands[0];
    if (instructions[static_cast<size_t>(call)].opcode == Opcode::kGetTupleElement)
      call = instructions[static_cast<size_t>(call)].operands[0];
    const auto known = region_of.find(call);
    if (known != region_of.end() && regions[known->second].leave < 0) regions[known->second].leave = index;
  }
  std::erase_if(regions, [&](const ManualRegion& region) {
    const Instruction& call = instructions[static_cast<size_t>(region.call)];
    const std::optional<ComputationId> callee = call.attributes.Computation(Attr::kToApply);
    const bool has_name = callee && module.computation(*callee).name.starts_with(kManualBody);
    return region.enter < 0 && region.leave < 0 && !has_name;
  });
  return regions;
}

}  // namespace assay
