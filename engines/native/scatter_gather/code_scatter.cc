#include "engines/native/scatter_gather/code_scatter.h"

#include <vector>

#include "engines/codegen/scalar_code.h"
#include "engines/native/reduce/code_fold.h"
#include "engines/native/scatter_gather/scatter_windows.h"
#include "evaluator/eval_context.h"

namespace assay::native {
namespace {

using codegen::ScalarCode;

class CodeScatter final : public Kernel {
 public:
  explicit CodeScatter(std::shared_ptr<const ScalarCode> code) : code_(std::move(code)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const ScatterGeometry geometry = MakeScatterGeometry(context.attributes(), operands);
    if (!CanGoByWindows(geometry)) return Fallback(kNotByWindows);
    return RunScatter(context, geometry, operands,
                      [&](const ScatterGeometry& g, ScalarFunction&, std::span<const Literal> updates,
                          std::span<Literal> results) { return Apply(context, g, updates, results); });
  }

 private:
  absl::Status Apply(EvalContext& context, const ScatterGeometry& g, std::span<const Literal> updates,
                     std::span<Literal> results) const {
    const WindowRuns runs = RunsOf(g);
    const size_t n = results.size();
    ScalarCode::Frame frame(*code_, /*vectors=*/false);
    std::vector<std::byte*> to;
    std::vector<int64_t> bytes;
    for (size_t k = 0; k < n; ++k) {
      to.push_back(results[k].MutableBytes().data());
      bytes.push_back(Bytes(results[k].shape().element_type()));
      frame.SetInputStride(k, runs.to_stride * bytes[k]);
      frame.SetOutputStride(k, runs.to_stride * bytes[k]);
      frame.SetInputStride(n + k, runs.from_stride * bytes[k]);
    }
    return ForEachWindowStrip(
        context, g, [&](int64_t count, const int64_t* starts, int64_t at, int64_t step) -> absl::Status {
          for (int64_t i = 0; i < count; ++i, at += step) {
            if (starts[i] < 0) continue;
            for (const WindowRuns::Start& start : runs.starts) {
              for (size_t k = 0; k < n; ++k) {
                std::byte* const element = to[k] + (starts[i] + start.to) * bytes[k];
                frame.SetInput(k, element);
                frame.SetOutput(k, element);
                frame.SetInput(n + k, updates[k].data() + (at + start.from) * bytes[k]);
              }
              frame.Run(runs.length);
            }
          }
          return absl::OkStatus();
        });
  }

  const std::shared_ptr<const ScalarCode> code_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareCodeScatter(const StepView& step, Isa isa) {
  ASSAY_RETURN_IF_ERROR(CheckByWindows(step));
  const auto n = static_cast<int64_t>(step.instruction.operands.size()) / 2;
  ASSAY_ASSIGN_OR_RETURN(
      std::shared_ptr<const ScalarCode> code,
      CodeFor(step, isa, n, 0, n + 1, step.operand_shape(n + 1).num_elements(), /*vectors=*/false));
  return std::make_shared<CodeScatter>(std::move(code));
}

}  // namespace assay::native
