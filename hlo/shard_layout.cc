#include "hlo/shard_layout.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/sharding_syntax.h"

namespace assay {
namespace {

// More devices than any program has; tables of them stay small.
constexpr int64_t kMaxDevices = int64_t{1} << 20;

// c / (n / (before * part)) % part, where c = position / stride % n is the coordinate on the axis (SDY-8).
ShardLayout::Digit DigitOf(const Mesh& mesh, const AxisRef& ref) {
  const int64_t size = mesh.Find(ref.axis)->size, stride = mesh.StrideOf(ref.axis);
  if (ref.IsWhole()) return {stride, size};
  return {stride * (size / (ref.before * ref.part)), ref.part};
}

int64_t ProductOf(std::span<const ShardLayout::Digit> digits) {
  int64_t product = 1;
  for (const ShardLayout::Digit& digit : digits) product *= digit.size;
  return product;
}

// The position with the coordinates that `number`, in the radix of `digits`, has; those of `position` else.
int64_t WithCoordinates(int64_t position, std::span<const ShardLayout::Digit> digits, int64_t number) {
  for (size_t i = digits.size(); i > 0; --i) {
    const auto& [stride, size] = digits[i - 1];
    position += (number % size - position / stride % size) * stride;
    number /= size;
  }
  return position;
}

}  // namespace

absl::StatusOr<ShardLayout> ShardLayout::Make(const Mesh& mesh, const Sharding& sharding,
                                              std::optional<std::span<const std::string>> manual) {
  ASSAY_RETURN_IF_ERROR(CheckMesh(mesh));
  if (mesh.size() > kMaxDevices) {
    return NotSupported(
        {}, fmt::format("a mesh of {}, want at most {}", Counted(mesh.size(), "device"), kMaxDevices));
  }
  ASSAY_RETURN_IF_ERROR(CheckSharding(sharding, mesh, static_cast<int64_t>(sharding.dims.size())));
  const auto splits = [&](std::string_view axis) {
    return !manual || std::ranges::find(*manual, axis) != manual->end();
  };
  ShardLayout layout;
  layout.num_devices_ = mesh.size();
  layout.devices_ = mesh.device_ids;
  for (size_t i = 0; i < mesh.device_ids.size(); ++i)
    layout.positions_[mesh.device_ids[i]] = static_cast<int64_t>(i);
  for (const DimSharding& dim : sharding.dims) {
    std::vector<Digit>& digits = layout.dims_.emplace_back();
    for (const AxisRef& ref : dim.axes) {
      if (splits(ref.axis)) digits.push_back(DigitOf(mesh, ref));
    }
    layout.counts_.push_back(ProductOf(digits));
  }
  for (const AxisRef& ref : sharding.unreduced) {
    if (splits(ref.axis)) layout.unreduced_.push_back(DigitOf(mesh, ref));
  }
  layout.reduction_ = sharding.reduction;
  for (const MeshAxis& axis : mesh.axes) {
    if (splits(axis.name)) layout.split_.push_back({mesh.StrideOf(axis.name), axis.size});
  }
  return layout;
}

absl::StatusOr<ShardLayout> ShardLayout::OfManual(const Mesh& mesh, const Sharding& sharding,
                                                  std::span<const std::string> manual) {
  return Make(mesh, sharding, manual);
}

absl::StatusOr<ShardLayout> ShardLayout::OfWhole(const Mesh& mesh, const Sharding& sharding) {
  return Make(mesh, sharding, std::nullopt);
}

// SDY-24: the tiles that a sharding is translated to give each device the chunk that OfWhole gives it.
absl::StatusOr<ShardLayout> ShardLayout::OfTiles(std::span<const int64_t> tiles,
                                                 std::span<const int64_t> devices, int64_t rank) {
  const std::optional<int64_t> product = CheckedProduct(tiles);
  if (!product || *product != static_cast<int64_t>(devices.size()) ||
      static_cast<int64_t>(tiles.size()) < rank) {
    return InvalidProgram({},
                          fmt::format("sharding: {} in tiles [{}] for {}", Counted(devices.size(), "device"),
                                      fmt::join(tiles, ","), Counted(rank, "dimension")));
  }
  ShardLayout layout;
  layout.num_devices_ = *product;
  layout.devices_.assign(devices.begin(), devices.end());
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!layout.positions_.emplace(devices[i], static_cast<int64_t>(i)).second)
      return InvalidProgram({}, fmt::format("sharding: device {} has two tiles", devices[i]));
  }
  int64_t stride = *product;
  for (size_t i = 0; i < tiles.size(); ++i) {
    stride /= tiles[i];
    layout.split_.push_back({stride, tiles[i]});
    if (static_cast<int64_t>(i) >= rank) continue;
    layout.dims_.push_back({{stride, tiles[i]}});
    layout.counts_.push_back(tiles[i]);
  }
  return layout;
}

ShardLayout ShardLayout::Replicated(int64_t num_devices, int64_t rank) {
  ShardLayout layout;
  layout.num_devices_ = num_devices;
  layout.split_.push_back({1, num_devices});
  layout.dims_.resize(static_cast<size_t>(rank));
  layout.counts_.assign(static_cast<size_t>(rank), 1);
  return layout;
}

ShardLayout ShardLayout::WholeOn(const ShardLayout& other, int64_t rank) {
  ShardLayout layout;
  layout.num_devices_ = other.num_devices_;
  layout.devices_ = other.devices_;
  layout.positions_ = other.positions_;
  layout.split_ = other.split_;
  layout.dims_.resize(static_cast<size_t>(rank));
  layout.counts_.assign(static_cast<size_t>(rank), 1);
  return layout;
}

bool ShardLayout::CutAs(int64_t d, const ShardLayout& other, int64_t from) {
  if (num_devices_ != other.num_devices_ || devices_ != other.devices_) return false;
  const std::vector<Digit>& digits = other.dims_[static_cast<size_t>(from)];
  const auto overlap = [](const Digit& a, const Digit& b) {
    return a.stride < b.stride * b.size && b.stride < a.stride * a.size;
  };
  for (const std::vector<Digit>& used : dims_) {
    for (const Digit& a : used) {
      for (const Digit& b : digits) {
        if (overlap(a, b)) return false;
      }
    }
  }
  dims_[static_cast<size_t>(d)] = digits;
  counts_[static_cast<size_t>(d)] = other.counts_[static_cast<size_t>(from)];
  return true;
}

int64_t ShardLayout::PositionOf(int64_t device) const {
  if (devices_.empty()) return device;
  const auto known = positions_.find(device);
  return known == positions_.end() ? 0 : known->second;
}

int64_t ShardLayout::DeviceAt(int64_t position) const {
  return devices_.empty() ? position : devices_[static_cast<size_t>(position)];
}

Ints ShardLayout::ChunkOf(int64_t device) const {
  const int64_t position = PositionOf(device);
  Ints chunk;
  for (const std::vector<Digit>& digits : dims_) {
    int64_t number = 0;
    for (const auto& [stride, size] : digits) number = number * size + position / stride % size;
    chunk.push_back(number);
  }
  return chunk;
}

int64_t ShardLayout::num_summands() const { return ProductOf(unreduced_); }

int64_t ShardLayout::SummandOf(int64_t device) const {
  const int64_t position = PositionOf(device);
  int64_t number = 0;
  for (const auto& [stride, size] : unreduced_) number = number * size + position / stride % size;
  return number;
}

Ints ShardLayout::Vary(int64_t position, std::span<const Digit> digits) const {
  Ints positions;
  const int64_t count = ProductOf(digits);
  for (int64_t i = 0; i < count; ++i) positions.push_back(WithCoordinates(position, digits, i));
  std::ranges::sort(positions);
  for (int64_t& each : positions) each = DeviceAt(each);
  return positions;
}

Ints ShardLayout::Family(int64_t device) const { return Vary(PositionOf(device), split_); }

Ints ShardLayout::Suppliers(std::span<const int64_t> chunk, int64_t device) const {
  int64_t position = PositionOf(device);
  for (size_t i = 0; i < dims_.size(); ++i) position = WithCoordinates(position, dims_[i], chunk[i]);
  return Vary(position, unreduced_);
}

ChunkRange RangeOfChunk(int64_t size, int64_t count, int64_t chunk) {
  const int64_t each = CeilDiv(size, count);
  return {std::min(size, chunk * each), std::min(size, (chunk + 1) * each)};
}

absl::StatusOr<Shape> LocalShape(const Shape& global, const ShardLayout& layout) {
  if (!global.IsArray()) return global;
  if (global.rank() != static_cast<int64_t>(layout.counts().size())) {
    return InvalidProgram(
        {}, fmt::format("SDY-V4: the sharding has {}, {} has {}",
                        Counted(layout.counts().size(), "dimension"), global.ToString(), global.rank()));
  }
  DimVector sizes(global.sizes().begin(), global.sizes().end());
  for (int64_t d = 0; d < global.rank(); ++d) {
    const int64_t count = layout.counts()[static_cast<size_t>(d)];
    if (global.size(d) == kUnboundedSize) continue;
    if (global.size(d) % count != 0) {
      return InvalidProgram({},
                            fmt::format("SDY-V13: dimension {} of {} has {}, which {} chunks don't divide", d,
                                        global.ToString(), Counted(global.size(d), "element"), count));
    }
    sizes[static_cast<size_t>(d)] /= count;
  }
  ASSAY_ASSIGN_OR_RETURN(Shape local, Shape::Array(global.element_type(), sizes));
  local.set_layout(global.layout());
  for (int64_t d = 0; d < global.rank(); ++d) {
    if (global.is_dynamic(d)) local.set_dynamic(d, true);
  }
  return local;
}

}  // namespace assay
