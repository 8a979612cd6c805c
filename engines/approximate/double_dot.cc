#include "engines/approximate/double_dot.h"

#include "engines/native/contraction/dot_box.h"
#include "engines/native/contraction/matrix_product.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "shape/index.h"

namespace assay::approximate {
namespace {

using native::DotBox;
using native::LoopCount;
using native::MatrixProduct;
using native::OffsetsOf;
using native::StridedRows;
using native::SumKernels;

// Longer rows are left to the native engine, which sums them exactly.
constexpr int64_t kLongestTerms = 1 << 16;

class DoubleDot final : public Kernel {
 public:
  DoubleDot(Isa isa, DotBox box)
      : sums_(native::SumKernelsOf(isa)), splits_(native::SplitKernelsOf(isa)), box_(std::move(box)) {}

  const Accuracy& accuracy() const override { return SumInF64(); }
  std::string_view algorithm() const override { return "tiles"; }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    const native::LoopDims& contracted = box_.contracted[0].loops;
    const StridedRows<double> lhs(sums_, ElementType::kF64, operands[0].data(),
                                  {box_.batch, box_.rows, contracted, 0});
    const StridedRows<double> rhs(sums_, ElementType::kF64, operands[1].data(),
                                  {box_.batch, box_.columns, contracted, 1});
    MatrixProduct product;
    product.kernels = &sums_;
    product.splits = &splits_;
    product.lhs = &lhs;
    product.rhs = &rhs;
    product.length = LoopCount(contracted);
    product.rounding = native::SumRounding::kEveryTerm;
    product.type = ElementType::kF64;
    product.result = result.MutableBytes().data();
    product.batch_at = OffsetsOf(box_.batch, 2);
    product.row_at = OffsetsOf(box_.rows, 2);
    product.column_at = OffsetsOf(box_.columns, 2);
    product.batches = std::ssize(product.batch_at);
    product.rows = std::ssize(product.row_at);
    product.columns = std::ssize(product.column_at);
    ASSAY_RETURN_IF_ERROR(RunMatrixProduct(context, product));
    return result;
  }

 private:
  const SumKernels& sums_;
  const native::SplitKernels& splits_;
  const DotBox box_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDoubleDot(const StepView& step, Isa isa,
                                                               int64_t fewest) {
  const Shape &lhs = step.operand_shape(0), &rhs = step.operand_shape(1), &result = step.result_shape();
  for (const Shape* shape : {&lhs, &rhs, &result}) {
    if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic shapes");
  }
  const int64_t terms = TermsOfProduct(step.computation, step.instruction);
  const double products = static_cast<double>(terms) * static_cast<double>(result.num_elements());
  if (products < static_cast<double>(fewest))
    return NotSupported({}, fmt::format("too few products ({} < {})", products, fewest));
  if (terms > kLongestTerms)
    return NotSupported({}, fmt::format("sums of more than {} terms", kLongestTerms));
  for (const Shape* shape : {&lhs, &rhs, &result}) {
    if (shape->element_type() != ElementType::kF64)
      return NotSupported({}, fmt::format("{} by {} to {}", Name(lhs.element_type()),
                                          Name(rhs.element_type()), Name(result.element_type())));
  }
  const DotDims dims = DotDimsOf(step.instruction.attributes, lhs.rank(), rhs.rank());
  return std::make_shared<DoubleDot>(
      isa, native::WholeDot(dims, native::StaticArrayOf(lhs), native::StaticArrayOf(rhs),
                            RowMajorStrides(result.sizes())));
}

}  // namespace assay::approximate
