#include "evaluator/native/reduce.h"

#include <algorithm>

#include "evaluator/eval_context.h"
#include "evaluator/native/code_fold.h"
#include "evaluator/native/few_sums.h"
#include "evaluator/native/reduce_add.h"
#include "evaluator/native/reduce_fold.h"
#include "evaluator/native/tiers.h"
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
  SumKernel(const SumKernels& kernels, const StepView& step) : kernels_(kernels) {
    const Shape& x = step.operand_shape(0);
    const std::span<const int64_t> dimensions = step.instruction.attributes.List(Attr::kDimensions);
    if (x.element_type() != ElementType::kF32 || x.HasDynamic() || x.HasUnbounded()) return;
    const int64_t kept = x.rank() - std::ssize(dimensions);
    int64_t rows = 1, terms = 1;
    for (int64_t d = 0; d < x.rank(); ++d) {
      const bool reduced = std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
      if (reduced != (d >= kept)) return;
      (reduced ? terms : rows) *= x.size(d);
      if (rows * terms > kSmall) return;
    }
    if (terms < 2 || terms > kFewTerms) return;
    rows_ = rows;
    terms_ = terms;
  }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
    if (rows_ > 0 && AddRows(x, operands[1], result)) {
      ASSAY_RETURN_IF_ERROR(context.Charge(rows_ * (terms_ + 1)));
      return result;
    }
    const ReduceLoops loops(x, result, context.attributes().List(Attr::kDimensions));
    ASSAY_RETURN_IF_ERROR(RunArraySums(context, kernels_,
                                       {x.shape().element_type(), x.data(), operands[1].data(),
                                        result.MutableBytes().data(), loops.kept, loops.reduced}));
    SetRuntimeSizes(result, loops.kept_sizes);
    return result;
  }

 private:
  static constexpr int64_t kSmall = 1 << 15;
  static constexpr int64_t kShortRow = 64;

  // Of a small array whose terms lie together; false where doubles don't hold one of the sums.
  bool AddRows(const Literal& x, const Literal& init, Literal& result) const {
    const auto* const terms = reinterpret_cast<const float*>(x.data());
    const double first = *reinterpret_cast<const float*>(init.data());
    auto* const sums = reinterpret_cast<float*>(result.MutableBytes().data());
    int64_t i = 0;
    for (; terms_ <= kShortRow && i + kFewColumns <= rows_; i += kFewColumns) {
      if (!AddShortRows(terms + i * terms_, first, sums + i)) return false;
    }
    for (; i < rows_; ++i) {
      if (!AddFew(kernels_, terms + i * terms_, terms_, first, sums + i)) return false;
    }
    TierCounts counts;
    counts.sums = rows_;
    CountTiers(counts);
    return true;
  }

  // kFewColumns rows, a lane each: adding up a vector's lanes takes as long as many terms.
  bool AddShortRows(const float* terms, double first, float* sums) const {
    alignas(64) float columns[kShortRow * kFewColumns];
    int64_t at[kShortRow];
    for (int64_t t = 0; t < terms_; ++t) {
      at[t] = t * kFewColumns;
      for (int64_t r = 0; r < kFewColumns; ++r) columns[at[t] + r] = terms[r * terms_ + t];
    }
    constexpr uint32_t kAll = (uint32_t{1} << kFewColumns) - 1;
    return AddFewRows(kernels_, columns, {at, static_cast<size_t>(terms_)}, kFewColumns, first, sums) == kAll;
  }

  const SumKernels& kernels_;
  int64_t rows_ = 0, terms_ = 0;  // of a small array; else none
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
  if (IsExactSum(step.module, reducer)) return std::make_shared<SumKernel>(SumKernelsOf(isa), step);
  if (!IsAssociative(step.module, reducer)) return PrepareCodeReduce(step, isa);
  const TypedFold fold = TypedFoldOf(FoldKernelsOf(isa), KeyOpOf(step.module, reducer, type), type);
  if (fold.combine == nullptr) return NotSupported({}, fmt::format("folds of {}", Name(type)));
  return std::make_shared<FoldKernel>(fold);
}

}  // namespace assay::native
