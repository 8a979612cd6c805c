#include "evaluator/ops/contraction/dot_dims.h"

#include <vector>

#include "evaluator/eval_context.h"
#include "fmt/format.h"

namespace assay {
namespace {

DimVector ToDims(std::span<const int64_t> list) { return {list.begin(), list.end()}; }

DotSide SideOf(std::span<const int64_t> batch, std::span<const int64_t> contracting, int64_t rank) {
  DotSide side{ToDims(batch), ToDims(contracting), {}};
  std::vector<bool> used(rank);
  for (int64_t d : batch) used[d] = true;
  for (int64_t d : contracting) used[d] = true;
  for (int64_t d = 0; d < rank; ++d) {
    if (!used[d]) side.free.push_back(d);
  }
  return side;
}

// DotGeneral-C1, DotGeneral-C2 for one operand.
absl::Status CheckSide(const InferContext& context, std::string_view op, std::string_view name, int64_t rank,
                       std::span<const int64_t> batch, std::span<const int64_t> contracting) {
  std::vector<bool> used(rank);
  for (const auto& [role, list] : {std::pair{"batch", batch}, std::pair{"contracting", contracting}}) {
    for (int64_t d : list) {
      if (d < 0 || d >= rank) {
        return InvalidProgram(
            context.instruction.position,
            fmt::format("{}-C1: {} {} dimension {} is out of range for rank {}", op, name, role, d, rank));
      }
      if (used[d]) {
        return InvalidProgram(
            context.instruction.position,
            fmt::format("{}-C2: {} dimension {} stands twice in the dimension numbers", op, name, d));
      }
      used[d] = true;
    }
  }
  return absl::OkStatus();
}

// DotGeneral-C3 or DotGeneral-C4: equal counts and sizes.
absl::Status CheckDimensionPairs(const InferContext& context, std::string_view label, std::string_view role,
                                 std::span<const int64_t> lhs, std::span<const int64_t> rhs) {
  if (lhs.size() != rhs.size()) {
    return InvalidProgram(context.instruction.position, fmt::format("{}: {} {} dimensions in lhs, {} in rhs",
                                                                    label, lhs.size(), role, rhs.size()));
  }
  for (size_t i = 0; i < lhs.size(); ++i) {
    const int64_t a = context.operand(0).size(lhs[i]), b = context.operand(1).size(rhs[i]);
    if (a == b) continue;
    return InvalidProgram(context.instruction.position,
                          fmt::format("{}: {} dimension {} of lhs has size {}, dimension {} of rhs has {}",
                                      label, role, lhs[i], a, rhs[i], b));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DotDims> CheckDotDims(const InferContext& context, std::string_view op) {
  for (int64_t i = 0; i < 2; ++i) {
    if (context.operand(i).IsArray()) continue;
    return InvalidProgram(
        context.instruction.position,
        fmt::format("{}-C1: operand {} is {}, wanted an array", op, i, context.operand(i).ToString()));
  }
  const AttributeMap& attributes = context.attributes();
  const std::span<const int64_t> lhs_batch = attributes.List(Attr::kLhsBatchDims);
  const std::span<const int64_t> rhs_batch = attributes.List(Attr::kRhsBatchDims);
  const std::span<const int64_t> lhs_contracting = attributes.List(Attr::kLhsContractingDims);
  const std::span<const int64_t> rhs_contracting = attributes.List(Attr::kRhsContractingDims);
  const int64_t lhs_rank = context.operand(0).rank(), rhs_rank = context.operand(1).rank();
  ASSAY_RETURN_IF_ERROR(CheckSide(context, op, "lhs", lhs_rank, lhs_batch, lhs_contracting));
  ASSAY_RETURN_IF_ERROR(CheckSide(context, op, "rhs", rhs_rank, rhs_batch, rhs_contracting));
  ASSAY_RETURN_IF_ERROR(CheckDimensionPairs(context, fmt::format("{}-C3", op), "contracting", lhs_contracting,
                                            rhs_contracting));
  ASSAY_RETURN_IF_ERROR(
      CheckDimensionPairs(context, fmt::format("{}-C4", op), "batch", lhs_batch, rhs_batch));
  return DotDimsOf(attributes, lhs_rank, rhs_rank);
}

DotDims DotDimsOf(const AttributeMap& attributes, int64_t lhs_rank, int64_t rhs_rank) {
  return {SideOf(attributes.List(Attr::kLhsBatchDims), attributes.List(Attr::kLhsContractingDims), lhs_rank),
          SideOf(attributes.List(Attr::kRhsBatchDims), attributes.List(Attr::kRhsContractingDims), rhs_rank)};
}

absl::StatusOr<Shape> DotShape(const InferContext& context, const DotDims& dims, ElementType type) {
  const Shape& lhs = context.operand(0);
  const Shape& rhs = context.operand(1);
  DimVector sizes;
  std::vector<bool> dynamic;
  const auto append = [&](const Shape& shape, int64_t d) {
    sizes.push_back(shape.size(d));
    dynamic.push_back(shape.is_dynamic(d));
  };
  for (size_t i = 0; i < dims.lhs.batch.size(); ++i) {
    append(lhs, dims.lhs.batch[i]);
    if (rhs.is_dynamic(dims.rhs.batch[i])) dynamic.back() = true;
  }
  for (int64_t d : dims.lhs.free) append(lhs, d);
  for (int64_t d : dims.rhs.free) append(rhs, d);
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, sizes));
  for (size_t d = 0; d < dynamic.size(); ++d) result.set_dynamic(static_cast<int64_t>(d), dynamic[d]);
  return result;
}

absl::Status JoinDotSizes(const EvalContext& context, const DotDims& dims, std::span<const Literal> operands,
                          DimVector& lhs_sizes, DimVector& rhs_sizes) {
  const Shape &lhs = operands[0].shape(), &rhs = operands[1].shape();
  const auto join = [&](const DimVector& a, const DimVector& b) -> absl::Status {
    for (size_t i = 0; i < a.size(); ++i) {
      int64_t &left = lhs_sizes[a[i]], &right = rhs_sizes[b[i]];
      if (left == right) continue;
      if (lhs.is_dynamic(a[i]) && rhs.is_dynamic(b[i])) {
        return EvalError(
            context.instruction().position,
            fmt::format("DYN-4: {}: dimension {} of lhs has run-time size {}, dimension {} of rhs has {}",
                        Name(context.instruction().opcode), a[i], left, b[i], right));
      }
      (lhs.is_dynamic(a[i]) ? right : left) = lhs.is_dynamic(a[i]) ? left : right;
    }
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(join(dims.lhs.batch, dims.rhs.batch));
  return join(dims.lhs.contracting, dims.rhs.contracting);
}

DimVector DotSizes(const DotDims& dims, std::span<const int64_t> lhs_sizes,
                   std::span<const int64_t> rhs_sizes) {
  DimVector sizes;
  for (int64_t d : dims.lhs.batch) sizes.push_back(lhs_sizes[d]);
  for (int64_t d : dims.lhs.free) sizes.push_back(lhs_sizes[d]);
  for (int64_t d : dims.rhs.free) sizes.push_back(rhs_sizes[d]);
  return sizes;
}

}  // namespace assay
