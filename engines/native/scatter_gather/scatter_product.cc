#include "engines/native/scatter_gather/scatter_product.h"

#include <limits>

#include "engines/native/scatter_gather/index_kernels.h"
#include "engines/native/scatter_gather/index_vector_walk.h"
#include "engines/native/scatter_gather/scatter_windows.h"
#include "evaluator/registry.h"

namespace assay::native {
namespace {

constexpr int64_t kProductElementsOfRound = 1 << 22;  // between two charges

// A NaN is the canonical one.
template <class T>
T Product(T a, T b) {
  const T product = a * b;
  return product == product ? product : std::numeric_limits<T>::quiet_NaN();
}

template <class T>
void MultiplyStrip(const IndexVectorWalk::Strip& strip, const int64_t* starts, const WindowRuns& runs, T* to,
                   const T* from) {
  from += strip.a;
  if (runs.length == 1 && runs.starts.size() == 1) {
    to += runs.starts[0].to, from += runs.starts[0].from;
    for (int64_t i = 0; i < strip.n; ++i, from += strip.a_step) {
      if (starts[i] >= 0) to[starts[i]] = Product(to[starts[i]], *from);
    }
    return;
  }
  for (int64_t i = 0; i < strip.n; ++i, from += strip.a_step) {
    if (starts[i] < 0) continue;
    for (const WindowRuns::Start& start : runs.starts) {
      T* const elements = to + starts[i] + start.to;
      const T* const updates = from + start.from;
      for (int64_t j = 0; j < runs.length; ++j)
        elements[j * runs.to_stride] = Product(elements[j * runs.to_stride], updates[j * runs.from_stride]);
    }
  }
}

class ScatterProduct final : public Kernel {
 public:
  explicit ScatterProduct(const IndexKernels& kernels) : kernels_(kernels) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const ScatterGeometry geometry = MakeScatterGeometry(context.attributes(), operands);
    if (!CanGoByWindows(geometry)) return Fallback(kNotByWindows);
    return RunScatter(context, geometry, operands,
                      [&](const ScatterGeometry& g, ScalarFunction&, std::span<const Literal> updates,
                          std::span<Literal> results) {
                        if (results[0].shape().element_type() == ElementType::kF32)
                          return Multiply<float>(context, g, updates[0], results[0]);
                        return Multiply<double>(context, g, updates[0], results[0]);
                      });
  }

 private:
  template <class T>
  absl::Status Multiply(EvalContext& context, const ScatterGeometry& g, const Literal& updates,
                        Literal& result) const {
    const WindowRuns runs = RunsOf(g);
    const int64_t window = runs.length * static_cast<int64_t>(runs.starts.size());
    T* const to = reinterpret_cast<T*>(result.MutableBytes().data());
    const T* const from = reinterpret_cast<const T*>(updates.data());
    const IndexVectorWalk walk(kernels_, *g.indices, g.index_vector_dim, g.updates, g.batch);
    const int64_t most = kProductElementsOfRound / (window + 1) + 1;
    for (int64_t done = 0; done < walk.count(); done += most) {
      const int64_t end = std::min(done + most, walk.count());
      walk.Run(done, end, [&](const IndexVectorWalk::Strip& strip) {
        alignas(64) int64_t starts[kStrip];
        kernels_.fill(strip.n, strip.b, strip.b_step, starts);
        for (size_t k = 0; k < g.limits.size(); ++k)
          kernels_.inside(strip.n, strip.components + static_cast<int64_t>(k) * kStrip, g.limits[k],
                          g.strides[k], starts);
        MultiplyStrip(strip, starts, runs, to, from);
      });
      ASSAY_RETURN_IF_ERROR(context.Charge((end - done) * window));
    }
    return absl::OkStatus();
  }

  const IndexKernels& kernels_;
};

}  // namespace

bool IsFloatProduct(const StepView& step) {
  const ElementType type =
      step.result_shape().IsArray() ? step.result_shape().element_type() : ElementType::kPred;
  if (type != ElementType::kF32 && type != ElementType::kF64) return false;
  if (step.operand_shape(0).element_type() != type || step.operand_shape(2).element_type() != type)
    return false;
  const Computation& combiner =
      step.module.computation(*step.instruction.attributes.Computation(Attr::kToApply));
  const Instruction& root = combiner.root_instruction();
  if (combiner.parameters.size() != 2 || root.opcode != Opcode::kMultiply) return false;
  const int32_t a = root.operands[0], b = root.operands[1];
  for (int32_t parameter : combiner.parameters) {
    if (combiner.instructions[parameter].shape->element_type() != type) return false;
  }
  return (a == combiner.parameters[0] && b == combiner.parameters[1]) ||
         (a == combiner.parameters[1] && b == combiner.parameters[0]);
}

std::shared_ptr<const Kernel> MakeScatterProduct(Isa isa) {
  return std::make_shared<ScatterProduct>(IndexKernelsOf(isa));
}

}  // namespace assay::native
