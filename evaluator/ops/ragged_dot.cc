// ragged-dot (spec/operations-linalg.md, RaggedDot): a dot whose rows, contraction or batches come in groups
// of run-time sizes. The loops are dot_run.cc.

#include <algorithm>

#include "absl/numeric/int128.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/dot_dims.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

// group_sizes gs has G entries for each setting of its prefix dimensions; end_i = gs_0 + … + gs_i,
// start_i = end_(i-1). By the role of lhs's ragged dimension d:
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

absl::Status Invalid(const InferContext& context, int c, std::string_view message) {
  return InvalidProgram(context.instruction.position, fmt::format("RaggedDot-C{}: {}", c, message));
}

bool Contains(const DimVector& dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
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

// C4 and C5.
absl::Status CheckGroupDims(const InferContext& context, const DotDims& dims, RaggedMode mode,
                            int64_t groups) {
  const std::span<const int64_t> group = context.attributes().List(Attr::kRhsGroupDims);
  const size_t wanted = mode == RaggedMode::kFree ? 1 : 0;
  if (group.size() != wanted) {
    return Invalid(context, 4, fmt::format("rhs_group_dims has {} entries, wanted {}", group.size(), wanted));
  }
  if (wanted == 0) return absl::OkStatus();
  const Shape& rhs = context.operand(1);
  if (group[0] < 0 || group[0] >= rhs.rank()) {
    return Invalid(context, 5,
                   fmt::format("rhs group dimension {} is out of range for rank {}", group[0], rhs.rank()));
  }
  if (!Contains(dims.rhs.free, group[0])) {
    return Invalid(context, 4,
                   fmt::format("rhs group dimension {} is a batch or contracting dimension", group[0]));
  }
  if (rhs.size(group[0]) != groups) {
    return Invalid(context, 4,
                   fmt::format("rhs group dimension {} has size {}, group_sizes has {} groups", group[0],
                               rhs.size(group[0]), groups));
  }
  return absl::OkStatus();
}

// C3. Returns the number of groups.
absl::StatusOr<int64_t> CheckGroupSizes(const InferContext& context, const DimVector& prefix) {
  const Shape& sizes = context.operand(2);
  if (!sizes.IsArray() || !IsIntegral(sizes.element_type()) || sizes.rank() < 1) {
    return Invalid(context, 3,
                   fmt::format("group_sizes is {}, wanted integers of rank at least 1", sizes.ToString()));
  }
  const int64_t rank = static_cast<int64_t>(prefix.size()) + 1;
  if (sizes.rank() != 1 && sizes.rank() != rank) {
    return Invalid(context, 3, fmt::format("group_sizes has rank {}, wanted 1 or {}", sizes.rank(), rank));
  }
  for (int64_t i = 0; i + 1 < sizes.rank(); ++i) {
    const int64_t wanted = context.operand(0).size(prefix[i]);
    if (sizes.size(i) == wanted) continue;
    return Invalid(context, 3,
                   fmt::format("dimension {} of group_sizes has size {}, dimension {} of lhs has {}", i,
                               sizes.size(i), prefix[i], wanted));
  }
  return sizes.size(sizes.rank() - 1);
}

absl::StatusOr<Shape> InferRaggedDot(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(DotDims dims, CheckDotDims(context, "DotGeneral"));
  ASSAY_RETURN_IF_ERROR(CheckPrecision(context, 2, 3));
  const std::span<const int64_t> ragged = context.attributes().List(Attr::kLhsRaggedDims);
  const int64_t rank = context.operand(0).rank();
  if (ragged.size() != 1 || ragged[0] < 0 || ragged[0] >= rank) {
    return Invalid(context, 2,
                   fmt::format("lhs_ragged_dims is {{{}}}, wanted one dimension in [0, {})",
                               fmt::join(ragged, ","), rank));
  }
  const DotDims plain = dims;
  // With a bad group dimension the modes are the same; it is checked next.
  const RaggedDims r = RaggedDimsOf(context.attributes(), std::move(dims));
  ASSAY_ASSIGN_OR_RETURN(const int64_t groups, CheckGroupSizes(context, r.prefix));
  ASSAY_RETURN_IF_ERROR(CheckGroupDims(context, plain, r.mode, groups));
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

// end_i of every group at every setting of the prefix, clamped to [0, size].
class GroupEnds {
 public:
  GroupEnds(const Literal& sizes, int64_t size)
      : strides_(StridesOf(sizes)),
        groups_(sizes.dynamic_size(sizes.shape().rank() - 1)),
        ends_(sizes.shape().num_elements()) {
    const ElementType type = sizes.shape().element_type();
    const int64_t row = sizes.shape().size(sizes.shape().rank() - 1);
    for (int64_t at = 0; row > 0 && at < sizes.shape().num_elements(); at += row) {
      absl::int128 end = 0;
      for (int64_t i = 0; i < groups_; ++i) {
        end += LoadIndex(type, sizes.data() + (at + i) * Bytes(type));
        ends_[at + i] = static_cast<int64_t>(std::clamp<absl::int128>(end, 0, size));
      }
    }
  }

  int64_t groups() const { return groups_; }
  // Where the ends of a prefix start: the first dimensions of group_sizes are indexed by `a`, then by `b`.
  int64_t Row(const Loop& a, int64_t a_rank, const Loop* b = nullptr) const {
    int64_t at = 0;
    for (int64_t d = 0; d + 1 < static_cast<int64_t>(strides_.size()); ++d) {
      at += (d < a_rank ? a.index(d) : b->index(d - a_rank)) * strides_[d];
    }
    return at;
  }
  int64_t end(int64_t row, int64_t i) const { return i < 0 ? 0 : ends_[row + i]; }

 private:
  const DimVector strides_;
  const int64_t groups_;
  std::vector<int64_t> ends_;
};

struct RaggedRun {
  const RaggedDims& r;
  const Contraction& contraction;
  const DotArray& lhs;
  const DotArray& rhs;
  const GroupEnds& ends;
  const DimVector& result_strides;  // batch, lhs free, rhs free; without the leading group of kContracting
  std::byte* result;
  Meter& meter;

  absl::Status Run(const DotBox& box) { return RunDot(contraction, lhs, rhs, box, result, meter); }
};

// Takes the first `count` loops out.
LoopDims TakeFirst(LoopDims& loops, size_t count) {
  const auto end = loops.begin() + static_cast<int64_t>(count);
  const LoopDims taken(loops.begin(), end);
  loops.erase(loops.begin(), end);
  return taken;
}

absl::Status RunFree(RaggedRun& run) {
  const RaggedDims& r = run.r;
  const size_t batch_rank = r.dims.lhs.batch.size();
  DotBox box = WholeDot(r.dims, run.lhs, run.rhs, run.result_strides);
  LoopDims prefix = TakeFirst(box.batch, batch_rank);
  const LoopDims rows_before = TakeFirst(box.rows, r.prefix.size() - batch_rank);
  prefix.insert(prefix.end(), rows_before.begin(), rows_before.end());
  const LoopDim ragged = box.rows[0];
  for (Loop p(prefix); !p.done(); p.Next()) {
    const int64_t row = run.ends.Row(p, static_cast<int64_t>(prefix.size()));
    int64_t start = 0;
    for (int64_t i = 0; i < run.ends.groups(); ++i) {
      const int64_t end = run.ends.end(row, i);
      if (end <= start) continue;
      box.rows[0].size = end - start;
      box.lhs_base = p.offset(0) + start * ragged.strides[0];
      box.rhs_base = p.offset(1) + i * run.rhs.strides[r.group];
      box.result_base = p.offset(2) + start * ragged.strides[2];
      ASSAY_RETURN_IF_ERROR(run.Run(box));
      start = end;
    }
    ASSAY_RETURN_IF_ERROR(run.meter.Add(run.ends.groups() + 1));
  }
  return absl::OkStatus();
}

absl::Status RunContracting(RaggedRun& run, int64_t group_stride) {
  const size_t batch_rank = run.r.dims.lhs.batch.size();
  DotBox box = WholeDot(run.r.dims, run.lhs, run.rhs, run.result_strides);
  const LoopDims batch = TakeFirst(box.batch, batch_rank);
  LoopDims contracted = box.contracted[0].loops;
  const LoopDims before = TakeFirst(contracted, run.r.prefix.size() - batch_rank);
  for (Loop b(batch); !b.done(); b.Next()) {
    for (int64_t i = 0; i < run.ends.groups(); ++i) {
      box.contracted.clear();
      for (Loop k(before); !k.done(); k.Next()) {
        const int64_t row = run.ends.Row(b, static_cast<int64_t>(batch_rank), &k);
        const int64_t start = run.ends.end(row, i - 1), end = run.ends.end(row, i);
        if (end <= start) continue;
        DotBox::Contracted part{k.offset(0) + start * contracted[0].strides[0],
                                k.offset(1) + start * contracted[0].strides[1], contracted};
        part.loops[0].size = end - start;
        box.contracted.push_back(std::move(part));
      }
      box.lhs_base = b.offset(0);
      box.rhs_base = b.offset(1);
      box.result_base = b.offset(2) + i * group_stride;
      ASSAY_RETURN_IF_ERROR(run.Run(box));
    }
  }
  return absl::OkStatus();
}

absl::Status RunBatch(RaggedRun& run) {
  DotBox box = WholeDot(run.r.dims, run.lhs, run.rhs, run.result_strides);
  const LoopDims prefix = TakeFirst(box.batch, run.r.prefix.size());
  for (Loop p(prefix); !p.done(); p.Next()) {
    const int64_t row = run.ends.Row(p, static_cast<int64_t>(prefix.size()));
    box.batch[0].size = run.ends.end(row, run.ends.groups() - 1);
    box.lhs_base = p.offset(0);
    box.rhs_base = p.offset(1);
    box.result_base = p.offset(2);
    ASSAY_RETURN_IF_ERROR(run.Run(box));
    ASSAY_RETURN_IF_ERROR(run.meter.Add(1));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> EvalRaggedDot(EvalContext& context, std::span<Literal> operands) {
  const DotArray lhs = ArrayOf(operands[0]), rhs = ArrayOf(operands[1]);
  const RaggedDims r =
      RaggedDimsOf(context.attributes(),
                   DotDimsOf(context.attributes(), operands[0].shape().rank(), operands[1].shape().rank()));
  ASSAY_RETURN_IF_ERROR(CheckDotRuntimeSizes(context, r.dims, lhs, rhs));
  const GroupEnds ends(operands[2], lhs.sizes[r.ragged]);
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(true));
  const Contraction contraction(lhs.type, rhs.type, result.shape().element_type());
  DimVector strides = StridesOf(result);
  DimVector sizes = DotSizes(r.dims, lhs, rhs);
  Meter meter(context);
  if (r.mode == RaggedMode::kContracting) {
    const int64_t group_stride = strides[0];
    strides.erase(strides.begin());
    sizes.insert(sizes.begin(), ends.groups());
    RaggedRun run{r, contraction, lhs, rhs, ends, strides, result.MutableBytes().data(), meter};
    ASSAY_RETURN_IF_ERROR(RunContracting(run, group_stride));
  } else {
    RaggedRun run{r, contraction, lhs, rhs, ends, strides, result.MutableBytes().data(), meter};
    ASSAY_RETURN_IF_ERROR(r.mode == RaggedMode::kFree ? RunFree(run) : RunBatch(run));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, sizes);
  return result;
}

constexpr AttrSpec kRaggedDotAttributes[] = {
    Optional(Attr::kLhsBatchDims),       Optional(Attr::kRhsBatchDims),
    Optional(Attr::kLhsContractingDims), Optional(Attr::kRhsContractingDims),
    Optional(Attr::kOperandPrecision),   Optional(Attr::kLhsRaggedDims),
    Optional(Attr::kRhsGroupDims),
};

}  // namespace

constinit const OpDef ops::RaggedDot = {
    .operands = Exactly(3),
    .types = kArrayTypes,
    .attributes = kRaggedDotAttributes,
    .infer = InferRaggedDot,
    .eval = EvalRaggedDot,
};

}  // namespace assay
