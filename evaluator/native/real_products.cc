#include "evaluator/native/real_products.h"

#include "fmt/format.h"

namespace assay::native {
namespace {

// Significant bits of an element as a double.
int PrecisionOf(ElementType type) { return Info(ComponentType(type)).format->mantissa_bits + 1; }

}  // namespace

absl::StatusOr<RealProducts> RealProductsOf(ElementType lhs, ElementType rhs, ElementType result) {
  const bool real = IsFloat(lhs) && IsFloat(rhs) && IsFloat(result);
  const bool complex = IsComplex(lhs) && IsComplex(rhs) && IsComplex(result);
  if (!real && !complex)
    return NotSupported({}, fmt::format("products of {} and {} in {}", Name(lhs), Name(rhs), Name(result)));
  return RealProducts{ComponentType(result), complex, PrecisionOf(lhs) + PrecisionOf(rhs) > 53};
}

void SplitComponents(MatrixProduct& product) {
  std::vector<int64_t> rows;
  for (int64_t at : product.row_at) {
    rows.push_back(2 * at);
    rows.push_back(2 * at + 1);
  }
  product.row_at = std::move(rows);
  for (int64_t& at : product.column_at) at *= 2;
  for (int64_t& at : product.batch_at) at *= 2;
}

}  // namespace assay::native
