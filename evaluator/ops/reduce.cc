// reduce and map (spec/operations-linalg.md: RED, Reduce, Map). The rules for reducers are in reducer.cc,
// scan in scan.cc, windows in window.cc.

#include <algorithm>
#include <vector>

#include "evaluator/ops/element_sum.h"
#include "evaluator/ops/loops.h"
#include "evaluator/ops/reducer.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay {
namespace {

absl::Status Invalid(const InferContext& context, std::string_view message) {
  return InvalidProgram(context.instruction.position, message);
}

// ---- reduce ----------------------------------------------------------------------------------------------
//
// out[J] = f(… f(f(init, x[I0]), x[I1]) …) over all I, in row-major order, whose entries in the kept
// dimensions are J. With N operands f takes and returns N values. A float or complex add means the exact sum
// of init and the elements, rounded once (RED-1).

// Reduce-C1, C2: operands x0..x(N-1), init0..init(N-1), the x of the same dimensions. Returns N.
absl::StatusOr<int64_t> CheckInputs(const InferContext& context) {
  const int64_t count = context.num_operands();
  if (count < 2 || count % 2 != 0) {
    return Invalid(context,
                   fmt::format("Reduce-C1: {} operands, wanted inputs and as many init values", count));
  }
  for (int64_t i = 0; i < count / 2; ++i) {
    const Shape& x = context.operand(i);
    if (!x.IsArray()) {
      return Invalid(context, fmt::format("Reduce-C1: operand {} is {}, wanted an array", i, x.ToString()));
    }
    if (!Shape::SameDimensions(context.operand(0), x)) {
      return Invalid(context,
                     fmt::format("Reduce-C2: operands 0 and {} are {} and {}, wanted the same dimensions", i,
                                 context.operand(0).ToString(), x.ToString()));
    }
  }
  return count / 2;
}

// Reduce-C3, C4: which of the dimensions are reduced.
absl::StatusOr<std::vector<bool>> ReducedDimensions(const InferContext& context, int64_t rank) {
  std::vector<bool> reduced(rank);
  for (int64_t d : context.attributes().List(Attr::kDimensions)) {
    if (d < 0 || d >= rank) {
      return Invalid(context, fmt::format("Reduce-C3: dimension {} is out of range for rank {}", d, rank));
    }
    if (reduced[d]) return Invalid(context, fmt::format("Reduce-C4: dimension {} stands twice", d));
    reduced[d] = true;
  }
  return reduced;
}

absl::StatusOr<Shape> InferReduce(const InferContext& context) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t n, CheckInputs(context));
  const Shape& x = context.operand(0);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedDimensions(context, x.rank()));
  std::vector<ElementType> types;
  std::vector<Shape> inits;
  for (int64_t i = 0; i < n; ++i) {
    types.push_back(context.operand(i).element_type());
    inits.push_back(context.operand(n + i));
  }
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<ElementType> result_types,
      VerifyReducer(context, *context.attributes().Computation(Attr::kToApply), types, inits));
  DimVector sizes;
  std::vector<bool> dynamic;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (reduced[d]) continue;
    sizes.push_back(x.size(d));
    bool is_dynamic = false;
    for (int64_t i = 0; i < n; ++i) is_dynamic |= context.operand(i).is_dynamic(d);
    dynamic.push_back(is_dynamic);
  }
  std::vector<Shape> results;
  for (ElementType type : result_types) {
    ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, sizes));
    for (size_t d = 0; d < dynamic.size(); ++d) result.set_dynamic(static_cast<int64_t>(d), dynamic[d]);
    results.push_back(std::move(result));
  }
  return n == 1 ? std::move(results[0]) : Shape::Tuple(std::move(results));
}

// One evaluation: inputs and init values of the reducer's types, and how the result is walked.
struct Reduction {
  EvalContext& context;
  ScalarFunction& reducer;
  std::vector<Literal> inputs, inits;
  std::vector<Literal> results;
  LoopDims kept;     // array 0: inputs, array 1: results
  LoopDims reduced;  // array 0: inputs

  int64_t n() const { return static_cast<int64_t>(inputs.size()); }
  int64_t input_bytes(int64_t i) const { return Bytes(inputs[i].shape().element_type()); }
  int64_t result_bytes(int64_t i) const { return Bytes(inits[i].shape().element_type()); }
};

// RED-1.
absl::Status ReduceExactly(Reduction& r) {
  const int64_t in_bytes = r.input_bytes(0), out_bytes = r.result_bytes(0);
  const std::byte* const x = r.inputs[0].data();
  std::byte* const out = r.results[0].MutableBytes().data();
  const LoopDim run = TakeInnermostLoop(r.reduced);
  constexpr int64_t kPiece = 1 << 16;
  ElementSum sum(r.inits[0].shape().element_type());
  Meter meter(r.context);
  for (Loop j(r.kept); !j.done(); j.Next()) {
    sum.Clear();
    sum.Add(r.inits[0].data(), 0, 1);
    for (Loop i(r.reduced); !i.done(); i.Next()) {
      const std::byte* src = x + (j.offset(0) + i.offset(0)) * in_bytes;
      for (int64_t done = 0; done < run.size; done += kPiece) {
        const int64_t count = std::min(kPiece, run.size - done);
        sum.Add(src + done * run.strides[0] * in_bytes, run.strides[0] * in_bytes, count);
        ASSAY_RETURN_IF_ERROR(meter.Add(count));
      }
    }
    sum.Store(out + j.offset(1) * out_bytes);
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return meter.Flush();
}

// RED-2: the left fold, over many results at a time. The running values live in the results.
absl::Status ReduceByFolding(Reduction& r) {
  const int64_t n = r.n();
  constexpr int64_t kLanes = 4 * kStrip;  // few enough for the running values to stay in cache
  const LoopDim lanes = TakeLongestLoop(r.kept);
  std::vector<const std::byte*> in(2 * n);
  std::vector<std::byte*> out(n);
  std::vector<int64_t> in_strides(2 * n), out_strides(n);
  for (int64_t k = 0; k < n; ++k) {
    in_strides[k] = out_strides[k] = lanes.strides[1] * r.result_bytes(k);
    in_strides[n + k] = lanes.strides[0] * r.input_bytes(k);
  }
  Meter meter(r.context);
  for (Loop j(r.kept); !j.done(); j.Next()) {
    for (int64_t lane = 0; lane < lanes.size; lane += kLanes) {
      const int64_t count = std::min(kLanes, lanes.size - lane);
      for (int64_t k = 0; k < n; ++k) {
        in[k] = out[k] =
            r.results[k].MutableBytes().data() + j.offset(1) * r.result_bytes(k) + lane * out_strides[k];
        for (int64_t l = 0; l < count; ++l) {
          std::copy_n(r.inits[k].data(), r.result_bytes(k), out[k] + l * out_strides[k]);
        }
      }
      for (Loop i(r.reduced); !i.done(); i.Next()) {
        for (int64_t k = 0; k < n; ++k) {
          in[n + k] =
              r.inputs[k].data() + (j.offset(0) + i.offset(0)) * r.input_bytes(k) + lane * in_strides[n + k];
        }
        ASSAY_RETURN_IF_ERROR(r.reducer.Run(count, in, in_strides, out, out_strides));
        ASSAY_RETURN_IF_ERROR(meter.Add(count));
      }
    }
  }
  return meter.Flush();
}

// An associative and commutative reducer of one operand applied to few results: partial results in lanes,
// which are then folded together by halves.
class LaneFold {
 public:
  LaneFold(ScalarFunction& reducer, int64_t element_bytes)
      : reducer_(reducer), bytes_(element_bytes), lanes_(kLanes * element_bytes) {}

  void Clear() { filled_ = 0; }

  absl::Status Add(const std::byte* src, int64_t stride_bytes, int64_t n) {
    while (n > 0) {
      const int64_t count = std::min(n, filled_ == 0 ? kLanes : filled_);
      if (filled_ == 0) {
        for (int64_t i = 0; i < count; ++i)
          std::copy_n(src + i * stride_bytes, bytes_, lanes_.data() + i * bytes_);
        filled_ = count;
      } else {
        ASSAY_RETURN_IF_ERROR(Combine(count, lanes_.data(), src, stride_bytes, lanes_.data()));
      }
      src += count * stride_bytes;
      n -= count;
    }
    return absl::OkStatus();
  }

  // *dst = f(init, everything added).
  absl::Status Store(const std::byte* init, std::byte* dst) {
    for (; filled_ > 1; filled_ = (filled_ + 1) / 2) {
      const int64_t half = filled_ / 2;
      ASSAY_RETURN_IF_ERROR(
          Combine(half, lanes_.data(), lanes_.data() + (filled_ - half) * bytes_, bytes_, lanes_.data()));
    }
    if (filled_ == 0) {
      std::copy_n(init, bytes_, dst);
      return absl::OkStatus();
    }
    return Combine(1, init, lanes_.data(), bytes_, dst);
  }

 private:
  static constexpr int64_t kLanes = kStrip;

  absl::Status Combine(int64_t n, const std::byte* a, const std::byte* b, int64_t b_stride, std::byte* out) {
    const std::byte* const in[] = {a, b};
    const int64_t in_strides[] = {bytes_, b_stride};
    std::byte* const outs[] = {out};
    const int64_t out_strides[] = {bytes_};
    return reducer_.Run(n, in, in_strides, outs, out_strides);
  }

  ScalarFunction& reducer_;
  const int64_t bytes_;
  std::vector<std::byte> lanes_;
  int64_t filled_ = 0;
};

absl::Status ReduceInLanes(Reduction& r) {
  const int64_t bytes = r.input_bytes(0);
  const LoopDim run = TakeLongestLoop(r.reduced);
  constexpr int64_t kPiece = 1 << 16;
  LaneFold fold(r.reducer, bytes);
  Meter meter(r.context);
  std::byte* const out = r.results[0].MutableBytes().data();
  for (Loop j(r.kept); !j.done(); j.Next()) {
    fold.Clear();
    for (Loop i(r.reduced); !i.done(); i.Next()) {
      const std::byte* src = r.inputs[0].data() + (j.offset(0) + i.offset(0)) * bytes;
      for (int64_t done = 0; done < run.size; done += kPiece) {
        const int64_t count = std::min(kPiece, run.size - done);
        ASSAY_RETURN_IF_ERROR(fold.Add(src + done * run.strides[0] * bytes, run.strides[0] * bytes, count));
        ASSAY_RETURN_IF_ERROR(meter.Add(count));
      }
    }
    ASSAY_RETURN_IF_ERROR(fold.Store(r.inits[0].data(), out + j.offset(1) * bytes));
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return meter.Flush();
}

absl::Status RunReduction(Reduction& r, ComputationId id) {
  if (r.reducer.is_exact_sum()) return ReduceExactly(r);
  int64_t longest_kept = 1, longest_reduced = 1;
  for (const LoopDim& dim : r.kept) longest_kept = std::max(longest_kept, dim.size);
  for (const LoopDim& dim : r.reduced) longest_reduced = std::max(longest_reduced, dim.size);
  const bool one_type = r.n() == 1 && r.reducer.input_type(0) == r.reducer.input_type(1);
  if (one_type && longest_kept < std::min(longest_reduced, kStrip) && IsAssociative(r.context.module(), id)) {
    return ReduceInLanes(r);
  }
  return ReduceByFolding(r);
}

absl::StatusOr<Literal> EvalReduce(EvalContext& context, std::span<Literal> operands) {
  const int64_t n = static_cast<int64_t>(operands.size()) / 2;
  ASSAY_RETURN_IF_ERROR(CheckSameRuntimeSizes(context, operands.first(n)));
  const ComputationId id = *context.attributes().Computation(Attr::kToApply);
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const reducer, context.Scalar(id));
  Reduction r{context, *reducer};
  const bool tuple = context.result_shape().IsTuple();
  const bool zero = HasDynamicDimension(context.result_shape());
  for (int64_t i = 0; i < n; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Literal init, ConvertForReducer(context, operands[n + i], reducer->input_type(i)));
    ASSAY_ASSIGN_OR_RETURN(Literal input,
                           ConvertForReducer(context, operands[i], reducer->input_type(n + i)));
    ASSAY_ASSIGN_OR_RETURN(Literal result,
                           tuple ? context.NewResultElement(i, zero) : context.NewResult(zero));
    r.inits.push_back(std::move(init));
    r.inputs.push_back(std::move(input));
    r.results.push_back(std::move(result));
  }
  const Literal& x = operands[0];
  const DimVector strides = StridesOf(x);
  const DimVector result_strides = StridesOf(r.results[0]);
  const std::span<const int64_t> dimensions = context.attributes().List(Attr::kDimensions);
  LoopDims kept, reduced;
  DimVector kept_sizes;
  for (int64_t d = 0; d < x.shape().rank(); ++d) {
    const int64_t size = x.dynamic_size(d);
    if (std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end()) {
      reduced.push_back({size, {strides[d]}});
    } else {
      kept.push_back({size, {strides[d], result_strides[kept_sizes.size()]}});
      kept_sizes.push_back(size);
    }
  }
  r.kept = MergeLoops(kept);
  r.reduced = MergeLoops(reduced);
  ASSAY_RETURN_IF_ERROR(RunReduction(r, id));
  for (Literal& result : r.results) SetRuntimeSizes(result, kept_sizes);
  if (!tuple) return std::move(r.results[0]);
  return Literal::Tuple(context.shared_result_shape(), std::move(r.results));
}

// ---- map -------------------------------------------------------------------------------------------------
//
// out[I] = f(x0[I], x1[I], …).

// Map-C4: one scalar parameter an operand, of its type, and a scalar result. Returns the result's type.
absl::StatusOr<ElementType> CheckMapped(const InferContext& context) {
  const ProgramShape called = context.Called(*context.attributes().Computation(Attr::kToApply));
  const int64_t parameters = static_cast<int64_t>(called.parameters.size());
  if (parameters != context.num_operands()) {
    return Invalid(context,
                   fmt::format("Map-C4: the computation has {} parameters, wanted {}, one an operand",
                               parameters, context.num_operands()));
  }
  for (int64_t i = 0; i < parameters; ++i) {
    if (called.parameters[i].IsScalar(context.operand(i).element_type())) continue;
    return Invalid(context,
                   fmt::format("Map-C4: parameter {} of the computation is {}, wanted {}[]", i,
                               called.parameters[i].ToString(), Name(context.operand(i).element_type())));
  }
  if (!called.result.IsScalar()) {
    return Invalid(context, fmt::format("Map-C4: the computation returns {}, wanted a scalar",
                                        called.result.ToString()));
  }
  return called.result.element_type();
}

absl::StatusOr<Shape> InferMap(const InferContext& context) {
  if (context.num_operands() < 1) return Invalid(context, "Map-C1: no operand, wanted at least one");
  const Shape& x = context.operand(0);
  for (int64_t i = 0; i < context.num_operands(); ++i) {
    const Shape& operand = context.operand(i);
    if (!operand.IsArray()) {
      return Invalid(context,
                     fmt::format("Map-C1: operand {} is {}, wanted an array", i, operand.ToString()));
    }
    if (!Shape::SameDimensions(x, operand)) {
      return Invalid(context,
                     fmt::format("Map-C2: operands 0 and {} are {} and {}, wanted the same dimensions", i,
                                 x.ToString(), operand.ToString()));
    }
  }
  if (context.attributes().Has(Attr::kDimensions)) {
    const std::span<const int64_t> dimensions = context.attributes().List(Attr::kDimensions);
    bool all = static_cast<int64_t>(dimensions.size()) == x.rank();
    for (int64_t d = 0; all && d < x.rank(); ++d) all = dimensions[d] == d;
    if (!all) {
      return Invalid(context, fmt::format("Map-C3: dimensions are {{{}}}, wanted 0..{} in order",
                                          fmt::join(dimensions, ","), x.rank() - 1));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const ElementType type, CheckMapped(context));
  ASSAY_ASSIGN_OR_RETURN(Shape result, Shape::Array(type, x.sizes()));
  for (int64_t d = 0; d < x.rank(); ++d) {
    for (const Shape* operand : context.operands) {
      if (operand->is_dynamic(d)) result.set_dynamic(d, true);
    }
  }
  return result;
}

absl::StatusOr<Literal> EvalMap(EvalContext& context, std::span<Literal> operands) {
  ASSAY_RETURN_IF_ERROR(CheckSameRuntimeSizes(context, operands));
  ASSAY_ASSIGN_OR_RETURN(ScalarFunction* const f,
                         context.Scalar(*context.attributes().Computation(Attr::kToApply)));
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(context.result_shape().HasDynamic()));
  const DimVector sizes = operands[0].runtime_sizes();
  const DimVector strides = StridesOf(operands[0]);
  LoopDims dims;
  for (size_t d = 0; d < sizes.size(); ++d) dims.push_back({sizes[d], {strides[d]}});
  dims = MergeLoops(dims);
  const LoopDim run = TakeInnermostLoop(dims);
  constexpr int64_t kPiece = 1 << 16;
  const int64_t n = static_cast<int64_t>(operands.size());
  std::vector<const std::byte*> in(n);
  std::vector<int64_t> in_strides(n);
  std::vector<int64_t> bytes(n);
  for (int64_t i = 0; i < n; ++i) {
    bytes[i] = Bytes(operands[i].shape().element_type());
    in_strides[i] = bytes[i] * run.strides[0];
  }
  const int64_t out_bytes = Bytes(result.shape().element_type());
  const int64_t out_stride = out_bytes * run.strides[0];
  std::byte* const dst = result.MutableBytes().data();
  for (Loop loop(dims); !loop.done(); loop.Next()) {
    for (int64_t done = 0; done < run.size; done += kPiece) {
      const int64_t count = std::min(kPiece, run.size - done);
      const int64_t position = loop.offset(0) + done * run.strides[0];
      for (int64_t i = 0; i < n; ++i) in[i] = operands[i].data() + position * bytes[i];
      std::byte* const out = dst + position * out_bytes;
      ASSAY_RETURN_IF_ERROR(f->Run(count, in, in_strides, {&out, 1}, {&out_stride, 1}));
      ASSAY_RETURN_IF_ERROR(context.Charge(count));
    }
  }
  SetRuntimeSizes(result, sizes);
  return result;
}

constexpr AttrSpec kReduceAttributes[] = {Required(Attr::kDimensions), Required(Attr::kToApply)};
constexpr AttrSpec kMapAttributes[] = {Optional(Attr::kDimensions), Required(Attr::kToApply)};

}  // namespace

constinit const OpDef ops::Reduce = {
    .operands = AtLeast(2),
    .types = kArrayTypes,
    .attributes = kReduceAttributes,
    .infer = InferReduce,
    .eval = EvalReduce,
};

constinit const OpDef ops::Map = {
    .operands = AtLeast(1),
    .types = kArrayTypes,
    .attributes = kMapAttributes,
    .infer = InferMap,
    .eval = EvalMap,
};

}  // namespace assay
