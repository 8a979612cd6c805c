#include "gpu/reduce_window_step.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"
#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/window_arguments.h"
#include "gpu/reducer.h"
#include "gpu/resident.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// Each window by itself looks at all of its positions: larger ones are the CPU's,
// whose windows share their work.
constexpr int64_t kMaxEntries = 1 << 12;
constexpr int64_t kMaxWindowResults = (int64_t{1} << 32) - 1;
constexpr int64_t kMaxPosition = int64_t{1} << 62;

bool IsTrivial(const WindowDimensionArguments& d) {
  return d.window == 1 && d.step == 1 && d.base_dilation == 1 && d.low == 0 && d.places == d.size;
}

// Where every window has the elements of a line up to its place (low is size - 1), or from it on:
// the line's dimension.
std::optional<int32_t> PrefixDimension(const WindowReduceArguments& a) {
  std::optional<int32_t> along;
  for (int32_t d = 0; d < a.rank; ++d) {
    const WindowDimensionArguments& dimension = a.dimensions[d];
    if (IsTrivial(dimension)) continue;
    const bool is_line = dimension.window == dimension.size && dimension.places == dimension.size &&
                         dimension.step == 1 && dimension.dilation == 1 && dimension.base_dilation == 1 &&
                         (dimension.low == 0 || dimension.low == dimension.size - 1);
    if (along || !is_line) return std::nullopt;
    along = d;
  }
  return along;
}

absl::StatusOr<WindowReduceArguments> WindowGeometryOf(const StepView& step) {
  const Shape &operand = step.operand_shape(0), &result = step.result_shape();
  const Window& window = step.instruction.attributes.WindowOf();
  if (operand.rank() > kMaxDimensions)
    return NotSupported({}, fmt::format("more than {} dimensions", kMaxDimensions));
  WindowReduceArguments a{.results = result.num_elements(), .entries = 1};
  a.rank = static_cast<int32_t>(operand.rank());
  const DimVector strides = RowMajorStrides(operand.sizes());
  absl::int128 entries = 1;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const auto i = static_cast<size_t>(d);
    const WindowDimension w = i < window.size() ? window[i] : WindowDimension{};
    const absl::int128 furthest =
        absl::int128(result.size(d)) * w.stride + absl::int128(w.size) * w.window_dilation +
        absl::int128(w.padding_low < 0 ? -absl::int128(w.padding_low) : absl::int128(w.padding_low));
    if (furthest > kMaxPosition) return NotSupported({}, "positions beyond 62 bits");
    a.dimensions[i] = {.size = operand.size(d),
                       .stride = strides[i],
                       .places = result.size(d),
                       .window = w.size,
                       .step = w.stride,
                       .dilation = w.window_dilation,
                       .base_dilation = w.base_dilation,
                       .low = w.padding_low};
    entries *= w.size;
    if (entries > kMaxPosition) return NotSupported({}, "a window of more than 2^62 positions");
  }
  a.entries = static_cast<int64_t>(entries);
  return a;
}

class ReduceWindowStep final : public DeviceKernel {
 public:
  ReduceWindowStep(std::shared_ptr<Device> device, const DeviceFunction& function,
                   const DeviceFunction* repair, const WindowReduceArguments& arguments, bool is_prefix)
      : DeviceKernel(std::move(device)),
        function_(function),
        repair_(repair),
        arguments_(arguments),
        is_prefix_(is_prefix) {}

  std::string_view algorithm() const override {
    if (is_prefix_) return repair_ != nullptr ? "exact prefix sums" : "prefixes";
    return repair_ != nullptr ? "exact sums of windows" : "windows in any order";
  }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    WindowReduceArguments a = arguments_;
    a.input = call.operands[0];
    a.init = call.operands[1];
    a.result = call.result;
    std::shared_ptr<DeviceMemory> open;
    if (repair_ != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(open, call.device.Allocate(8 + 4 * a.results));
      a.open_count = open->address();
      a.open = open->address() + 8;
      ASSAY_RETURN_IF_ERROR(call.device.Zero(a.open_count, 8));
    }
    const int64_t blocks = is_prefix_ ? PrefixBlocks(a) : WindowBlocks(a);
    const LaunchShape shape{.blocks = {static_cast<uint32_t>(blocks), 1, 1},
                            .threads = {kReduceThreads, 1, 1},
                            .shared_bytes = is_prefix_ ? kPrefixSharedBytes : 0};
    ASSAY_RETURN_IF_ERROR(call.device.Launch(function_, shape, a));
    if (repair_ == nullptr) return absl::OkStatus();
    const LaunchShape repair{.blocks = {BlocksFor(call.device, a.results * 32, kSumRepairThreads), 1, 1},
                             .threads = {kSumRepairThreads, 1, 1},
                             .shared_bytes = kSumRepairSharedBytes};
    return call.device.Launch(*repair_, repair, a);
  }

  const DeviceFunction& function_;
  const DeviceFunction* const repair_;  // of sums
  const WindowReduceArguments arguments_;
  const bool is_prefix_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduceWindow(const std::shared_ptr<Device>& device,
                                                                  const StepView& step) {
  if (step.instruction.operands.size() != 2 || !step.result_shape().IsArray())
    return NotSupported({}, "several operands");
  const Shape &operand = step.operand_shape(0), &result = step.result_shape();
  for (const Shape* shape : {&operand, &result}) {
    if (shape->HasDynamic() || shape->HasUnbounded()) return NotSupported({}, "dynamic dimensions");
    if (shape->num_elements() == 0) return NotSupported({}, "an array without elements");
  }
  const ElementType type = operand.element_type();
  if (step.operand_shape(1).element_type() != type || result.element_type() != type)
    return NotSupported({}, "operand, init value and result of more than one type");
  ASSAY_ASSIGN_OR_RETURN(
      const DeviceReducer reducer,
      DeviceReducerOf(step.module, *step.instruction.attributes.Computation(Attr::kToApply), type));
  ASSAY_ASSIGN_OR_RETURN(WindowReduceArguments a, WindowGeometryOf(step));
  const std::optional<int32_t> along = PrefixDimension(a);
  if (along) {
    a.along = *along;
    a.reversed = a.dimensions[*along].low == 0 ? 1 : 0;
  } else if (a.entries > kMaxEntries) {
    return NotSupported({}, fmt::format("windows of {}", Counted(a.entries, "position")));
  }
  for (a.group = 1; !along && a.group < 32 && a.group * 8 < a.entries;) a.group *= 2;
  a.folding = reducer.folding;
  a.result_type = reducer.sum.value_or(Float::kF32);
  if (a.results > kMaxWindowResults || (along ? PrefixBlocks(a) : WindowBlocks(a)) > kMaxBlocks)
    return NotSupported({}, fmt::format("{}", Counted(a.results, "result")));
  const std::string suffix =
      reducer.sum ? fmt::format("sum_{}", Name(type)) : fmt::format("fold_{}", Bytes(type));
  ASSAY_ASSIGN_OR_RETURN(
      const DeviceFunction* const function,
      KernelFunction(*device, "window", fmt::format("{}_{}", along ? "prefix" : "window", suffix)));
  const DeviceFunction* repair = nullptr;
  if (reducer.sum) {
    ASSAY_ASSIGN_OR_RETURN(repair,
                           KernelFunction(*device, "window", fmt::format("window_repair_{}", Name(type))));
  }
  return std::make_shared<const ReduceWindowStep>(device, *function, repair, a, along.has_value());
}

}  // namespace assay::gpu
