#include "engines/native/reduce/reduce.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engines/native/reduce/code_fold.h"
#include "engines/native/reduce/reduce_add.h"
#include "engines/native/reduce/reduce_fold.h"
#include "engines/native/reduce/reduce_loops.h"
#include "engines/native/sums/short_sums.h"
#include "engines/native/sums/sum_terms.h"
#include "engines/native/sums/tiers.h"
#include "engines/native/walk/move.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/reduction/reducer.h"
#include "evaluator/patterns/associative.h"
#include "evaluator/registry.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

// The sums of a small array's rows, whose terms lie together.
class SmallRows {
 public:
  SmallRows(const SumKernels& kernels, int64_t rows, int64_t terms)
      : kernels_(kernels),
        rows_(rows),
        terms_(terms),
        columns_(sizeof(float), std::array{terms, kFewColumns}, std::array{int64_t{1}, terms},
                 std::array{kFewColumns, int64_t{1}}) {
    for (int64_t t = 0; t < std::min(terms, kShortRow); ++t) at_[t] = t * kFewColumns;
  }

  // Takes f32 arrays of static sizes whose minor dimensions are reduced.
  static std::optional<SmallRows> Of(const SumKernels& kernels, const StepView& step) {
    const Shape& x = step.operand_shape(0);
    const std::span<const int64_t> dimensions = step.instruction.attributes.List(Attr::kDimensions);
    if (x.element_type() != ElementType::kF32 || x.HasDynamic() || x.HasUnbounded()) return std::nullopt;
    const int64_t remaining = x.rank() - std::ssize(dimensions);
    int64_t rows = 1, terms = 1;
    for (int64_t d = 0; d < x.rank(); ++d) {
      const bool reduced = std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
      if (reduced != (d >= remaining)) return std::nullopt;
      (reduced ? terms : rows) *= x.size(d);
      if (rows * terms > kMaxElements) return std::nullopt;
    }
    if (rows == 0 || terms < 2 || terms > kFewTerms) return std::nullopt;
    return SmallRows(kernels, rows, terms);
  }

  absl::Status Run(EvalContext& context, const Literal& x, const Literal& init, Literal& result) const {
    const auto* const terms = reinterpret_cast<const float*>(x.data());
    const double first = *reinterpret_cast<const float*>(init.data());
    auto* const sums = reinterpret_cast<float*>(result.MutableBytes().data());
    TierCounts counts;
    std::optional<SumTerms> others;  // of the rows whose sums doubles don't hold
    const auto add = [&](int64_t i, bool done) {
      counts.sums += done;
      if (done) return;
      if (!others) others.emplace(kernels_, ElementType::kF32, x.data(), LoopDims{{terms_, {1}}});
      sums[i] = static_cast<float>(others->RoundedSum(context.parallel(), i * terms_, first, counts));
    };
    int64_t i = 0;
    for (; terms_ <= kShortRow && i + kFewColumns <= rows_; i += kFewColumns) {
      const uint32_t there = AddSideBySide(terms + i * terms_, first, sums + i);
      for (int64_t j = 0; j < kFewColumns; ++j) add(i + j, (there >> j & 1) != 0);
    }
    for (; i < rows_; ++i) add(i, AddFew(kernels_, terms + i * terms_, terms_, first, sums + i));
    CountTiers(counts);
    return context.Charge(rows_ * (terms_ + 1));
  }

 private:
  static constexpr int64_t kMaxElements = 1 << 15;
  static constexpr int64_t kShortRow = 40;

  // kFewColumns rows, a lane each: adding up a vector's lanes takes as long as many terms. Bit j of what is
  // returned: sum j is there.
  uint32_t AddSideBySide(const float* terms, double first, float* sums) const {
    alignas(64) float columns[kShortRow * kFewColumns];
    columns_.Run(reinterpret_cast<const std::byte*>(terms), reinterpret_cast<std::byte*>(columns));
    return AddFewRows(kernels_, columns, {at_.data(), static_cast<size_t>(terms_)}, kFewColumns, first, sums);
  }

  const SumKernels& kernels_;
  const int64_t rows_, terms_;
  const StridedMove columns_;               // term t of row r to t * kFewColumns + r
  std::array<int64_t, kShortRow> at_ = {};  // of column t
};

class SumKernel final : public Kernel {
 public:
  SumKernel(const SumKernels& kernels, const StepView& step, const std::optional<ReadThrough>& through)
      : kernels_(kernels),
        through_(through),
        small_(through ? std::optional<SmallRows>() : SmallRows::Of(kernels, step)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
    if (small_) {
      ASSAY_RETURN_IF_ERROR(small_->Run(context, x, operands[1], result));
      return result;
    }
    ReduceLoops loops(x, result, context.attributes().List(Attr::kDimensions), through_);
    if (through_) OrderBySize(loops.reduced);
    ASSAY_RETURN_IF_ERROR(RunArraySums(context, kernels_,
                                       {x.shape().element_type(), x.data(), operands[1].data(),
                                        result.MutableBytes().data(), loops.remaining, loops.reduced}));
    SetRuntimeSizes(result, loops.result_sizes);
    return result;
  }

 private:
  // The order of the terms changes no sum, and of what lies outside the innermost loop every offset is kept.
  static void OrderBySize(LoopDims& reduced) {
    reduced = MergeLoops(reduced);
    std::stable_sort(reduced.begin(), reduced.end(),
                     [](const LoopDim& a, const LoopDim& b) { return a.size < b.size; });
  }

  const SumKernels& kernels_;
  const std::optional<ReadThrough> through_;
  const std::optional<SmallRows> small_;
};

constexpr std::string_view kNotFoldable =
    "fewer than two elements per row, or neither rows nor columns are contiguous";

class FoldKernel final : public Kernel {
 public:
  FoldKernel(const TypedFold& typed, const std::optional<ReadThrough>& through)
      : typed_(typed), through_(through) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
    const ReduceLoops loops(x, result, context.attributes().List(Attr::kDimensions), through_);
    const ArrayFold fold{x.data(), operands[1].data(), result.MutableBytes().data(), loops.remaining,
                         loops.reduced};
    if (!IsFoldable(fold)) return Fallback(kNotFoldable);
    ASSAY_RETURN_IF_ERROR(RunArrayFold(context, typed_, fold));
    SetRuntimeSizes(result, loops.result_sizes);
    return result;
  }

 private:
  const TypedFold typed_;
  const std::optional<ReadThrough> through_;
};

// Gives a kernel of x and the init value these from among the operands of a fusion.
class ReducesBroadcast final : public Kernel {
 public:
  ReducesBroadcast(std::shared_ptr<const Kernel> kernel, size_t x, size_t init)
      : kernel_(std::move(kernel)), x_(x), init_(init) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    std::array<Literal, 2> read = {operands[x_], operands[init_]};
    return kernel_->Run(context, read);
  }
  std::string_view algorithm() const override { return "through a broadcast"; }

 private:
  const std::shared_ptr<const Kernel> kernel_;
  const size_t x_, init_;
};

// An op that gives the same for a repeated element needs it once.
bool IsIdempotent(KeyOp op) {
  return op == KeyOp::kAnd || op == KeyOp::kOr || op == KeyOp::kMaximum || op == KeyOp::kMinimum;
}

// `through`: of operand 0.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduce(const StepView& step, Isa isa,
                                                            std::optional<ReadThrough> through) {
  if (step.instruction.operands.size() != 2) return PrepareCodeReduce(step, isa, through);
  if (step.result_shape().IsTuple()) return NotSupported({}, "a tuple of one result");
  const ComputationId reducer = *step.instruction.attributes.Computation(Attr::kToApply);
  const ElementType type = step.operand_shape(0).element_type();
  if (step.operand_shape(1).element_type() != type || step.result_shape().element_type() != type)
    return NotSupported({}, "operand, init value and result of more than one type");
  if (IsExactSum(step.module, reducer)) return std::make_shared<SumKernel>(SumKernelsOf(isa), step, through);
  if (!IsAssociative(step.module, reducer)) return PrepareCodeReduce(step, isa, through);
  const KeyOp op = KeyOpOf(step.module, reducer, type);
  const TypedFold fold = TypedFoldOf(FoldKernelsOf(isa), op, type);
  if (fold.combine == nullptr) return NotSupported({}, fmt::format("folds of {}", Name(type)));
  const std::span<const int64_t> dimensions = step.instruction.attributes.List(Attr::kDimensions);
  if (through && IsIdempotent(op)) {
    for (int64_t d : dimensions) {
      if (through->strides[d] == 0) through->sizes[d] = std::min<int64_t>(through->sizes[d], 1);
    }
  }
  const Shape &x = step.operand_shape(0), &result = step.result_shape();
  if (!x.HasDynamic() && !x.HasUnbounded()) {
    const ReduceLoops loops(through ? through->sizes : x.sizes(),
                            through ? through->strides : RowMajorStrides(x.sizes()),
                            RowMajorStrides(result.sizes()), dimensions);
    if (!IsFoldable({nullptr, nullptr, nullptr, loops.remaining, loops.reduced})) {
      if (through) return PrepareCodeReduce(step, isa, through);
      return NotSupported({}, kNotFoldable);
    }
  }
  return std::make_shared<FoldKernel>(fold, through);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduce(const StepView& step, Isa isa) {
  return PrepareReduce(step, isa, std::nullopt);
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduceOfBroadcast(const FusionView& fusion, Isa isa) {
  const StepView reduce{fusion.module, fusion.computation, fusion.root()};
  if (reduce.instruction.operands.size() != 2 || fusion.members.size() != 2)
    return NotSupported({}, "several operands");
  const Instruction& broadcast = reduce.operand(0);
  if (broadcast.opcode != Opcode::kBroadcast)
    return NotSupported({}, fmt::format("fusion with {}", Name(broadcast.opcode)));
  const std::optional<AffineMap> source =
      DefinitionOf(broadcast.opcode).source({fusion.computation, broadcast});
  if (!source) return NotSupported({}, "elements are not an affine map of the operand");
  const Shape& shape = *broadcast.shape;
  ReadThrough through{{shape.sizes().begin(), shape.sizes().end()}, source->strides};
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const Kernel> kernel,
                         PrepareReduce(reduce, isa, std::move(through)));
  const auto place = [&](int32_t operand) {
    return static_cast<size_t>(std::find(fusion.operands.begin(), fusion.operands.end(), operand) -
                               fusion.operands.begin());
  };
  return std::make_shared<ReducesBroadcast>(std::move(kernel), place(broadcast.operands[0]),
                                            place(reduce.instruction.operands[1]));
}

}  // namespace assay::native
