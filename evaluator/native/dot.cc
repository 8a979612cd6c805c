#include "evaluator/native/dot.h"

#include "evaluator/eval_context.h"
#include "evaluator/native/dot_rows.h"
#include "evaluator/native/real_products.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

// Dots of fewer products run as in the reference: packing them would take longer.
constexpr int64_t kFewProducts = 1 << 10;

class DotKernel final : public Kernel {
 public:
  DotKernel(const SumKernels& kernels, RealProducts products) : kernels_(kernels), products_(products) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const DotArray lhs = ArrayOf(operands[0]), rhs = ArrayOf(operands[1]);
    const DotDims dims =
        DotDimsOf(context.attributes(), operands[0].shape().rank(), operands[1].shape().rank());
    ASSAY_RETURN_IF_ERROR(CheckDotRuntimeSizes(context, dims, lhs, rhs));
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
    const DotBox box = WholeDot(dims, lhs, rhs, StridesOf(result));
    std::byte* const out = result.MutableBytes().data();
    const int64_t length = LoopCount(box.contracted[0].loops);
    const int64_t products = LoopCount(box.batch) * LoopCount(box.rows) * LoopCount(box.columns) * length;
    if (products < kFewProducts || length > kLongestRow / 2) {
      Meter meter(context);
      const Contraction contraction(lhs.type, rhs.type, result.shape().element_type());
      ASSAY_RETURN_IF_ERROR(RunDot(contraction, lhs, rhs, box, out, meter));
      ASSAY_RETURN_IF_ERROR(meter.Flush());
    } else {
      ASSAY_RETURN_IF_ERROR(Multiply(context, lhs, rhs, box, out));
    }
    SetRuntimeSizes(result, DotSizes(dims, lhs, rhs));
    return result;
  }

 private:
  absl::Status Multiply(EvalContext& context, const DotArray& lhs, const DotArray& rhs, const DotBox& box,
                        std::byte* out) const {
    const bool complex = products_.complex;
    const DotRows left(lhs, box, 0, complex ? RowForm::kComplexLeft : RowForm::kReal);
    const DotRows right(rhs, box, 1, complex ? RowForm::kComplexRight : RowForm::kReal);
    MatrixProduct product;
    product.lhs = &left;
    product.rhs = &right;
    product.rows = left.rows();
    product.columns = right.rows();
    product.length = left.length();
    product.two_products = products_.two_products;
    product.type = products_.component;
    product.result = out;
    product.batch_at = OffsetsOf(MergeLoops(box.batch), 2);
    product.row_at = OffsetsOf(MergeLoops(box.rows), 2);
    product.column_at = OffsetsOf(MergeLoops(box.columns), 2);
    product.batches = static_cast<int64_t>(product.batch_at.size());
    if (complex) SplitComponents(product);
    return RunMatrixProduct(context, kernels_, product);
  }

  const SumKernels& kernels_;
  const RealProducts products_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDot(const StepView& step, Isa isa) {
  ASSAY_ASSIGN_OR_RETURN(const RealProducts products, RealProductsOf(step.operand_shape(0).element_type(),
                                                                     step.operand_shape(1).element_type(),
                                                                     step.result_shape().element_type()));
  return std::make_shared<DotKernel>(SumKernelsOf(isa), products);
}

}  // namespace assay::native
