#include "pjrt/sharded_values.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/manual_region.h"
#include "hlo/sharding_syntax.h"
#include "hlo/text/sharding_text.h"
#include "pjrt/element_types.h"
#include "pjrt/wire_writer.h"
#include "shape/index.h"

namespace assay::pjrt {
namespace {

bool IsCut(const ShardLayout& layout) {
  return std::ranges::any_of(layout.counts(), [](int64_t count) { return count > 1; });
}

absl::Status SetLayout(const ShardLayout& layout, int64_t partitions, std::string_view what, Leaf& leaf) {
  if (!IsCut(layout)) return absl::OkStatus();
  if (layout.num_devices() != partitions) {
    return InvalidProgram({}, fmt::format("{}: a sharding over {} devices in a program of {} partitions",
                                          what, layout.num_devices(), partitions));
  }
  for (int64_t device = 0; device < partitions; ++device) {
    if (!layout.HoldsTheValue(device))
      return NotSupported({}, fmt::format("{}: an unreduced value at the program's border", what));
  }
  absl::StatusOr<Shape> local = LocalShape(*leaf.shape, layout);
  if (!local.ok())
    return NotSupported({}, fmt::format("{}: {}", what, std::string(local.status().message())));
  leaf.local_shape = std::make_shared<const Shape>(*std::move(local));
  leaf.layout = layout;
  return absl::OkStatus();
}

// The shardings of the entry computation's arrays: those that are stated, and of results that nothing is stated of those that
// follow. A result of an elementwise operation lies as its first operand that has a sharding. XLA's propagation goes further;
// where pieces lie changes no value.
class Layouts {
 public:
  using Layout = std::shared_ptr<const ShardLayout>;  // null: whole on each device
  Layouts(const Module& module, std::vector<NamedMesh> meshes, int64_t partitions)
      : entry_(module.entry_computation()), meshes_(std::move(meshes)), partitions_(partitions) {}

  absl::Status Follow() {
    layouts_.resize(entry_.instructions.size());
    for (size_t i = 0; i < layouts_.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(layouts_[i], Of(entry_.instructions[i]));
    }
    return absl::OkStatus();
  }
  const Layout& operator[](int32_t instruction) const { return layouts_[static_cast<size_t>(instruction)]; }

 private:
  absl::StatusOr<Layout> Of(const Instruction& instruction) const {
    if (!instruction.shape->IsArray()) return Layout();
    if (IsManualBorder(instruction)) return OfBorder(instruction, 0);
    if (instruction.opcode == Opcode::kGetTupleElement) {
      const Instruction& tuple = entry_.instructions[static_cast<size_t>(instruction.operands[0])];
      if (IsManualBorder(tuple)) return OfBorder(tuple, instruction.attributes.Int(Attr::kIndex));
    }
    if (const std::string* text = FrontendAttribute(instruction, kSharding); text != nullptr)
      return OfText(*text, instruction.shape->rank());
    if (instruction.extras != nullptr && !instruction.extras->sharding.empty()) {
      ASSAY_ASSIGN_OR_RETURN(ShardLayout layout, LayoutOfSharding(instruction.extras->sharding,
                                                                  instruction.shape->rank(), partitions_));
      return std::make_shared<const ShardLayout>(std::move(layout));
    }
    return OfOperands(instruction);
  }

  absl::StatusOr<Layout> OfText(const std::string& text, int64_t rank) const {
    std::vector<Sharding> values;
    if (text.starts_with("#sdy.sharding_per_value")) {
      ASSAY_ASSIGN_OR_RETURN(values, ParseShardings(text));
    } else {
      ASSAY_ASSIGN_OR_RETURN(Sharding one, ParseSharding(text));
      values.push_back(std::move(one));
    }
    if (values.size() != 1) return Layout();
    return OfSharding(values[0], rank);
  }

  absl::StatusOr<Layout> OfSharding(const Sharding& sharding, int64_t rank) const {
    ASSAY_ASSIGN_OR_RETURN(const Mesh* const mesh, FindMesh(meshes_, sharding));
    if (mesh->IsEmpty() || mesh->IsMaximal()) return Layout();
    ASSAY_RETURN_IF_ERROR(CheckSharding(sharding, *mesh, rank));
    ASSAY_ASSIGN_OR_RETURN(ShardLayout layout, ShardLayout::OfWhole(*mesh, sharding));
    return std::make_shared<const ShardLayout>(std::move(layout));
  }

  // Result k of what leaves a manual region. What enters one is local to it.
  absl::StatusOr<Layout> OfBorder(const Instruction& call, int64_t k) const {
    ASSAY_ASSIGN_OR_RETURN(const ManualBorder border, BorderOf(meshes_, call));
    if (border.enters || k < 0 || k >= std::ssize(border.shardings)) return Layout();
    const Sharding& sharding = border.shardings[static_cast<size_t>(k)];
    return OfSharding(sharding, std::ssize(sharding.dims));
  }

  Layout OfOperands(const Instruction& instruction) const {
    if (DefinitionOf(instruction.opcode).strip == nullptr && instruction.opcode != Opcode::kCopy)
      return nullptr;
    for (const int32_t operand : instruction.operands) {
      const Shape& shape = *entry_.instructions[static_cast<size_t>(operand)].shape;
      const Layout& layout = layouts_[static_cast<size_t>(operand)];
      if (layout != nullptr && shape.IsArray() && Shape::SameDimensions(shape, *instruction.shape))
        return layout;
    }
    return nullptr;
  }

  const Computation& entry_;
  const std::vector<NamedMesh> meshes_;
  const int64_t partitions_;
  std::vector<Layout> layouts_;
};

// HLO's sharding of a root that is a tuple has one for each element; it says {replicated} of those without one.
absl::Status SetFromTuple(const Instruction& root, int64_t partitions, std::span<Leaf> outputs) {
  if (root.extras == nullptr || root.extras->sharding.empty()) return absl::OkStatus();
  const std::vector<std::string> shardings = LeafShardings(root.extras->sharding);
  if (shardings.size() != outputs.size()) return absl::OkStatus();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].shape->IsArray()) continue;
    ASSAY_ASSIGN_OR_RETURN(ShardLayout layout,
                           LayoutOfSharding(shardings[i], outputs[i].shape->rank(), partitions));
    ASSAY_RETURN_IF_ERROR(SetLayout(layout, partitions, fmt::format("result {}", i), outputs[i]));
  }
  return absl::OkStatus();
}

// Where the piece begins in the whole value, in bytes.
int64_t OffsetOf(const Leaf& leaf, int64_t device, std::span<const int64_t> strides) {
  const Ints chunk = leaf.layout->ChunkOf(device);
  int64_t offset = 0;
  for (size_t d = 0; d < chunk.size(); ++d)
    offset += chunk[d] * leaf.local_shape->size(static_cast<int64_t>(d)) * strides[d];
  return offset;
}

}  // namespace

absl::Status SetShardings(const Module& module, int64_t partitions, std::span<Leaf> arguments,
                          std::span<Leaf> outputs) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<NamedMesh> meshes, MeshesOf(module));
  Layouts layouts(module, std::move(meshes), partitions);
  ASSAY_RETURN_IF_ERROR(layouts.Follow());
  const Computation& entry = module.entry_computation();
  const auto set = [&](int32_t instruction, std::string what, Leaf& leaf) {
    if (layouts[instruction] == nullptr || leaf.layout || !leaf.shape->IsArray()) return absl::OkStatus();
    return SetLayout(*layouts[instruction], partitions, what, leaf);
  };
  // Leaves of parameters that are tuples are whole: frameworks pass no tuples to partitioned programs.
  if (arguments.size() == entry.parameters.size()) {
    for (size_t i = 0; i < arguments.size(); ++i)
      ASSAY_RETURN_IF_ERROR(set(entry.parameters[i], fmt::format("argument {}", i), arguments[i]));
  }
  const Instruction& root = entry.root_instruction();
  if (!root.shape->IsTuple()) return set(entry.root, "the result", outputs[0]);
  ASSAY_RETURN_IF_ERROR(SetFromTuple(root, partitions, outputs));
  if (root.opcode != Opcode::kTuple || root.operands.size() != outputs.size()) return absl::OkStatus();
  for (size_t i = 0; i < outputs.size(); ++i)
    ASSAY_RETURN_IF_ERROR(set(root.operands[i], fmt::format("result {}", i), outputs[i]));
  return absl::OkStatus();
}

absl::StatusOr<Literal> WholeOf(const Leaf& leaf, std::span<const Literal> pieces) {
  if (!leaf.layout) return pieces[0];
  const int64_t bytes = Bytes(leaf.shape->element_type());
  ASSAY_ASSIGN_OR_RETURN(Literal whole, Literal::Make(leaf.shape, nullptr, /*zero=*/false));
  if (leaf.shape->num_elements() == 0) return whole;
  const DimVector order = RowMajorOrder(leaf.shape->rank());
  const DimVector strides = DenseStrides(leaf.shape->sizes(), bytes, order);
  const DimVector local = DenseStrides(leaf.local_shape->sizes(), bytes, order);
  std::byte* const target = whole.MutableBytes().data();
  for (int64_t device = 0; device < std::ssize(pieces); ++device) {
    CopyStrided(leaf.local_shape->sizes(), bytes, pieces[static_cast<size_t>(device)].data(), local,
                target + OffsetOf(leaf, device, strides), strides);
  }
  return whole;
}

absl::StatusOr<Literal> PieceOf(const Leaf& leaf, const Literal& whole, int64_t device) {
  if (!leaf.layout) return whole;
  const int64_t bytes = Bytes(leaf.shape->element_type());
  ASSAY_ASSIGN_OR_RETURN(Literal piece, Literal::Make(leaf.local_shape, nullptr, /*zero=*/false));
  if (leaf.local_shape->num_elements() == 0) return piece;
  const DimVector order = RowMajorOrder(leaf.shape->rank());
  const DimVector strides = DenseStrides(leaf.shape->sizes(), bytes, order);
  CopyStrided(leaf.local_shape->sizes(), bytes, whole.data() + OffsetOf(leaf, device, strides), strides,
              piece.MutableBytes().data(), DenseStrides(leaf.local_shape->sizes(), bytes, order));
  return piece;
}

std::string OpShardingBytes(const Leaf& leaf) {
  constexpr uint64_t kReplicated = 0, kOther = 3;
  WireWriter sharding;
  sharding.Varint(1, leaf.layout ? kOther : kReplicated);
  if (!leaf.layout) return sharding.bytes();
  // Devices by chunk, in row-major order; those that hold the same one stand together, in a last dimension of tiles.
  const ShardLayout& layout = *leaf.layout;
  std::vector<std::pair<int64_t, int64_t>> by_chunk;
  for (int64_t device = 0; device < layout.num_devices(); ++device) {
    const Ints chunk = layout.ChunkOf(device);
    int64_t number = 0;
    for (size_t d = 0; d < chunk.size(); ++d) number = number * layout.counts()[d] + chunk[d];
    by_chunk.emplace_back(number, device);
  }
  std::sort(by_chunk.begin(), by_chunk.end());
  std::vector<int64_t> tiles(layout.counts().begin(), layout.counts().end()), devices;
  int64_t chunks = 1;
  for (const int64_t count : tiles) chunks *= count;
  for (const auto& [chunk, device] : by_chunk) devices.push_back(device);
  const int64_t copies = layout.num_devices() / chunks;
  if (copies > 1) tiles.push_back(copies);
  sharding.Packed(3, tiles);
  sharding.Packed(4, devices);
  if (copies > 1) sharding.Varint(6, 1);
  return sharding.bytes();
}

}  // namespace assay::pjrt
