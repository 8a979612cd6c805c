// Structure, control flow, streams and channels (docs/spec/operations-control.md).
#include "builder/internal.h"

namespace assay::builder {
namespace {

absl::StatusOr<std::vector<ComputationId>> ImportAll(XlaBuilder* builder,
                                                     absl::Span<const XlaComputation* const> computations) {
  std::vector<ComputationId> ids;
  for (const XlaComputation* computation : computations) {
    if (computation == nullptr) return InvalidProgram({}, "a called computation is null");
    ASSAY_ASSIGN_OR_RETURN(const ComputationId id, builder->Import(*computation));
    ids.push_back(id);
  }
  return ids;
}

bool IsHost(const ChannelHandle& handle) { return handle.type != ChannelHandle::Type::kDeviceToDevice; }

AttributeMap ChannelAttributes(const ChannelHandle& handle) {
  AttributeMap attributes = Attributes({{Attr::kChannelId, handle.handle}});
  if (IsHost(handle)) attributes.Set(Attr::kIsHostTransfer, true);
  return attributes;
}

Shape WithContext(const Shape& data) {
  return Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()});
}

// Send-C3, Recv-C3.
absl::Status CheckChannel(const ChannelHandle& handle, bool host, std::string_view label) {
  if (IsHost(handle) == host) return absl::OkStatus();
  return InvalidProgram({},
                        fmt::format("{}: wanted a {} channel", label, host ? "host" : "device to device"));
}

// send and send-done; `sent` is the shape on the channel.
absl::StatusOr<XlaOp> AddSend(XlaBuilder* builder, XlaOp operand, XlaOp token, const Shape& sent,
                              const ChannelHandle& handle) {
  ASSAY_ASSIGN_OR_RETURN(
      const XlaOp send,
      builder->Add({Opcode::kSend, {operand, token}, ChannelAttributes(handle), Shared(WithContext(sent))}));
  return builder->Add({Opcode::kSendDone, {send}, ChannelAttributes(handle), Shared(Shape::Token())});
}

absl::StatusOr<XlaOp> AddRecv(XlaBuilder* builder, XlaOp token, const Shape& shape,
                              const ChannelHandle& handle) {
  ASSAY_ASSIGN_OR_RETURN(
      const XlaOp recv,
      builder->Add({Opcode::kRecv, {token}, ChannelAttributes(handle), Shared(WithContext(shape))}));
  return builder->Add(
      {Opcode::kRecvDone, {recv}, ChannelAttributes(handle), Shared(Shape::Tuple({shape, Shape::Token()}))});
}

absl::StatusOr<XlaOp> AddInfeed(XlaBuilder* builder, XlaOp token, const Shape& shape,
                                const std::string& config) {
  AttributeMap attributes;
  if (!config.empty()) attributes.Set(Attr::kInfeedConfig, config);
  return builder->Add(
      {Opcode::kInfeed, {token}, std::move(attributes), Shared(Shape::Tuple({shape, Shape::Token()}))});
}

// The token after the last call of this kind: element `index` of its op, or the op itself; a new token
// before the first.
absl::StatusOr<XlaOp> StreamToken(XlaBuilder* builder, Opcode opcode, std::optional<int64_t> index) {
  const XlaOp last = builder->last_stream_op(opcode);
  if (!last.valid()) return CreateToken(builder);
  if (!index.has_value()) return last;
  return AddTupleElement(builder, last, *index);
}

}  // namespace

XlaOp AddDependency(XlaOp operand, XlaOp token) {
  return Emit(BuilderOf({operand, token}), {Opcode::kAddDependency, {operand, token}});
}

XlaOp AfterAll(XlaBuilder* builder, Ops tokens) {
  return Emit(builder, {Opcode::kAfterAll, ToOps(tokens), {}, Shared(Shape::Token())});
}

XlaOp CreateToken(XlaBuilder* builder) { return AfterAll(builder, {}); }

XlaOp Call(XlaBuilder* builder, const XlaComputation& computation, Ops operands) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    return builder->Add({Opcode::kCall, ToOps(operands), Attributes({{Attr::kToApply, f}})});
  });
}

XlaOp CompositeCall(XlaBuilder* builder, const XlaComputation& computation, Ops operands,
                    const std::string& name, const std::optional<std::string>& attributes,
                    std::optional<int64_t> version) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    if (name.empty()) return InvalidProgram({}, "CompositeCall-C2: the composite's name is empty");
    if (attributes.has_value() && attributes->empty()) {
      return InvalidProgram({}, "CompositeCall-C3: the composite's attributes are empty, wanted {...}");
    }
    if (version.has_value() && *version < 0) {
      return InvalidProgram({}, fmt::format("CompositeCall-C4: version is {}, wanted 0 or more", *version));
    }
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    NewInstruction call{Opcode::kCall, ToOps(operands),
                        Attributes({{Attr::kToApply, f}, {Attr::kIsComposite, true}})};
    const std::string text = attributes.value_or("{}");
    call.frontend = {{"composite.attributes", {text, text.front() == '{'}},
                     {"composite.name", {name, false}},
                     {"composite.version", {fmt::format("{}", version.value_or(0)), false}}};
    return builder->Add(call);
  });
}

XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation,
                  XlaOp false_operand, const XlaComputation& false_computation) {
  XlaBuilder* const builder = BuilderOf({predicate, true_operand, false_operand});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ComputationId t, builder->Import(true_computation));
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(false_computation));
    return builder->Add({Opcode::kConditional,
                         {predicate, true_operand, false_operand},
                         Attributes({{Attr::kTrueComputation, t}, {Attr::kFalseComputation, f}})});
  });
}

XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branch_computations,
                  Ops branch_operands) {
  XlaBuilder* const builder = branch_index.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(auto ids, ImportAll(builder, branch_computations));
    std::vector<XlaOp> operands = {branch_index};
    operands.insert(operands.end(), branch_operands.begin(), branch_operands.end());
    ASSAY_ASSIGN_OR_RETURN(const Shape* const index_shape, builder->GetShapePtr(branch_index));
    if (index_shape->IsScalar(ElementType::kPred) && ids.size() == 2) {
      return builder->Add(
          {Opcode::kConditional, std::move(operands),
           Attributes({{Attr::kTrueComputation, ids[0]}, {Attr::kFalseComputation, ids[1]}})});
    }
    return builder->Add({Opcode::kConditional, std::move(operands),
                         Attributes({{Attr::kBranchComputations, std::move(ids)}})});
  });
}

XlaOp Domain(XlaOp operand, const std::string& entry_sharding, const std::string& exit_sharding) {
  const std::string text =
      fmt::format("{{kind=\"sharding\", entry={}, exit={}}}", entry_sharding, exit_sharding);
  return Emit(operand.builder(), {Opcode::kDomain, {operand}, Attributes({{Attr::kDomain, RawText{text}}})});
}

XlaOp Fusion(XlaBuilder* builder, FusionKind kind, const XlaComputation& computation, Ops operands) {
  static constexpr std::string_view kNames[] = {"kLoop", "kInput", "kOutput", "kCustom"};
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    return builder->Add(
        {Opcode::kFusion, ToOps(operands),
         Attributes({{Attr::kKind, Word{std::string(kNames[static_cast<int>(kind)])}}, {Attr::kCalls, f}}),
         Shared(computation.GetProgramShape().result)});
  });
}

XlaOp GetTupleElement(XlaOp tuple_data, int64_t index) {
  return RunIn(tuple_data.builder(),
               [&] { return AddTupleElement(tuple_data.builder(), tuple_data, index); });
}

XlaOp OptimizationBarrier(XlaOp operand) { return Emit(operand.builder(), {Opcode::kOptBarrier, {operand}}); }

XlaOp Tuple(XlaBuilder* builder, Ops elements) { return Emit(builder, {Opcode::kTuple, ToOps(elements)}); }

XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init) {
  XlaBuilder* const builder = init.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ComputationId body_id, builder->Import(body));
    ASSAY_ASSIGN_OR_RETURN(const ComputationId condition_id, builder->Import(condition));
    return builder->Add(
        {Opcode::kWhile, {init}, Attributes({{Attr::kCondition, condition_id}, {Attr::kBody, body_id}})});
  });
}

XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const XlaOp token, StreamToken(builder, Opcode::kInfeed, 1));
    ASSAY_ASSIGN_OR_RETURN(const XlaOp infeed, AddInfeed(builder, token, shape, config));
    builder->last_stream_op(Opcode::kInfeed) = infeed;
    return AddTupleElement(builder, infeed, 0);
  });
}

XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config) {
  return RunIn(token.builder(), [&] { return AddInfeed(token.builder(), token, shape, config); });
}

XlaOp Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& outfeed_config) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const XlaOp token, StreamToken(builder, Opcode::kOutfeed, std::nullopt));
    const XlaOp outfeed = OutfeedWithToken(operand, token, shape_with_layout, outfeed_config);
    builder->last_stream_op(Opcode::kOutfeed) = outfeed;
    return outfeed;
  });
}

XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout,
                       const std::string& outfeed_config) {
  AttributeMap attributes = Attributes({{Attr::kOutfeedShape, Shared(shape_with_layout)}});
  if (!outfeed_config.empty()) attributes.Set(Attr::kOutfeedConfig, outfeed_config);
  return Emit(BuilderOf({operand, token}),
              {Opcode::kOutfeed, {operand, token}, std::move(attributes), Shared(Shape::Token())});
}

XlaOp Send(XlaOp operand, const ChannelHandle& handle) {
  return RunIn(operand.builder(), [&]() -> absl::StatusOr<XlaOp> {
    return SendWithToken(operand, CreateToken(operand.builder()), handle);
  });
}

XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle& handle) {
  XlaBuilder* const builder = BuilderOf({operand, token});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_RETURN_IF_ERROR(CheckChannel(handle, false, "Send-C3"));
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(operand));
    return AddSend(builder, operand, token, shape, handle);
  });
}

XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const ChannelHandle& handle) {
  XlaBuilder* const builder = BuilderOf({operand, token});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_RETURN_IF_ERROR(CheckChannel(handle, true, "Send-C3"));
    return AddSend(builder, operand, token, shape_with_layout, handle);
  });
}

XlaOp Recv(XlaBuilder* builder, const Shape& shape, const ChannelHandle& handle) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    return GetTupleElement(RecvWithToken(CreateToken(builder), shape, handle), 0);
  });
}

XlaOp RecvWithToken(XlaOp token, const Shape& shape, const ChannelHandle& handle) {
  return RunIn(token.builder(), [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_RETURN_IF_ERROR(CheckChannel(handle, false, "Recv-C3"));
    return AddRecv(token.builder(), token, shape, handle);
  });
}

XlaOp RecvFromHost(XlaOp token, const Shape& shape, const ChannelHandle& handle) {
  return RunIn(token.builder(), [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_RETURN_IF_ERROR(CheckChannel(handle, true, "Recv-C3"));
    return AddRecv(token.builder(), token, shape, handle);
  });
}

}  // namespace assay::builder
