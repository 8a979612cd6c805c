#include "evaluator/ops/control/manual_region.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "evaluator/device.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/ops/reduction/element_sum.h"
#include "fmt/format.h"
#include "hlo/manual_region.h"
#include "hlo/shard_layout.h"
#include "hlo/text/sharding_text.h"
#include "literal/element_io.h"

namespace assay {
namespace {

constexpr std::string_view kFullToShard = "SPMDFullToShardShape", kShardToFull = "SPMDShardToFullShape";

std::string_view TargetOf(const Instruction& instruction) {
  return instruction.opcode == Opcode::kCustomCall ? instruction.attributes.Text(Attr::kCustomCallTarget)
                                                   : std::string_view();
}

// Part i of a value of n parts, which is bare where there is one.
std::shared_ptr<const Shape> PartOf(const std::shared_ptr<const Shape>& shape, size_t i) {
  return shape->IsTuple() ? std::shared_ptr<const Shape>(shape, &shape->element(static_cast<int64_t>(i)))
                          : shape;
}

// A border, and how each value is cut there: null for tokens.
struct Border {
  bool enters = false;
  std::vector<std::optional<ShardLayout>> layouts;  // of each operand if it enters, of each result else
};

absl::StatusOr<Border> SdyBorder(const Module& module, const Instruction& call,
                                 std::span<const Shape* const> wholes) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<NamedMesh> meshes, MeshesOf(module));
  ASSAY_ASSIGN_OR_RETURN(const ManualBorder sdy, BorderOf(meshes, call));
  if (sdy.shardings.size() != wholes.size()) {
    return InvalidProgram({}, fmt::format("SDY-V11: {} for {}", Counted(sdy.shardings.size(), "sharding"),
                                          Counted(wholes.size(), "value")));
  }
  Border border{.enters = sdy.enters};
  for (size_t k = 0; k < wholes.size(); ++k) {
    std::optional<ShardLayout>& layout = border.layouts.emplace_back();
    if (!wholes[k]->IsArray()) continue;
    ASSAY_ASSIGN_OR_RETURN(layout, ShardLayout::OfManual(sdy.mesh, sdy.shardings[k], sdy.manual_axes));
  }
  return border;
}

// Tiles of `sharding`, of which the ones along local * count = full belong to the region.
absl::StatusOr<Border> SpmdBorder(const Instruction& sharded, bool enters, const Shape& whole,
                                  int64_t num_devices) {
  Border border{.enters = enters};
  const std::string_view text =
      sharded.extras == nullptr ? std::string_view() : std::string_view(sharded.extras->sharding);
  if (text.empty()) return InvalidProgram({}, fmt::format("SDY-26: '{}' has no sharding", sharded.name));
  ASSAY_ASSIGN_OR_RETURN(ShardLayout layout, LayoutOfSharding(text, whole.rank(), num_devices));
  border.layouts.emplace_back(std::move(layout));
  return border;
}

absl::StatusOr<Border> ReadBorder(const Module& module, const Computation& computation,
                                  const Instruction& call, int64_t num_devices) {
  const std::string_view target = TargetOf(call);
  if (target == kFullToShard) {
    const Instruction& operand = computation.instructions[static_cast<size_t>(call.operands[0])];
    return SpmdBorder(operand, /*enters=*/true, *operand.shape, num_devices);
  }
  if (target == kShardToFull) return SpmdBorder(call, /*enters=*/false, *call.shape, num_devices);
  std::vector<const Shape*> wholes;
  if (target == kGlobalToLocalShape) {
    for (int32_t operand : call.operands)
      wholes.push_back(computation.instructions[static_cast<size_t>(operand)].shape.get());
  } else if (call.shape->IsTuple()) {
    for (const Shape& element : call.shape->elements()) wholes.push_back(&element);
  } else {
    wholes.push_back(call.shape.get());
  }
  return SdyBorder(module, call, wholes);
}

// The values of one device, and the whole ones, by number.
struct BorderShapes {
  std::vector<const Shape*> local, whole;
};

BorderShapes ShapesOf(const Computation& computation, const Instruction& call, bool enters) {
  std::vector<const Shape*> operands, results;
  for (int32_t operand : call.operands)
    operands.push_back(computation.instructions[static_cast<size_t>(operand)].shape.get());
  if (call.shape->IsTuple()) {
    for (const Shape& element : call.shape->elements()) results.push_back(&element);
  } else {
    results.push_back(call.shape.get());
  }
  return enters ? BorderShapes{std::move(results), std::move(operands)}
                : BorderShapes{std::move(operands), std::move(results)};
}

// start[d] = number of the chunk * size of a chunk
DimVector StartOfChunk(std::span<const int64_t> chunk, const Shape& local) {
  DimVector start(chunk.begin(), chunk.end());
  for (size_t d = 0; d < start.size(); ++d) start[d] *= local.size(static_cast<int64_t>(d));
  return start;
}

// local[I] = whole[start + I]
absl::StatusOr<Literal> ChunkOf(EvalContext& context, const Literal& whole, std::span<const int64_t> chunk,
                                const std::shared_ptr<const Shape>& shape) {
  const DimVector start = StartOfChunk(chunk, *shape);
  ASSAY_ASSIGN_OR_RETURN(Literal local, context.NewLiteral(shape));
  const ArrayView x(whole);
  const MutableArrayView out(local);
  DimVector from(start.size());
  Meter meter(context);
  for (IndexWalk i(shape->sizes()); !i.done(); i.Next()) {
    for (size_t d = 0; d < from.size(); ++d) from[d] = start[d] + i[d];
    std::memcpy(out.At(i.index()), x.At(from), x.element_bytes());
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return local;
}

// SDY-14, SDY-15. Axes of size 1 cut nothing (SDY-13).
absl::StatusOr<Literal> Enter(EvalContext& context, const Border& border, std::span<Literal> operands) {
  const int64_t device = context.device().id();
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  std::vector<Literal> locals;
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::optional<ShardLayout>& layout = border.layouts[k];
    const bool is_cut = layout && std::any_of(layout->counts().begin(), layout->counts().end(),
                                              [](int64_t n) { return n > 1; });
    if (layout && !layout->HoldsTheValue(device) && layout->reduction() == Sharding::Reduction::kSum) {
      ASSAY_ASSIGN_OR_RETURN(Literal zeros, context.NewLiteral(PartOf(shape, k), /*zero=*/true));
      locals.push_back(std::move(zeros));
    } else if (is_cut) {
      ASSAY_ASSIGN_OR_RETURN(Literal local,
                             ChunkOf(context, operands[k], layout->ChunkOf(device), PartOf(shape, k)));
      locals.push_back(std::move(local));
    } else {
      locals.push_back(std::move(operands[k]));
    }
  }
  return shape->IsTuple() ? Literal::Tuple(shape, std::move(locals)) : std::move(locals[0]);
}

// to[I] = the sum of the parts' elements at I: of floats the exact one, rounded once;
// of integers with wrap-around.
absl::StatusOr<Literal> SumOf(EvalContext& context, std::span<const Literal> parts) {
  const ElementType type = parts[0].shape().element_type();
  if (type == ElementType::kPred) return NotSupported({}, "SDY-17: pred values that are unreduced");
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(parts[0].shared_shape()));
  const std::vector<ArrayView> x(parts.begin(), parts.end());
  const MutableArrayView out(result);
  std::vector<const std::byte*> summands(x.size());
  SummandSum sum(type);
  Meter meter(context);
  for (IndexWalk i(result.shape().sizes()); !i.done(); i.Next()) {
    for (size_t k = 0; k < x.size(); ++k) summands[k] = x[k].At(i.index());
    sum.Store(summands, out.At(i.index()));
    ASSAY_RETURN_IF_ERROR(meter.Add(std::ssize(parts)));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  return result;
}

// whole[start + I] = local[I]
absl::Status Place(EvalContext& context, const Literal& local, std::span<const int64_t> chunk,
                   Literal& whole) {
  const DimVector start = StartOfChunk(chunk, local.shape());
  const ArrayView x(local);
  const MutableArrayView out(whole);
  DimVector to(start.size());
  Meter meter(context);
  for (IndexWalk i(local.shape().sizes()); !i.done(); i.Next()) {
    for (size_t d = 0; d < to.size(); ++d) to[d] = start[d] + i[d];
    std::memcpy(out.At(to), x.At(i.index()), x.element_bytes());
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return meter.Flush();
}

// Value number k of the family's devices, put together for the one at `device`: chunk c comes from the device
// that supplies it, or is the sum of what those give that hold summands (SDY-16, SDY-17).
absl::StatusOr<Literal> WholeFor(EvalContext& context, const ShardLayout& layout, int64_t device,
                                 std::span<const int64_t> family,
                                 std::span<const std::vector<Literal>> contributions, size_t k,
                                 std::shared_ptr<const Shape> shape) {
  if (layout.reduction() != Sharding::Reduction::kSum)
    return NotSupported({}, "SDY-17: values that are unreduced by maximum or minimum");
  ASSAY_ASSIGN_OR_RETURN(Literal whole, context.NewLiteral(std::move(shape)));
  for (IndexWalk c(layout.counts()); !c.done(); c.Next()) {
    std::vector<Literal> parts;
    for (int64_t supplier : layout.Suppliers(c.index(), device)) {
      const auto at = std::find(family.begin(), family.end(), supplier);
      ASSAY_CHECK(at != family.end());
      parts.push_back(contributions[static_cast<size_t>(at - family.begin())][k]);
    }
    if (parts.size() > 1) {
      ASSAY_ASSIGN_OR_RETURN(parts[0], SumOf(context, parts));
    }
    ASSAY_RETURN_IF_ERROR(Place(context, parts[0], c.index(), whole));
  }
  return whole;
}

// Value number k for each device of the family. Those with the same suppliers share one.
absl::StatusOr<std::vector<Literal>> WholesOf(EvalContext& context, const ShardLayout& layout,
                                              std::span<const int64_t> family,
                                              std::span<const std::vector<Literal>> contributions, size_t k,
                                              const std::shared_ptr<const Shape>& shape) {
  const Ints first_chunk(layout.counts().size(), 0);
  std::map<std::vector<int64_t>, Literal> by_suppliers;
  std::vector<Literal> wholes;
  for (const int64_t device : family) {
    const Ints suppliers = layout.Suppliers(first_chunk, device);
    std::vector<int64_t> key(suppliers.begin(), suppliers.end());
    auto at = by_suppliers.find(key);
    if (at == by_suppliers.end()) {
      ASSAY_ASSIGN_OR_RETURN(Literal whole,
                             WholeFor(context, layout, device, family, contributions, k, shape));
      at = by_suppliers.emplace(std::move(key), std::move(whole)).first;
    }
    wholes.push_back(at->second);
  }
  return wholes;
}

absl::StatusOr<Literal> Leave(EvalContext& context, const Border& border, std::span<Literal> operands) {
  const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
  const auto some = std::find_if(border.layouts.begin(), border.layouts.end(),
                                 [](const auto& layout) { return layout.has_value(); });
  if (some == border.layouts.end())
    return Literal::Tuple(shape, {operands.begin(), operands.end()});  // tokens alone
  const Ints family = (*some)->Family(context.device().id());
  const auto combine =
      [&](std::span<std::vector<Literal>> contributions) -> absl::StatusOr<std::vector<Literal>> {
    std::vector<std::vector<Literal>> values(contributions.size());  // by member
    for (size_t k = 0; k < contributions[0].size(); ++k) {
      if (border.layouts[k]) {
        ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> wholes, WholesOf(context, *border.layouts[k], family,
                                                                     contributions, k, PartOf(shape, k)));
        for (size_t m = 0; m < values.size(); ++m) values[m].push_back(std::move(wholes[m]));
      } else {
        for (size_t m = 0; m < values.size(); ++m) values[m].push_back(contributions[m][k]);
      }
    }
    std::vector<Literal> results;
    results.reserve(values.size());
    for (std::vector<Literal>& member : values)
      results.push_back(shape->IsTuple() ? Literal::Tuple(shape, std::move(member)) : std::move(member[0]));
    return results;
  };
  return context.device().Rendezvous(
      context.instruction(), family,
      {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())}, combine);
}

}  // namespace

bool IsRegionBorder(const Computation& computation, const Instruction& call) {
  const std::string_view target = TargetOf(call);
  if (target != kFullToShard && target != kShardToFull) return IsManualBorder(call);
  // On one device these are identities.
  return call.operands.size() == 1 &&
         !Shape::Compatible(*computation.instructions[static_cast<size_t>(call.operands[0])].shape,
                            *call.shape);
}

bool ExitsRegion(const Instruction& call) {
  const std::string_view target = TargetOf(call);
  return target == kShardToFull || target == kLocalToGlobalShape;
}

absl::StatusOr<int64_t> DevicesOfBorder(const Module& module, const Computation& computation,
                                        const Instruction& call) {
  ASSAY_ASSIGN_OR_RETURN(const Border border, ReadBorder(module, computation, call, module.num_partitions));
  int64_t devices = 1;
  for (const std::optional<ShardLayout>& layout : border.layouts)
    devices = std::max(devices, layout ? layout->num_devices() : 1);
  return devices;
}

absl::Status CheckBorder(const Module& module, const Computation& computation, const Instruction& call,
                         const DeviceGrid& grid) {
  const std::string_view target = TargetOf(call);
  if (grid.replicas > 1)
    return NotSupported(
        {}, fmt::format("SDY-V17: {} on {}, wanted 1", target, Counted(grid.replicas, "replica")));
  ASSAY_ASSIGN_OR_RETURN(const Border border, ReadBorder(module, computation, call, grid.partitions));
  const BorderShapes shapes = ShapesOf(computation, call, border.enters);
  if (shapes.local.size() != shapes.whole.size() || border.layouts.size() != shapes.whole.size()) {
    return InvalidProgram({}, fmt::format("SDY-V11: {} of {} gives {}", target,
                                          Counted(call.operands.size(), "value"), call.shape->ToString()));
  }
  for (size_t k = 0; k < border.layouts.size(); ++k) {
    const std::optional<ShardLayout>& layout = border.layouts[k];
    if (!layout) continue;
    if (layout->num_devices() != grid.partitions) {
      return NotSupported({}, fmt::format("SDY-V17: {} is written for {}, the program runs on {}", target,
                                          Counted(layout->num_devices(), "device"), grid.partitions));
    }
    ASSAY_ASSIGN_OR_RETURN(const Shape local, LocalShape(*shapes.whole[k], *layout));
    if (Shape::Compatible(local, *shapes.local[k])) continue;
    return InvalidProgram(
        {}, fmt::format("SDY-V13: the part of {} that a device has is {}, the program says {}",
                        shapes.whole[k]->ToString(), local.ToString(), shapes.local[k]->ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> EvalBorder(EvalContext& context, std::span<Literal> operands) {
  ASSAY_ASSIGN_OR_RETURN(const Border border,
                         ReadBorder(context.module(), context.computation(), context.instruction(),
                                    context.device().grid().partitions));
  return border.enters ? Enter(context, border, operands) : Leave(context, border, operands);
}

}  // namespace assay
