#include "evaluator/native/reduce.h"

#include <algorithm>

#include "evaluator/eval_context.h"
#include "evaluator/native/code_fold.h"
#include "evaluator/native/reduce_add.h"
#include "evaluator/native/reduce_fold.h"
#include "evaluator/ops/reducer.h"
#include "evaluator/registry.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

// The loops of the kept and the reduced dimensions, and the run-time sizes of the kept ones.
struct ReduceLoops {
  LoopDims kept, reduced;
  DimVector kept_sizes;

  ReduceLoops(const Literal& x, const Literal& result, std::span<const int64_t> dimensions) {
    const DimVector strides = StridesOf(x), result_strides = StridesOf(result);
    for (int64_t d = 0; d < x.shape().rank(); ++d) {
      const int64_t size = x.dynamic_size(d);
      if (std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end()) {
        reduced.push_back({size, {strides[d]}});
      } else {
        kept.push_back({size, {strides[d], result_strides[kept_sizes.size()]}});
        kept_sizes.push_back(size);
      }
    }
  }
};

class SumKernel final : public Kernel {
 public:
  explicit SumKernel(const SumKernels& kernels) : kernels_(kernels) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
    const ReduceLoops loops(x, result, context.attributes().List(Attr::kDimensions));
    ASSAY_RETURN_IF_ERROR(RunArraySums(context, kernels_,
                                       {x.shape().element_type(), x.data(), operands[1].data(),
                                        result.MutableBytes().data(), loops.kept, loops.reduced}));
    SetRuntimeSizes(result, loops.kept_sizes);
    return result;
  }

 private:
  const SumKernels& kernels_;
};

class FoldKernel final : public Kernel {
 public:
  explicit FoldKernel(const TypedFold& typed) : typed_(typed) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
    const ReduceLoops loops(x, result, context.attributes().List(Attr::kDimensions));
    const ArrayFold fold{x.data(), operands[1].data(), result.MutableBytes().data(), loops.kept,
                         loops.reduced};
    if (!IsFoldable(fold)) return DefinitionOf(Opcode::kReduce).eval(context, operands);
    ASSAY_RETURN_IF_ERROR(RunArrayFold(context, typed_, fold));
    SetRuntimeSizes(result, loops.kept_sizes);
    return result;
  }

 private:
  const TypedFold typed_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduce(const StepView& step, Isa isa) {
  if (step.instruction.operands.size() != 2) return PrepareCodeReduce(step, isa);
  const ComputationId reducer = *step.instruction.attributes.Computation(Attr::kToApply);
  const ElementType type = step.operand_shape(0).element_type();
  if (step.operand_shape(1).element_type() != type || step.result_shape().element_type() != type)
    return NotSupported({}, "a reducer of more than one type");
  if (IsExactSum(step.module, reducer)) return std::make_shared<SumKernel>(SumKernelsOf(isa));
  if (!IsAssociative(step.module, reducer)) return PrepareCodeReduce(step, isa);
  const TypedFold fold = TypedFoldOf(FoldKernelsOf(isa), KeyOpOf(step.module, reducer, type), type);
  if (fold.combine == nullptr) return NotSupported({}, fmt::format("folds of {}", Name(type)));
  return std::make_shared<FoldKernel>(fold);
}

}  // namespace assay::native
