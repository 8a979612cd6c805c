// Operations that take shapes, paddings or indices as operands, of which HLO has those with attributes only
// (docs/spec/stablehlo-text.md section 6): with constant operands they are these.
//
// dynamic_iota, dynamic_broadcast_in_dim and dynamic_reshape, which the type of the result says all about,
// are in import/shape.cc.
#include <optional>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "literal/element_io.h"

namespace assay::mlir {
namespace {

// Lists with an entry a dimension are short; a chain of operations on them is, too.
constexpr int64_t kMaxEntries = 1 << 12;
constexpr int kMaxChain = 64;

// The elements of an integer constant, row-major, or of what is moved and converted from such: a splat is a
// broadcast here, and shapes that tools compute are concatenated of their sizes. Nothing: it is not constant.
std::optional<Ints> ConstantInts(const OpImport& in, int32_t index, int depth = 0) {
  const Instruction& instruction = in.scope.computation.instructions[static_cast<size_t>(index)];
  const Shape& shape = *instruction.shape;
  if (depth > kMaxChain || !shape.IsArray() || shape.HasDynamic() || !IsIntegral(shape.element_type()) ||
      shape.num_elements() > kMaxEntries) {
    return std::nullopt;
  }
  const auto operand = [&](size_t i) { return ConstantInts(in, instruction.operands[i], depth + 1); };
  switch (instruction.opcode) {
    case Opcode::kConstant: {
      Ints values;
      const int64_t bytes = Bytes(shape.element_type());
      for (int64_t i = 0; i < shape.num_elements(); ++i)
        values.push_back(LoadIndex(shape.element_type(), instruction.literal->data() + i * bytes));
      return values;
    }
    case Opcode::kReshape:
      return operand(0);
    case Opcode::kConvert: {
      const Shape& from = *in.scope.computation.instructions[instruction.operands[0]].shape;
      // A narrower type may wrap.
      if (!from.IsArray() || Bits(shape.element_type()) < Bits(from.element_type())) return std::nullopt;
      return operand(0);
    }
    case Opcode::kBroadcast: {
      const std::optional<Ints> value = operand(0);
      if (!value) return std::nullopt;
      if (value->size() == 1) return Ints(static_cast<size_t>(shape.num_elements()), (*value)[0]);
      return value->size() == static_cast<size_t>(shape.num_elements()) && shape.rank() == 1 ? value
                                                                                             : std::nullopt;
    }
    case Opcode::kConcatenate: {
      if (shape.rank() != 1) return std::nullopt;
      Ints values;
      for (size_t i = 0; i < instruction.operands.size(); ++i) {
        const std::optional<Ints> part = operand(i);
        if (!part) return std::nullopt;
        values.insert(values.end(), part->begin(), part->end());
      }
      return values;
    }
    default:
      return std::nullopt;
  }
}

// Operand i, a list of integers that has `rank` dimensions and must be constant.
Ints RequireConstant(OpImport& in, size_t i, std::string_view name, int64_t rank = 1) {
  const Shape& shape = in.OperandShape(i);
  if (!shape.IsArray() || shape.rank() != rank || !IsIntegral(shape.element_type())) {
    in.Invalid(fmt::format("{} is {}, want integers of rank {}", name, shape.ToString(), rank));
    return {};
  }
  std::optional<Ints> values = ConstantInts(in, in.operands[i]);
  if (!values) {
    in.Unsupported(fmt::format("{} of {}, which is not constant", name, shape.ToString()));
    return {};
  }
  return *std::move(values);
}

void ImportRealDynamicSlice(OpImport& in) {
  if (!in.Arity(4) || !HasStaticResult(in)) return;
  const Ints starts = RequireConstant(in, 1, "start_indices"),
             limits = RequireConstant(in, 2, "limit_indices"), strides = RequireConstant(in, 3, "strides");
  if (!in.ok()) return;
  if (limits.size() != starts.size() || strides.size() != starts.size()) {
    return in.Invalid(fmt::format("found {} start_indices, {} limit_indices and {}", starts.size(),
                                  limits.size(), Counted(strides.size(), "stride")));
  }
  SliceConfig slices(starts.size());
  for (size_t d = 0; d < starts.size(); ++d) slices[d] = {starts[d], limits[d], strides[d]};
  in.Emit(Opcode::kSlice, {in.operands[0]}, in.Map({{Attr::kSlice, std::move(slices)}}));
}

void ImportDynamicPad(OpImport& in) {
  if (!in.Arity(5) || !HasStaticResult(in)) return;
  const Ints low = RequireConstant(in, 2, "edge_padding_low"),
             high = RequireConstant(in, 3, "edge_padding_high"),
             interior = RequireConstant(in, 4, "interior_padding");
  if (!in.ok()) return;
  if (high.size() != low.size() || interior.size() != low.size()) {
    return in.Invalid(fmt::format("found {} edge_padding_low, {} edge_padding_high and {} interior_padding",
                                  low.size(), high.size(), interior.size()));
  }
  PaddingConfig padding(low.size());
  for (size_t d = 0; d < low.size(); ++d) padding[d] = {low[d], high[d], interior[d]};
  in.Emit(Opcode::kPad, {in.operands[0], in.operands[1]}, in.Map({{Attr::kPadding, std::move(padding)}}));
}

void ImportDynamicGather(OpImport& in) {
  if (!in.Arity(3) || !HasStaticResult(in)) return;
  Ints slice_sizes = RequireConstant(in, 2, "slice_sizes");
  if (!in.ok()) return;
  in.Emit(Opcode::kGather, {in.operands[0], in.operands[1]}, GatherAttributes(in, std::move(slice_sizes)));
}

void ImportDynamicConvolution(OpImport& in) {
  if (!in.Arity(3) || !HasStaticResult(in)) return;
  const Ints padding = RequireConstant(in, 2, "padding", /*rank=*/2);
  if (in.ok()) EmitConvolution(in, &padding);
}

constexpr ImportRow kDynamicRows[] = {
    {"stablehlo.dynamic_conv", ImportDynamicConvolution},
    {"stablehlo.dynamic_gather", ImportDynamicGather},
    {"stablehlo.dynamic_pad", ImportDynamicPad},
    {"stablehlo.real_dynamic_slice", ImportRealDynamicSlice},
};

}  // namespace

bool HasStaticResult(OpImport& in) {
  const SharedShape& shape = in.ResultShape();
  if (in.ok() && (!shape->IsArray() || shape->HasDynamic() || shape->HasUnbounded())) {
    in.Unsupported(fmt::format("a result {} whose sizes are known only at run time", shape->ToString()));
  }
  return in.ok();
}

std::span<const ImportRow> DynamicRows() { return kDynamicRows; }

}  // namespace assay::mlir
