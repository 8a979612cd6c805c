// The text of meshes and shardings (docs/spec/sharding.md, sections 2 and 3), the same wherever it stands: in
// StableHLO, and in the strings that HLO keeps it in (xla.sdy.sharding="#sdy.sharding<@mesh, [{\"r\"},
// {}]>").
//
// Reading checks syntax alone, SDY-V8 among it; hlo/mesh.h has the rules. Printing gives the canonical form.
// Where `at` is known, it is the place of the text in a larger one and errors carry their own.
#ifndef ASSAY_HLO_SHARDING_SYNTAX_H_
#define ASSAY_HLO_SHARDING_SYNTAX_H_

#include <string>
#include <string_view>
#include <vector>

#include "hlo/mesh.h"

namespace assay {

// <["r"=2]>, with or without "#sdy.mesh" or "mesh" before it.
absl::StatusOr<Mesh> ParseMesh(std::string_view text, SourcePosition at = {});
// {mesh = #sdy.mesh<...>, ...}
absl::StatusOr<std::vector<NamedMesh>> ParseMeshes(std::string_view text, SourcePosition at = {});
// <@mesh, [{"r"}, {}]>, with or without "#sdy.sharding" before it.
absl::StatusOr<Sharding> ParseSharding(std::string_view text, SourcePosition at = {});
// #sdy.sharding_per_value<[<@mesh, []>]>, or the list alone.
absl::StatusOr<std::vector<Sharding>> ParseShardings(std::string_view text, SourcePosition at = {});
// #sdy<manual_axes{"r", "c"}>, or the braces alone.
absl::StatusOr<std::vector<std::string>> ParseManualAxes(std::string_view text, SourcePosition at = {});
// #sdy.op_sharding_rule<([i, j])->([j]) {i=2, j=3}, custom> in canonical form.
// Rules have no meaning for values.
absl::StatusOr<std::string> CanonicalShardingRule(std::string_view text, SourcePosition at = {});
// What one attribute of any of these kinds is, in canonical form.
absl::StatusOr<std::string> CanonicalSdyAttribute(std::string_view text, SourcePosition at = {});

// Bare bodies: <["r"=2]>, <@mesh, [{"r"}, {}]>, [<@mesh, []>, ...], "a":(1)2, {"r", "c"}.
std::string ToString(const Mesh& mesh);
std::string ToString(const Sharding& sharding);
std::string ToString(std::span<const Sharding> shardings);
std::string ToString(const AxisRef& ref);
std::string AxesText(std::span<const std::string> axes);
std::string MeshesText(std::span<const NamedMesh> meshes);  // {mesh = #sdy.mesh<["r"=2]>}
std::string QuotedName(std::string_view name);
std::string SymbolText(std::string_view name);  // @mesh, @"a mesh"

}  // namespace assay

#endif  // ASSAY_HLO_SHARDING_SYNTAX_H_
