#include "engines/native/contraction/dot_box.h"

#include "shape/index.h"

namespace assay::native {

DotArray ArrayOf(const Literal& literal) {
  return {literal.data(), literal.shape().element_type(), literal.runtime_sizes(), StridesOf(literal)};
}

DotArray StaticArrayOf(const Shape& shape) {
  const std::span<const int64_t> sizes = shape.sizes();
  return {nullptr, shape.element_type(), DimVector(sizes.begin(), sizes.end()), RowMajorStrides(sizes)};
}

DotBox WholeDot(const DotDims& dims, const DotArray& lhs, const DotArray& rhs,
                std::span<const int64_t> result_strides) {
  DotBox box;
  size_t r = 0;
  for (size_t i = 0; i < dims.lhs.batch.size(); ++i) {
    const int64_t d = dims.lhs.batch[i];
    box.batch.push_back(
        {lhs.sizes[d], {lhs.strides[d], rhs.strides[dims.rhs.batch[i]], result_strides[r++]}});
  }
  for (int64_t d : dims.lhs.free)
    box.rows.push_back({lhs.sizes[d], {lhs.strides[d], 0, result_strides[r++]}});
  for (int64_t d : dims.rhs.free)
    box.columns.push_back({rhs.sizes[d], {0, rhs.strides[d], result_strides[r++]}});
  box.contracted.emplace_back();
  for (size_t i = 0; i < dims.lhs.contracting.size(); ++i) {
    const int64_t d = dims.lhs.contracting[i];
    box.contracted[0].loops.push_back(
        {lhs.sizes[d], {lhs.strides[d], rhs.strides[dims.rhs.contracting[i]], 0}});
  }
  return box;
}

}  // namespace assay::native
