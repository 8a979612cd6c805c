// Reductions, windows, map and scan (docs/spec/operations-linalg.md RED to Scan).
#include <algorithm>

#include "base/counted.h"
#include "builder/internal.h"

namespace assay::builder {
namespace {

std::vector<XlaOp> Joined(Ops a, Ops b) {
  std::vector<XlaOp> all = ToOps(a);
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

absl::StatusOr<std::vector<PaddingPair>> PaddingOf(XlaBuilder* builder, XlaOp operand,
                                                   Int64s window_dimensions, Int64s window_strides,
                                                   Padding padding, std::string_view label) {
  ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, label));
  return MakePadding(Int64s(shape->sizes().data(), shape->sizes().size()), window_dimensions, window_strides,
                     padding);
}

}  // namespace

absl::StatusOr<std::vector<PaddingPair>> MakePadding(Int64s input_dimensions, Int64s window_dimensions,
                                                     Int64s window_strides, Padding padding) {
  if (input_dimensions.size() != window_dimensions.size() ||
      (!window_strides.empty() && window_strides.size() != window_dimensions.size())) {
    return InvalidProgram(
        {}, fmt::format("padding: {}, {} window sizes, {}", Counted(input_dimensions.size(), "size"),
                        window_dimensions.size(), Counted(window_strides.size(), "stride")));
  }
  std::vector<PaddingPair> pairs(input_dimensions.size(), {0, 0});
  if (padding == Padding::kValid) return pairs;
  for (size_t i = 0; i < pairs.size(); ++i) {
    // out = ceil(size / stride), total = max((out - 1) * stride + window - size, 0), the smaller half low.
    const int64_t size = input_dimensions[i], stride = window_strides.empty() ? 1 : window_strides[i];
    if (size < 0 || stride < 1 || window_dimensions[i] < 0) {
      return InvalidProgram(
          {}, fmt::format("padding: size {}, stride {}, window {}", size, stride, window_dimensions[i]));
    }
    // (out - 1) * stride is less than size, so only adding the window could overflow.
    const int64_t out = size / stride + (size % stride != 0);
    const int64_t total = std::max<int64_t>((out - 1) * stride - size + window_dimensions[i], 0);
    pairs[i] = {total / 2, total - total / 2};
  }
  return pairs;
}

XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
             Int64s dimensions_to_reduce) {
  return Reduce(BuilderOf({operand, init_value}), Ops(&operand, 1), Ops(&init_value, 1), computation,
                dimensions_to_reduce);
}

XlaOp Reduce(XlaBuilder* builder, Ops operands, Ops init_values, const XlaComputation& computation,
             Int64s dimensions_to_reduce) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    return builder->Add(
        {Opcode::kReduce, Joined(operands, init_values),
         Attributes({{Attr::kDimensions, ToInts(dimensions_to_reduce)}, {Attr::kToApply, f}})});
  });
}

XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputation& computation) {
  XlaBuilder* const builder = BuilderOf({operand, init_value});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, operand, "Reduce-C2"));
    Ints all(shape->rank());
    for (int64_t d = 0; d < shape->rank(); ++d) all[d] = d;
    return Reduce(operand, init_value, computation, all);
  });
}

XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                   Int64s window_dimensions, Int64s window_strides, Padding padding) {
  return ReduceWindow(Ops(&operand, 1), Ops(&init_value, 1), computation, window_dimensions, window_strides,
                      padding);
}

XlaOp ReduceWindow(Ops operands, Ops init_values, const XlaComputation& computation, Int64s window_dimensions,
                   Int64s window_strides, Padding padding) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const auto pairs, PaddingOf(builder, operands[0], window_dimensions,
                                                       window_strides, padding, "ReduceWindow-C1"));
    return ReduceWindowWithGeneralPadding(operands, init_values, computation, window_dimensions,
                                          window_strides, {}, {}, pairs);
  });
}

XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                                     Int64s window_dimensions, Int64s window_strides, Int64s base_dilations,
                                     Int64s window_dilations, absl::Span<const PaddingPair> padding) {
  return ReduceWindowWithGeneralPadding(Ops(&operand, 1), Ops(&init_value, 1), computation, window_dimensions,
                                        window_strides, base_dilations, window_dilations, padding);
}

XlaOp ReduceWindowWithGeneralPadding(Ops operands, Ops init_values, const XlaComputation& computation,
                                     Int64s window_dimensions, Int64s window_strides, Int64s base_dilations,
                                     Int64s window_dilations, absl::Span<const PaddingPair> padding) {
  XlaBuilder* const builder = BuilderOf(operands);
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(Window window,
                           MakeWindow(window_dimensions, window_strides, padding, base_dilations,
                                      window_dilations, {}, "ReduceWindow-C2"));
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    AttributeMap attributes = Attributes({{Attr::kToApply, f}});
    if (!window.empty()) attributes.Set(Attr::kWindow, std::move(window));
    return builder->Add({Opcode::kReduceWindow, Joined(operands, init_values), std::move(attributes)});
  });
}

XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select, Int64s window_dimensions,
                       Int64s window_strides, Padding padding, XlaOp source, XlaOp init_value,
                       const XlaComputation& scatter) {
  XlaBuilder* const builder = BuilderOf({operand, source, init_value});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const auto pairs, PaddingOf(builder, operand, window_dimensions, window_strides,
                                                       padding, "SelectAndScatter-C1"));
    return SelectAndScatterWithGeneralPadding(operand, select, window_dimensions, window_strides, pairs,
                                              source, init_value, scatter);
  });
}

XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputation& select,
                                         Int64s window_dimensions, Int64s window_strides,
                                         absl::Span<const PaddingPair> padding, XlaOp source,
                                         XlaOp init_value, const XlaComputation& scatter) {
  XlaBuilder* const builder = BuilderOf({operand, source, init_value});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(Window window, MakeWindow(window_dimensions, window_strides, padding, {}, {}, {},
                                                     "SelectAndScatter-C4"));
    ASSAY_ASSIGN_OR_RETURN(const ComputationId select_id, builder->Import(select));
    ASSAY_ASSIGN_OR_RETURN(const ComputationId scatter_id, builder->Import(scatter));
    AttributeMap attributes = Attributes({{Attr::kSelect, select_id}, {Attr::kScatter, scatter_id}});
    if (!window.empty()) attributes.Set(Attr::kWindow, std::move(window));
    return builder->Add({Opcode::kSelectAndScatter, {operand, source, init_value}, std::move(attributes)});
  });
}

XlaOp Map(XlaBuilder* builder, Ops operands, const XlaComputation& computation, Int64s dimensions,
          Ops static_operands) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    if (!static_operands.empty()) return NotSupported({}, "Map-C5: static operands");
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    return builder->Add({Opcode::kMap, ToOps(operands),
                         Attributes({{Attr::kDimensions, ToInts(dimensions)}, {Attr::kToApply, f}})});
  });
}

// The result's shape: outputs of the body stacked along the dimension, then the carries; bare if one.
static absl::StatusOr<Shape> ScanShape(XlaBuilder* builder, Ops inputs, Ops inits,
                                       const XlaComputation& computation, int64_t dimension) {
  if (inputs.empty()) {
    return InvalidProgram({}, "Scan-C4: the builder's scan needs an input, which says how long it is");
  }
  ASSAY_ASSIGN_OR_RETURN(const Shape* input, ArrayShape(builder, inputs[0], "Scan-C1"));
  if (dimension < 0 || dimension >= input->rank()) {
    return InvalidProgram({}, fmt::format("Scan-C5: dimension {} of {}", dimension, input->ToString()));
  }
  const ProgramShape program = computation.GetProgramShape();
  std::vector<Shape> results;
  if (program.result.IsTuple()) {
    results.assign(program.result.elements().begin(), program.result.elements().end());
  } else {
    results.push_back(program.result);
  }
  if (results.size() < inits.size()) {
    return InvalidProgram({}, fmt::format("Scan-C2: {} of the body, {}", Counted(results.size(), "result"),
                                          Counted(inits.size(), "carry")));
  }
  for (size_t i = 0; i + inits.size() < results.size(); ++i) {
    Ints sizes(results[i].sizes().begin(), results[i].sizes().end());
    if (!results[i].IsArray() || dimension > static_cast<int64_t>(sizes.size())) {
      return InvalidProgram({},
                            fmt::format("Scan-C2: output {} of the body is {}", i, results[i].ToString()));
    }
    sizes.insert(sizes.begin() + dimension, input->size(dimension));
    ASSAY_ASSIGN_OR_RETURN(results[i], Shape::Array(results[i].element_type(), sizes));
  }
  return results.size() == 1 ? results[0] : Shape::Tuple(std::move(results));
}

XlaOp Scan(XlaBuilder* builder, Ops inputs, Ops inits, const XlaComputation& computation,
           int64_t scan_dimension, bool is_reverse, bool is_associative) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ComputationId f, builder->Import(computation));
    ASSAY_ASSIGN_OR_RETURN(Shape shape, ScanShape(builder, inputs, inits, computation, scan_dimension));
    AttributeMap attributes = Attributes({{Attr::kDimensions, Ints{scan_dimension}},
                                          {Attr::kNumCarries, static_cast<int64_t>(inits.size())},
                                          {Attr::kToApply, f}});
    if (is_reverse) attributes.Set(Attr::kIsReverse, true);
    if (is_associative) attributes.Set(Attr::kIsAssociative, true);
    return builder->Add(
        {Opcode::kScan, Joined(inputs, inits), std::move(attributes), Shared(std::move(shape))});
  });
}

}  // namespace assay::builder
