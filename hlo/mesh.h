// Meshes of devices and shardings over them, as the Shardy dialect of StableHLO has them
// (docs/spec/sharding.md, sections 2 and 3): plain data, and the rules of what they may say (SDY-V1 to
// SDY-V8). Their text is in sharding_syntax.h, which piece of a value a device holds in shard_layout.h.
#ifndef ASSAY_HLO_MESH_H_
#define ASSAY_HLO_MESH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hlo/attribute.h"

namespace assay {

// More than any program has. What is looked up by name among them is looked at one by one.
inline constexpr size_t kMaxMeshAxes = 1024;
inline constexpr size_t kMaxMeshes = 4096;

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

// <["r"=2, "c"=2], device_ids=[3, 1, 2, 0]>: the device at position k, the last axis running fastest,
// is device_ids[k].
struct Mesh {
  std::vector<MeshAxis> axes;
  Ints device_ids;  // empty: 0, 1, 2, ...

  // One device and no axes: what runs on that device alone.
  bool IsMaximal() const { return axes.empty() && !device_ids.empty(); }
  // No axes, no device: it stands for any mesh.
  bool IsEmpty() const { return axes.empty() && device_ids.empty(); }
  // Of a checked mesh.
  int64_t size() const;
  const MeshAxis* Find(std::string_view axis) const;
  // The product of the sizes of the axes behind it: how far apart in position neighbours along it are.
  int64_t StrideOf(std::string_view axis) const;
  friend bool operator==(const Mesh&, const Mesh&) = default;
};

struct NamedMesh {
  std::string name;
  Mesh mesh;
};

// "a", or a part of it: "a":(2)4 splits an axis of size n into 2,
// 4 and n/8 and means the coordinate in the middle.
struct AxisRef {
  std::string axis;
  int64_t before = 1;
  int64_t part = 0;  // 0: the whole axis
  bool IsWhole() const { return part == 0; }
  friend bool operator==(const AxisRef&, const AxisRef&) = default;
};

struct DimSharding {
  std::vector<AxisRef> axes;  // major to minor
  bool is_open = false;       // '?': propagation may add axes
  std::optional<int64_t> priority;
  friend bool operator==(const DimSharding&, const DimSharding&) = default;
};

struct Sharding {
  enum class Reduction : uint8_t { kSum, kMax, kMin };
  std::string mesh_name;
  std::shared_ptr<const Mesh> inlined_mesh;  // null: mesh_name names it
  std::vector<DimSharding> dims;
  std::vector<AxisRef> replicated;
  std::vector<AxisRef> unreduced;
  Reduction reduction = Reduction::kSum;  // of the unreduced axes
};

// The mesh of a sharding among those of the module. SDY-V3
absl::StatusOr<const Mesh*> FindMesh(std::span<const NamedMesh> meshes, const Sharding& sharding);

// SDY-V1, SDY-V2
absl::Status CheckMesh(const Mesh& mesh);
// SDY-V4 to SDY-V7: for a value of `rank` dimensions; 0 too of what is no array.
absl::Status CheckSharding(const Sharding& sharding, const Mesh& mesh, int64_t rank);

}  // namespace assay

#endif  // ASSAY_HLO_MESH_H_
