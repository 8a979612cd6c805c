// dot (docs/spec/operations-linalg.md, Dot and DotGeneral). ragged-dot and scaled-dot are in files of their
// own; the arithmetic is contraction.h.

#include <limits>

#include "base/checked.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/eval_context.h"
#include "evaluator/open_sizes.h"
#include "evaluator/ops/contraction/contraction.h"
#include "evaluator/ops/contraction/dot_dims.h"
#include "evaluator/ops/contraction/dot_index.h"

namespace assay {
namespace {

// out[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, j, k]: b over batch dims, i over lhs free dims, j over
// rhs free dims, k over contracting dims. Without contracting dims it is the outer product.

absl::StatusOr<Shape> InferDot(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const DotDims dims, CheckDotDims(context, "DotGeneral"));
  ASSAY_RETURN_IF_ERROR(CheckPrecision(context, 2, 2));
  ASSAY_ASSIGN_OR_RETURN(
      const ElementType type,
      ContractionResultType(context, context.operand(0).element_type(), context.operand(1).element_type()));
  return DotShape(context, dims, type);
}

absl::StatusOr<Literal> EvalDot(EvalContext& context, std::span<Literal> operands) {
  const ArrayView lhs(operands[0]), rhs(operands[1]);
  DimVector lhs_sizes = operands[0].runtime_sizes(), rhs_sizes = operands[1].runtime_sizes();
  const DotDims dims = DotDimsOf(context.attributes(), lhs.rank(), rhs.rank());
  ASSAY_RETURN_IF_ERROR(JoinDotSizes(context, dims, operands, lhs_sizes, rhs_sizes));
  return SumProducts(context, dims, lhs, rhs, lhs_sizes, rhs_sizes,
                     ProductSum(operands[0].shape().element_type(), operands[1].shape().element_type(),
                                context.result_shape().element_type()));
}

constexpr AttrSpec kDotAttributes[] = {
    Optional(Attr::kLhsBatchDims),       Optional(Attr::kRhsBatchDims),
    Optional(Attr::kLhsContractingDims), Optional(Attr::kRhsContractingDims),
    Optional(Attr::kOperandPrecision),   Optional(Attr::kAlgorithm),
};

// result[b, i, j] = sum over k of lhs[b, i, k] rhs[b, j, k].
void AddTermsOfDot(const InstructionView& view, std::span<const int64_t> index, Terms& terms) {
  const DotDims dims = DotDimsOf(view.attributes(), view.operand(0).rank(), view.operand(1).rank());
  const DimVector strides[2] = {RowMajorStrides(view.operand(0).sizes()),
                                RowMajorStrides(view.operand(1).sizes())};
  const DotSide* const sides[2] = {&dims.lhs, &dims.rhs};
  int64_t base[2] = {0, 0};
  size_t d = 0;
  for (size_t b = 0; b < dims.lhs.batch.size(); ++b, ++d) {
    for (int s = 0; s < 2; ++s) base[s] += index[d] * strides[s][sides[s]->batch[b]];
  }
  for (int s = 0; s < 2; ++s) {
    for (int64_t free : sides[s]->free) base[s] += index[d++] * strides[s][free];
  }
  // The last contracted dimension is a loop of its own, for speed.
  DimVector sizes;
  for (int64_t k : dims.lhs.contracting) sizes.push_back(view.operand(0).size(k));
  const int64_t run = sizes.empty() ? 1 : sizes.back();
  if (!sizes.empty()) sizes.pop_back();
  int64_t count = 0;
  // Without it, sizes of 2^40, 2^40 and 0 would be walked 2^80 times for nothing.
  const bool is_empty = run == 0;
  for (IndexWalk k(sizes); !is_empty && !k.done(); k.Next(), count += run) {
    for (int s = 0; s < 2; ++s) {
      const auto& contracting = sides[s]->contracting;
      int64_t at = base[s];
      for (size_t i = 0; i < sizes.size(); ++i) at += k[i] * strides[s][contracting[i]];
      const int64_t step = contracting.empty() ? 0 : strides[s][contracting.back()];
      for (int64_t i = 0; i < run; ++i) terms.operands[static_cast<size_t>(s)].push_back(at + i * step);
    }
  }
  terms.counts.push_back(count);
}

int64_t MaxTermsOfDot(const InstructionView& view) {
  const DotDims dims = DotDimsOf(view.attributes(), view.operand(0).rank(), view.operand(1).rank());
  int64_t terms = 1;
  for (int64_t k : dims.rhs.contracting) {
    const int64_t size = view.operand(1).size(k);
    if (size == 0) return 0;
    terms = CheckedMul(terms, size).value_or(std::numeric_limits<int64_t>::max());
  }
  return terms;
}

absl::Status OpenSizesOfDot(OpenSizes& sizes) {
  const DotDims dims = DotDimsOf(sizes.context().attributes(), sizes.shape(0).rank(), sizes.shape(1).rank());
  int64_t to = 0;
  for (size_t i = 0; i < dims.lhs.batch.size(); ++i, ++to) {
    if (sizes.Meet({{0, dims.lhs.batch[i]}, {1, dims.rhs.batch[i]}})) sizes.Open(to);
  }
  for (size_t i = 0; i < dims.lhs.contracting.size(); ++i) {
    if (sizes.Meet({{0, dims.lhs.contracting[i]}, {1, dims.rhs.contracting[i]}}))
      ASSAY_RETURN_IF_ERROR(sizes.Needs(0, dims.lhs.contracting[i]));
  }
  for (int64_t d : dims.lhs.free) {
    if (sizes.IsOpen(0, d)) sizes.Open(to);
    ++to;
  }
  for (int64_t d : dims.rhs.free) {
    if (sizes.IsOpen(1, d)) sizes.Open(to);
    ++to;
  }
  return absl::OkStatus();
}

}  // namespace

// A product and its sum are two operations.
Work WorkOfDot(const InstructionView& view) {
  Work work = work::Move(view);
  work.elements = work::Elements(view.result()) * work::Sizes(view, 0, Attr::kLhsContractingDims);
  work.flops = 2 * work.elements;
  return work;
}

constinit const OpDef ops::Dot = {
    .operands = Exactly(2),
    .types = kArrayTypes,
    .attributes = kDotAttributes,
    .infer = InferDot,
    .eval = EvalDot,
    .work = WorkOfDot,
    .bound = bound::Dot,
    .audit = audit::Computes,
    .sum = {SumDef::Of::kProducts, AddTermsOfDot, MaxTermsOfDot},
    .open_sizes = OpenSizesOfDot,
    .never_in_place = true,
};

}  // namespace assay
