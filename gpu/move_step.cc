#include "gpu/move_step.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/registry.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/move_arguments.h"
#include "gpu/resident.h"
#include "gpu/strided.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// Elements of an operand, copied to places in the result. Offsets are in elements.
struct StridedCopy {
  size_t operand = 0;
  int64_t from = 0, to = 0;
  std::vector<Axis> axes;  // strides[0] in the operand, strides[1] in the result
};

using CopyLaunch = std::variant<CopyArguments, TransposeArguments>;
struct PreparedCopy {
  size_t operand = 0;
  int64_t from = 0, to = 0;  // in bytes
  const DeviceFunction* function = nullptr;
  CopyLaunch arguments;
};

// The axes as a transpose of tiles: both sides have a dimension of stride 1, another one each, that is long enough.
std::optional<TransposeArguments> AsTranspose(const std::vector<Axis>& axes) {
  constexpr int64_t kLeast = 16;
  size_t across = axes.size(), down = axes.size();
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].strides[0] == 1) across = d;
    if (axes[d].strides[1] == 1) down = d;
  }
  if (across == axes.size() || down == axes.size() || across == down) return std::nullopt;
  if (axes[across].size < kLeast || axes[down].size < kLeast) return std::nullopt;
  TransposeArguments transpose{};
  transpose.columns = axes[across].size;
  transpose.to_stride = axes[across].strides[1];
  transpose.rows = axes[down].size;
  transpose.from_stride = axes[down].strides[0];
  std::vector<Axis> others;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (d != across && d != down) others.push_back(axes[d]);
  }
  const std::optional<Strides> batch = StridesOf(others, transpose.batch_to_strides);
  if (!batch) return std::nullopt;
  transpose.batch = *batch;
  if (TransposeBlocks(transpose) > kMostBlocks) return std::nullopt;
  return transpose;
}

absl::StatusOr<PreparedCopy> Prepared(Device& device, const StridedCopy& copy, int64_t width) {
  PreparedCopy prepared{.operand = copy.operand, .from = copy.from * width, .to = copy.to * width};
  const std::vector<Axis> axes = Merged(copy.axes);
  if (const std::optional<TransposeArguments> transpose = AsTranspose(axes)) {
    prepared.arguments = *transpose;
    ASSAY_ASSIGN_OR_RETURN(prepared.function,
                           KernelFunction(device, "move", fmt::format("transpose_{}", width)));
    return prepared;
  }
  CopyArguments arguments{};
  const std::optional<Strides> from = StridesOf(axes, arguments.to_strides);
  if (!from) return NotSupported({}, fmt::format("over {} dimensions", kMostDimensions));
  arguments.from_dimensions = *from;
  prepared.arguments = arguments;
  ASSAY_ASSIGN_OR_RETURN(prepared.function, KernelFunction(device, "move", fmt::format("copy_{}", width)));
  return prepared;
}

class MoveStep final : public DeviceKernel {
 public:
  // `fill`: what first writes operand `fill_operand`, of one element, everywhere; null: the copies write every element.
  MoveStep(std::shared_ptr<Device> device, std::vector<PreparedCopy> copies, int64_t width,
           const DeviceFunction* fill, size_t fill_operand)
      : DeviceKernel(std::move(device)),
        copies_(std::move(copies)),
        width_(width),
        fill_(fill),
        fill_operand_(fill_operand) {}

  std::string_view algorithm() const override {
    return copies_.size() == 1 && std::holds_alternative<TransposeArguments>(copies_[0].arguments) ? "tiles"
                                                                                                   : "copies";
  }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    if (fill_ != nullptr) ASSAY_RETURN_IF_ERROR(Fill(call));
    for (const PreparedCopy& copy : copies_) {
      const DeviceAddress from = call.operands[copy.operand] + static_cast<uint64_t>(copy.from);
      const DeviceAddress to = call.result + static_cast<uint64_t>(copy.to);
      ASSAY_RETURN_IF_ERROR(std::visit(
          [&](auto arguments) {
            arguments.from = from;
            arguments.to = to;
            return call.device.Launch(*copy.function, ShapeFor(call.device, arguments), arguments);
          },
          copy.arguments));
    }
    return absl::OkStatus();
  }

  absl::Status Fill(const DeviceCall& call) const {
    const Literal& value = call.values[fill_operand_];
    ASSAY_RETURN_IF_ERROR(value.Fetch());
    FillArguments arguments{.to = call.result};
    std::memcpy(arguments.value, value.data(), static_cast<size_t>(width_));
    const Axis all{call.context.result_shape().num_elements(), {1, 0}};
    arguments.dimensions = *StridesOf({&all, 1});
    const LaunchShape shape{.blocks = {BlocksFor(call.device, all.size, kMoveThreads), 1, 1},
                            .threads = {kMoveThreads, 1, 1}};
    return call.device.Launch(*fill_, shape, arguments);
  }

  static LaunchShape ShapeFor(const Device& device, const CopyArguments& copy) {
    return {.blocks = {BlocksFor(device, SizeOf(copy.from_dimensions), kMoveThreads), 1, 1},
            .threads = {kMoveThreads, 1, 1}};
  }
  LaunchShape ShapeFor(const Device&, const TransposeArguments& transpose) const {
    return {.blocks = {static_cast<uint32_t>(TransposeBlocks(transpose)), 1, 1},
            .threads = {kMoveThreads, 1, 1},
            .shared_bytes = TransposeSharedBytes(static_cast<int>(width_))};
  }

  const std::vector<PreparedCopy> copies_;
  const int64_t width_;
  const DeviceFunction* const fill_;
  const size_t fill_operand_;
};

// What an op does that gives each element of its result one of the operand's.
StridedCopy CopyBySource(const AffineMap& source, const Shape& result) {
  StridedCopy copy{.from = source.base};
  const DimVector strides = RowMajorStrides(result.sizes());
  for (size_t d = 0; d < strides.size(); ++d)
    copy.axes.push_back({result.size(static_cast<int64_t>(d)), {source.strides[d], strides[d]}});
  return copy;
}

std::vector<StridedCopy> CopiesOfConcatenate(const StepView& step) {
  const int64_t along = step.instruction.attributes.List(Attr::kDimensions)[0];
  const DimVector to = RowMajorStrides(step.result_shape().sizes());
  std::vector<StridedCopy> copies;
  int64_t before = 0;
  for (size_t k = 0; k < step.instruction.operands.size(); ++k) {
    const Shape& operand = step.operand_shape(static_cast<int64_t>(k));
    StridedCopy copy{.operand = k, .to = before * to[static_cast<size_t>(along)]};
    const DimVector from = RowMajorStrides(operand.sizes());
    for (size_t d = 0; d < to.size(); ++d)
      copy.axes.push_back({operand.size(static_cast<int64_t>(d)), {from[d], to[d]}});
    before += operand.size(along);
    if (operand.num_elements() > 0) copies.push_back(std::move(copy));
  }
  return copies;
}

// The elements of the operand that stay: element j of dimension d goes to low + j * (interior + 1), where the result has that.
std::vector<StridedCopy> CopyOfPad(const StepView& step) {
  const auto& padding = std::get<PaddingConfig>(*step.instruction.attributes.Find(Attr::kPadding));
  const Shape &operand = step.operand_shape(0), &result = step.result_shape();
  const DimVector from = RowMajorStrides(operand.sizes()), to = RowMajorStrides(result.sizes());
  StridedCopy copy;
  for (size_t d = 0; d < from.size(); ++d) {
    const auto i = static_cast<int64_t>(d);
    const absl::int128 apart = absl::int128(padding[d].interior) + 1, low = padding[d].low;
    const auto up = [&](absl::int128 x) { return x <= 0 ? absl::int128(0) : (x + apart - 1) / apart; };
    const absl::int128 first = up(-low),
                       end = std::min(up(result.size(i) - low), absl::int128(operand.size(i)));
    if (first >= end) return {};
    copy.from += static_cast<int64_t>(first) * from[d];
    copy.to += static_cast<int64_t>(low + first * apart) * to[d];
    // Of one element alone no stride counts, and it may be beyond 64 bits.
    const int64_t stride = end - first == 1 ? 0 : static_cast<int64_t>(apart) * to[d];
    copy.axes.push_back({static_cast<int64_t>(end - first), {from[d], stride}});
  }
  return {copy};
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareMove(const std::shared_ptr<Device>& device,
                                                          const StepView& step) {
  const Opcode opcode = step.instruction.opcode;
  const int64_t width = Bytes(step.result_shape().element_type());
  std::vector<StridedCopy> copies;
  const DeviceFunction* fill = nullptr;
  if (opcode == Opcode::kConcatenate) {
    copies = CopiesOfConcatenate(step);
  } else if (opcode == Opcode::kPad) {
    copies = CopyOfPad(step);
    ASSAY_ASSIGN_OR_RETURN(fill, KernelFunction(*device, "move", fmt::format("fill_{}", width)));
  } else {
    const OpDef& op = DefinitionOf(opcode);
    if (op.source == nullptr || step.instruction.operands.size() != 1)
      return NotSupported({}, fmt::format("{} is not on the device", Name(opcode)));
    const std::optional<AffineMap> source = op.source({step.computation, step.instruction});
    if (!source) return NotSupported({}, "no map of its elements");
    copies.push_back(CopyBySource(*source, step.result_shape()));
  }
  std::vector<PreparedCopy> prepared;
  for (const StridedCopy& copy : copies) {
    ASSAY_ASSIGN_OR_RETURN(PreparedCopy next, Prepared(*device, copy, width));
    prepared.push_back(std::move(next));
  }
  return std::make_shared<const MoveStep>(device, std::move(prepared), width, fill, 1);
}

}  // namespace assay::gpu
