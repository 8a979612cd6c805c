// Manual regions in HLO (docs/spec/sharding.md, section 4 and SDY-27). XLA writes sdy.manual_computation, the
// body of JAX's shard_map, as three instructions:
//
//   in   = custom-call(x, y), custom_call_target="xla.sdy.GlobalToLocalShape",
//            frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[...]>",
//            xla.sdy.manual_axes="#sdy<manual_axes{...}>"}
//   body = call(in's elements), to_apply=xla.sdy.manual_computation_body
//   out  = custom-call(body's elements), custom_call_target="xla.sdy.LocalToGlobalShape",
//            frontend_attributes={xla.sdy.out_shardings=..., xla.sdy.manual_axes=...}
//
// The first is missing where there are no operands, the last where there are no results;
// several values are tuples.
#ifndef ASSAY_HLO_MANUAL_REGION_H_
#define ASSAY_HLO_MANUAL_REGION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/mesh.h"
#include "hlo/module.h"

namespace assay {

inline constexpr std::string_view kGlobalToLocalShape = "xla.sdy.GlobalToLocalShape";
inline constexpr std::string_view kLocalToGlobalShape = "xla.sdy.LocalToGlobalShape";
inline constexpr std::string_view kManualBody = "xla.sdy.manual_computation_body";
// Frontend attributes.
inline constexpr std::string_view kMeshes = "xla.sdy.meshes";  // of the module
inline constexpr std::string_view kSharding = "xla.sdy.sharding";
inline constexpr std::string_view kInShardings = "xla.sdy.in_shardings";
inline constexpr std::string_view kOutShardings = "xla.sdy.out_shardings";
inline constexpr std::string_view kManualAxes = "xla.sdy.manual_axes";
inline constexpr std::string_view kFuncResultSharding =
    "xla.sdy.FuncResultSharding";  // a custom call's target
inline constexpr std::string_view kShardingRule = "xla.sdy.sharding_rule";
inline constexpr std::string_view kAllowedDirection = "xla.sdy.allowed_direction";
inline constexpr std::string_view kShardingGroupId = "xla.sdy.sharding_group_id";
// Ours, of operations that XLA has no form for: the operation's name,
// and its attributes by their names behind the prefix.
inline constexpr std::string_view kShardingOp = "sdy.op";
inline constexpr std::string_view kShardingField = "sdy.op.";

// The meshes that the module names, checked.
absl::StatusOr<std::vector<NamedMesh>> MeshesOf(const Module& module);

// The shardings that instructions have as xla.sdy.sharding name meshes of the module, axes of those, and fit
// their values: SDY-V3 to SDY-V8, as XLA asks when it brings the program back to the Shardy dialect.
absl::Status CheckShardingTexts(const Module& module);

// What one of the two custom calls says.
struct ManualBorder {
  bool enters = false;
  Mesh mesh;                        // of all its shardings: empty only if no sharding has another
  std::vector<Sharding> shardings;  // of each operand if it enters, of each result else
  std::vector<std::string> manual_axes;
};
bool IsManualBorder(const Instruction& instruction);
absl::StatusOr<ManualBorder> BorderOf(std::span<const NamedMesh> meshes, const Instruction& call);

// Indices in the computation; -1: there is none.
struct ManualRegion {
  int32_t call = -1, enter = -1, leave = -1;
};
// The regions that the computation holds itself, in order.
std::vector<ManualRegion> ManualRegionsOf(const Module& module, const Computation& computation);

}  // namespace assay

#endif  // ASSAY_HLO_MANUAL_REGION_H_
