#include "devices/partitioned.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "evaluator/elements.h"
#include "evaluator/op.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "hlo/shard_layout.h"
#include "hlo/text/sharding_text.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// The shardings of an instruction's leaves; none where it has no sharding.
std::vector<std::string> ShardingsOf(const Instruction& instruction) {
  if (instruction.extras == nullptr || instruction.extras->sharding.empty()) return {};
  return LeafShardings(instruction.extras->sharding);
}

DimVector StartsOf(const ShardLayout& layout, int64_t device, const Shape& local) {
  const Ints chunk = layout.ChunkOf(device);
  DimVector starts(chunk.begin(), chunk.end());
  for (size_t d = 0; d < starts.size(); ++d) starts[d] *= local.size(static_cast<int64_t>(d));
  return starts;
}

// Elements I of a chunk's space that are there:  visit(I, start + I).
absl::Status ForEachPlace(const DimVector& start, const Shape& local, const Shape& whole,
                          const std::function<void(Index at, Index from)>& visit) {
  DimVector sizes(local.sizes().begin(), local.sizes().end());
  for (size_t d = 0; d < sizes.size(); ++d)
    sizes[d] = std::clamp<int64_t>(whole.size(static_cast<int64_t>(d)) - start[d], 0, sizes[d]);
  DimVector from(sizes.size());
  constexpr int64_t kBetweenPolls = 1 << 12;
  int64_t visited = 0;
  for (IndexWalk i(sizes); !i.done(); i.Next()) {
    for (size_t d = 0; d < from.size(); ++d) from[d] = start[d] + i[d];
    visit(i.index(), from);
    if (++visited % kBetweenPolls == 0) ASSAY_RETURN_IF_ERROR(PollWork());
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> Cut(const Literal& whole, const ShardLayout& layout, int64_t device,
                            const Shape& local) {
  ASSAY_ASSIGN_OR_RETURN(Literal piece, Literal::Make(local));
  const ArrayView from(whole);
  const MutableArrayView to(piece);
  ASSAY_RETURN_IF_ERROR(ForEachPlace(
      StartsOf(layout, device, local), local, whole.shape(),
      [&](Index at, Index source) { std::memcpy(to.At(at), from.At(source), from.element_bytes()); }));
  return piece;
}

bool IsPieceOf(const Shape& local, const Shape& whole, const ShardLayout& layout) {
  if (!local.IsArray() || !whole.IsArray() || local.element_type() != whole.element_type() ||
      local.rank() != whole.rank())
    return false;
  for (int64_t d = 0; d < local.rank(); ++d) {
    if (local.size(d) != RangeOfChunk(whole.size(d), layout.counts()[d], 0).end && whole.size(d) > 0)
      return false;
  }
  return true;
}

// A value from its pieces by device; nullopt where copies of a chunk differ, which `why` then says.
absl::StatusOr<std::optional<Literal>> Joined(const Shape& whole, const ShardLayout& layout,
                                              std::span<const Literal> pieces, const DeviceGrid& grid,
                                              std::string& why) {
  ASSAY_ASSIGN_OR_RETURN(Literal value, Literal::Make(whole));
  std::vector<std::pair<Ints, int64_t>> placed;  // chunks, and who gave them
  for (int64_t device = 0; device < grid.size(); ++device) {
    const Literal& piece = pieces[static_cast<size_t>(device)];
    Ints chunk = layout.ChunkOf(device);
    const auto copy =
        std::find_if(placed.begin(), placed.end(), [&](const auto& p) { return p.first == chunk; });
    if (copy != placed.end()) {
      if (Literal::BitwiseEqual(piece, pieces[static_cast<size_t>(copy->second)])) continue;
      why = fmt::format("{} and {} hold the same piece, and differ", grid.NameOf(copy->second),
                        grid.NameOf(device));
      return std::optional<Literal>();
    }
    placed.emplace_back(std::move(chunk), device);
    const ArrayView from(piece);
    const MutableArrayView to(value);
    ASSAY_RETURN_IF_ERROR(ForEachPlace(
        StartsOf(layout, device, piece.shape()), piece.shape(), whole,
        [&](Index at, Index target) { std::memcpy(to.At(target), from.At(at), from.element_bytes()); }));
  }
  return std::optional<Literal>(std::move(value));
}

// The ways in which pieces of this shape may lie where nothing says it: chunks in order of the devices, with
// copies on neighbours, or on devices far apart.
absl::StatusOr<std::vector<ShardLayout>> LikelyLayouts(const Shape& whole, const Shape& local,
                                                       int64_t num_devices) {
  std::vector<int64_t> tiles;
  int64_t chunks = 1;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    tiles.push_back(local.size(d) == 0 ? 1 : (whole.size(d) + local.size(d) - 1) / local.size(d));
    chunks *= tiles.back();
  }
  if (chunks == 1) return std::vector<ShardLayout>{ShardLayout::Replicated(num_devices, whole.rank())};
  if (num_devices % chunks != 0) return std::vector<ShardLayout>();
  const int64_t copies = num_devices / chunks;
  tiles.push_back(copies);
  std::vector<int64_t> neighbours(static_cast<size_t>(num_devices)), apart(neighbours.size());
  for (int64_t i = 0; i < num_devices; ++i) {
    neighbours[static_cast<size_t>(i)] = i;
    apart[static_cast<size_t>(i)] = i % copies * chunks + i / copies;
  }
  std::vector<ShardLayout> layouts;
  for (const std::vector<int64_t>& devices : {neighbours, apart}) {
    ASSAY_ASSIGN_OR_RETURN(ShardLayout layout, ShardLayout::OfTiles(tiles, devices, whole.rank()));
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

}  // namespace

absl::StatusOr<std::vector<DeviceInputs>> SplitArguments(const VerifiedModule& partitioned,
                                                         const DeviceGrid& grid,
                                                         std::span<const Literal> arguments) {
  const Computation& entry = partitioned.module().entry_computation();
  if (entry.parameters.size() != arguments.size()) {
    return InvalidProgram({}, fmt::format("the partitioned program has {}, the whole one {}",
                                          Counted(entry.parameters.size(), "parameter"), arguments.size()));
  }
  std::vector<DeviceInputs> inputs(static_cast<size_t>(grid.size()));
  for (size_t p = 0; p < arguments.size(); ++p) {
    const Instruction& parameter = entry.instructions[static_cast<size_t>(entry.parameters[p])];
    const std::vector<std::string> shardings = ShardingsOf(parameter);
    const std::vector<const Shape*> locals = LeafShapes(*parameter.shape);
    const std::vector<Literal> leaves = LeavesOf(arguments[p]);
    if (leaves.size() != locals.size()) {
      return InvalidProgram(parameter.position,
                            fmt::format("parameter {} is {}, in the whole program {}", p,
                                        parameter.shape->ToString(), arguments[p].shape().ToString()));
    }
    std::vector<std::vector<Literal>> pieces(inputs.size());  // by device and leaf
    for (size_t k = 0; k < leaves.size(); ++k) {
      const bool is_said = k < shardings.size() && leaves[k].shape().IsArray();
      std::optional<ShardLayout> layout;
      if (is_said) {
        ASSAY_ASSIGN_OR_RETURN(layout, LayoutOfSharding(shardings[k], leaves[k].shape().rank(), grid.size()));
      }
      const bool is_same = Shape::Compatible(*locals[k], leaves[k].shape());
      if (is_said ? !IsPieceOf(*locals[k], leaves[k].shape(), *layout) : !is_same) {
        return InvalidProgram(
            parameter.position,
            fmt::format("parameter {} is {}, of {} with sharding={}", p, locals[k]->ToString(),
                        leaves[k].shape().ToString(), is_said ? shardings[k] : "(none)"));
      }
      for (int64_t device = 0; device < grid.size(); ++device) {
        Literal piece = leaves[k];
        if (!is_same) {
          ASSAY_ASSIGN_OR_RETURN(piece, Cut(leaves[k], *layout, device, *locals[k]));
        }
        pieces[static_cast<size_t>(device)].push_back(std::move(piece));
      }
    }
    for (size_t device = 0; device < inputs.size(); ++device) {
      std::span<Literal> next = pieces[device];
      inputs[device].arguments.push_back(FromLeaves(parameter.shape, next));
    }
  }
  return inputs;
}

absl::StatusOr<Literal> AssembleRoot(const VerifiedModule& whole, const DeviceGrid& grid,
                                     std::span<const DeviceOutputs> outputs) {
  const Instruction& root = whole.module().entry_computation().root_instruction();
  const std::vector<std::string> shardings = ShardingsOf(root);
  const std::vector<const Shape*> shapes = LeafShapes(*root.shape);
  std::vector<std::vector<Literal>> leaves;  // by device
  for (const DeviceOutputs& device : outputs) leaves.push_back(LeavesOf(device.root));
  std::vector<Literal> values;
  for (size_t k = 0; k < shapes.size(); ++k) {
    std::vector<Literal> pieces;
    for (const std::vector<Literal>& device : leaves) {
      if (device.size() != shapes.size()) {
        return EvalError({}, fmt::format("the partitioned program gives {}, the whole one {}",
                                         Counted(device.size(), "value"), shapes.size()));
      }
      pieces.push_back(device[k]);
    }
    std::vector<ShardLayout> layouts;
    if (k < shardings.size()) {
      ASSAY_ASSIGN_OR_RETURN(ShardLayout said,
                             LayoutOfSharding(shardings[k], shapes[k]->rank(), grid.size()));
      layouts.push_back(std::move(said));
    } else {
      ASSAY_ASSIGN_OR_RETURN(layouts, LikelyLayouts(*shapes[k], pieces[0].shape(), grid.size()));
    }
    std::optional<Literal> value;
    std::string why =
        fmt::format("pieces {} do not make {}", pieces[0].shape().ToString(), shapes[k]->ToString());
    for (const ShardLayout& layout : layouts) {
      if (value || !IsPieceOf(pieces[0].shape(), *shapes[k], layout)) continue;
      ASSAY_ASSIGN_OR_RETURN(value, Joined(*shapes[k], layout, pieces, grid, why));
    }
    if (!value) return EvalError({}, fmt::format("out{} of the partitioned program: {}", k, why));
    values.push_back(*std::move(value));
  }
  std::span<Literal> next = values;
  return FromLeaves(root.shape, next);
}

std::vector<Counterpart> CounterpartsOf(const Module& partitioned, const Module& whole) {
  const auto op_name = [](const Instruction& instruction) {
    return instruction.extras == nullptr ? std::string_view() : instruction.extras->metadata.op_name.view();
  };
  const std::vector<Instruction>& theirs = whole.entry_computation().instructions;
  std::vector<Counterpart> found;
  const std::vector<Instruction>& own = partitioned.entry_computation().instructions;
  for (size_t i = 0; i < own.size(); ++i) {
    if (DefinitionOf(own[i].opcode).channel != Channel::kCollective || !own[i].shape->IsArray()) continue;
    // The last of that op_name: those before it are steps on its way.
    for (size_t k = theirs.size(); k-- > 0;) {
      const bool is_same = theirs[k].name == own[i].name ||
                           (!op_name(own[i]).empty() && op_name(theirs[k]) == op_name(own[i]));
      if (!is_same || !theirs[k].shape->IsArray() || theirs[k].shape->rank() != own[i].shape->rank() ||
          theirs[k].shape->element_type() != own[i].shape->element_type())
        continue;
      found.push_back({static_cast<int32_t>(i), static_cast<int32_t>(k)});
      break;
    }
  }
  return found;
}

absl::StatusOr<Program> ProgramOf(const Module& module, int32_t instruction) {
  Module shorter = module;
  shorter.computations[static_cast<size_t>(shorter.entry.value)].root = instruction;
  shorter.entry_computation_layout.reset();
  shorter.input_output_alias.clear();
  shorter.allow_spmd_sharding_propagation_to_output.clear();
  return Program::OfModule(std::move(shorter));
}

}  // namespace assay
