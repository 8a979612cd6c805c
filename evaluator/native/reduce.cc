#include "evaluator/native/reduce.h"

#include <algorithm>

#include "evaluator/eval_context.h"
#include "evaluator/native/reduce_add.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

class SumKernel final : public Kernel {
 public:
  explicit SumKernel(const SumKernels& kernels) : kernels_(kernels) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
    ArraySums sums{x.shape().element_type(),     x.data(), operands[1].data(),
                   result.MutableBytes().data(), {},       {}};
    const DimVector strides = StridesOf(x), result_strides = StridesOf(result);
    const std::span<const int64_t> dimensions = context.attributes().List(Attr::kDimensions);
    DimVector kept_sizes;
    for (int64_t d = 0; d < x.shape().rank(); ++d) {
      const int64_t size = x.dynamic_size(d);
      if (std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end()) {
        sums.reduced.push_back({size, {strides[d]}});
      } else {
        sums.kept.push_back({size, {strides[d], result_strides[kept_sizes.size()]}});
        kept_sizes.push_back(size);
      }
    }
    ASSAY_RETURN_IF_ERROR(RunArraySums(context, kernels_, std::move(sums)));
    SetRuntimeSizes(result, kept_sizes);
    return result;
  }

 private:
  const SumKernels& kernels_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduce(const StepView& step, Isa isa) {
  if (step.instruction.operands.size() != 2) return NotSupported({}, "reduce of more than one operand");
  const ComputationId reducer = *step.instruction.attributes.Computation(Attr::kToApply);
  const ElementType type = step.operand_shape(0).element_type();
  if (step.operand_shape(1).element_type() != type || step.result_shape().element_type() != type)
    return NotSupported({}, "a reducer of more than one type");
  if (IsExactSum(step.module, reducer)) return std::make_shared<SumKernel>(SumKernelsOf(isa));
  return NotSupported({}, "a reducer that is not a sum");
}

}  // namespace assay::native
