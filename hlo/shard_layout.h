// Which piece of a value a device holds (docs/spec/sharding.md: SDY-7 to SDY-9, SDY-11, SDY-14 to SDY-17,
// SDY-23).
//
// The devices have positions in a mesh, and a position is a number in mixed radix: its digits are the
// coordinates. Every dimension i of the value is cut into counts()[i] chunks of ceil(size / count) elements,
// the last ones shorter or empty, and the number of the chunk that a device holds is made of some of
// the digits of its position.
#ifndef ASSAY_HLO_SHARD_LAYOUT_H_
#define ASSAY_HLO_SHARD_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash_map.h"
#include "hlo/mesh.h"
#include "shape/shape.h"

namespace assay {

class ShardLayout {
 public:
  // Position / stride % size.
  struct Digit {
    int64_t stride = 1, size = 1;
  };

  // At the border of a manual region: the axes of `manual` alone split the value (SDY-11).
  // The sharding is checked.
  static absl::StatusOr<ShardLayout> OfManual(const Mesh& mesh, const Sharding& sharding,
                                              std::span<const std::string> manual);
  // All axes split it: where the pieces of an argument or a result lie.
  static absl::StatusOr<ShardLayout> OfWhole(const Mesh& mesh, const Sharding& sharding);
  // HLO's tiles: `devices` in row-major order of the grid `tiles`,
  // whose dimensions from `rank` on hold copies.
  static absl::StatusOr<ShardLayout> OfTiles(std::span<const int64_t> tiles, std::span<const int64_t> devices,
                                             int64_t rank);
  // One chunk, which each of the devices 0 to num_devices - 1 holds.
  static ShardLayout Replicated(int64_t num_devices, int64_t rank);

  // Copies on the devices of `other`.
  static ShardLayout WholeOn(const ShardLayout& other, int64_t rank);
  // Cuts dimension `d`, which is whole, as `other` cuts its dimension `from`. False, and nothing is done: the
  // devices are other ones, or what cuts there cuts another dimension already.
  bool CutAs(int64_t d, const ShardLayout& other, int64_t from);

  int64_t num_devices() const { return num_devices_; }
  std::span<const int64_t> counts() const { return counts_; }

  // The number of the device's chunk in each dimension.
  Ints ChunkOf(int64_t device) const;

  // Entering a region where the value is unreduced along manual axes: the devices with coordinate 0 on all of
  // these hold their chunk, the others zeros (of sums; of a maximum or minimum the chunk too). SDY-15
  bool HoldsTheValue(int64_t device) const { return SummandOf(device) == 0; }
  // How many summands an unreduced value is made of, and the number of the one that the device holds;
  // 1 and 0 else.
  int64_t num_summands() const;
  int64_t SummandOf(int64_t device) const;
  Sharding::Reduction reduction() const { return reduction_; }

  // The devices that agree with this one on all axes that are not manual: the instances of the region that it
  // belongs to, in order of their positions. SDY-18
  Ints Family(int64_t device) const;
  // Leaving: what the chunk is made of for this device. One device of its family, which agrees with it on the
  // manual axes that the sharding doesn't name (SDY-16); or those whose values are summed,
  // in order of their positions (SDY-17).
  Ints Suppliers(std::span<const int64_t> chunk, int64_t device) const;

 private:
  static absl::StatusOr<ShardLayout> Make(const Mesh& mesh, const Sharding& sharding,
                                          std::optional<std::span<const std::string>> manual);
  int64_t PositionOf(int64_t device) const;
  int64_t DeviceAt(int64_t position) const;
  // All positions that have any coordinates in `digits`, and those of `position` else.
  Ints Vary(int64_t position, std::span<const Digit> digits) const;

  int64_t num_devices_ = 1;
  Ints devices_;                         // by position; empty: the position itself
  HashMap<int64_t, int64_t> positions_;  // of devices_, by device
  Ints counts_;
  std::vector<std::vector<Digit>> dims_;  // major to minor
  std::vector<Digit> unreduced_;
  std::vector<Digit> split_;  // whole axes that are manual, major to minor
  Sharding::Reduction reduction_ = Sharding::Reduction::kSum;
};

// Element ranges [begin, end) of a chunk in a dimension; b = ceil(size / count). SDY-9
struct ChunkRange {
  int64_t begin = 0, end = 0;
};
ChunkRange RangeOfChunk(int64_t size, int64_t count, int64_t chunk);

// The shape of one chunk where each dimension is divisible by its count. SDY-11
absl::StatusOr<Shape> LocalShape(const Shape& global, const ShardLayout& layout);
inline absl::StatusOr<Shape> LocalShape(const Shape& global, const Sharding& sharding,
                                        std::span<const std::string> manual, const Mesh& mesh) {
  absl::StatusOr<ShardLayout> layout = ShardLayout::OfManual(mesh, sharding, manual);
  return layout.ok() ? LocalShape(global, *layout) : layout.status();
}

}  // namespace assay

#endif  // ASSAY_HLO_SHARD_LAYOUT_H_
