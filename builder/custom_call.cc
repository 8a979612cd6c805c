// Custom calls and asynchronous operations (docs/spec/operations-control.md CustomCall, Async, Copy).
#include "builder/internal.h"

namespace assay::builder {
namespace {

NewInstruction CustomCallOf(const std::string& target, Ops operands, const Shape& shape,
                            const std::string& opaque, bool has_side_effect) {
  NewInstruction call{Opcode::kCustomCall, ToOps(operands), Attributes({{Attr::kCustomCallTarget, target}}),
                      Shared(shape)};
  if (has_side_effect) call.attributes.Set(Attr::kCustomCallHasSideEffect, true);
  call.backend_config.text = opaque;
  return call;
}

}  // namespace

XlaOp CustomCall(XlaBuilder* builder, const std::string& call_target_name, Ops operands, const Shape& shape,
                 const std::string& opaque, bool has_side_effect,
                 OutputOperandAliasing output_operand_aliasing, const Literal* literal,
                 CustomCallSchedule schedule, CustomCallApiVersion api_version) {
  static constexpr std::string_view kSchedules[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
  static constexpr std::string_view kVersions[] = {"API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                                                   "API_VERSION_STATUS_RETURNING_UNIFIED",
                                                   "API_VERSION_TYPED_FFI"};
  NewInstruction call = CustomCallOf(call_target_name, operands, shape, opaque, has_side_effect);
  if (!output_operand_aliasing.empty()) {
    call.attributes.Set(Attr::kOutputToOperandAliasing,
                        Aliasing(output_operand_aliasing.begin(), output_operand_aliasing.end()));
  }
  if (literal != nullptr) call.attributes.Set(Attr::kLiteralValue, std::make_shared<const Literal>(*literal));
  if (schedule != CustomCallSchedule::kNone) {
    call.attributes.Set(Attr::kSchedule, Word{std::string(kSchedules[static_cast<int>(schedule)])});
  }
  if (api_version != CustomCallApiVersion::kOriginal) {
    call.attributes.Set(Attr::kApiVersion, Word{std::string(kVersions[static_cast<int>(api_version)])});
  }
  return Emit(builder, std::move(call));
}

XlaOp CustomCallWithComputation(XlaBuilder* builder, const std::string& call_target_name, Ops operands,
                                const XlaComputation& computation, const Shape& shape,
                                const std::string& opaque, bool has_side_effect) {
  const XlaComputation* const computations[] = {&computation};
  return CustomCallWithComputations(builder, call_target_name, operands, computations, shape, opaque,
                                    has_side_effect);
}

XlaOp CustomCallWithComputations(XlaBuilder* builder, const std::string& call_target_name, Ops operands,
                                 absl::Span<const XlaComputation* const> computations, const Shape& shape,
                                 const std::string& opaque, bool has_side_effect) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    std::vector<ComputationId> ids;
    for (const XlaComputation* computation : computations) {
      if (computation == nullptr) return InvalidProgram({}, "CustomCall-C4: a called computation is null");
      ASSAY_ASSIGN_OR_RETURN(const ComputationId id, builder->Import(*computation));
      ids.push_back(id);
    }
    NewInstruction call = CustomCallOf(call_target_name, operands, shape, opaque, has_side_effect);
    call.attributes.Set(Attr::kCalledComputations, std::move(ids));
    return builder->Add(call);
  });
}

XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& call_target_name, Ops operands,
                           const Shape& shape_with_layout, absl::Span<const Shape> operand_shapes_with_layout,
                           const std::string& opaque, bool has_side_effect) {
  NewInstruction call = CustomCallOf(call_target_name, operands, shape_with_layout, opaque, has_side_effect);
  call.attributes.Set(Attr::kOperandLayoutConstraints,
                      ShapeList(operand_shapes_with_layout.begin(), operand_shapes_with_layout.end()));
  return Emit(builder, std::move(call));
}

XlaOp CustomCallWithConvDnums(XlaBuilder* builder, const std::string& call_target_name, Ops operands,
                              const Shape& shape, const std::string& opaque, const Window& window,
                              const ConvDimensionNumbers& dimension_numbers, bool has_side_effect) {
  NewInstruction call = CustomCallOf(call_target_name, operands, shape, opaque, has_side_effect);
  if (!window.empty()) call.attributes.Set(Attr::kWindow, window);
  call.attributes.Set(Attr::kDimLabels, std::make_shared<const ConvDimensionNumbers>(dimension_numbers));
  return Emit(builder, std::move(call));
}

XlaOp AsyncStart(XlaBuilder* builder, Ops operands, const XlaComputation& computation,
                 const std::string& execution_thread) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    ProgramShape program = computation.GetProgramShape();
    AttributeMap attributes = Attributes({{Attr::kCalls, f}});
    if (execution_thread != "main") attributes.Set(Attr::kAsyncExecutionThread, execution_thread);
    Shape shape = Shape::Tuple({Shape::Tuple(std::move(program.parameters)), std::move(program.result),
                                Shape::Scalar(ElementType::kU32)});
    return builder->Add(
        {Opcode::kAsyncStart, ToOps(operands), std::move(attributes), Shared(std::move(shape))});
  });
}

XlaOp AsyncUpdate(XlaOp async) {
  XlaBuilder* const builder = async.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, builder->GetShape(async));
    return builder->Add({Opcode::kAsyncUpdate, {async}, {}, Shared(std::move(shape))});
  });
}

XlaOp AsyncDone(XlaOp async) {
  XlaBuilder* const builder = async.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, builder->GetShapePtr(async));
    if (!shape->IsTuple() || shape->elements().size() < 2) {
      return InvalidProgram({},
                            fmt::format("Async-C1: operand is {}, wanted an async tuple", shape->ToString()));
    }
    return builder->Add({Opcode::kAsyncDone, {async}, {}, Shared(shape->element(1))});
  });
}

XlaOp CopyStart(XlaOp operand) {
  XlaBuilder* const builder = operand.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, builder->GetShape(operand));
    return builder->Add({Opcode::kCopyStart,
                         {operand},
                         {},
                         Shared(Shape::Tuple({shape, shape, Shape::Scalar(ElementType::kU32)}))});
  });
}

XlaOp CopyDone(XlaOp start) { return Emit(start.builder(), {Opcode::kCopyDone, {start}}); }

}  // namespace assay::builder
