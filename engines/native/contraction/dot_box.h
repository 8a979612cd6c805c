// The index space of a dot as nested loops over strided arrays.
#ifndef ASSAY_ENGINES_NATIVE_CONTRACTION_DOT_BOX_H_
#define ASSAY_ENGINES_NATIVE_CONTRACTION_DOT_BOX_H_

#include <cstddef>
#include <span>
#include <vector>

#include "engines/native/walk/loops.h"
#include "evaluator/ops/contraction/dot_dims.h"
#include "literal/literal.h"

namespace assay::native {

// One array of a dot: where it starts and how many elements one step in each dimension is.
struct DotArray {
  const std::byte* data = nullptr;
  ElementType type = ElementType::kPred;
  DimVector sizes, strides;  // sizes at run time
};
DotArray ArrayOf(const Literal& literal);
// The same of a static shape, without data.
DotArray StaticArrayOf(const Shape& shape);

// A rectangular part of the contraction's index space. Arrays of the loops: 0 lhs, 1 rhs, 2 result.
struct DotBox {
  int64_t lhs_base = 0, rhs_base = 0, result_base = 0;
  LoopDims batch, rows, columns;
  // The contracted indices, as one or more boxes, each with its own bases (array 2 unused).
  struct Contracted {
    int64_t lhs_base = 0, rhs_base = 0;
    LoopDims loops;
  };
  std::vector<Contracted> contracted;
};

// The whole index space of a dot; `result` strides in the order batch, lhs free, rhs free.
DotBox WholeDot(const DotDims& dims, const DotArray& lhs, const DotArray& rhs,
                std::span<const int64_t> result_strides);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_CONTRACTION_DOT_BOX_H_
