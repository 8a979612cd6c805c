// Which elements of the operands of a dot meet, and the sums of their products.
#ifndef ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_INDEX_H_
#define ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_INDEX_H_

#include "evaluator/elements.h"
#include "evaluator/eval_context.h"
#include "evaluator/meter.h"
#include "evaluator/ops/contraction/contraction.h"
#include "evaluator/ops/contraction/dot_dims.h"
#include "evaluator/runtime_sizes.h"

namespace assay {

// The operands' indices at b over batch dimensions, i over the lhs free and j over the rhs free ones, and k
// over the contracting ones. Dimensions of an operand without a role stay as they are.
struct DotIndex {
  DotIndex(const DotDims& dims, size_t lhs_rank, size_t rhs_rank)
      : dims(dims), lhs(lhs_rank, 0), rhs(rhs_rank, 0) {}

  // result_index is (batch, lhs free, rhs free).
  void SetFree(Index result_index) {
    size_t d = 0;
    for (size_t n = 0; n < dims.lhs.batch.size(); ++n) {
      lhs[dims.lhs.batch[n]] = rhs[dims.rhs.batch[n]] = result_index[d++];
    }
    for (int64_t free : dims.lhs.free) lhs[free] = result_index[d++];
    for (int64_t free : dims.rhs.free) rhs[free] = result_index[d++];
  }
  void SetContracted(Index contracting_index) {
    for (size_t n = 0; n < contracting_index.size(); ++n) {
      lhs[dims.lhs.contracting[n]] = rhs[dims.rhs.contracting[n]] = contracting_index[n];
    }
  }

  const DotDims& dims;
  DimVector lhs, rhs;
};

// sizes[d] for every d of `dims`.
inline DimVector SizesAt(std::span<const int64_t> sizes, std::span<const int64_t> dims) {
  DimVector result;
  for (int64_t d : dims) result.push_back(sizes[d]);
  return result;
}

// result[result_index] = sum over contracting_index of lhs[lhs_index] * rhs[rhs_index], rounded once, with
// lhs_index and rhs_index as DotIndex sets them.
template <typename Lhs, typename Rhs>
absl::StatusOr<Literal> SumProducts(EvalContext& context, const DotDims& dims, Lhs& lhs, Rhs& rhs,
                                    const DimVector& lhs_sizes, const DimVector& rhs_sizes, ProductSum sum) {
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
  const DimVector sizes = DotSizes(dims, lhs_sizes, rhs_sizes);
  const DimVector contracted = SizesAt(lhs_sizes, dims.lhs.contracting);
  const MutableArrayView out(result);
  DotIndex at(dims, lhs_sizes.size(), rhs_sizes.size());
  Meter meter(context);
  for (IndexWalk result_index(sizes); !result_index.done(); result_index.Next()) {
    at.SetFree(result_index.index());
    sum.Clear();
    for (IndexWalk contracting_index(contracted); !contracting_index.done(); contracting_index.Next()) {
      at.SetContracted(contracting_index.index());
      sum.Add(lhs.At(at.lhs), rhs.At(at.rhs));
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
    }
    sum.Store(out.At(result_index.index()));
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, sizes);
  return result;
}

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_INDEX_H_
