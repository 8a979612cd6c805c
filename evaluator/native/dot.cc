#include "evaluator/native/dot.h"

#include <algorithm>

#include "evaluator/eval_context.h"
#include "evaluator/native/long_dot.h"
#include "evaluator/native/product_kernel.h"
#include "evaluator/native/small_dot.h"
#include "evaluator/ops/dot_dims.h"

namespace assay::native {
namespace {

// Dots of fewer products run as in the reference: packing them would take longer.
constexpr int64_t kFewProducts = 1 << 9;

class DotKernel final : public Kernel {
 public:
  explicit DotKernel(const ProductKind& kind) : kind_(kind) {}

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
    const ElementType type = result.shape().element_type();
    const bool is_long = length > kLongestRow / 2;
    const bool exact_products = kind_.integers == nullptr && !kind_.complex && !kind_.two_products;
    if (exact_products && products > 0 && products <= kSmallDot) {
      RunSmallDot(*kind_.sums, lhs, rhs, box, type, out);
      ASSAY_RETURN_IF_ERROR(context.Charge(products));
    } else if ((is_long || IsThin(box)) && exact_products) {
      ASSAY_RETURN_IF_ERROR(RunLongDot(context, *kind_.sums, lhs, rhs, box, type, out));
    } else if (products < kFewProducts || is_long) {
      Meter meter(context);
      const Contraction contraction(lhs.type, rhs.type, type);
      ASSAY_RETURN_IF_ERROR(RunDot(contraction, lhs, rhs, box, out, meter));
      ASSAY_RETURN_IF_ERROR(meter.Flush());
    } else if (kind_.bytes()) {
      ASSAY_RETURN_IF_ERROR(MultiplyRows<uint8_t>(context, lhs, rhs, box, type, out));
    } else if (kind_.integers != nullptr) {
      ASSAY_RETURN_IF_ERROR(MultiplyRows<int64_t>(context, lhs, rhs, box, type, out));
    } else {
      ASSAY_RETURN_IF_ERROR(MultiplyRows<double>(context, lhs, rhs, box, type, out));
    }
    SetRuntimeSizes(result, DotSizes(dims, lhs, rhs));
    return result;
  }

 private:
  // A vector times rows that lie in memory as they are multiplied: packing them would be most of the work.
  static bool IsThin(const DotBox& box) {
    constexpr int64_t kFewest = 256;
    if (std::min(LoopCount(box.rows), LoopCount(box.columns)) > 1) return false;
    LoopDims contracted = MergeLoops(box.contracted[0].loops);
    const LoopDim run = TakeInnermostLoop(contracted);
    return run.size >= kFewest && run.strides[0] == 1 && run.strides[1] == 1;
  }

  template <class T>
  absl::Status MultiplyRows(EvalContext& context, const DotArray& lhs, const DotArray& rhs, const DotBox& box,
                            ElementType type, std::byte* out) const {
    const LoopDims& contracted = box.contracted[0].loops;
    const StridedRows<T> left(*kind_.sums, lhs.type, lhs.data, {box.batch, box.rows, contracted, 0},
                              kind_.complex ? RowForm::kComplexLeft : RowForm::kReal);
    const StridedRows<T> right(*kind_.sums, rhs.type, rhs.data, {box.batch, box.columns, contracted, 1},
                               kind_.complex ? RowForm::kComplexRight : RowForm::kReal);
    return Multiply(context, kind_, left, right, LoopCount(contracted),
                    {out, type, OffsetsOf(box.batch, 2), OffsetsOf(box.rows, 2), OffsetsOf(box.columns, 2)});
  }

  const ProductKind kind_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDot(const StepView& step, Isa isa) {
  ASSAY_ASSIGN_OR_RETURN(const ProductKind kind, ProductKindOf(step.operand_shape(0).element_type(),
                                                               step.operand_shape(1).element_type(),
                                                               step.result_shape().element_type(), isa));
  return std::make_shared<DotKernel>(kind);
}

}  // namespace assay::native
