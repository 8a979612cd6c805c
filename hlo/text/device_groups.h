// Lists of devices: replica_groups in its three forms, and the parts that shardings share with them
// (docs/spec/hlo-text.md section 5). Shardings themselves are in sharding_text.h.
#ifndef ASSAY_HLO_TEXT_DEVICE_GROUPS_H_
#define ASSAY_HLO_TEXT_DEVICE_GROUPS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlo/attribute.h"
#include "hlo/text/token_reader.h"

namespace assay {

// "[2,4]T(1,0)": the numbers 0..N-1 as an array of `dims`, transposed by `permutation` (of the result's
// dimensions) and flattened. Canonical: no dimension of size 1, none that could be merged with its neighbour.
struct IotaDevices {
  Ints dims, permutation;
  int64_t size = 0;
  Ints Expand() const;
  std::string ToText() const;
};
absl::Status ReadIotaDevices(TokenReader& in, IotaDevices* iota);

// mesh["a"=2,"b"=4], device_ids=(...)
struct DeviceMesh {
  struct Axis {
    std::string name;
    int64_t size = 0;
  };
  std::vector<Axis> axes;
  bool is_maximal = false;          // maximal_mesh[device_id=3]: one device, no axes
  int64_t size = 1;                 // at most the largest int64, where the product is larger
  Ints listed;                      // device_ids=(3,2,1,0), by row-major mesh position
  std::optional<IotaDevices> iota;  // device_ids=([2,2]T(1,0)); neither: 0..size-1
  std::string text;
  Ints Devices() const;
};
std::string AxisNameText(std::string_view name);  // 'a', as meshes are printed
bool AtMesh(const TokenReader& in);
absl::Status ReadMesh(TokenReader& in, DeviceMesh* mesh);

// "b":(1)2, the whole axis or a part of it: coordinate / inner % size.
struct MeshAxisRef {
  size_t axis = 0;
  int64_t before = 1, size = 1, inner = 1;  // before * size * inner is the axis size
};
// One axis; `used` are those that stand before it, which it must not overlap. Appends text.
absl::Status ReadAxisRef(TokenReader& in, const DeviceMesh& mesh, std::vector<MeshAxisRef>* used,
                         std::string* text);
// {"a","b":(1)2}
absl::Status ReadAxisRefs(TokenReader& in, const DeviceMesh& mesh, std::vector<MeshAxisRef>* used,
                          std::string* text);

// {{0,1},{2,3}}, [2,2]<=[4], or mesh["a"=2,"b"=2] {"a"}: listed out, with the compact text in canonical form.
absl::StatusOr<std::shared_ptr<const ReplicaGroups>> ReadReplicaGroups(TokenReader& in);

}  // namespace assay

#endif  // ASSAY_HLO_TEXT_DEVICE_GROUPS_H_
