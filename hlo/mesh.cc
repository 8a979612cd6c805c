#include "hlo/mesh.h"

#include <algorithm>

#include "base/checked.h"
#include "base/counted.h"
#include "base/hash_map.h"
#include "fmt/format.h"
#include "hlo/sharding_syntax.h"

namespace assay {
namespace {

std::optional<int64_t> ProductOfAxes(const Mesh& mesh) {
  Ints sizes;
  for (const MeshAxis& axis : mesh.axes) sizes.push_back(axis.size);
  return CheckedProduct(sizes);
}

// SDY-V6
absl::Status CheckAxisRef(const AxisRef& ref, const MeshAxis& axis) {
  if (ref.IsWhole()) return absl::OkStatus();
  const std::optional<int64_t> both = CheckedMul(ref.before, ref.part);
  const bool good = ref.before >= 1 && ref.part > 1 && ref.part < axis.size && both && axis.size % *both == 0;
  if (good) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format(
              "SDY-V6: {} of an axis of size {}: the part must be more than 1, less than the axis, and its "
              "product with what stands before it must divide the size",
              ToString(ref), axis.size));
}

// Where along its axis a part lies: between the products of sizes `before` and `before` * part.
struct Extent {
  int64_t begin = 1, end = 1;
};

Extent ExtentOf(const AxisRef& ref, int64_t size) {
  return ref.IsWhole() ? Extent{1, size} : Extent{ref.before, ref.before * ref.part};
}

using Extents = HashMap<std::string_view, std::vector<Extent>>;

// Each list of axes is checked alone, then against what stood before it.
class AxisChecker {
 public:
  explicit AxisChecker(const Mesh& mesh) : mesh_(mesh) {
    for (size_t i = 0; i < mesh.axes.size(); ++i) order_[mesh.axes[i].name] = i;
  }

  // SDY-V5, SDY-V6
  absl::Status Check(std::span<const AxisRef> refs) {
    const AxisRef* before = nullptr;
    for (const AxisRef& ref : refs) {
      const auto known = order_.find(ref.axis);
      if (known == order_.end()) {
        return InvalidProgram(
            {}, fmt::format("SDY-V5: mesh {} has no axis {}", ToString(mesh_), QuotedName(ref.axis)));
      }
      const MeshAxis& axis = mesh_.axes[known->second];
      ASSAY_RETURN_IF_ERROR(CheckAxisRef(ref, axis));
      if (before != nullptr && before->axis == ref.axis && !ref.IsWhole() && !before->IsWhole() &&
          before->before * before->part == ref.before) {
        return InvalidProgram({}, fmt::format("SDY-V6: {} and {} stand side by side, want them as one",
                                              ToString(*before), ToString(ref)));
      }
      ASSAY_RETURN_IF_ERROR(Use(ref, axis.size));
      before = &ref;
    }
    return absl::OkStatus();
  }

  // SDY-V7
  absl::Status CheckOrder(std::span<const AxisRef> refs, std::string_view what) const {
    for (size_t i = 1; i < refs.size(); ++i) {
      const auto place = [&](const AxisRef& ref) { return std::pair(order_.at(ref.axis), ref.before); };
      if (place(refs[i - 1]) < place(refs[i])) continue;
      return InvalidProgram({}, fmt::format("SDY-V7: {} axes: {} stands behind {}, want the mesh's order",
                                            what, ToString(refs[i]), ToString(refs[i - 1])));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Use(const AxisRef& ref, int64_t size) {
    const Extent extent = ExtentOf(ref, size);
    std::vector<Extent>& used = used_[ref.axis];
    for (const Extent& other : used) {
      const bool is_same_axis_of_one = size == 1;
      if (!is_same_axis_of_one && (extent.end <= other.begin || other.end <= extent.begin)) continue;
      return InvalidProgram({}, fmt::format("SDY-V5: axis {} is used twice", ToString(ref)));
    }
    used.push_back(extent);
    return absl::OkStatus();
  }

  const Mesh& mesh_;
  HashMap<std::string_view, size_t> order_;
  Extents used_;
};

}  // namespace

int64_t Mesh::size() const {
  int64_t size = 1;
  for (const MeshAxis& axis : axes) size *= axis.size;
  return size;
}

const MeshAxis* Mesh::Find(std::string_view axis) const {
  for (const MeshAxis& known : axes) {
    if (known.name == axis) return &known;
  }
  return nullptr;
}

int64_t Mesh::StrideOf(std::string_view axis) const {
  int64_t stride = 1;
  for (size_t i = axes.size(); i > 0 && axes[i - 1].name != axis; --i) stride *= axes[i - 1].size;
  return stride;
}

absl::StatusOr<const Mesh*> FindMesh(std::span<const NamedMesh> meshes, const Sharding& sharding) {
  if (sharding.inlined_mesh != nullptr) return sharding.inlined_mesh.get();
  for (const NamedMesh& known : meshes) {
    if (known.name == sharding.mesh_name) return &known.mesh;
  }
  return InvalidProgram({}, fmt::format("SDY-V3: the module has no mesh {}", SymbolText(sharding.mesh_name)));
}

absl::Status CheckMesh(const Mesh& mesh) {
  if (mesh.axes.size() > kMaxMeshAxes) {
    return NotSupported(
        {}, fmt::format("a mesh of {}, want at most {}", Counted(mesh.axes.size(), "axis"), kMaxMeshAxes));
  }
  HashSet<std::string_view> names;
  for (const MeshAxis& axis : mesh.axes) {
    if (axis.size < 1) {
      return InvalidProgram({}, fmt::format("SDY-V1: axis {} of a mesh has size {}, want at least 1",
                                            QuotedName(axis.name), axis.size));
    }
    if (!names.insert(axis.name).second)
      return InvalidProgram({}, fmt::format("SDY-V1: a mesh has two axes {}", QuotedName(axis.name)));
  }
  for (const int64_t id : mesh.device_ids) {
    if (id < 0) return InvalidProgram({}, fmt::format("SDY-V1: a device id is {}, want at least 0", id));
  }
  const std::optional<int64_t> size = ProductOfAxes(mesh);
  if (!size) return InvalidProgram({}, "SDY-V1: a mesh has more devices than an int64 counts");
  if (mesh.axes.empty()) {
    if (mesh.device_ids.size() <= 1) return absl::OkStatus();
    return InvalidProgram({}, fmt::format("SDY-V2: a mesh without axes has {} device ids, want at most one",
                                          mesh.device_ids.size()));
  }
  if (mesh.device_ids.empty()) return absl::OkStatus();
  Ints sorted = mesh.device_ids;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = static_cast<int64_t>(sorted.size()) == *size;
  for (size_t i = 0; is_permutation && i < sorted.size(); ++i)
    is_permutation = sorted[i] == static_cast<int64_t>(i);
  if (is_permutation) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("SDY-V2: the device ids [{}] are not a permutation of 0 to {}",
                                        fmt::join(mesh.device_ids, ", "), *size - 1));
}

absl::Status CheckSharding(const Sharding& sharding, const Mesh& mesh, int64_t rank) {
  const auto num_dims = static_cast<int64_t>(sharding.dims.size());
  if (mesh.IsMaximal()) {
    if (num_dims == 0 && sharding.replicated.empty() && sharding.unreduced.empty()) return absl::OkStatus();
    return InvalidProgram(
        {}, fmt::format("SDY-V4: sharding {} on a mesh of one device wants neither dimensions nor axes",
                        ToString(sharding)));
  }
  if (num_dims != rank) {
    return InvalidProgram({}, fmt::format("SDY-V4: sharding {} has {}, the value has {}", ToString(sharding),
                                          Counted(num_dims, "dimension"), rank));
  }
  AxisChecker checker(mesh);
  for (const DimSharding& dim : sharding.dims) {
    if (dim.priority && dim.axes.empty() && !dim.is_open) {
      return InvalidProgram(
          {}, fmt::format("SDY-V8: sharding {} has a priority on a closed dimension without axes",
                          ToString(sharding)));
    }
    ASSAY_RETURN_IF_ERROR(checker.Check(dim.axes));
  }
  ASSAY_RETURN_IF_ERROR(checker.Check(sharding.replicated));
  ASSAY_RETURN_IF_ERROR(checker.CheckOrder(sharding.replicated, "replicated"));
  ASSAY_RETURN_IF_ERROR(checker.Check(sharding.unreduced));
  return checker.CheckOrder(sharding.unreduced, "unreduced");
}

}  // namespace assay
