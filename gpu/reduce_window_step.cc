#include "gpu/reduce_window_step.h"

#include <algorithm>
#include <utility>

#include "absl/numeric/int128.h"
#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/scan_arguments.h"
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

LaunchShape WindowRepairShape(const Device& device, int64_t results) {
  return {.blocks = {BlocksFor(device, results * 32, kSumRepairThreads), 1, 1},
          .threads = {kSumRepairThreads, 1, 1},
          .shared_bytes = kSumRepairSharedBytes};
}

class ReduceWindowStep final : public DeviceKernel {
 public:
  ReduceWindowStep(std::shared_ptr<Device> device, const DeviceFunction& function,
                   const DeviceFunction* repair, const WindowReduceArguments& arguments)
      : DeviceKernel(std::move(device)), function_(function), repair_(repair), arguments_(arguments) {}

  std::string_view algorithm() const override {
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
    const LaunchShape shape{.blocks = {static_cast<uint32_t>(WindowBlocks(a)), 1, 1},
                            .threads = {kReduceThreads, 1, 1}};
    ASSAY_RETURN_IF_ERROR(call.device.Launch(function_, shape, a));
    if (repair_ == nullptr) return absl::OkStatus();
    return call.device.Launch(*repair_, WindowRepairShape(call.device, a.results), a);
  }

  const DeviceFunction& function_;
  const DeviceFunction* const repair_;  // of sums
  const WindowReduceArguments arguments_;
};

// Windows that are all prefixes of lines.
class ScanStep final : public DeviceKernel {
 public:
  // `windows`: the same operation as the repair of sums takes it.
  ScanStep(std::shared_ptr<Device> device, const DeviceFunction& function, const DeviceFunction* repair,
           const WindowReduceArguments& windows, const ScanArguments& arguments, int threads, int64_t bytes)
      : DeviceKernel(std::move(device)),
        function_(function),
        repair_(repair),
        windows_(windows),
        arguments_(arguments),
        threads_(threads),
        bytes_(bytes) {}

  std::string_view algorithm() const override {
    return repair_ != nullptr ? "exact prefix sums" : "prefixes";
  }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    const int64_t results = windows_.results, blocks = results / arguments_.length * arguments_.tiles;
    ScanArguments a = arguments_;
    a.input = call.operands[0];
    a.init = call.operands[1];
    a.result = call.result;
    // The ticket, the count of open results, the states: zeros. Then errors and open results of sums.
    const int64_t zeroed = 16 + blocks * kScanStateBytes, errors = repair_ != nullptr ? 16 * blocks : 0,
                  open = repair_ != nullptr ? 4 * results : 0;
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> memory,
                           call.device.Allocate(zeroed + errors + open));
    ASSAY_RETURN_IF_ERROR(call.device.Zero(memory->address(), zeroed));
    a.ticket = memory->address();
    a.open_count = a.ticket + 8;
    a.states = a.ticket + 16;
    a.errors = a.ticket + static_cast<uint64_t>(zeroed);
    a.open = a.errors + static_cast<uint64_t>(errors);
    const LaunchShape shape{.blocks = {static_cast<uint32_t>(blocks), 1, 1},
                            .threads = {static_cast<uint32_t>(threads_), 1, 1},
                            .shared_bytes = ScanSharedBytes(threads_, bytes_)};
    ASSAY_RETURN_IF_ERROR(call.device.Launch(function_, shape, a));
    if (repair_ == nullptr) return absl::OkStatus();
    WindowReduceArguments windows = windows_;
    windows.input = a.input;
    windows.init = a.init;
    windows.result = a.result;
    windows.open = a.open;
    windows.open_count = a.open_count;
    return call.device.Launch(*repair_, WindowRepairShape(call.device, results), windows);
  }

  const DeviceFunction& function_;
  const DeviceFunction* const repair_;  // of sums
  const WindowReduceArguments windows_;
  const ScanArguments arguments_;
  const int threads_;
  const int64_t bytes_;  // of an element
};

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareScan(const std::shared_ptr<Device>& device,
                                                          const WindowReduceArguments& windows, int32_t along,
                                                          const std::string& suffix,
                                                          const DeviceFunction* repair, int64_t bytes) {
  const WindowDimensionArguments& line = windows.dimensions[along];
  ScanArguments a{.length = line.size,
                  .inner = line.stride,
                  .reversed = line.low == 0 ? 1 : 0,
                  .result_type = windows.result_type,
                  .folding = windows.folding};
  const int64_t lines = windows.results / a.length;
  const auto tiles = [&](int threads) {
    return (a.length + threads * kScanItems - 1) / (threads * kScanItems);
  };
  // Blocks as large as the line or, where there are few tiles, small enough to have work for all
  // multiprocessors.
  constexpr int64_t kBlocksOfMultiprocessor = 4;
  int threads = kScanThreads;
  while (threads > 32 && tiles(threads / 2) == 1) threads /= 2;
  while (threads > 64 &&
         lines * tiles(threads) < kBlocksOfMultiprocessor * device->properties().multiprocessors)
    threads /= 2;
  if (lines * tiles(threads) > kMaxBlocks)
    return NotSupported({}, fmt::format("{} results", windows.results));
  a.tiles = static_cast<uint32_t>(tiles(threads));
  ASSAY_ASSIGN_OR_RETURN(const DeviceFunction* const function,
                         KernelFunction(*device, "scan", "scan_" + suffix));
  return std::make_shared<const ScanStep>(device, *function, repair, windows, a, threads, bytes);
}

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
  if (!along && a.entries > kMaxEntries)
    return NotSupported({}, fmt::format("windows of {}", Counted(a.entries, "position")));
  for (a.group = 1; a.group < 32 && a.group * 8 < a.entries;) a.group *= 2;
  a.folding = reducer.folding;
  a.result_type = reducer.sum.value_or(Float::kF32);
  if (a.results > kMaxWindowResults || (!along && WindowBlocks(a) > kMaxBlocks))
    return NotSupported({}, Counted(a.results, "result"));
  const std::string suffix =
      reducer.sum ? fmt::format("sum_{}", Name(type)) : fmt::format("fold_{}", Bytes(type));
  const DeviceFunction* repair = nullptr;
  if (reducer.sum) {
    ASSAY_ASSIGN_OR_RETURN(repair,
                           KernelFunction(*device, "window", fmt::format("window_repair_{}", Name(type))));
  }
  if (along) return PrepareScan(device, a, *along, suffix, repair, Bytes(type));
  ASSAY_ASSIGN_OR_RETURN(const DeviceFunction* const function,
                         KernelFunction(*device, "window", "window_" + suffix));
  return std::make_shared<const ReduceWindowStep>(device, *function, repair, a);
}

}  // namespace assay::gpu
