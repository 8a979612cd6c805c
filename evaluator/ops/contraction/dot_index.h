// Which elements of the operands of a dot meet.
#ifndef ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_INDEX_H_
#define ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_INDEX_H_

#include "evaluator/elements.h"
#include "evaluator/ops/contraction/dot_dims.h"

namespace assay {

// The operands' indices at b over batch dimensions, i over the lhs free and j over the rhs free ones, and k over the
// contracting ones. Dimensions of an operand without a role stay as they are.
struct DotIndex {
  DotIndex(const DotDims& dims, size_t lhs_rank, size_t rhs_rank)
      : dims(dims), lhs(lhs_rank, 0), rhs(rhs_rank, 0) {}

  // `r` is (b, i, j), as in the result.
  void SetFree(Index r) {
    size_t d = 0;
    for (size_t n = 0; n < dims.lhs.batch.size(); ++n) {
      lhs[dims.lhs.batch[n]] = rhs[dims.rhs.batch[n]] = r[d++];
    }
    for (int64_t free : dims.lhs.free) lhs[free] = r[d++];
    for (int64_t free : dims.rhs.free) rhs[free] = r[d++];
  }
  void SetContracted(Index k) {
    for (size_t n = 0; n < k.size(); ++n) {
      lhs[dims.lhs.contracting[n]] = rhs[dims.rhs.contracting[n]] = k[n];
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

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_CONTRACTION_DOT_INDEX_H_
