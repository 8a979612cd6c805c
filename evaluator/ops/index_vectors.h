// The index operand of gather and scatter: an array of index vectors, one for each index G of its other
// dimensions B (spec/operations-shape.md, Gather).
#ifndef ASSAY_EVALUATOR_OPS_INDEX_VECTORS_H_
#define ASSAY_EVALUATOR_OPS_INDEX_VECTORS_H_

#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "literal/element_io.h"
#include "literal/literal.h"
#include "shape/index.h"

namespace assay {

// The size of an index vector, and the dimensions B in order: all but index_vector_dim, which may be one past
// the last (index vectors of one component).
int64_t IndexVectorSize(const Shape& indices, int64_t index_vector_dim);
DimVector IndexBatchDims(const Shape& indices, int64_t index_vector_dim);

// Walks G in row-major order, in strips: `n` index vectors, component k of the i-th at
// components[k * kStrip + i]. `bases` are the offsets of the first G under two maps over B given by the
// caller, `steps` what they grow by from one G of the strip to the next.
using IndexStripFn = absl::FunctionRef<absl::Status(int64_t n, const int64_t* components,
                                                    const int64_t* bases, const int64_t* steps)>;
absl::Status ForEachIndexVector(const Literal& indices, int64_t index_vector_dim, const AffineMap& a,
                                const AffineMap& b, IndexStripFn fn);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_INDEX_VECTORS_H_
