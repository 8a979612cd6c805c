// Reading shardings: every item is checked and written back in the order of the canonical form.
#include "hlo/text/sharding_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/text/common_attributes.h"
#include "hlo/text/device_groups.h"
#include "hlo/text/print_values.h"

namespace assay {
namespace {

// The items of a sharding without mesh, in any order.
struct ShardingItems {
  std::string kind;  // replicated, manual, unknown, unreduced or maximal; empty: tiled
  std::optional<int64_t> device;
  Ints tile_dims;
  std::optional<IotaDevices> iota;  // "<=[4]", or
  Ints listed;                      // "0,1,2,3"
  std::string last_dims, group, metadata;
};

absl::Status ReadMetadataList(TokenReader& in, std::string* text) {
  const auto read_one = [&]() -> absl::Status {
    OpMetadata metadata;
    ASSAY_RETURN_IF_ERROR(ReadMetadata(in, &metadata));
    *text += MetadataText(metadata);
    return absl::OkStatus();
  };
  if (in.Ahead() != TokenKind::kLeftBrace) return read_one();
  std::string_view separator = "{";
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&] {
    *text += std::exchange(separator, ", ");
    return read_one();
  }));
  *text += '}';
  return absl::OkStatus();
}

// devices=[2,2]<=[4] or devices=[2,2]0,1,2,3
absl::Status ReadTiles(TokenReader& in, ShardingItems* items) {
  if (!items->tile_dims.empty())
    return InvalidProgram(in.position(), "sharding: 'devices=' is written twice");
  const SourcePosition where = in.position();
  ASSAY_RETURN_IF_ERROR(in.ReadIntList(TokenKind::kLeftSquare, TokenKind::kRightSquare, &items->tile_dims));
  if (items->tile_dims.empty())
    return InvalidProgram(where, "sharding: found no tile dimensions, want at least one");
  if (in.Eat(TokenKind::kLessEqual)) {
    return ReadIotaDevices(in, &items->iota.emplace());
  }
  do {
    ASSAY_RETURN_IF_ERROR(in.ReadNonNegative(&items->listed.emplace_back(), "a device number"));
  } while (in.Eat(TokenKind::kComma));
  return absl::OkStatus();
}

absl::Status ReadLastTileDims(TokenReader& in, ShardingItems* items) {
  std::string_view separator = "last_tile_dims={";
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
    for (std::string_view kind : {"replicated", "manual", "maximal", "unreduced"}) {
      if (!in.EatKeyword(kind)) continue;
      items->last_dims += fmt::format("{}{}", std::exchange(separator, ", "), kind);
      return absl::OkStatus();
    }
    return in.Unexpected("replicated, manual, maximal or unreduced");
  }));
  if (!items->last_dims.empty()) items->last_dims += '}';
  return absl::OkStatus();
}

absl::Status ReadItem(TokenReader& in, ShardingItems* items) {
  for (std::string_view kind : {"replicated", "manual", "unknown", "unreduced", "maximal"}) {
    if (!in.AtWord(TokenKind::kKeyword, kind)) continue;
    if (!items->kind.empty()) {
      return InvalidProgram(in.position(),
                            fmt::format("sharding: found {} after {}, want one of them", kind, items->kind));
    }
    items->kind = kind;
    in.Next();
    return absl::OkStatus();
  }
  if (in.EatAttrName("device")) return in.ReadInt(&items->device.emplace());
  if (in.EatAttrName("devices")) return ReadTiles(in, items);
  if (in.EatAttrName("last_tile_dims")) return ReadLastTileDims(in, items);
  if (in.EatAttrName("metadata")) return ReadMetadataList(in, &items->metadata);
  if (in.EatKeyword("last_tile_dim_replicate")) {
    items->last_dims = "last_tile_dim_replicate";
    return absl::OkStatus();
  }
  for (std::string_view group : {"shard_as", "shard_like"}) {
    if (!in.EatKeyword(group)) continue;
    int64_t id;
    ASSAY_RETURN_IF_ERROR(in.ReadInt(&id));
    items->group = fmt::format("{} {}", group, id);
    return absl::OkStatus();
  }
  return in.Unexpected("a part of a sharding or '}'");
}

absl::Status CheckItems(SourcePosition where, const ShardingItems& items) {
  const bool tiled = !items.tile_dims.empty();
  if (items.kind == "maximal") {
    if (items.device && !tiled) return absl::OkStatus();
    return InvalidProgram(where, "sharding: maximal wants one device=N and no devices=");
  }
  if (!items.kind.empty()) {
    if (!items.device && !tiled) return absl::OkStatus();
    return InvalidProgram(where, fmt::format("sharding: {} wants no devices", items.kind));
  }
  if (!tiled) return InvalidProgram(where, "sharding: found neither devices= nor a word like replicated");
  for (int64_t size : items.tile_dims) {
    if (size < 1)
      return InvalidProgram(where, fmt::format("sharding: a tile count is {}, want at least 1", size));
  }
  const auto product = CheckedProduct(items.tile_dims);
  const int64_t num_devices = items.iota ? items.iota->size : static_cast<int64_t>(items.listed.size());
  if (!product || *product != num_devices) {
    return InvalidProgram(where,
                          fmt::format("sharding: found {} for tiles [{}]", Counted(num_devices, "device"),
                                      fmt::join(items.tile_dims, ",")));
  }
  if (!items.iota && num_devices < 2) {
    return InvalidProgram(where, "sharding: found a list of one device, want more, or maximal");
  }
  return absl::OkStatus();
}

absl::Status ReadItems(TokenReader& in, SourcePosition where, ShardingItems* items) {
  while (!in.At(TokenKind::kRightBrace)) ASSAY_RETURN_IF_ERROR(ReadItem(in, items));
  return CheckItems(where, *items);
}

absl::Status ReadPlainBody(TokenReader& in, SourcePosition where, std::string* text) {
  ShardingItems items;
  ASSAY_RETURN_IF_ERROR(ReadItems(in, where, &items));
  std::string body = items.kind;
  const auto append = [&body](std::string_view part) {
    if (part.empty()) return;
    if (!body.empty()) body += ' ';
    body += part;
  };
  if (items.device) append(fmt::format("device={}", *items.device));
  if (!items.tile_dims.empty()) {
    const std::string devices =
        items.iota ? "<=" + items.iota->ToText() : fmt::format("{}", fmt::join(items.listed, ","));
    append(fmt::format("devices=[{}]{}", fmt::join(items.tile_dims, ","), devices));
    append(items.last_dims);
  }
  append(items.group);
  if (!items.metadata.empty()) append(fmt::format("metadata={}", items.metadata));
  *text += body;
  return absl::OkStatus();
}

// {"a","b":(1)2,?}
absl::Status ReadDimSharding(TokenReader& in, const DeviceMesh& mesh, std::vector<MeshAxisRef>* used,
                             std::string* text) {
  std::string_view separator = "";
  bool open = false;
  *text += '{';
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
    if (open) return in.Unexpected("'}' after '?'");
    *text += std::exchange(separator, ", ");
    if (!in.At(TokenKind::kQuestion)) return ReadAxisRef(in, mesh, used, text);
    open = true;
    *text += '?';
    in.Next();
    return absl::OkStatus();
  }));
  *text += '}';
  return absl::OkStatus();
}

// [ ('sum'|'max'|'min') ] before the axes of an unreduced part.
void ReadReduction(TokenReader& in, std::string* text) {
  for (std::string_view op : {"sum", "max", "min"}) {
    if (!in.AtWord(TokenKind::kIdent, op)) continue;
    in.Next();
    *text += op;
    *text += in.At(TokenKind::kLeftBrace) ? " " : "";
    return;
  }
}

// What follows a list of dimension shardings: replicated={..}, unreduced=[op]{..}, manual={..}, metadata=..
absl::Status ReadMeshTail(TokenReader& in, const DeviceMesh& mesh, std::vector<MeshAxisRef>* used,
                          std::string* text) {
  while (in.Eat(TokenKind::kComma)) {
    if (in.EatAttrName("metadata")) {
      std::string metadata;
      ASSAY_RETURN_IF_ERROR(ReadMetadataList(in, &metadata));
      *text +=
          metadata.starts_with("{{") ? ", metadata=" + metadata : fmt::format(", metadata={{{}}}", metadata);
      return absl::OkStatus();
    }
    if (!in.AtWord(TokenKind::kAttrName, "replicated") && !in.AtWord(TokenKind::kAttrName, "unreduced") &&
        !in.AtWord(TokenKind::kAttrName, "manual")) {
      return in.Unexpected("replicated=, unreduced=, manual= or metadata=");
    }
    const bool unreduced = in.token().text == "unreduced";
    *text += fmt::format(", {}=", in.token().text);
    in.Next();
    if (unreduced) ReadReduction(in, text);
    ASSAY_RETURN_IF_ERROR(ReadAxisRefs(in, mesh, used, text));
  }
  return absl::OkStatus();
}

// A sharding over a mesh: `used` are all axes, those of dimension i end at dim_ends[i].
struct MeshSharding {
  DeviceMesh mesh;
  std::vector<MeshAxisRef> used;
  std::vector<size_t> dim_ends;
};

absl::Status ReadMeshBody(TokenReader& in, MeshSharding* sharding, std::string* text) {
  auto& [mesh, used, dim_ends] = *sharding;
  ASSAY_RETURN_IF_ERROR(ReadMesh(in, &mesh));
  *text += mesh.text;
  if (mesh.is_maximal) return ReadMeshTail(in, mesh, &used, text);
  in.Eat(TokenKind::kComma);
  *text += ", ";
  if (in.At(TokenKind::kLeftSquare)) {
    std::string_view separator = "";
    *text += '[';
    ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftSquare, TokenKind::kRightSquare, [&] {
      *text += std::exchange(separator, ", ");
      absl::Status status = ReadDimSharding(in, sharding->mesh, &sharding->used, text);
      sharding->dim_ends.push_back(sharding->used.size());
      return status;
    }));
    *text += ']';
  } else if (in.EatAttrName("unreduced")) {
    *text += "unreduced=";
    ReadReduction(in, text);
    if (in.At(TokenKind::kLeftBrace)) ASSAY_RETURN_IF_ERROR(ReadAxisRefs(in, mesh, &used, text));
  } else if (in.AtWord(TokenKind::kKeyword, "replicated") || in.AtWord(TokenKind::kKeyword, "manual") ||
             in.AtWord(TokenKind::kKeyword, "unreduced")) {
    *text += in.token().text;
    const bool unreduced = in.token().text == "unreduced";
    in.Next();
    if (unreduced && in.At(TokenKind::kLeftBrace)) {
      *text += ' ';
      ASSAY_RETURN_IF_ERROR(ReadAxisRefs(in, mesh, &used, text));
    }
  } else {
    return in.Unexpected("replicated, manual, unreduced or '['");
  }
  return ReadMeshTail(in, mesh, &used, text);
}

// The body of one sharding, after its '{'; takes the '}'.
absl::Status ReadBody(TokenReader& in, SourcePosition where, std::string* text) {
  *text += '{';
  MeshSharding over_mesh;
  ASSAY_RETURN_IF_ERROR(AtMesh(in) ? ReadMeshBody(in, &over_mesh, text) : ReadPlainBody(in, where, text));
  *text += '}';
  return in.Expect(TokenKind::kRightBrace);
}

// Tables of more devices are not made.
constexpr int64_t kMaxTiledDevices = int64_t{1} << 20;

absl::Status CheckNumDevices(int64_t count) {
  if (count <= kMaxTiledDevices) return absl::OkStatus();
  return NotSupported(
      {}, fmt::format("a sharding over {}, want at most {}", Counted(count, "device"), kMaxTiledDevices));
}

absl::StatusOr<ShardLayout> LayoutOfMesh(const MeshSharding& from, int64_t rank) {
  ASSAY_RETURN_IF_ERROR(CheckNumDevices(from.mesh.size));
  Mesh mesh;
  for (const DeviceMesh::Axis& axis : from.mesh.axes) mesh.axes.push_back({axis.name, axis.size});
  if (from.mesh.iota || !from.mesh.listed.empty()) mesh.device_ids = from.mesh.Devices();
  Sharding sharding;
  size_t next = 0;
  for (const size_t end : from.dim_ends) {
    DimSharding& dim = sharding.dims.emplace_back();
    for (; next < end; ++next) {
      const MeshAxisRef& ref = from.used[next];
      const MeshAxis& axis = mesh.axes[ref.axis];
      dim.axes.push_back({axis.name, ref.before, ref.size == axis.size ? 0 : ref.size});
    }
  }
  sharding.dims.resize(static_cast<size_t>(rank));  // {replicated} and the like list no dimensions
  return ShardLayout::OfWhole(mesh, sharding);
}

absl::StatusOr<ShardLayout> LayoutOfItems(const ShardingItems& items, int64_t rank, int64_t num_devices) {
  if (items.tile_dims.empty()) return ShardLayout::Replicated(num_devices, rank);
  ASSAY_RETURN_IF_ERROR(CheckNumDevices(items.iota ? items.iota->size : 0));
  const Ints devices = items.iota ? items.iota->Expand() : items.listed;
  return ShardLayout::OfTiles(items.tile_dims, devices, rank);
}

}  // namespace

std::vector<std::string> LeafShardings(std::string_view sharding) {
  if (!sharding.starts_with("{{") && sharding != "{}") return {std::string(sharding)};
  std::vector<std::string> leaves;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < sharding.size(); ++i) {
    depth -= sharding[i] == '}' ? 1 : 0;
    if (sharding[i] == '}' && depth == 1) leaves.emplace_back(sharding.substr(begin, i + 1 - begin));
    if (sharding[i] == '{' && depth == 1) begin = i;
    depth += sharding[i] == '{' ? 1 : 0;
  }
  return leaves;
}

absl::Status CheckTiles(std::string_view sharding, int64_t rank) {
  if (!sharding.starts_with("{devices=")) return absl::OkStatus();
  TokenReader in(sharding);
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  ShardingItems items;
  ASSAY_RETURN_IF_ERROR(ReadItems(in, in.position(), &items));
  // "last_tile_dim_replicate" is one, "last_tile_dims={replicated, manual}" as many as are listed.
  const auto of_groups = items.last_dims.empty() ? 0 : std::ranges::count(items.last_dims, ',') + 1;
  const int64_t tiled = std::ssize(items.tile_dims) - of_groups;
  if (tiled != rank) {
    return InvalidProgram({}, fmt::format("sharding {}: tiles of {}, the value has {}", sharding,
                                          Counted(tiled, "dimension"), rank));
  }
  std::sort(items.listed.begin(), items.listed.end());
  const auto twice = std::adjacent_find(items.listed.begin(), items.listed.end());
  if (twice == items.listed.end()) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("sharding {}: device {} stands twice", sharding, *twice));
}

absl::StatusOr<ShardLayout> LayoutOfSharding(std::string_view sharding, int64_t rank, int64_t num_devices) {
  TokenReader in(sharding);
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  if (AtMesh(in)) {
    MeshSharding over_mesh;
    std::string text;
    ASSAY_RETURN_IF_ERROR(ReadMeshBody(in, &over_mesh, &text));
    return LayoutOfMesh(over_mesh, rank);
  }
  ShardingItems items;
  ASSAY_RETURN_IF_ERROR(ReadItems(in, in.position(), &items));
  return LayoutOfItems(items, rank, num_devices);
}

absl::Status ReadSharding(TokenReader& in, std::string* canonical) {
  const SourcePosition where = in.position();
  canonical->clear();
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  if (!in.At(TokenKind::kLeftBrace) && !in.At(TokenKind::kRightBrace)) return ReadBody(in, where, canonical);
  // Each leaf of a tuple; none for the empty one.
  *canonical += '{';
  int64_t count = 0;
  while (!in.At(TokenKind::kRightBrace)) {
    if (count > 0) ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kComma));
    if (count > 0) *canonical += ", ";
    if (count > 0 && count % 5 == 0) *canonical += fmt::format("/*index={}*/", count);
    ++count;
    const SourcePosition leaf = in.position();
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
    ASSAY_RETURN_IF_ERROR(ReadBody(in, leaf, canonical));
  }
  *canonical += '}';
  return in.Expect(TokenKind::kRightBrace);
}

absl::Status ReadDomain(TokenReader& in, std::string* canonical) {
  std::optional<std::string> kind, entry, exit;
  const auto read_part = [&]() -> absl::Status {
    if (!kind && in.EatAttrName("kind")) {
      const SourcePosition where = in.position();
      ASSAY_RETURN_IF_ERROR(in.ReadString(&kind.emplace()));
      if (*kind == "sharding") return absl::OkStatus();
      return InvalidProgram(where, fmt::format("the kind of a domain is '{}', wanted 'sharding'", *kind));
    }
    if (!entry && in.EatAttrName("entry")) return ReadSharding(in, &entry.emplace());
    if (!exit && in.EatAttrName("exit")) return ReadSharding(in, &exit.emplace());
    return in.Unexpected("kind, entry or exit, each once");
  };
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, read_part));
  if (!kind || !entry || !exit) return InvalidProgram(in.position(), "a domain needs kind, entry and exit");
  *canonical = fmt::format("{{kind=\"sharding\", entry={}, exit={}}}", *entry, *exit);
  return absl::OkStatus();
}

void SpreadShardingOverTuple(const Shape& shape, std::string* sharding) {
  if (!shape.IsTuple() || sharding->size() < 3 || sharding->starts_with("{{")) return;
  const auto leaves = std::max<int64_t>(static_cast<int64_t>(LeafShapes(shape).size()), 1);
  // A long one stays as it is: the text must not grow without bound.
  constexpr int64_t kMaxText = 1 << 16;
  if (static_cast<int64_t>(sharding->size()) > kMaxText / leaves) return;
  std::string spread = "{";
  for (int64_t i = 0; i < leaves; ++i) {
    if (i > 0) spread += ", ";
    if (i > 0 && i % 5 == 0) spread += fmt::format("/*index={}*/", i);
    spread += *sharding;
  }
  *sharding = spread + '}';
}

}  // namespace assay
