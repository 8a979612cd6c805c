// Broadcasting of builder operands (docs/spec/broadcasting.md), and the helpers that every family uses.
//
// BinaryOp(lhs, rhs, list): ranks differ: the smaller operand is placed in the larger one's space by the
// list (InDim); then sizes must be equal or 1 (Degenerate), and each operand is replicated to the result.
#include <algorithm>

#include "base/counted.h"
#include "builder/internal.h"

namespace assay::builder {
namespace {

std::string SizesText(std::span<const int64_t> sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ","));
}

// BCAST-1.
absl::Status CheckOperandTypes(const Shape& lhs, const Shape& rhs) {
  if (!lhs.IsArray() || !rhs.IsArray()) {
    return InvalidProgram(
        {}, fmt::format("BCAST-1: operands must be arrays, are {} and {}", lhs.ToString(), rhs.ToString()));
  }
  if (lhs.element_type() != rhs.element_type()) {
    return InvalidProgram({}, fmt::format("BCAST-1: operand element types differ: {} and {}",
                                          Name(lhs.element_type()), Name(rhs.element_type())));
  }
  if (lhs.HasUnbounded() || rhs.HasUnbounded()) {
    return NotSupported({}, "broadcasting of operands with unbounded dimensions");
  }
  return absl::OkStatus();
}

// BCAST-2.
absl::Status CheckEqualRankList(Int64s list, int64_t rank) {
  bool identity = static_cast<int64_t>(list.size()) == rank;
  for (size_t i = 0; i < list.size(); ++i) identity = identity && list[i] == static_cast<int64_t>(i);
  if (list.empty() || identity) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("BCAST-2: equal ranks: dimension list must be empty or 0..r-1, is {}",
                                        SizesText(AsSpan(list))));
}

// BCAST-3 to BCAST-8: the list that places `small` in the space of `big`.
absl::Status CheckInDimList(const Shape& small, const Shape& big, Int64s list) {
  if (list.empty() && small.rank() > 0) {
    return InvalidProgram({}, fmt::format("BCAST-3: ranks differ and no dimension list: {} and {}",
                                          small.ToString(), big.ToString()));
  }
  if (static_cast<int64_t>(list.size()) != small.rank()) {
    return InvalidProgram(
        {}, fmt::format("BCAST-4: dimension list length is {}, the smaller operand's rank {}", list.size(),
                        small.rank()));
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t d = list[i];
    if (d < 0 || d >= big.rank()) {
      return InvalidProgram(
          {}, fmt::format("BCAST-5: list entry out of range: {}, the larger operand's rank is {}", d,
                          big.rank()));
    }
    if (i > 0 && list[i - 1] >= d) {
      return InvalidProgram({}, fmt::format("BCAST-6: list not increasing: {}", SizesText(AsSpan(list))));
    }
    const int64_t s = small.size(i), b = big.size(d);
    const bool s_dynamic = small.is_dynamic(i), b_dynamic = big.is_dynamic(d);
    if (s_dynamic != b_dynamic && s != b && (s_dynamic ? b : s) != 1) {
      return InvalidProgram({}, fmt::format("BCAST-8: dynamic flag mismatch at list position {}: {} and {}",
                                            i, small.ToString(), big.ToString()));
    }
    if (s != b && s != 1 && b != 1) {
      return InvalidProgram({},
                            fmt::format("BCAST-7: size mismatch at list position {}: {} and {}", i, s, b));
    }
  }
  return absl::OkStatus();
}

// out = sizes(big), out[list[i]] = size(small, i).
absl::StatusOr<XlaOp> BroadcastInDimOf(XlaBuilder* builder, XlaOp small_op, const Shape& small,
                                       const Shape& big, Int64s list) {
  ASSAY_RETURN_IF_ERROR(CheckInDimList(small, big, list));
  Ints sizes(big.sizes().begin(), big.sizes().end());
  for (size_t i = 0; i < list.size(); ++i) sizes[list[i]] = small.size(i);
  return AddBroadcast(builder, small_op, sizes, list);
}

// BCAST-9.
absl::StatusOr<Ints> DegenerateSizes(const Shape& lhs, const Shape& rhs) {
  Ints sizes(lhs.rank());
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    const int64_t l = lhs.size(d), r = rhs.size(d);
    if (l != r && l != 1 && r != 1) {
      return InvalidProgram(
          {}, fmt::format("BCAST-9: sizes neither equal nor 1: {} and {} of dimension {}", l, r, d));
    }
    sizes[d] = l == 1 ? r : l;
  }
  return sizes;
}

}  // namespace

XlaBuilder* BuilderOf(Ops ops) {
  for (const XlaOp op : ops) {
    if (op.builder() != nullptr) return op.builder();
  }
  return nullptr;
}

XlaBuilder* BuilderOf(std::initializer_list<XlaOp> ops) { return BuilderOf(Ops(ops.begin(), ops.size())); }

XlaOp Emit(XlaBuilder* builder, NewInstruction instruction) {
  return RunIn(builder, [&] { return builder->Add(instruction); });
}

XlaOp RunIn(XlaBuilder* builder, absl::FunctionRef<absl::StatusOr<XlaOp>()> make) {
  return builder == nullptr ? XlaOp() : builder->Run(make);
}

absl::StatusOr<const Shape*> ArrayShape(XlaBuilder* builder, XlaOp op, std::string_view label) {
  ASSAY_ASSIGN_OR_RETURN(const Shape* shape, builder->GetShapePtr(op));
  if (!shape->IsArray()) {
    return InvalidProgram({}, fmt::format("{}: operand must be an array, is {}", label, shape->ToString()));
  }
  return shape;
}

absl::StatusOr<XlaOp> AddWithElementType(XlaBuilder* builder, NewInstruction instruction,
                                         std::optional<ElementType> type) {
  if (type.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, builder->Infer(instruction));
    if (!shape.IsArray()) return builder->Add(instruction);
    ASSAY_ASSIGN_OR_RETURN(Shape typed, Shape::Array(*type, shape.sizes()));
    for (int64_t d = 0; d < shape.rank(); ++d) typed.set_dynamic(d, shape.is_dynamic(d));
    instruction.shape = Shared(std::move(typed));
  }
  return builder->Add(instruction);
}

absl::StatusOr<XlaOp> AddBroadcast(XlaBuilder* builder, XlaOp operand, Int64s sizes, Int64s dimensions) {
  ASSAY_ASSIGN_OR_RETURN(const Shape* from, builder->GetShapePtr(operand));
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(from->element_type(), AsSpan(sizes)));
  for (size_t i = 0; i < dimensions.size(); ++i) shape.set_dynamic(dimensions[i], from->is_dynamic(i));
  return builder->Add({Opcode::kBroadcast,
                       {operand},
                       Attributes({{Attr::kDimensions, ToInts(dimensions)}}),
                       Shared(std::move(shape))});
}

absl::StatusOr<XlaOp> AddReshape(XlaBuilder* builder, XlaOp operand, Int64s sizes) {
  ASSAY_ASSIGN_OR_RETURN(const Shape* from, builder->GetShapePtr(operand));
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(from->element_type(), AsSpan(sizes)));
  return builder->Add({Opcode::kReshape, {operand}, {}, Shared(std::move(shape))});
}

absl::StatusOr<XlaOp> AddTranspose(XlaBuilder* builder, XlaOp operand, Int64s permutation) {
  return builder->Add(
      {Opcode::kTranspose, {operand}, Attributes({{Attr::kDimensions, ToInts(permutation)}})});
}

absl::StatusOr<XlaOp> AddTupleElement(XlaBuilder* builder, XlaOp tuple, int64_t index) {
  return builder->Add({Opcode::kGetTupleElement, {tuple}, Attributes({{Attr::kIndex, index}})});
}

absl::StatusOr<XlaOp> BroadcastDegenerate(XlaBuilder* builder, XlaOp operand, Int64s sizes) {
  ASSAY_ASSIGN_OR_RETURN(const Shape* from, builder->GetShapePtr(operand));
  if (std::ranges::equal(from->sizes(), AsSpan(sizes))) return operand;
  Ints kept_sizes, kept_dimensions;
  for (int64_t d = 0; d < from->rank(); ++d) {
    if (from->size(d) != sizes[d]) continue;
    kept_sizes.push_back(sizes[d]);
    kept_dimensions.push_back(d);
  }
  XlaOp kept = operand;
  if (kept_sizes.size() != from->sizes().size()) {
    ASSAY_ASSIGN_OR_RETURN(kept, AddReshape(builder, operand, kept_sizes));
  }
  return AddBroadcast(builder, kept, sizes, kept_dimensions);
}

absl::StatusOr<std::pair<XlaOp, XlaOp>> BroadcastOperands(XlaBuilder* builder, XlaOp lhs, XlaOp rhs,
                                                          Int64s broadcast_dimensions) {
  ASSAY_ASSIGN_OR_RETURN(Shape l, builder->GetShape(lhs));
  ASSAY_ASSIGN_OR_RETURN(Shape r, builder->GetShape(rhs));
  ASSAY_RETURN_IF_ERROR(CheckOperandTypes(l, r));
  if (l.rank() == r.rank()) {
    ASSAY_RETURN_IF_ERROR(CheckEqualRankList(broadcast_dimensions, l.rank()));
  } else if (l.rank() < r.rank()) {
    ASSAY_ASSIGN_OR_RETURN(lhs, BroadcastInDimOf(builder, lhs, l, r, broadcast_dimensions));
    ASSAY_ASSIGN_OR_RETURN(l, builder->GetShape(lhs));
  } else {
    ASSAY_ASSIGN_OR_RETURN(rhs, BroadcastInDimOf(builder, rhs, r, l, broadcast_dimensions));
    ASSAY_ASSIGN_OR_RETURN(r, builder->GetShape(rhs));
  }
  ASSAY_ASSIGN_OR_RETURN(const Ints sizes, DegenerateSizes(l, r));
  ASSAY_ASSIGN_OR_RETURN(lhs, BroadcastDegenerate(builder, lhs, sizes));
  ASSAY_ASSIGN_OR_RETURN(rhs, BroadcastDegenerate(builder, rhs, sizes));
  return std::make_pair(lhs, rhs);
}

AttrValue PrecisionWords(const PrecisionConfig& config) {
  std::vector<Word> words;
  for (const Precision precision : config.operand_precision) {
    words.push_back({precision == Precision::kDefault ? "default"
                     : precision == Precision::kHigh  ? "high"
                                                      : "highest"});
  }
  return words;
}

void SetPrecision(const PrecisionConfig* config, AttributeMap& attributes) {
  if (config == nullptr) return;
  if (!config->operand_precision.empty()) attributes.Set(Attr::kOperandPrecision, PrecisionWords(*config));
  if (!config->algorithm.empty()) attributes.Set(Attr::kAlgorithm, Word{config->algorithm});
}

absl::StatusOr<Window> MakeWindow(Int64s sizes, Int64s strides, absl::Span<const PaddingPair> padding,
                                  Int64s base_dilations, Int64s window_dilations,
                                  const std::vector<bool>& reversal, std::string_view label) {
  const auto check = [&](std::string_view what, size_t count) -> absl::Status {
    if (count == 0 || count == sizes.size()) return absl::OkStatus();
    return InvalidProgram(
        {}, fmt::format("{}: {} {}, window has {}", label, count, what, Counted(sizes.size(), "dimension")));
  };
  ASSAY_RETURN_IF_ERROR(check("window strides", strides.size()));
  ASSAY_RETURN_IF_ERROR(check("paddings", padding.size()));
  ASSAY_RETURN_IF_ERROR(check("base dilations", base_dilations.size()));
  ASSAY_RETURN_IF_ERROR(check("window dilations", window_dilations.size()));
  ASSAY_RETURN_IF_ERROR(check("window reversals", reversal.size()));
  Window window(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    WindowDimension& d = window[i];
    d.size = sizes[i];
    if (!strides.empty()) d.stride = strides[i];
    if (!padding.empty()) std::tie(d.padding_low, d.padding_high) = padding[i];
    if (!base_dilations.empty()) d.base_dilation = base_dilations[i];
    if (!window_dilations.empty()) d.window_dilation = window_dilations[i];
    if (!reversal.empty()) d.reversal = reversal[i];
  }
  return window;
}

}  // namespace assay::builder
