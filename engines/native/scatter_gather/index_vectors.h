// The walk over the index vectors of gather and scatter, a strip of them at a time.
#ifndef ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_VECTORS_H_
#define ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_VECTORS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "evaluator/ops/indexing/index_vectors.h"
#include "literal/element_io.h"
#include "literal/literal.h"
#include "shape/index.h"

namespace assay::native {

// Walks G in row-major order, in strips: `n` index vectors, component k of the i-th at
// components[k * kStrip + i]. `bases` are the offsets of the first G under two maps over B given by the
// caller, `steps` what they grow by from one G of the strip to the next.
using IndexStripFn = absl::FunctionRef<absl::Status(int64_t n, const int64_t* components,
                                                    const int64_t* bases, const int64_t* steps)>;
absl::Status ForEachIndexVector(const Literal& indices, int64_t index_vector_dim, const AffineMap& a,
                                const AffineMap& b, IndexStripFn fn);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SCATTER_GATHER_INDEX_VECTORS_H_
