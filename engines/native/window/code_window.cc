#include "engines/native/window/code_window.h"

#include <algorithm>

#include "engines/codegen/scalar_code.h"
#include "engines/codegen/tiered_code.h"
#include "engines/native/reduce/code_fold.h"
#include "engines/native/reduce/reducer_operands.h"
#include "engines/native/walk/loops.h"
#include "engines/native/window/window_fold.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/reduction/reducer.h"
#include "evaluator/registry.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay::native {
namespace {

using codegen::ScalarCode;

constexpr int64_t kWorthCode =
    1 << 10;  // applications, in all runs, that take the reference as long as making code
constexpr int64_t kLongWindow = 64;  // cumulative ones as long are worth their own way

class CodeWindow final : public Kernel {
 public:
  explicit CodeWindow(std::shared_ptr<const ScalarCode> code) : code_(std::move(code)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const size_t n = operands.size() / 2;
    const bool tuple = context.result_shape().IsTuple();
    const Shape& shape = tuple ? context.result_shape().element(0) : context.result_shape();
    for (const Literal& operand : operands.first(n)) {
      if (!operand.IsFullSize()) return Fallback("run-time sizes");
    }
    const auto grid = WindowGrid::Of(context.attributes().WindowOf(), operands[0].runtime_sizes(),
                                     DimVector(shape.sizes().begin(), shape.sizes().end()));
    if (!grid) return Fallback("windows mostly in padding, or too large");
    ASSAY_ASSIGN_OR_RETURN(
        const std::vector<Literal> converted,
        ConvertForFold(context, operands, *context.attributes().Computation(Attr::kToApply)));
    std::vector<Literal> results;
    std::vector<WindowOperand> folded;
    for (size_t k = 0; k < n; ++k) {
      ASSAY_ASSIGN_OR_RETURN(Literal result,
                             tuple ? context.NewResultElement(static_cast<int64_t>(k)) : context.NewResult());
      results.push_back(std::move(result));
      folded.push_back({converted[k].data(), converted[n + k].data(), results[k].MutableBytes().data(),
                        Bytes(converted[k].shape().element_type()),
                        Bytes(converted[n + k].shape().element_type())});
    }
    ASSAY_RETURN_IF_ERROR(ForEachTile(context, *grid, grid->work(), [&](int64_t begin, int64_t end) {
      TileFolder folder(*code_, folded);
      for (int64_t tile = begin; tile < end; ++tile) folder.Run(*grid, tile);
    }));
    if (!tuple) return std::move(results[0]);
    return Literal::Tuple(context.shared_result_shape(), std::move(results));
  }

 private:
  const std::shared_ptr<const ScalarCode> code_;
};

// Handles few applications, and gets code when it has run often.
class LateWindow final : public Kernel {
 public:
  LateWindow(const Module& module, ComputationId reducer, Isa isa, int64_t applications)
      : applications_(applications),
        code_(kWorthCode, [&module, reducer, isa]() -> absl::StatusOr<CodeWindow> {
          ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const ScalarCode> code,
                                 ScalarCode::Make(module, reducer, isa, /*vectors=*/true));
          return CodeWindow(std::move(code));
        }) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    if (const CodeWindow* const code = code_.Get()) return code->Run(context, operands);
    code_.Count(applications_);
    return Fallback("too few applications so far to generate code");
  }

 private:
  const int64_t applications_;
  const codegen::TieredCode<CodeWindow> code_;  // its work: applications, of all runs
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeWindow(const StepView& step, Isa isa) {
  const Shape& shape = step.result_shape().IsTuple() ? step.result_shape().element(0) : step.result_shape();
  if (HasDynamicDimension(step.result_shape())) return NotSupported({}, "a dynamic dimension");
  if (shape.rank() == 0) return NotSupported({}, "a scalar");
  if (shape.num_elements() == 0 || step.operand_shape(0).num_elements() == 0)
    return NotSupported({}, "no elements");
  int64_t applications = std::min(shape.num_elements(), kWorthCode), longest = 1;
  for (const WindowDimension& d : step.instruction.attributes.WindowOf()) {
    applications = std::min(applications * std::min(d.size, kWorthCode), kWorthCode);
    longest = std::max(longest, d.size);
  }
  const ComputationId reducer = *step.instruction.attributes.Computation(Attr::kToApply);
  if (applications < kWorthCode) {
    ASSAY_RETURN_IF_ERROR(ScalarCode::Check(step.module, reducer, isa));
    return std::make_shared<LateWindow>(step.module, reducer, isa, applications);
  }
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const ScalarCode> code,
                         ScalarCode::Make(step.module, reducer, isa, /*vectors=*/true));
  auto windows = std::make_shared<CodeWindow>(code);
  if (longest < kLongWindow || step.instruction.operands.size() != 2) return windows;
  const Computation& computation = step.module.computation(reducer);
  for (int32_t parameter : computation.parameters) {
    const ElementType type = computation.instructions[static_cast<size_t>(parameter)].shape->element_type();
    if (step.operand_shape(0).element_type() != type || step.operand_shape(1).element_type() != type)
      return windows;
  }
  return MakeCumulativeWindow(std::move(code), std::move(windows));
}

}  // namespace assay::native
