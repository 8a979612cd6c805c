#include "gpu/slice_step.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/ops/indexing/gather.h"
#include "fmt/format.h"
#include "gpu/box.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/move_arguments.h"
#include "gpu/resident.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// Which operand a start is read from, and where in it.
struct StartPlace {
  size_t operand = 0;
  int64_t offset = 0;  // in bytes
};

struct Windows {
  WindowArguments arguments{};
  std::vector<StartPlace> starts;
  size_t from = 0;             // the operand that elements are read from
  bool keeps_operand = false;  // the result is operand 0, with the window written over it
};

void AddDimension(Strides& dimensions, int64_t size, int64_t stride) {
  dimensions.sizes[dimensions.rank] = size;
  dimensions.strides[dimensions.rank] = stride;
  ++dimensions.rank;
}

void SetIndexType(WindowArguments& arguments, ElementType type) {
  arguments.index_bytes = static_cast<int32_t>(Bytes(type));
  arguments.index_is_signed = IsSignedIntegral(type) ? 1 : 0;
}

void AddStart(Windows& windows, const StartPlace& place, int64_t most, int64_t stride) {
  windows.arguments.starts[windows.arguments.components++] = {0, most, stride};
  windows.starts.push_back(place);
}

// One window of `sizes` in an array of `whole` sizes: of dynamic-slice, or of dynamic-update-slice. Starts
// are operands from `first` on, scalars, or the elements of that one operand.
Windows OneWindow(std::span<const int64_t> whole, std::span<const int64_t> sizes, const Shape& start,
                  size_t first, bool place_in_result) {
  Windows windows;
  WindowArguments& a = windows.arguments;
  const DimVector in_whole = RowMajorStrides(whole), in_window = RowMajorStrides(sizes);
  for (size_t d = 0; d < whole.size(); ++d) {
    AddDimension(a.window, sizes[d], place_in_result ? in_window[d] : in_whole[d]);
    a.window_to_strides[d] = place_in_result ? in_whole[d] : in_window[d];
    const StartPlace place = start.rank() == 0
                                 ? StartPlace{first + d, 0}
                                 : StartPlace{first, static_cast<int64_t>(d) * Bytes(start.element_type())};
    AddStart(windows, place, whole[d] - sizes[d], in_whole[d]);
  }
  SetIndexType(a, start.element_type());
  a.place_in_result = place_in_result ? 1 : 0;
  windows.from = place_in_result ? 1 : 0;
  windows.keeps_operand = place_in_result;
  return windows;
}

Windows WindowsOfGather(const StepView& step) {
  const GatherNumbers numbers(step.instruction.attributes);
  const Shape &operand = step.operand_shape(0), &indices = step.operand_shape(1),
              &result = step.result_shape();
  const DimVector in_operand = RowMajorStrides(operand.sizes()),
                  in_indices = RowMajorStrides(indices.sizes()), in_result = RowMajorStrides(result.sizes());
  const DimVector offset_dims = numbers.OffsetOperandDims(operand.rank());
  Windows windows;
  WindowArguments& a = windows.arguments;
  size_t next_offset = 0;
  int64_t next_index = 0;  // the next dimension of the indices but for index_vector_dim
  for (int64_t d = 0; d < result.rank(); ++d) {
    const int64_t to = in_result[static_cast<size_t>(d)];
    if (std::find(numbers.offset_dims.begin(), numbers.offset_dims.end(), d) != numbers.offset_dims.end()) {
      a.window_to_strides[a.window.rank] = to;
      AddDimension(a.window, result.size(d), in_operand[static_cast<size_t>(offset_dims[next_offset++])]);
      continue;
    }
    if (next_index == numbers.index_vector_dim) ++next_index;
    int64_t from = 0;
    for (size_t k = 0; k < numbers.start_indices_batching_dims.size(); ++k) {
      if (numbers.start_indices_batching_dims[k] == next_index)
        from = in_operand[static_cast<size_t>(numbers.operand_batching_dims[k])];
    }
    a.batch_to_strides[a.batch.rank] = to;
    a.batch_index_strides[a.batch.rank] = in_indices[static_cast<size_t>(next_index++)];
    AddDimension(a.batch, result.size(d), from);
  }
  const bool is_scalar = numbers.index_vector_dim == indices.rank();
  const int64_t apart =
      is_scalar ? 0
                : in_indices[static_cast<size_t>(numbers.index_vector_dim)] * Bytes(indices.element_type());
  for (size_t k = 0; k < numbers.start_index_map.size(); ++k) {
    const auto d = static_cast<size_t>(numbers.start_index_map[k]);
    const int64_t most = operand.size(numbers.start_index_map[k]) - numbers.slice_sizes[d];
    AddStart(windows, {1, apart * static_cast<int64_t>(k)}, most, in_operand[d]);
  }
  SetIndexType(a, indices.element_type());
  return windows;
}

// The same windows by one multiplication a division and with joined elements, where they are that few.
std::optional<BoxPlan> PickPlanOf(const WindowArguments& a, int64_t bytes) {
  std::vector<BoxAxis> axes;
  axes.reserve(static_cast<size_t>(a.batch.rank + a.window.rank));
  for (int32_t d = 0; d < a.batch.rank; ++d)
    axes.push_back({a.batch.sizes[d], a.batch.strides[d], a.batch_to_strides[d], a.batch_index_strides[d]});
  for (int32_t d = 0; d < a.window.rank; ++d)
    axes.push_back({a.window.sizes[d], a.window.strides[d], a.window_to_strides[d]});
  // A component that has one place alone is 0.
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(a.components));
  for (int32_t c = 0; c < a.components; ++c)
    offsets.push_back(a.starts[c].most == 0 ? 0 : a.starts[c].stride);
  return BoxPlanOf(axes, bytes, offsets);
}

class WindowStep final : public DeviceKernel {
 public:
  // `pick`: the kernel is pick_N, else window_N.
  WindowStep(std::shared_ptr<Device> device, const DeviceFunction& function, Windows windows,
             const std::optional<BoxPlan>& pick)
      : DeviceKernel(std::move(device)), function_(function), windows_(std::move(windows)), pick_(pick) {}

  std::string_view algorithm() const override { return "windows"; }

 private:
  std::span<const size_t> overwrites() const override {
    static constexpr size_t kOperand[] = {0};
    return windows_.keeps_operand ? std::span<const size_t>(kOperand) : std::span<const size_t>();
  }
  absl::Status Enqueue(const DeviceCall& call) const override {
    if (windows_.keeps_operand && !call.in_place)
      ASSAY_RETURN_IF_ERROR(
          call.device.CopyWithin(call.result, call.operands[0], call.context.result_shape().num_bytes()));
    WindowArguments arguments = windows_.arguments;
    const int64_t elements = SizeOf(arguments.batch) * SizeOf(arguments.window);
    if (elements == 0) return absl::OkStatus();
    arguments.from = call.operands[windows_.from];
    arguments.to = call.result;
    for (size_t c = 0; c < windows_.starts.size(); ++c) {
      const StartPlace& place = windows_.starts[c];
      arguments.starts[c].address = call.operands[place.operand] + static_cast<uint64_t>(place.offset);
    }
    if (pick_) return EnqueuePick(call, arguments);
    const LaunchShape shape{.blocks = {BlocksFor(call.device, elements, kMoveThreads), 1, 1},
                            .threads = {kMoveThreads, 1, 1}};
    return call.device.Launch(function_, shape, arguments);
  }

  absl::Status EnqueuePick(const DeviceCall& call, const WindowArguments& windows) const {
    PickArguments a{.box = pick_->arguments,
                    .index_bytes = windows.index_bytes,
                    .index_is_signed = windows.index_is_signed,
                    .place_in_result = windows.place_in_result};
    a.box.from = windows.from;
    a.box.to = windows.to;
    for (int32_t c = 0; c < windows.components; ++c) {
      if (windows.starts[c].most == 0) continue;
      a.starts[a.components] = windows.starts[c];
      a.starts[a.components++].stride /= pick_->joined;
    }
    return call.device.Launch(function_, pick_->launch(), a);
  }

  const DeviceFunction& function_;
  const Windows windows_;
  const std::optional<BoxPlan> pick_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareIndexedSlice(const std::shared_ptr<Device>& device,
                                                                  const StepView& step) {
  const Opcode opcode = step.instruction.opcode;
  const Shape &operand = step.operand_shape(0), &result = step.result_shape();
  const bool is_gather = opcode == Opcode::kGather, is_update = opcode == Opcode::kDynamicUpdateSlice;
  for (const int64_t rank : {operand.rank(), result.rank()}) {
    if (rank > kMaxDimensions)
      return NotSupported({}, fmt::format("more than {} dimensions", kMaxDimensions));
  }
  // Elements of empty slices are zero.
  if (operand.num_elements() == 0) return NotSupported({}, "an operand without elements");
  const size_t first_start = is_update ? 2 : 1;
  if (!is_gather && step.instruction.operands.size() == first_start) return NotSupported({}, "a scalar");
  const Shape& start = step.operand_shape(static_cast<int64_t>(is_gather ? 1 : first_start));
  const ElementType index_type = start.element_type();
  if (Info(index_type).bits < 8) return NotSupported({}, fmt::format("indices of {}", Name(index_type)));
  Windows windows = is_gather   ? WindowsOfGather(step)
                    : is_update ? OneWindow(operand.sizes(), step.operand_shape(1).sizes(), start, 2, true)
                                : OneWindow(operand.sizes(), result.sizes(), start, 1, false);
  const int64_t bytes = Bytes(result.element_type());
  const std::optional<BoxPlan> pick = PickPlanOf(windows.arguments, bytes);
  ASSAY_ASSIGN_OR_RETURN(
      const DeviceFunction* const function,
      KernelFunction(*device, "move",
                     pick ? fmt::format("pick_{}", pick->bytes) : fmt::format("window_{}", bytes)));
  return std::make_shared<const WindowStep>(device, *function, std::move(windows), pick);
}

}  // namespace assay::gpu
