// ragged-dot (docs/spec/operations-linalg.md, RaggedDot): a dot whose rows, contraction or batches come in
// groups of run-time sizes.

#include <algorithm>
#include <vector>

#include "absl/numeric/int128.h"
#include "base/counted.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/meter.h"
#include "evaluator/ops/contraction/contraction.h"
#include "evaluator/ops/contraction/dot_index.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/shape_rules.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

// group_sizes gs has G entries for each setting of its prefix dimensions; end_i = gs_0 + … + gs_i,
// start_i = end_(i-1). The role of lhs's ragged dimension d decides:
//   free:        out[b, m, n]    = sum over k of lhs[b, m, k] * rhs[b, i, k, n], i the first group with
//                                  m_d < end_i; 0 where there is none
//   contracting: out[i, b, m, n] = sum over k with start_i <= k_d < end_i of lhs[b, m, k] * rhs[b, k, n]
//   batch:       out[b, m, n]    as in dot where b_d < end_(G-1), else 0
//
// Decision: ragged-dot-negative-groups

enum class RaggedMode { kFree, kContracting, kBatch };

struct RaggedDims {
  DotDims dims;  // rhs.free without the group dimension
  RaggedMode mode;
  int64_t ragged = 0;  // d, a dimension of lhs
  int64_t group = -1;  // a dimension of rhs, in mode kFree
  DimVector prefix;    // dimensions of lhs that group_sizes is indexed by
};

absl::Status InvalidRaggedDot(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("RaggedDot-C{}: {}", c, message));
}

// The entries of `dims` before d, or all of them.
void AppendBefore(const DimVector& dims, int64_t d, DimVector& out) {
  out.insert(out.end(), dims.begin(), std::find(dims.begin(), dims.end(), d));
}

RaggedDims RaggedDimsOf(const AttributeMap& attributes, DotDims dims) {
  RaggedDims r{std::move(dims), RaggedMode::kFree, attributes.List(Attr::kLhsRaggedDims)[0], -1, {}};
  AppendBefore(r.dims.lhs.batch, r.ragged, r.prefix);
  if (Contains(r.dims.lhs.batch, r.ragged)) {
    r.mode = RaggedMode::kBatch;
  } else if (Contains(r.dims.lhs.contracting, r.ragged)) {
    r.mode = RaggedMode::kContracting;
    AppendBefore(r.dims.lhs.contracting, r.ragged, r.prefix);
  } else {
    AppendBefore(r.dims.lhs.free, r.ragged, r.prefix);
  }
  const std::span<const int64_t> group = attributes.List(Attr::kRhsGroupDims);
  if (!group.empty()) {
    r.group = group[0];
    DimVector& free = r.dims.rhs.free;
    free.erase(std::remove(free.begin(), free.end(), r.group), free.end());
  }
  return r;
}

// RaggedDot-C4, RaggedDot-C5.
absl::Status CheckGroupDims(const InferContext& context, const DotDims& dims, RaggedMode mode,
                            int64_t groups) {
  const std::span<const int64_t> group = context.attributes().List(Attr::kRhsGroupDims);
  const size_t wanted = mode == RaggedMode::kFree ? 1 : 0;
  if (group.size() != wanted) {
    return InvalidRaggedDot(
        context, 4, fmt::format("rhs_group_dims has {}, wanted {}", Counted(group.size(), "entry"), wanted));
  }
  if (wanted == 0) return absl::OkStatus();
  const Shape& rhs = context.operand(1);
  if (group[0] < 0 || group[0] >= rhs.rank()) {
    return InvalidRaggedDot(
        context, 5, fmt::format("rhs group dimension {} is out of range for rank {}", group[0], rhs.rank()));
  }
  if (!Contains(dims.rhs.free, group[0])) {
    return InvalidRaggedDot(
        context, 4, fmt::format("rhs group dimension {} is a batch or contracting dimension", group[0]));
  }
  if (rhs.size(group[0]) != groups) {
    return InvalidRaggedDot(context, 4,
                            fmt::format("rhs group dimension {} has size {}, group_sizes has {}", group[0],
                                        rhs.size(group[0]), Counted(groups, "group")));
  }
  return absl::OkStatus();
}

// RaggedDot-C3. Returns the number of groups.
absl::StatusOr<int64_t> CheckGroupSizes(const InferContext& context, const DimVector& prefix) {
  const Shape& sizes = context.operand(2);
  if (!sizes.IsArray() || !IsIntegral(sizes.element_type()) || sizes.rank() < 1) {
    return InvalidRaggedDot(
        context, 3, fmt::format("group_sizes is {}, wanted integers of rank at least 1", sizes.ToString()));
  }
  const int64_t rank = static_cast<int64_t>(prefix.size()) + 1;
  if (sizes.rank() != 1 && sizes.rank() != rank) {
    return InvalidRaggedDot(context, 3,
                            fmt::format("group_sizes has rank {}, wanted 1 or {}", sizes.rank(), rank));
  }
  for (int64_t i = 0; i + 1 < sizes.rank(); ++i) {
    const int64_t wanted = context.operand(0).size(prefix[i]);
    if (sizes.size(i) == wanted) continue;
    return InvalidRaggedDot(context, 3,
                            fmt::format("dimension {} of group_sizes has size {}, dimension {} of lhs has {}",
                                        i, sizes.size(i), prefix[i], wanted));
  }
  return sizes.size(sizes.rank() - 1);
}

absl::StatusOr<Shape> InferRaggedDot(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(DotDims dims, CheckDotDims(context, "DotGeneral"));
  ASSAY_RETURN_IF_ERROR(CheckPrecision(context, 2, 3));
  const std::span<const int64_t> ragged = context.attributes().List(Attr::kLhsRaggedDims);
  const int64_t rank = context.operand(0).rank();
  if (ragged.size() != 1 || ragged[0] < 0 || ragged[0] >= rank) {
    return InvalidRaggedDot(context, 2,
                            fmt::format("lhs_ragged_dims is {{{}}}, wanted one dimension in [0, {})",
                                        fmt::join(ragged, ","), rank));
  }
  const DotDims dot_dims = dims;
  // With a bad group dimension the modes are the same; it is checked next.
  const RaggedDims r = RaggedDimsOf(context.attributes(), std::move(dims));
  ASSAY_ASSIGN_OR_RETURN(const int64_t groups, CheckGroupSizes(context, r.prefix));
  ASSAY_RETURN_IF_ERROR(CheckGroupDims(context, dot_dims, r.mode, groups));
  ASSAY_ASSIGN_OR_RETURN(
      const ElementType type,
      ContractionResultType(context, context.operand(0).element_type(), context.operand(1).element_type()));
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, DotShape(context, r.dims, type));
  if (r.mode != RaggedMode::kContracting) return shape;
  DimVector sizes(shape.sizes().begin(), shape.sizes().end());
  sizes.insert(sizes.begin(), groups);
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, sizes));
  for (int64_t d = 0; d < shape.rank(); ++d) result.set_dynamic(d + 1, shape.is_dynamic(d));
  const Shape& group_sizes = context.operand(2);
  result.set_dynamic(0, group_sizes.is_dynamic(group_sizes.rank() - 1));
  return result;
}

// end_i at every setting of the prefix, clamped to [0, size].
class GroupEnds {
 public:
  GroupEnds(const Literal& group_sizes, DimVector prefix, int64_t size)
      : shape_(group_sizes.shape()),
        prefix_(std::move(prefix)),
        groups_(group_sizes.dynamic_size(shape_.rank() - 1)),
        ends_(shape_.num_elements()) {
    prefix_.resize(shape_.rank() - 1);  // none where all settings share the groups
    const ArrayView sizes(group_sizes);
    for (IndexWalk p(shape_.sizes().first(prefix_.size())); !p.done(); p.Next()) {
      DimVector at(p.index().begin(), p.index().end());
      at.push_back(0);
      absl::int128 end = 0;
      for (int64_t& i = at.back(); i < groups_; ++i) {
        end += LoadIndex(shape_.element_type(), sizes.At(at));
        ends_[PositionOf(at, shape_.sizes())] = static_cast<int64_t>(std::clamp<absl::int128>(end, 0, size));
      }
    }
  }

  int64_t groups() const { return groups_; }
  // end_i at an index of lhs, whose dimensions have the prefix. end_(-1) is 0.
  int64_t end(Index lhs, int64_t i) const {
    if (i < 0) return 0;
    DimVector at = SizesAt(lhs, prefix_);
    at.push_back(i);
    return ends_[PositionOf(at, shape_.sizes())];
  }

 private:
  const Shape& shape_;
  DimVector prefix_;
  const int64_t groups_;
  std::vector<int64_t> ends_;
};

// The sums of one ragged dot.
struct RaggedRun {
  const RaggedDims& r;
  const GroupEnds& ends;
  const ArrayView lhs, rhs;
  const DimVector contracted;  // sizes
  DotIndex at;
  ProductSum sum;
  Meter meter;

  // True if the result has a sum at (b, m, n), which `at` has: of its group's rhs in mode kFree;
  // else it is zero.
  absl::StatusOr<bool> EnterGroup() {
    const int64_t d = at.lhs[r.ragged];
    if (r.mode == RaggedMode::kContracting) return true;
    if (r.mode == RaggedMode::kBatch) return d < ends.end(at.lhs, ends.groups() - 1);
    for (int64_t i = 0; i < ends.groups(); ++i) {
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
      if (d >= ends.end(at.lhs, i)) continue;
      at.rhs[r.group] = i;
      return true;
    }
    return false;
  }

  // `group` counts in mode kContracting.
  absl::Status Sum(int64_t group) {
    sum.Clear();
    for (IndexWalk contracting_index(contracted); !contracting_index.done(); contracting_index.Next()) {
      at.SetContracted(contracting_index.index());
      ASSAY_RETURN_IF_ERROR(meter.Add(1));
      if (r.mode == RaggedMode::kContracting) {
        const int64_t d = at.lhs[r.ragged];
        if (d < ends.end(at.lhs, group - 1) || d >= ends.end(at.lhs, group)) continue;
      }
      sum.Add(lhs.At(at.lhs), rhs.At(at.rhs));
    }
    return absl::OkStatus();
  }
};

absl::StatusOr<Literal> EvalRaggedDot(EvalContext& context, std::span<Literal> operands) {
  DimVector lhs_sizes = operands[0].runtime_sizes(), rhs_sizes = operands[1].runtime_sizes();
  const Shape &lhs = operands[0].shape(), &rhs = operands[1].shape();
  const RaggedDims r =
      RaggedDimsOf(context.attributes(), DotDimsOf(context.attributes(), lhs.rank(), rhs.rank()));
  ASSAY_RETURN_IF_ERROR(JoinDotSizes(context, r.dims, operands, lhs_sizes, rhs_sizes));
  const GroupEnds ends(operands[2], r.prefix, lhs_sizes[r.ragged]);
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(true));
  DimVector sizes = DotSizes(r.dims, lhs_sizes, rhs_sizes);
  const bool has_groups = r.mode == RaggedMode::kContracting;
  if (has_groups) sizes.insert(sizes.begin(), ends.groups());
  RaggedRun run{r,
                ends,
                ArrayView(operands[0]),
                ArrayView(operands[1]),
                SizesAt(lhs_sizes, r.dims.lhs.contracting),
                DotIndex(r.dims, lhs.rank(), rhs.rank()),
                ProductSum(lhs.element_type(), rhs.element_type(), result.shape().element_type()),
                Meter(context)};
  const MutableArrayView out(result);
  for (IndexWalk result_index(sizes); !result_index.done(); result_index.Next()) {
    run.at.SetFree(result_index.index().subspan(has_groups ? 1 : 0));
    ASSAY_RETURN_IF_ERROR(run.meter.Add(1));
    ASSAY_ASSIGN_OR_RETURN(const bool has_sum, run.EnterGroup());
    if (!has_sum) continue;
    ASSAY_RETURN_IF_ERROR(run.Sum(has_groups ? result_index[0] : 0));
    run.sum.Store(out.At(result_index.index()));
  }
  ASSAY_RETURN_IF_ERROR(run.meter.Flush());
  SetRuntimeSizes(result, sizes);
  return result;
}

constexpr AttrSpec kRaggedDotAttributes[] = {
    Optional(Attr::kLhsBatchDims),       Optional(Attr::kRhsBatchDims),
    Optional(Attr::kLhsContractingDims), Optional(Attr::kRhsContractingDims),
    Optional(Attr::kOperandPrecision),   Optional(Attr::kLhsRaggedDims),
    Optional(Attr::kRhsGroupDims),
};

// Every row of lhs meets the free dimensions of rhs, in whatever group it is.
Work WorkOfRaggedDot(const InstructionView& view) {
  Work work = work::Move(view);
  double columns = work::Elements(view.operand(1));
  for (const Attr dims : {Attr::kRhsBatchDims, Attr::kRhsContractingDims, Attr::kRhsGroupDims})
    columns /= std::max(work::Sizes(view, 1, dims), 1.0);
  work.elements = work::Elements(view.operand(0)) * columns;
  work.flops = 2 * work.elements;
  return work;
}

// The groups are parts of the ragged dimension.
void DemandsOfRaggedDot(const InstructionView& view, std::vector<OperandDemand>& demands) {
  InputDemand demand;
  demand.kind = InputDemand::Kind::kPartition;
  const Shape& groups = view.operand(2);
  demand.width = groups.size(groups.rank() - 1);
  demand.bound = view.operand(0).size(view.attributes().List(Attr::kLhsRaggedDims)[0]);
  demands.push_back({2, std::move(demand)});
}

}  // namespace

constinit const OpDef ops::RaggedDot = {
    .operands = Exactly(3),
    .types = kArrayTypes,
    .attributes = kRaggedDotAttributes,
    .infer = InferRaggedDot,
    .eval = EvalRaggedDot,
    .work = WorkOfRaggedDot,
    .bound = bound::RaggedDot,
    .audit = audit::Computes,
    .demands = DemandsOfRaggedDot,
};

}  // namespace assay
