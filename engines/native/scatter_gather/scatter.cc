// What is done with the windows; geometry and operands are scatter_windows.h's.
#include "engines/native/scatter_gather/scatter.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "engines/native/reduce/reduce_fold.h"
#include "engines/native/scatter_gather/code_scatter.h"
#include "engines/native/scatter_gather/fixed_scatter_sums.h"
#include "engines/native/scatter_gather/scatter_product.h"
#include "engines/native/scatter_gather/scatter_sums.h"
#include "engines/native/walk/move.h"
#include "evaluator/patterns/associative.h"
#include "evaluator/registry.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {
namespace {

class ScatterSum final : public Kernel {
 public:
  explicit ScatterSum(const ScatterKernels& kernels) : kernels_(kernels) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunScatter(
        context, MakeScatterGeometry(context.attributes(), operands), operands,
        [&](const ScatterGeometry& g, ScalarFunction&, std::span<const Literal> updates,
            std::span<Literal> results) -> absl::Status {
          const absl::StatusOr<bool> added =
              AddWindowsInFixedUnits(context, kernels_, g, updates[0], results[0]);
          if (!added.ok() && !IsMemoryError(added.status())) return added.status();
          if (added.ok() && *added) return absl::OkStatus();
          ASSAY_ASSIGN_OR_RETURN(ScatteredUpdates scattered, CollectUpdates(context, g, updates[0]));
          if (scattered.count == 0) return absl::OkStatus();
          return AddUpdates(context, kernels_.sums,
                            {results[0].shape().element_type(), results[0].MutableBytes().data(),
                             results[0].shape().num_elements(), updates[0].data(),
                             g.disjoint ? RunsOf(g) : WindowRuns{{{0, 0}}, 1, 0, 0}},
                            scattered.data(), scattered.count);
        });
  }

 private:
  const ScatterKernels kernels_;
};

// Patterns with the sign on top as keys in the order of the values, NaN beyond everything (FoldOp).
template <class S>
struct FloatOrder {
  S largest, nan_key, nan;
  S Key(S x) const {
    const S magnitude = x & std::numeric_limits<S>::max();
    return magnitude > largest ? nan_key : x < 0 ? static_cast<S>(x ^ std::numeric_limits<S>::max()) : x;
  }
  S Pattern(S key) const {
    if (key == nan_key) return nan;
    return key < 0 ? static_cast<S>(key ^ std::numeric_limits<S>::max()) : key;
  }
};

// A combiner applied to runs of elements, strides in elements.
class RunFold {
 public:
  explicit RunFold(const TypedFold& typed) : typed_(typed), bytes_(Bytes(typed.type)) {}

  void operator()(int64_t n, std::byte* to, int64_t to_stride, const std::byte* from,
                  int64_t from_stride) const {
    if (typed_.float_keys) return Floats(n, to, to_stride, from, from_stride);
    if (to_stride == 1 && from_stride == 1) return typed_.combine(n, from, to, 0);
    for (int64_t i = 0; i < n; ++i)
      typed_.combine(1, from + i * from_stride * bytes_, to + i * to_stride * bytes_, 0);
  }

 private:
  void Floats(int64_t n, std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride) const {
    switch (bytes_) {
      case 1:
        return Order<int8_t>(n, to, to_stride, from, from_stride);
      case 2:
        return Order<int16_t>(n, to, to_stride, from, from_stride);
      case 4:
        return Order<int32_t>(n, to, to_stride, from, from_stride);
      default:
        return Order<int64_t>(n, to, to_stride, from, from_stride);
    }
  }
  template <class S>
  void Order(int64_t n, std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride) const {
    const bool maximum = typed_.op == KeyOp::kMaximum;
    const FloatOrder<S> order{static_cast<S>(typed_.largest),
                              maximum ? std::numeric_limits<S>::max() : std::numeric_limits<S>::min(),
                              static_cast<S>(Info(typed_.type).format->nan_bits)};
    for (int64_t i = 0; i < n; ++i, to += to_stride * bytes_, from += from_stride * bytes_) {
      S a, b;
      std::memcpy(&a, to, sizeof(S));
      std::memcpy(&b, from, sizeof(S));
      const S x = order.Key(a), y = order.Key(b);
      const S pattern = order.Pattern((maximum ? x > y : x < y) ? x : y);
      std::memcpy(to, &pattern, sizeof(S));
    }
  }

  const TypedFold typed_;
  const int64_t bytes_;
};

class ScatterFold final : public Kernel {
 public:
  explicit ScatterFold(const TypedFold& typed) : typed_(typed), fold_(typed) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    return RunScatter(context, MakeScatterGeometry(context.attributes(), operands), operands,
                      [&](const ScatterGeometry& g, ScalarFunction&, std::span<const Literal> updates,
                          std::span<Literal> results) -> absl::Status {
                        const int64_t bytes = Bytes(typed_.type);
                        const WindowRuns runs = RunsOf(g);
                        const std::byte* const from = updates[0].data();
                        std::byte* const to = results[0].MutableBytes().data();
                        return ForEachWindowStrip(
                            context, g,
                            [&](int64_t n, const int64_t* starts, int64_t at, int64_t step) -> absl::Status {
                              for (int64_t i = 0; i < n; ++i, at += step) {
                                if (starts[i] < 0) continue;
                                for (const WindowRuns::Start& start : runs.starts) {
                                  fold_(runs.length, to + (starts[i] + start.to) * bytes, runs.to_stride,
                                        from + (at + start.from) * bytes, runs.from_stride);
                                }
                              }
                              return absl::OkStatus();
                            });
                      });
  }

 private:
  const TypedFold typed_;
  const RunFold fold_;
};

// The combiner gives back one of its parameters: the operand's element, and windows are dropped; or the
// update, and windows are moved over, so that the last one wins.
class ScatterMove final : public Kernel {
 public:
  explicit ScatterMove(bool keeps_operand) : keeps_operand_(keeps_operand) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const ScatterGeometry geometry = MakeScatterGeometry(context.attributes(), operands);
    if (!keeps_operand_ && !CanGoByWindows(geometry)) return Fallback(kNotByWindows);
    return RunScatter(context, geometry, operands,
                      [&](const ScatterGeometry& g, ScalarFunction&, std::span<const Literal> updates,
                          std::span<Literal> results) {
                        if (keeps_operand_) return absl::OkStatus();
                        return MoveWindows(context, g, updates[0], results[0]);
                      });
  }

 private:
  static absl::Status MoveWindows(EvalContext& context, const ScatterGeometry& g, const Literal& update,
                                  Literal& result) {
    const int bytes = Bytes(result.shape().element_type());
    const StridedMove move(bytes, g.window, g.window_from, g.window_to);
    std::byte* const out = result.MutableBytes().data();
    return ForEachWindowStrip(
        context, g, [&](int64_t n, const int64_t* to, int64_t from, int64_t from_step) -> absl::Status {
          for (int64_t i = 0; i < n; ++i, from += from_step) {
            if (to[i] >= 0) move.Run(update.data() + from * bytes, out + to[i] * bytes);
          }
          return absl::OkStatus();
        });
  }

  const bool keeps_operand_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareScatter(const StepView& step, Isa isa) {
  if (step.instruction.operands.size() != 3) return PrepareCodeScatter(step, isa);
  const ComputationId combiner = *step.instruction.attributes.Computation(Attr::kToApply);
  const ScatterKernels kernels{IndexKernelsOf(isa), FixedKernelsOf(isa), SumKernelsOf(isa)};
  if (IsExactSum(step.module, combiner)) return std::make_shared<ScatterSum>(kernels);
  if (IsFloatProduct(step)) {
    ASSAY_RETURN_IF_ERROR(CheckByWindows(step));
    return MakeScatterProduct(isa);
  }
  const Computation& computation = step.module.computation(combiner);
  if (computation.root_instruction().opcode == Opcode::kParameter) {
    const bool keeps_operand = computation.root_instruction().parameter_number == 0;
    if (!keeps_operand) ASSAY_RETURN_IF_ERROR(CheckByWindows(step));
    return std::make_shared<ScatterMove>(keeps_operand);
  }
  if (!IsAssociative(step.module, combiner)) return PrepareCodeScatter(step, isa);
  const ElementType type = step.operand_shape(0).element_type();
  if (step.operand_shape(2).element_type() != type || step.result_shape().element_type() != type)
    return NotSupported({}, "operand, updates and result of more than one type");
  const TypedFold fold = TypedFoldOf(FoldKernelsOf(isa), KeyOpOf(step.module, combiner, type), type);
  if (fold.combine == nullptr || !fold.stays_in_type)
    return NotSupported({}, fmt::format("folds of {}", Name(type)));
  return std::make_shared<ScatterFold>(fold);
}

}  // namespace assay::native
