// Replicas, partitions, collectives (docs/spec/operations-collective.md).
#include "base/counted.h"
#include "builder/internal.h"

namespace assay::builder {
namespace {

void SetGroups(Groups groups, const Channel& channel, std::optional<bool> use_global_device_ids,
               AttributeMap& attributes) {
  ReplicaGroups listed;
  for (const ReplicaGroup& group : groups) listed.groups.push_back(group.replica_ids);
  attributes.Set(Attr::kReplicaGroups, std::make_shared<const ReplicaGroups>(std::move(listed)));
  if (channel.has_value()) attributes.Set(Attr::kChannelId, channel->handle);
  if (use_global_device_ids.has_value()) attributes.Set(Attr::kUseGlobalDeviceIds, *use_global_device_ids);
}

// GRP-C7, where the groups are listed.
absl::Status CheckShardCount(int64_t shard_count, Groups groups, std::string_view label) {
  if (shard_count < 1) {
    return InvalidProgram({}, fmt::format("{}: shard count is {}, wanted 1 or more", label, shard_count));
  }
  for (const ReplicaGroup& group : groups) {
    if (static_cast<int64_t>(group.replica_ids.size()) == shard_count) continue;
    return InvalidProgram({}, fmt::format("{}: GRP-C7: shard count is {}, a replica group has {}", label,
                                          shard_count, Counted(group.replica_ids.size(), "member")));
  }
  return absl::OkStatus();
}

// The array with dimension d of `size`, and the layout if there is one.
absl::StatusOr<Shape> Resized(const Shape& shape, int64_t d, int64_t size, const OptionalLayout& layout) {
  Ints sizes(shape.sizes().begin(), shape.sizes().end());
  sizes[d] = size;
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(shape.element_type(), sizes));
  for (int64_t i = 0; i < shape.rank(); ++i) result.set_dynamic(i, shape.is_dynamic(i));
  if (layout.has_value()) result.set_layout(*layout);
  return result;
}

absl::Status CheckDimension(const Shape& shape, int64_t d, std::string_view label) {
  if (shape.IsArray() && d >= 0 && d < shape.rank()) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("{}: dimension {} of {}", label, d, shape.ToString()));
}

absl::StatusOr<Shape> GatheredShape(XlaBuilder* builder, XlaOp operand, int64_t d, int64_t shard_count,
                                    Groups groups, const OptionalLayout& layout) {
  ASSAY_RETURN_IF_ERROR(CheckShardCount(shard_count, groups, "AllGather-C3"));
  ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "AllGather-C1"));
  ASSAY_RETURN_IF_ERROR(CheckDimension(*shape, d, "AllGather-C2"));
  int64_t size;
  if (__builtin_mul_overflow(shape->size(d), shard_count, &size)) {
    return InvalidProgram({}, fmt::format("AllGather-C3: shard count {} is too large", shard_count));
  }
  return Resized(*shape, d, size, layout);
}

IntLists PairLists(SourceTargetPairs pairs) {
  IntLists lists;
  for (const auto& [source, target] : pairs) lists.push_back({source, target});
  return lists;
}

AttributeMap PermuteAttributes(SourceTargetPairs pairs, const Channel& channel) {
  AttributeMap attributes = Attributes({{Attr::kSourceTargetPairs, PairLists(pairs)}});
  if (channel.has_value()) attributes.Set(Attr::kChannelId, channel->handle);
  return attributes;
}

// All operands' shapes: the shape itself if there is one, else a tuple.
absl::StatusOr<Shape> ShapesOf(XlaBuilder* builder, Ops operands) {
  std::vector<Shape> shapes;
  for (const XlaOp op : operands) {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, builder->GetShape(op));
    shapes.push_back(std::move(shape));
  }
  return shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
}

absl::StatusOr<XlaOp> AddAllReduce(XlaBuilder* builder, Opcode opcode, Ops operands,
                                   const XlaComputation& computation, Groups groups, const Channel& channel,
                                   std::optional<bool> use_global_device_ids,
                                   const std::optional<Shape>& shape_with_layout) {
  ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
  ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapesOf(builder, operands));
  AttributeMap attributes = Attributes({{Attr::kToApply, f}});
  SetGroups(groups, channel, use_global_device_ids, attributes);
  if (shape_with_layout.has_value()) {
    if (!Shape::Compatible(*shape_with_layout, shape)) {
      return InvalidProgram({}, fmt::format("AllReduce: shape_with_layout is {}, the operand {}",
                                            shape_with_layout->ToString(), shape.ToString()));
    }
    shape = *shape_with_layout;
    attributes.Set(Attr::kConstrainLayout, true);
  }
  return builder->Add({opcode, ToOps(operands), std::move(attributes), Shared(std::move(shape))});
}

// All elements of a tuple operand.
absl::StatusOr<std::vector<XlaOp>> ElementsOf(XlaBuilder* builder, XlaOp tuple, const Shape& shape) {
  std::vector<XlaOp> elements;
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const XlaOp element, AddTupleElement(builder, tuple, static_cast<int64_t>(i)));
    elements.push_back(element);
  }
  return elements;
}

// Block j of every member along `split`, concatenated along `concat` in place of `split`: the blocks'
// dimension is brought in front of `concat` and merged into it.
absl::StatusOr<XlaOp> MoveBlocks(XlaBuilder* builder, XlaOp exchanged, const Shape& shape, int64_t split,
                                 int64_t concat, int64_t count) {
  Ints apart;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == split) apart.push_back(count);
    apart.push_back(d == split ? shape.size(d) / count : shape.size(d));
  }
  ASSAY_ASSIGN_OR_RETURN(XlaOp op, AddReshape(builder, exchanged, apart));
  const auto at = [&](int64_t d) { return d >= split ? d + 1 : d; };  // where dimension d is in `apart`
  Ints permutation, sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == concat) permutation.push_back(split);
    permutation.push_back(at(d));
    sizes.push_back(d == concat ? shape.size(d) * count : d == split ? shape.size(d) / count : shape.size(d));
  }
  ASSAY_ASSIGN_OR_RETURN(op, AddTranspose(builder, op, permutation));
  return AddReshape(builder, op, sizes);
}

}  // namespace

XlaOp AllGather(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count, Groups replica_groups,
                const Channel& channel_id, const OptionalLayout& layout,
                std::optional<bool> use_global_device_ids) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, GatheredShape(builder, operand, all_gather_dimension, shard_count,
                                                      replica_groups, layout));
    AttributeMap attributes = Attributes({{Attr::kDimensions, Ints{all_gather_dimension}}});
    SetGroups(replica_groups, channel_id, use_global_device_ids, attributes);
    if (layout.has_value()) attributes.Set(Attr::kConstrainLayout, true);
    return builder->Add({Opcode::kAllGather, {operand}, std::move(attributes), Shared(std::move(shape))});
  });
}

XlaOp AllGatherTuple(Ops operands, int64_t all_gather_dimension, int64_t shard_count, Groups replica_groups,
                     const Channel& channel_id, std::optional<bool> use_global_device_ids) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    std::vector<Shape> shapes;
    for (const XlaOp operand : operands) {
      ASSAY_ASSIGN_OR_RETURN(Shape shape, GatheredShape(builder, operand, all_gather_dimension, shard_count,
                                                        replica_groups, std::nullopt));
      shapes.push_back(std::move(shape));
    }
    AttributeMap attributes = Attributes({{Attr::kDimensions, Ints{all_gather_dimension}}});
    SetGroups(replica_groups, channel_id, use_global_device_ids, attributes);
    Shape shape = shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes));
    return builder->Add(
        {Opcode::kAllGather, ToOps(operands), std::move(attributes), Shared(std::move(shape))});
  });
}

XlaOp AllReduce(XlaOp operand, const XlaComputation& computation, Groups replica_groups,
                const Channel& channel_id, const std::optional<Shape>& shape_with_layout,
                std::optional<bool> use_global_device_ids) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(operand));
    if (!shape.IsTuple()) {
      return AddAllReduce(builder, Opcode::kAllReduce, Ops(&operand, 1), computation, replica_groups,
                          channel_id, use_global_device_ids, shape_with_layout);
    }
    if (shape.elements().empty()) return NotSupported({}, "AllReduce-C3: all-reduce of an empty tuple");
    ASSAY_ASSIGN_OR_RETURN(const auto elements, ElementsOf(builder, operand, shape));
    ASSAY_ASSIGN_OR_RETURN(const XlaOp reduced,
                           AddAllReduce(builder, Opcode::kAllReduce, elements, computation, replica_groups,
                                        channel_id, use_global_device_ids, std::nullopt));
    return elements.size() == 1 ? Tuple(builder, {reduced}) : reduced;
  });
}

XlaOp AllReduceTuple(Ops operands, const XlaComputation& computation, Groups replica_groups,
                     const Channel& channel_id, std::optional<bool> use_global_device_ids) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&] {
    return AddAllReduce(builder, Opcode::kAllReduce, operands, computation, replica_groups, channel_id,
                        use_global_device_ids, std::nullopt);
  });
}

// AllReduce with the sum of the (first) element type; for pred the disjunction.
XlaOp CrossReplicaSum(XlaOp operand, Groups replica_groups) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, builder->GetShape(operand));
    while (shape.IsTuple() && !shape.elements().empty()) {
      const Shape first = shape.element(0);
      shape = first;
    }
    if (!shape.IsArray()) return InvalidProgram({}, "CrossReplicaSum-C1: there is no element to sum");
    const ElementType type = shape.element_type();
    ASSAY_ASSIGN_OR_RETURN(const XlaComputation sum, type == ElementType::kPred
                                                         ? CreateScalarOrComputation(type)
                                                         : CreateScalarAddComputation(type));
    return AllReduce(operand, sum, replica_groups);
  });
}

XlaOp ReduceScatter(XlaOp operand, const XlaComputation& computation, int64_t scatter_dimension,
                    int64_t shard_count, Groups replica_groups, const Channel& channel_id,
                    const OptionalLayout& layout, std::optional<bool> use_global_device_ids) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_RETURN_IF_ERROR(CheckShardCount(shard_count, replica_groups, "ReduceScatter-C2"));
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(operand));
    ASSAY_RETURN_IF_ERROR(CheckDimension(shape, scatter_dimension, "ReduceScatter-C1"));
    if (shape.size(scatter_dimension) % shard_count != 0) {
      return InvalidProgram({}, fmt::format("ReduceScatter-C2: size {} is not divisible by shard count {}",
                                            shape.size(scatter_dimension), shard_count));
    }
    ASSAY_ASSIGN_OR_RETURN(
        Shape result, Resized(shape, scatter_dimension, shape.size(scatter_dimension) / shard_count, layout));
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    AttributeMap attributes = Attributes({{Attr::kDimensions, Ints{scatter_dimension}}, {Attr::kToApply, f}});
    SetGroups(replica_groups, channel_id, use_global_device_ids, attributes);
    if (layout.has_value()) attributes.Set(Attr::kConstrainLayout, true);
    return builder->Add(
        {Opcode::kReduceScatter, {operand}, std::move(attributes), Shared(std::move(result))});
  });
}

XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
               Groups replica_groups, const OptionalLayout& layout, const Channel& channel_id) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_RETURN_IF_ERROR(CheckShardCount(split_count, replica_groups, "AllToAll-C2"));
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(operand));
    ASSAY_RETURN_IF_ERROR(CheckDimension(shape, split_dimension, "AllToAll-C1"));
    ASSAY_RETURN_IF_ERROR(CheckDimension(shape, concat_dimension, "AllToAll-C1"));
    if (shape.HasDynamic()) {
      return InvalidProgram({}, fmt::format("AllToAll-C4: operand is {}, wanted static", shape.ToString()));
    }
    if (shape.size(split_dimension) % split_count != 0) {
      return InvalidProgram({}, fmt::format("AllToAll-C3: size {} is not divisible by split count {}",
                                            shape.size(split_dimension), split_count));
    }
    AttributeMap attributes = Attributes({{Attr::kDimensions, Ints{split_dimension}}});
    SetGroups(replica_groups, channel_id, std::nullopt, attributes);
    Shape result = shape;
    if (layout.has_value()) {
      result.set_layout(*layout);
      attributes.Set(Attr::kConstrainLayout, true);
    }
    ASSAY_ASSIGN_OR_RETURN(
        const XlaOp exchanged,
        builder->Add({Opcode::kAllToAll, {operand}, std::move(attributes), Shared(std::move(result))}));
    if (split_dimension == concat_dimension) return exchanged;
    return MoveBlocks(builder, exchanged, shape, split_dimension, concat_dimension, split_count);
  });
}

XlaOp AllToAllTuple(Ops operands, Groups replica_groups, const Channel& channel_id) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    std::vector<Shape> shapes;
    for (const XlaOp op : operands) {
      ASSAY_ASSIGN_OR_RETURN(Shape shape, builder->GetShape(op));
      shapes.push_back(std::move(shape));
    }
    AttributeMap attributes;
    SetGroups(replica_groups, channel_id, std::nullopt, attributes);
    return builder->Add(
        {Opcode::kAllToAll, ToOps(operands), std::move(attributes), Shared(Shape::Tuple(std::move(shapes)))});
  });
}

// The instruction's operand order differs from the call's: the output comes second.
XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output, XlaOp output_offsets,
                     XlaOp recv_sizes, Groups replica_groups, const Channel& channel_id) {
  XlaBuilder* const builder = BuilderOf({input, output});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    AttributeMap attributes;
    SetGroups(replica_groups, channel_id, std::nullopt, attributes);
    ASSAY_ASSIGN_OR_RETURN(Shape shape, builder->GetShape(output));
    return builder->Add({Opcode::kRaggedAllToAll,
                         {input, output, input_offsets, send_sizes, output_offsets, recv_sizes},
                         std::move(attributes),
                         Shared(std::move(shape))});
  });
}

XlaOp CollectiveBroadcast(XlaOp operand, Groups replica_groups, const Channel& channel_id) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    AttributeMap attributes;
    SetGroups(replica_groups, channel_id, std::nullopt, attributes);
    ASSAY_ASSIGN_OR_RETURN(Shape shape, builder->GetShape(operand));
    return builder->Add(
        {Opcode::kCollectiveBroadcast, {operand}, std::move(attributes), Shared(std::move(shape))});
  });
}

XlaOp CollectivePermute(XlaOp operand, SourceTargetPairs source_target_pairs, const Channel& channel_id,
                        bool inplace) {
  if (!inplace) return MultiCollectivePermute(Ops(&operand, 1), source_target_pairs, channel_id);
  return RunIn(operand.builder(), [&]() -> absl::StatusOr<XlaOp> {
    return NotSupported({}, "CollectivePermute-C4: the in-place form");
  });
}

XlaOp MultiCollectivePermute(Ops operands, SourceTargetPairs source_target_pairs, const Channel& channel_id) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapesOf(builder, operands));
    return builder->Add({Opcode::kCollectivePermute, ToOps(operands),
                         PermuteAttributes(source_target_pairs, channel_id), Shared(std::move(shape))});
  });
}

XlaOp AllGatherStart(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count, Groups replica_groups,
                     const Channel& channel_id, std::optional<bool> use_global_device_ids) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(Shape gathered, GatheredShape(builder, operand, all_gather_dimension, shard_count,
                                                         replica_groups, std::nullopt));
    ASSAY_ASSIGN_OR_RETURN(Shape shape, builder->GetShape(operand));
    AttributeMap attributes = Attributes({{Attr::kDimensions, Ints{all_gather_dimension}}});
    SetGroups(replica_groups, channel_id, use_global_device_ids, attributes);
    return builder->Add({Opcode::kAllGatherStart,
                         {operand},
                         std::move(attributes),
                         Shared(Shape::Tuple({std::move(shape), std::move(gathered)}))});
  });
}

XlaOp AllReduceStart(XlaOp operand, const XlaComputation& computation, Groups replica_groups,
                     const Channel& channel_id, std::optional<bool> use_global_device_ids) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&] {
    return AddAllReduce(builder, Opcode::kAllReduceStart, Ops(&operand, 1), computation, replica_groups,
                        channel_id, use_global_device_ids, std::nullopt);
  });
}

XlaOp CollectivePermuteStart(XlaOp operand, SourceTargetPairs source_target_pairs,
                             const Channel& channel_id) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(operand));
    return builder->Add({Opcode::kCollectivePermuteStart,
                         {operand},
                         PermuteAttributes(source_target_pairs, channel_id),
                         Shared(Shape::Tuple({shape, shape}))});
  });
}

XlaOp AllGatherDone(XlaOp start) { return Emit(start.builder(), {Opcode::kAllGatherDone, {start}}); }
XlaOp AllReduceDone(XlaOp start) { return Emit(start.builder(), {Opcode::kAllReduceDone, {start}}); }
XlaOp CollectivePermuteDone(XlaOp start) {
  return Emit(start.builder(), {Opcode::kCollectivePermuteDone, {start}});
}

XlaOp ReplicaId(XlaBuilder* builder) {
  return Emit(builder, {Opcode::kReplicaId, {}, {}, Shared(Shape::Scalar(ElementType::kU32))});
}

XlaOp PartitionId(XlaBuilder* builder) { return BuildPartitionId(builder, Shape::Scalar(ElementType::kU32)); }

XlaOp BuildPartitionId(XlaBuilder* builder, const Shape& shape) {
  return Emit(builder, {Opcode::kPartitionId, {}, {}, Shared(shape)});
}

}  // namespace assay::builder
