#include "pjrt/plugin/sharded_values.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "base/counted.h"
#include "evaluator/ops/reduction/element_sum.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/manual_region.h"
#include "hlo/sharding_syntax.h"
#include "hlo/text/sharding_text.h"
#include "pjrt/plugin/element_types.h"
#include "pjrt/plugin/wire_writer.h"
#include "shape/index.h"

namespace assay::pjrt {
namespace {

// Whether the devices' pieces are other than copies of the whole.
bool IsShared(const ShardLayout& layout) {
  return layout.num_summands() > 1 ||
         std::ranges::any_of(layout.counts(), [](int64_t count) { return count > 1; });
}

absl::Status SetLayout(const ShardLayout& layout, int64_t partitions, std::string_view what, Leaf& leaf) {
  if (!IsShared(layout)) return absl::OkStatus();
  if (layout.num_devices() != partitions) {
    return InvalidProgram(
        {}, fmt::format("{}: a sharding over {} in a program of {}", what,
                        Counted(layout.num_devices(), "device"), Counted(partitions, "partition")));
  }
  if (layout.num_summands() > 1 &&
      (layout.reduction() != Sharding::Reduction::kSum || leaf.shape->element_type() == ElementType::kPred)) {
    return NotSupported({}, fmt::format("{}: {} that is unreduced by other than a sum of numbers", what,
                                        leaf.shape->ToString()));
  }
  for (int64_t device = 0; device < partitions; ++device) {
    if (std::ranges::count(layout.Suppliers(layout.ChunkOf(device), device), device) == 0)
      return InvalidProgram({}, fmt::format("{}: a sharding that leaves out device {}", what, device));
  }
  absl::StatusOr<Shape> local = LocalShape(*leaf.shape, layout);
  if (!local.ok())
    return NotSupported({}, fmt::format("{}: {}", what, std::string(local.status().message())));
  leaf.local_shape = std::make_shared<const Shape>(*std::move(local));
  leaf.layout = layout;
  return absl::OkStatus();
}

// Of each dimension of a reshape's result the operand's that it is; where some are merged or split, the first
// of these of the other side: pieces of the first dimension are pieces of the whole, where they are of equal
// size. -1: none.
std::vector<int64_t> KeptByReshape(const Shape& from, const Shape& to) {
  std::vector<int64_t> sources(static_cast<size_t>(to.rank()), -1);
  if (from.num_elements() == 0 || from.HasDynamic() || to.HasDynamic()) return sources;
  int64_t i = 0, j = 0;
  while (i < from.rank() && j < to.rank()) {
    if (from.size(i) == to.size(j)) {
      sources[static_cast<size_t>(j++)] = i++;
    } else if (from.size(i) == 1) {
      ++i;
    } else if (to.size(j) == 1) {
      ++j;
    } else {
      // Dimensions of both until their products are equal.
      sources[static_cast<size_t>(j)] = i;
      for (int64_t before = from.size(i++), behind = to.size(j++); before != behind;)
        before < behind ? before *= from.size(i++) : behind *= to.size(j++);
    }
  }
  return sources;
}

bool IsLayoutConstraint(const Instruction& instruction) {
  return instruction.opcode == Opcode::kCustomCall && instruction.operands.size() == 1 &&
         instruction.attributes.Text(Attr::kCustomCallTarget) == "LayoutConstraint";
}

// The shardings of the entry computation's arrays: those that are stated, and of results that nothing is
// stated of those that follow. A result of an elementwise operation lies as its first operand that has a
// sharding; a transpose, a broadcast, a reduce or a dot is cut along the dimensions that its operands are,
// and so are the open dimensions of a constraint. XLA's propagation goes further, and back from uses; where
// pieces lie changes no value.
class Layouts {
 public:
  using Layout = std::shared_ptr<const ShardLayout>;  // null: whole on each device
  Layouts(const Module& module, std::vector<NamedMesh> meshes, int64_t partitions)
      : entry_(module.entry_computation()), meshes_(std::move(meshes)), partitions_(partitions) {}

  absl::Status Follow() {
    alike_.resize(entry_.instructions.size());
    const auto groups = GroupsOf(entry_);
    // What a group settles may settle another one.
    for (size_t settled = 0;;) {
      ASSAY_RETURN_IF_ERROR(FollowOnce());
      const size_t before = settled;
      settled += SettleOne(groups);
      if (settled == before) return absl::OkStatus();
    }
  }
  const Layout& operator[](int32_t instruction) const { return layouts_[static_cast<size_t>(instruction)]; }

 private:
  absl::Status FollowOnce() {
    layouts_.assign(entry_.instructions.size(), nullptr);
    for (size_t i = 0; i < layouts_.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(layouts_[i], Of(entry_.instructions[i]));
      if (layouts_[i] == nullptr) layouts_[i] = alike_[i];
    }
    return absl::OkStatus();
  }

  // The values that are to lie alike (JAX's shard_alike), by group.
  static std::map<std::string, std::vector<int32_t>> GroupsOf(const Computation& entry) {
    std::map<std::string, std::vector<int32_t>> groups;
    for (const Instruction& instruction : entry.instructions) {
      const std::string* const id = FrontendAttribute(instruction, kShardingGroupId);
      if (id != nullptr && instruction.operands.size() == 1) groups[*id].push_back(instruction.operands[0]);
    }
    return groups;
  }

  // Members of the first group that has one with a layout and some without get it. How many:
  // 0 when all is settled.
  size_t SettleOne(const std::map<std::string, std::vector<int32_t>>& groups) {
    for (const auto& [id, members] : groups) {
      const auto lies = [this](int32_t member) { return (*this)[member] != nullptr; };
      const auto known = std::ranges::find_if(members, lies);
      if (known == members.end()) continue;
      size_t settled = 0;
      for (const int32_t member : members) {
        if (lies(member)) continue;
        alike_[static_cast<size_t>(member)] = (*this)[*known];
        ++settled;
      }
      if (settled > 0) return settled;
    }
    return 0;
  }

  absl::StatusOr<Layout> Of(const Instruction& instruction) const {
    if (!instruction.shape->IsArray()) return Layout();
    if (IsManualBorder(instruction)) return OfBorder(instruction, 0);
    if (instruction.opcode == Opcode::kGetTupleElement) {
      const Instruction& tuple = entry_.instructions[static_cast<size_t>(instruction.operands[0])];
      if (IsManualBorder(tuple)) return OfBorder(tuple, instruction.attributes.Int(Attr::kIndex));
    }
    if (const std::string* text = FrontendAttribute(instruction, kSharding); text != nullptr)
      return OfText(*text, instruction);
    if (instruction.extras != nullptr && !instruction.extras->sharding.empty()) {
      ASSAY_ASSIGN_OR_RETURN(ShardLayout layout, LayoutOfSharding(instruction.extras->sharding,
                                                                  instruction.shape->rank(), partitions_));
      return std::make_shared<const ShardLayout>(std::move(layout));
    }
    return OfOperands(instruction);
  }

  absl::StatusOr<Layout> OfText(const std::string& text, const Instruction& instruction) const {
    std::vector<Sharding> values;
    if (text.starts_with("#sdy.sharding_per_value")) {
      ASSAY_ASSIGN_OR_RETURN(values, ParseShardings(text));
    } else {
      ASSAY_ASSIGN_OR_RETURN(Sharding one, ParseSharding(text));
      values.push_back(std::move(one));
    }
    if (values.size() != 1) return Layout();
    ASSAY_ASSIGN_OR_RETURN(const Layout said, OfSharding(values[0], instruction.shape->rank()));
    if (said == nullptr || instruction.operands.size() != 1 || !values[0].replicated.empty() ||
        said->num_summands() > 1 || LayoutOf(instruction, 0) == nullptr ||
        !Shape::SameDimensions(ShapeOf(instruction, 0), *instruction.shape))
      return said;
    ShardLayout open = *said;
    for (size_t d = 0; d < values[0].dims.size(); ++d) {
      const auto dimension = static_cast<int64_t>(d);
      if (values[0].dims[d].is_open && open.counts()[d] == 1)
        open.CutAs(dimension, *LayoutOf(instruction, 0), dimension);
    }
    return std::make_shared<const ShardLayout>(std::move(open));
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

  // The operand's shape and layout; null: it has none, or an unreduced one,
  // which what is made of it need not have.
  const Shape& ShapeOf(const Instruction& instruction, size_t operand) const {
    return *entry_.instructions[static_cast<size_t>(instruction.operands[operand])].shape;
  }
  const ShardLayout* LayoutOf(const Instruction& instruction, size_t operand) const {
    const ShardLayout* const layout = (*this)[instruction.operands[operand]].get();
    return layout == nullptr || layout->num_summands() > 1 || !ShapeOf(instruction, operand).IsArray()
               ? nullptr
               : layout;
  }

  // Result dimension d is the operand's dimension sources[d]; -1: none of them.
  Layout OfDimensions(const Instruction& instruction, std::span<const int64_t> sources) const {
    const ShardLayout* const operand = LayoutOf(instruction, 0);
    if (operand == nullptr) return nullptr;
    ShardLayout layout = ShardLayout::WholeOn(*operand, std::ssize(sources));
    Cut(instruction, 0, sources, layout);
    return std::make_shared<const ShardLayout>(std::move(layout));
  }
  // Cuts the dimensions of the result as the operand is cut along the one of the same
  // size that each comes from.
  void Cut(const Instruction& instruction, size_t operand, std::span<const int64_t> sources,
           ShardLayout& layout) const {
    const ShardLayout* const from = LayoutOf(instruction, operand);
    if (from == nullptr) return;
    for (size_t d = 0; d < sources.size(); ++d) {
      const auto dimension = static_cast<int64_t>(d);
      if (sources[d] >= 0 && layout.counts()[d] == 1 &&
          ShapeOf(instruction, operand).size(sources[d]) == instruction.shape->size(dimension))
        layout.CutAs(dimension, *from, sources[d]);
    }
  }

  Layout OfReshape(const Instruction& instruction) const {
    const ShardLayout* const operand = LayoutOf(instruction, 0);
    if (operand == nullptr) return nullptr;
    const std::vector<int64_t> sources = KeptByReshape(ShapeOf(instruction, 0), *instruction.shape);
    ShardLayout layout = ShardLayout::WholeOn(*operand, std::ssize(sources));
    for (size_t d = 0; d < sources.size(); ++d) {
      const auto dimension = static_cast<int64_t>(d);
      if (sources[d] >= 0 &&
          instruction.shape->size(dimension) % operand->counts()[static_cast<size_t>(sources[d])] == 0)
        layout.CutAs(dimension, *operand, sources[d]);
    }
    return std::make_shared<const ShardLayout>(std::move(layout));
  }

  Layout OfDot(const Instruction& instruction) const {
    if (LayoutOf(instruction, 0) == nullptr && LayoutOf(instruction, 1) == nullptr) return nullptr;
    const AttributeMap& attributes = instruction.attributes;
    // Batch dimensions, then those of each operand that are neither batched nor contracted.
    std::vector<int64_t> sources[2];
    const std::span<const int64_t> batch[2] = {attributes.List(Attr::kLhsBatchDims),
                                               attributes.List(Attr::kRhsBatchDims)};
    const std::span<const int64_t> contracted[2] = {attributes.List(Attr::kLhsContractingDims),
                                                    attributes.List(Attr::kRhsContractingDims)};
    for (size_t side : {0, 1}) {
      sources[side].assign(batch[side].begin(), batch[side].end());
      if (side == 1) sources[1].resize(sources[0].size(), -1);
      for (int64_t d = 0; d < ShapeOf(instruction, side).rank(); ++d) {
        if (std::ranges::count(batch[side], d) == 0 && std::ranges::count(contracted[side], d) == 0)
          sources[side].push_back(d);
      }
    }
    const auto rank = static_cast<size_t>(instruction.shape->rank());
    sources[0].resize(rank, -1);
    if (sources[1].size() != rank) return nullptr;
    const ShardLayout* const any =
        LayoutOf(instruction, 0) != nullptr ? LayoutOf(instruction, 0) : LayoutOf(instruction, 1);
    ShardLayout layout = ShardLayout::WholeOn(*any, instruction.shape->rank());
    for (size_t side : {0, 1}) Cut(instruction, side, sources[side], layout);
    return std::make_shared<const ShardLayout>(std::move(layout));
  }

  Layout OfOperands(const Instruction& instruction) const {
    if (instruction.operands.empty()) return nullptr;
    const std::span<const int64_t> dimensions = instruction.attributes.List(Attr::kDimensions);
    const auto rank = static_cast<size_t>(instruction.shape->rank());
    std::vector<int64_t> sources(rank, -1);
    if (instruction.opcode == Opcode::kTranspose) return OfDimensions(instruction, dimensions);
    if (instruction.opcode == Opcode::kDot) return OfDot(instruction);
    if (instruction.opcode == Opcode::kBroadcast) {
      for (size_t i = 0; i < dimensions.size(); ++i)
        sources[static_cast<size_t>(dimensions[i])] = static_cast<int64_t>(i);
      return OfDimensions(instruction, sources);
    }
    if (instruction.opcode == Opcode::kReduce) {
      sources.clear();
      for (int64_t d = 0; d < ShapeOf(instruction, 0).rank(); ++d) {
        if (std::ranges::count(dimensions, d) == 0) sources.push_back(d);
      }
      return OfDimensions(instruction, sources);
    }
    if (instruction.opcode == Opcode::kReshape) return OfReshape(instruction);
    if (DefinitionOf(instruction.opcode).strip == nullptr && instruction.opcode != Opcode::kCopy &&
        !IsLayoutConstraint(instruction))
      return nullptr;
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      if (LayoutOf(instruction, i) != nullptr &&
          Shape::SameDimensions(ShapeOf(instruction, i), *instruction.shape))
        return (*this)[instruction.operands[i]];
    }
    return nullptr;
  }

  const Computation& entry_;
  const std::vector<NamedMesh> meshes_;
  const int64_t partitions_;
  std::vector<Layout> layouts_;
  std::vector<Layout> alike_;  // of what nothing else is known of
};

// HLO's sharding of a root that is a tuple has one for each element;
// it says {replicated} of those without one.
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
int64_t OffsetOf(const Leaf& leaf, std::span<const int64_t> chunk, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < chunk.size(); ++d)
    offset += chunk[d] * leaf.local_shape->size(static_cast<int64_t>(d)) * strides[d];
  return offset;
}

// The sum of some devices' pieces, element by element.
absl::StatusOr<Literal> SumOf(std::span<const int64_t> devices, std::span<const Literal> pieces) {
  const Literal& first = pieces[static_cast<size_t>(devices[0])];
  const ElementType type = first.shape().element_type();
  ASSAY_ASSIGN_OR_RETURN(Literal result, Literal::Make(first.shared_shape(), nullptr, /*zero=*/false));
  std::vector<const std::byte*> summands;
  for (const int64_t device : devices) summands.push_back(pieces[static_cast<size_t>(device)].data());
  SummandSum sum(type);
  const std::span<std::byte> out = result.MutableBytes();
  const auto step = static_cast<size_t>(Bytes(type));
  for (size_t at = 0; at < out.size(); at += step) {
    sum.Store(summands, out.data() + at);
    for (const std::byte*& summand : summands) summand += step;
  }
  return result;
}

}  // namespace

absl::Status SetShardings(const Module& module, int64_t partitions, std::span<Leaf> arguments,
                          std::span<Leaf> outputs) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<NamedMesh> meshes, MeshesOf(module));
  Layouts layouts(module, std::move(meshes), partitions);
  ASSAY_RETURN_IF_ERROR(layouts.Follow());
  const Computation& entry = module.entry_computation();
  const auto set = [&](int32_t instruction, std::string_view what, Leaf& leaf) {
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

absl::StatusOr<std::vector<Leaf>> OperandLeaves(const Module& module, const Instruction& call) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<NamedMesh> meshes, MeshesOf(module));
  Layouts layouts(module, std::move(meshes), module.num_partitions);
  ASSAY_RETURN_IF_ERROR(layouts.Follow());
  std::vector<Leaf> leaves;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const int32_t operand = call.operands[i];
    const std::shared_ptr<const Shape>& shape =
        module.entry_computation().instructions[static_cast<size_t>(operand)].shape;
    Leaf& leaf = leaves.emplace_back();
    leaf.shape = leaf.local_shape = shape;
    if (layouts[operand] == nullptr || !shape->IsArray()) continue;
    ASSAY_RETURN_IF_ERROR(
        SetLayout(*layouts[operand], module.num_partitions, fmt::format("operand {}", i), leaf));
  }
  return leaves;
}

absl::StatusOr<Literal> WholeOf(const Leaf& leaf, std::span<const Literal> pieces, int64_t device) {
  if (!leaf.layout) return pieces[static_cast<size_t>(device)];
  const int64_t bytes = Bytes(leaf.shape->element_type());
  ASSAY_ASSIGN_OR_RETURN(Literal whole, Literal::Make(leaf.shape, nullptr, /*zero=*/false));
  if (leaf.shape->num_elements() == 0) return whole;
  const DimVector order = RowMajorOrder(leaf.shape->rank());
  const DimVector strides = DenseStrides(leaf.shape->sizes(), bytes, order);
  const DimVector local = DenseStrides(leaf.local_shape->sizes(), bytes, order);
  std::byte* const target = whole.MutableBytes().data();
  Ints chunk(leaf.layout->counts().size(), 0);
  do {
    const Ints suppliers = leaf.layout->Suppliers(chunk, device);
    Literal piece = pieces[static_cast<size_t>(suppliers[0])];
    if (suppliers.size() > 1) {
      ASSAY_ASSIGN_OR_RETURN(piece, SumOf(suppliers, pieces));
    }
    CopyStrided(leaf.local_shape->sizes(), bytes, piece.data(), local,
                target + OffsetOf(leaf, chunk, strides), strides);
  } while (NextIndex(leaf.layout->counts(), chunk));
  return whole;
}

absl::StatusOr<std::vector<Literal>> WholesOf(const Leaf& leaf, std::span<const Literal> pieces) {
  std::vector<Literal> wholes;
  std::map<std::vector<int64_t>, size_t> first;  // device, by who supplies the first chunk
  for (int64_t device = 0; device < std::ssize(pieces); ++device) {
    if (leaf.layout) {
      const Ints suppliers = leaf.layout->Suppliers(Ints(leaf.layout->counts().size(), 0), device);
      const auto [known, is_new] =
          first.try_emplace({suppliers.begin(), suppliers.end()}, static_cast<size_t>(device));
      if (!is_new) {
        wholes.push_back(wholes[known->second]);
        continue;
      }
    }
    ASSAY_ASSIGN_OR_RETURN(Literal whole, WholeOf(leaf, pieces, device));
    wholes.push_back(std::move(whole));
  }
  return wholes;
}

absl::StatusOr<Literal> PieceOf(const Leaf& leaf, const Literal& whole, int64_t device) {
  if (!leaf.layout) return whole;
  const int64_t bytes = Bytes(leaf.shape->element_type());
  const bool is_zero = !leaf.layout->HoldsTheValue(device);
  ASSAY_ASSIGN_OR_RETURN(Literal piece, Literal::Make(leaf.local_shape, nullptr, is_zero));
  if (is_zero || leaf.local_shape->num_elements() == 0) return piece;
  const DimVector order = RowMajorOrder(leaf.shape->rank());
  const DimVector strides = DenseStrides(leaf.shape->sizes(), bytes, order);
  CopyStrided(leaf.local_shape->sizes(), bytes,
              whole.data() + OffsetOf(leaf, leaf.layout->ChunkOf(device), strides), strides,
              piece.MutableBytes().data(), DenseStrides(leaf.local_shape->sizes(), bytes, order));
  return piece;
}

std::string OpShardingBytes(const Leaf& leaf) {
  constexpr int64_t kReplicated = 0, kOther = 3, kUnreduced = 6;
  WireWriter sharding;
  const bool is_one_sum = leaf.layout && leaf.layout->num_summands() == leaf.layout->num_devices();
  sharding.Varint(1, static_cast<uint64_t>(!leaf.layout ? kReplicated : is_one_sum ? kUnreduced : kOther));
  if (!leaf.layout || is_one_sum) return sharding.bytes();
  // Devices by chunk, in row-major order, then by summand; those that hold the same stand together,
  // in a last dimension of tiles.
  const ShardLayout& layout = *leaf.layout;
  std::vector<std::array<int64_t, 3>> by_chunk;
  for (int64_t device = 0; device < layout.num_devices(); ++device) {
    const Ints chunk = layout.ChunkOf(device);
    int64_t number = 0;
    for (size_t d = 0; d < chunk.size(); ++d) number = number * layout.counts()[d] + chunk[d];
    by_chunk.push_back({number, layout.SummandOf(device), device});
  }
  std::sort(by_chunk.begin(), by_chunk.end());
  std::vector<int64_t> tiles(layout.counts().begin(), layout.counts().end()), devices, last_dims;
  for (const std::array<int64_t, 3>& each : by_chunk) devices.push_back(each[2]);
  int64_t pieces = layout.num_summands();
  for (const int64_t count : tiles) pieces *= count;
  if (layout.num_summands() > 1) {
    tiles.push_back(layout.num_summands());
    last_dims.push_back(kUnreduced);
  }
  const int64_t copies = layout.num_devices() / pieces;
  if (copies > 1) {
    tiles.push_back(copies);
    last_dims.push_back(kReplicated);
  }
  sharding.Packed(3, tiles);
  sharding.Packed(4, devices);
  if (last_dims.size() == 1 && copies > 1) {
    sharding.Varint(6, 1);
  } else if (!last_dims.empty()) {
    sharding.Packed(8, last_dims);
  }
  return sharding.bytes();
}

}  // namespace assay::pjrt
