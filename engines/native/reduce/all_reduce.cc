#include "engines/native/reduce/all_reduce.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "engines/native/reduce/reduce_add.h"
#include "engines/native/reduce/reduce_fold.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "evaluator/patterns/associative.h"
#include "evaluator/replica_groups.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

using Contributions = std::span<std::vector<Literal>>;

// As many elements of all members as stay in the cache while they are added.
constexpr int64_t kBytesTogether = 1 << 19;

// The members' values beside each other, a block of elements after the other, and the sums of their columns.
absl::Status AddMembers(EvalContext& context, const SumKernels& kernels, Contributions contributions,
                        size_t k, Literal& result) {
  const ElementType type = result.shape().element_type();
  const int64_t bytes = Bytes(type), members = std::ssize(contributions),
                count = result.shape().num_elements();
  const int64_t block =
      std::clamp<int64_t>(kBytesTogether / (members * bytes), 1, std::max<int64_t>(count, 1));
  const int64_t sizes[] = {members, block};
  ASSAY_ASSIGN_OR_RETURN(Literal rows,
                         context.NewLiteral(std::make_shared<const Shape>(Shape::ArrayOrDie(type, sizes))));
  // -0 changes no sum: not that of zeros either.
  const Literal none = IsComplex(type) ? Literal::FromDoubles(ComponentType(type), std::array<int64_t, 1>{2},
                                                              std::array{-0.0, -0.0})
                                       : Literal::ScalarDouble(type, -0.0);
  std::byte* const stacked = rows.MutableBytes().data();
  std::byte* const out = result.MutableBytes().data();
  for (int64_t first = 0; first < count; first += block) {
    const int64_t width = std::min(block, count - first);
    for (int64_t m = 0; m < members; ++m)
      std::memcpy(stacked + m * width * bytes, contributions[m][k].data() + first * bytes, width * bytes);
    ASSAY_RETURN_IF_ERROR(RunArraySums(context, kernels,
                                       {type, stacked, none.data(), out + first * bytes,
                                        LoopDims{{width, {1, 1}}}, LoopDims{{members, {width}}}}));
  }
  return absl::OkStatus();
}

absl::Status FoldMembers(EvalContext& context, const TypedFold& fold, Contributions contributions, size_t k,
                         Literal& result) {
  constexpr int64_t kGrain = 1 << 15;
  const int64_t bytes = Bytes(fold.type), count = result.shape().num_elements();
  std::byte* const out = result.MutableBytes().data();
  context.parallel().For(count, kGrain, [&](int64_t begin, int64_t end) {
    std::memcpy(out + begin * bytes, contributions[0][k].data() + begin * bytes, (end - begin) * bytes);
    for (size_t m = 1; m < contributions.size(); ++m)
      fold.combine(end - begin, contributions[m][k].data() + begin * bytes, out + begin * bytes,
                   fold.largest);
  });
  return context.Charge(count * std::ssize(contributions));
}

class AllReduceKernel final : public Kernel {
 public:
  // A fold for each operand, or none where all are sums.
  AllReduceKernel(const SumKernels& kernels, std::vector<TypedFold> folds)
      : kernels_(kernels), folds_(std::move(folds)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    DeviceLink& device = context.device();
    const std::vector<int64_t> members = GroupOf(device.grid(), context.attributes(),
                                                 {.has_global_ids = true, .covers_all = true}, device.id());
    const auto combine = [&](Contributions contributions) -> absl::StatusOr<std::vector<Literal>> {
      std::vector<Literal> results;
      for (size_t k = 0; k < contributions[0].size(); ++k) {
        ASSAY_ASSIGN_OR_RETURN(Literal result, Reduced(context, contributions, k));
        results.push_back(std::move(result));
      }
      const std::shared_ptr<const Shape>& shape = context.shared_result_shape();
      const Literal value =
          shape->IsTuple() ? Literal::Tuple(shape, std::move(results)) : std::move(results[0]);
      return std::vector<Literal>(contributions.size(), value);
    };
    return device.Rendezvous(
        context.instruction(), members,
        {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())}, combine);
  }

 private:
  absl::StatusOr<Literal> Reduced(EvalContext& context, Contributions contributions, size_t k) const {
    if (contributions.size() == 1) return contributions[0][k];
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(contributions[0][k].shared_shape()));
    ASSAY_RETURN_IF_ERROR(folds_.empty() ? AddMembers(context, kernels_, contributions, k, result)
                                         : FoldMembers(context, folds_[k], contributions, k, result));
    return result;
  }

  const SumKernels& kernels_;
  const std::vector<TypedFold> folds_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareAllReduce(const StepView& step, Isa isa) {
  const ComputationId reducer = *step.instruction.attributes.Computation(Attr::kToApply);
  const Computation& f = step.module.computation(reducer);
  const ElementType reduced = f.root_instruction().shape->element_type();
  const bool is_sum = IsExactSum(step.module, reducer);
  if (!is_sum && !IsAssociative(step.module, reducer))
    return NotSupported({}, "the order of the reducer affects the result");
  if (is_sum && IsFloat(reduced) && Literal::ScalarDouble(reduced, 0).GetDouble(0) != 0)
    return NotSupported({}, fmt::format("sums of {}, a type without zero", Name(reduced)));
  std::vector<TypedFold> folds;
  for (size_t k = 0; k < step.instruction.operands.size(); ++k) {
    const Shape& shape = step.operand_shape(static_cast<int64_t>(k));
    if (shape.HasDynamic() || shape.HasUnbounded()) return NotSupported({}, "sizes known only at run time");
    if (shape.element_type() != reduced)
      return NotSupported({}, "operands and reducer of more than one type");
    if (is_sum) continue;
    const TypedFold& fold =
        folds.emplace_back(TypedFoldOf(FoldKernelsOf(isa), KeyOpOf(step.module, reducer, reduced), reduced));
    if (fold.combine == nullptr || fold.float_keys || !fold.stays_in_type)
      return NotSupported({}, fmt::format("folds of {}", Name(reduced)));
  }
  return std::make_shared<AllReduceKernel>(SumKernelsOf(isa), std::move(folds));
}

}  // namespace assay::native
