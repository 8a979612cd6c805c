#include "evaluator/ops/repack.h"

#include "evaluator/element_moves.h"
#include "evaluator/shape_rules.h"
#include "shape/checked.h"

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

bool LivePrefixSizes(const Literal& operand, const Shape& result, DimVector& sizes) {
  sizes.assign(result.sizes().begin(), result.sizes().end());
  for (const ReshapeGroup& group : ReshapeGroups(operand.shape().sizes(), result.sizes())) {
    std::optional<int64_t> product = 1;
    bool full = true, prefix = true, outermost = true;
    for (int64_t d = group.in_begin; d < group.in_end; ++d) {
      const int64_t size = operand.dynamic_size(d), bound = operand.shape().size(d);
      product = product ? CheckedMul(*product, size) : product;
      full &= size == bound;
      prefix &= size == bound || outermost;
      outermost &= bound == 1;
    }
    if (full) continue;
    if (!product) return false;
    const int64_t live = *product;
    if (!prefix && live != 0) return false;
    int64_t d = group.out_begin;
    while (d < group.out_end && !result.is_dynamic(d) && result.size(d) == 1) ++d;
    if (d == group.out_end || !result.is_dynamic(d)) return false;
    const auto inner = CheckedProduct(result.sizes().subspan(d + 1, group.out_end - d - 1));
    if (!inner || (*inner == 0 ? live != 0 : live % *inner != 0)) return false;
    sizes[d] = *inner == 0 ? 0 : live / *inner;
  }
  return true;
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
