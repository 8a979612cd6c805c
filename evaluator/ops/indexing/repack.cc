#include "evaluator/ops/indexing/repack.h"

#include "base/checked.h"
#include "evaluator/element_moves.h"
#include "evaluator/shape_rules.h"
#include "fmt/format.h"

namespace assay {

std::vector<ReshapeGroup> ReshapeGroups(std::span<const int64_t> in, std::span<const int64_t> out) {
  std::vector<ReshapeGroup> groups;
  const int64_t in_rank = static_cast<int64_t>(in.size()), out_rank = static_cast<int64_t>(out.size());
  int64_t i = 0, o = 0;
  while (i < in_rank || o < out_rank) {
    ReshapeGroup group{i, i, o, o};
    std::optional<int64_t> in_product = i < in_rank ? in[i++] : 1, out_product = o < out_rank ? out[o++] : 1;
    while (in_product != out_product) {
      const bool take_in = in_product < out_product;
      if (take_in ? i == in_rank : o == out_rank) in_product.reset();
      if (in_product && take_in) in_product = CheckedMul(*in_product, in[i++]);
      if (in_product && !take_in) out_product = CheckedMul(*out_product, out[o++]);
      if (!in_product || !out_product) {
        // Sizes of 0 hide an overflow or let the products miss each other: one group of all the rest.
        i = in_rank;
        o = out_rank;
        break;
      }
    }
    group.in_end = i;
    group.out_end = o;
    groups.push_back(group);
  }
  return groups;
}

void TransferDynamicFlag(const Shape& operand, const ReshapeGroup& group, int64_t inferred, Shape& result) {
  bool dynamic = false;
  for (int64_t d = group.in_begin; d < group.in_end; ++d) dynamic |= operand.is_dynamic(d);
  for (int64_t d = group.out_begin; d < group.out_end; ++d) dynamic &= !result.is_dynamic(d);
  if (!dynamic || group.out_begin == group.out_end) return;
  if (inferred >= group.out_begin && inferred < group.out_end) {
    result.set_dynamic(inferred, true);
    return;
  }
  int64_t d = group.out_begin;
  while (d + 1 < group.out_end && result.size(d) == 1) ++d;
  result.set_dynamic(d, true);
}

namespace {

// The dynamic dimension of the group that takes its run-time size; -1: the result has none there.
int64_t SizedDimension(const Shape& result, const ReshapeGroup& group, int64_t inferred) {
  if (inferred >= group.out_begin && inferred < group.out_end && result.is_dynamic(inferred)) return inferred;
  int64_t first = -1;
  for (int64_t d = group.out_begin; d < group.out_end; ++d) {
    if (!result.is_dynamic(d)) continue;
    if (result.size(d) != 1) return d;
    if (first < 0) first = d;
  }
  return first;
}

}  // namespace

absl::StatusOr<DimVector> ReshapedSizes(const Literal& operand, const Shape& result, int64_t inferred) {
  DimVector sizes(result.sizes().begin(), result.sizes().end());
  for (const ReshapeGroup& group : ReshapeGroups(operand.shape().sizes(), result.sizes())) {
    DimVector live, rest;
    bool is_full = true;
    for (int64_t d = group.in_begin; d < group.in_end; ++d) {
      live.push_back(operand.dynamic_size(d));
      is_full &= live.back() == operand.shape().size(d);
    }
    if (is_full) continue;
    const int64_t sized = SizedDimension(result, group, inferred);
    for (int64_t d = group.out_begin; d < group.out_end; ++d) {
      if (d != sized) rest.push_back(result.size(d));
    }
    const int64_t elements = CheckedProduct(live).value_or(0), each = CheckedProduct(rest).value_or(0);
    const bool fits = each == 0 ? elements == 0 : elements % each == 0;
    if (!fits || (sized < 0 && elements != each)) {
      return EvalError(
          {}, fmt::format("reshape: dimensions [{}, {}) of {} have {} live elements, which fill no run-time "
                          "size of dimensions [{}, {}) of {}: wanted {}{}",
                          group.in_begin, group.in_end, operand.shape().ToString(), elements, group.out_begin,
                          group.out_end, result.ToString(), sized < 0 ? "" : "a multiple of ", each));
    }
    if (sized >= 0) sizes[sized] = each == 0 ? 0 : elements / each;
  }
  return sizes;
}

absl::StatusOr<Literal> RepackLive(EvalContext& context, const Literal& operand,
                                   std::span<const int64_t> sizes) {
  ASSAY_ASSIGN_OR_RETURN(Literal result, NewSizedResult(context, sizes));
  IndexWalk from(operand.runtime_sizes());
  const auto next = [&](Index, DimVector& j) {
    j.assign(from.index().begin(), from.index().end());
    from.Next();
  };
  ASSAY_RETURN_IF_ERROR(TakeElements(context, sizes, operand, next, result));
  return result;
}

}  // namespace assay
