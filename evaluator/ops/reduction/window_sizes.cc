#include "evaluator/ops/reduction/window_sizes.h"

#include "base/counted.h"
#include "fmt/format.h"

namespace assay {

absl::StatusOr<DimVector> WindowOutputSizes(const InferContext& context, std::string_view op, int only,
                                            std::span<const int64_t> sizes, const Window& window) {
  const auto invalid = [&](int c, std::string_view message) {
    return InvalidProgram(context.instruction.position,
                          fmt::format("{}-C{}: {}", op, only > 0 ? only : c, message));
  };
  if (window.size() != sizes.size()) {
    return invalid(
        2, fmt::format("the window has {}, wanted {}", Counted(window.size(), "dimension"), sizes.size()));
  }
  DimVector result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const WindowDimension& w = window[d];
    if (w.size < 1) return invalid(3, fmt::format("window size {} is {}, wanted at least 1", d, w.size));
    if (w.stride < 1)
      return invalid(4, fmt::format("window stride {} is {}, wanted at least 1", d, w.stride));
    if (w.base_dilation < 1 || w.window_dilation < 1) {
      return invalid(
          5, fmt::format("dilations of dimension {} are {} (base) and {} (window), wanted at least 1", d,
                         w.base_dilation, w.window_dilation));
    }
    const std::optional<int64_t> size = WindowOutputSize(sizes[d], w);
    if (!size) {
      return invalid(
          7, fmt::format("dimension {} of size {} with padding {}_{} has a padded size that is negative or "
                         "too large",
                         d, sizes[d], w.padding_low, w.padding_high));
    }
    result.push_back(*size);
  }
  return result;
}

absl::StatusOr<DimVector> RuntimeOutputSizes(const Instruction& instruction, std::span<const int64_t> sizes,
                                             const Window& window) {
  DimVector result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const std::optional<int64_t> size = WindowOutputSize(sizes[d], window[d]);
    if (!size) {
      return EvalError(
          instruction.position,
          fmt::format("DYN-7: {}: dimension {} of run-time size {} with padding {}_{} has a negative "
                      "padded size",
                      Name(instruction.opcode), d, sizes[d], window[d].padding_low, window[d].padding_high));
    }
    result.push_back(*size);
  }
  return result;
}

}  // namespace assay
