#include "engines/native/contraction/product_kernel.h"

#include <utility>

#include "fmt/format.h"

namespace assay::native {
namespace {

// Significant bits of an element as a double.
int ComponentPrecision(ElementType type) { return Info(ComponentType(type)).format->mantissa_bits + 1; }

bool IsInteger(ElementType type) { return IsIntegral(type) || type == ElementType::kPred; }

template <class Product>
void SetLayout(Product& product, ResultLayout& result) {
  product.batch_at = std::move(result.batch_at);
  product.row_at = std::move(result.row_at);
  product.column_at = std::move(result.column_at);
  product.batches = static_cast<int64_t>(product.batch_at.size());
  product.rows = static_cast<int64_t>(product.row_at.size());
  product.columns = static_cast<int64_t>(product.column_at.size());
  product.result = result.data;
}

// Left rows are twice as many, and elements are two components.
void SplitComponents(ResultLayout& result) {
  std::vector<int64_t> rows;
  for (int64_t at : result.row_at) {
    rows.push_back(2 * at);
    rows.push_back(2 * at + 1);
  }
  result.row_at = std::move(rows);
  for (int64_t& at : result.column_at) at *= 2;
  for (int64_t& at : result.batch_at) at *= 2;
}

}  // namespace

absl::StatusOr<ProductKind> ProductKindOf(ElementType lhs, ElementType rhs, ElementType result, Isa isa) {
  ProductKind kind;
  kind.sums = &SumKernelsOf(isa);
  kind.splits = &SplitKernelsOf(isa);
  if (IsInteger(lhs) && IsInteger(rhs) && IsInteger(result)) {
    kind.integers = &IntegerKernelFor(isa, lhs, rhs, result);
    kind.lhs_signed = IsSignedIntegral(lhs);
    kind.rhs_signed = IsSignedIntegral(rhs);
    return kind;
  }
  kind.complex = IsComplex(lhs) && IsComplex(rhs) && IsComplex(result);
  if (!kind.complex && !(IsFloat(lhs) && IsFloat(rhs) && IsFloat(result)))
    return NotSupported({}, fmt::format("products of {} and {} in {}", Name(lhs), Name(rhs), Name(result)));
  kind.component = ComponentType(result);
  kind.two_products = ComponentPrecision(lhs) + ComponentPrecision(rhs) > 53;
  return kind;
}

absl::Status Multiply(EvalContext& context, const ProductKind& kind, const RowSource<double>& lhs,
                      const RowSource<double>& rhs, int64_t length, ResultLayout result) {
  if (kind.complex) SplitComponents(result);
  MatrixProduct product;
  product.kernels = kind.sums;
  product.splits = kind.splits;
  product.lhs = &lhs;
  product.rhs = &rhs;
  product.length = kind.complex ? 2 * length : length;
  product.two_products = kind.two_products;
  product.type = kind.component;
  SetLayout(product, result);
  return RunMatrixProduct(context, product);
}

absl::Status Multiply(EvalContext& context, const ProductKind& kind, const RowSource<int64_t>& lhs,
                      const RowSource<int64_t>& rhs, int64_t length, ResultLayout result) {
  const IntegerKernel& kernel = *kind.integers;
  const WidePanels left(kernel, PanelSide::kLeft, lhs, length), right(kernel, PanelSide::kRight, rhs, length);
  IntegerProduct product;
  product.lhs = &left;
  product.rhs = &right;
  product.length = length;
  product.type = result.type;
  SetLayout(product, result);
  return RunIntegerProduct(context, kernel, product);
}

absl::Status Multiply(EvalContext& context, const ProductKind& kind, const RowSource<uint8_t>& lhs,
                      const RowSource<uint8_t>& rhs, int64_t length, ResultLayout result) {
  const IntegerKernel& kernel = *kind.integers;
  const bool flip_lhs = kernel.biased && kind.lhs_signed, flip_rhs = kernel.biased && !kind.rhs_signed;
  const BytePanels left(kernel, PanelSide::kLeft, lhs, length, flip_lhs),
      right(kernel, PanelSide::kRight, rhs, length, flip_rhs);
  IntegerProduct product;
  product.lhs = &left;
  product.rhs = &right;
  product.length = length;
  product.type = result.type;
  if (flip_lhs) product.lhs_offset = -128;
  if (flip_rhs) product.rhs_offset = 128;
  SetLayout(product, result);
  return RunIntegerProduct(context, kernel, product);
}

}  // namespace assay::native
