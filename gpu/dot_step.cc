#include "gpu/dot_step.h"

#include <array>
#include <utility>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/ops/dot_dims.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/dot_i8_arguments.h"
#include "gpu/kernels/widen_arguments.h"
#include "gpu/resident.h"
#include "gpu/strided.h"
#include "literal/element_io.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// Dimensions of an operand by role, and those of the result that they are: the result has the batch first, then the free
// dimensions of both sides.
struct Side {
  std::vector<Axis> batch, rows, depth;
};

Side SideOf(const Shape& operand, const DotSide& dims, std::span<const int64_t> result_strides,
            size_t first_row) {
  Side side{AxesOf(operand.sizes(), dims.batch), AxesOf(operand.sizes(), dims.free),
            AxesOf(operand.sizes(), dims.contracting)};
  for (size_t d = 0; d < side.batch.size(); ++d) side.batch[d].strides[1] = result_strides[d];
  for (size_t d = 0; d < side.rows.size(); ++d) side.rows[d].strides[1] = result_strides[first_row + d];
  return side;
}

// Where the elements of an operand of a kernel lie: DotOperand or ByteOperand. False: over too many dimensions.
template <typename Operand>
bool Fill(const Side& side, Operand& operand, int64_t* batch_strides, int64_t* row_strides) {
  const std::optional<Strides> batch = StridesOf(side.batch, batch_strides);
  const std::optional<Strides> rows = StridesOf(side.rows, row_strides);
  const std::optional<Strides> depth = StridesOf(side.depth);
  if (!batch || !rows || !depth) return false;
  operand.batch = *batch;
  operand.rows = *rows;
  operand.depth = *depth;
  return true;
}

// Arguments of either kernel but for addresses and the type of the result.
template <typename Arguments>
absl::StatusOr<Arguments> ArgumentsOf(const StepView& step) {
  const Shape &lhs = step.operand_shape(0), &rhs = step.operand_shape(1);
  const DotDims dims = DotDimsOf(step.instruction.attributes, lhs.rank(), rhs.rank());
  const DimVector result = RowMajorStrides(step.result_shape().sizes());
  const size_t batch = dims.lhs.batch.size();
  Arguments arguments{};
  int64_t again[kMostDimensions];
  if (!Fill(SideOf(lhs, dims.lhs, result, batch), arguments.lhs, arguments.batch_strides,
            arguments.row_strides) ||
      !Fill(SideOf(rhs, dims.rhs, result, batch + dims.lhs.free.size()), arguments.rhs, again,
            arguments.column_strides))
    return NotSupported({}, fmt::format("over {} dimensions", kMostDimensions));
  return arguments;
}

// An operand of narrow floats as f32, which has all of their values.
struct Widening {
  const DeviceFunction* function = nullptr;  // null: the operand is multiplied as it is
  int64_t count = 0;
  std::shared_ptr<DeviceMemory> table;  // of the 256 values of a type of 8 bits
};

absl::StatusOr<Widening> WideningOf(Device& device, const Shape& operand) {
  const ElementType type = operand.element_type();
  Widening widening{.count = operand.num_elements()};
  if (type == ElementType::kF32) return widening;
  const bool is_half = type == ElementType::kBF16 || type == ElementType::kF16;
  if (!is_half && !(IsFloat(type) && Info(type).bits == 8))
    return NotSupported({}, fmt::format("dots of {}", Name(type)));
  ASSAY_ASSIGN_OR_RETURN(
      widening.function,
      KernelFunction(device, "widen", is_half ? fmt::format("widen_{}", Name(type)) : "widen_8"));
  if (is_half) return widening;
  std::array<float, 256> values;
  for (size_t bits = 0; bits < values.size(); ++bits) {
    const auto byte = static_cast<std::byte>(bits);
    values[bits] = static_cast<float>(LoadElement(type, &byte).r);
  }
  ASSAY_ASSIGN_OR_RETURN(widening.table, device.Allocate(sizeof(values)));
  ASSAY_RETURN_IF_ERROR(device.CopyIn(widening.table->address(), std::as_bytes(std::span(values))));
  return widening;
}

class DotStep final : public DeviceKernel {
 public:
  struct Functions {
    const DeviceFunction *scales, *dot, *repair;
  };
  DotStep(std::shared_ptr<Device> device, const Functions& functions, const DotTile& tile,
          const DotArguments& arguments, bool is_double, std::array<Widening, 2> widenings)
      : DeviceKernel(std::move(device)),
        functions_(functions),
        tile_(tile),
        arguments_(arguments),
        is_double_(is_double),
        widenings_(std::move(widenings)) {}

  std::string_view algorithm() const override { return is_double_ ? "pairs of doubles" : "f64 tensor cores"; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    Device& device = call.device;
    DotArguments dot = arguments_;
    const int64_t batch = SizeOf(dot.lhs.batch), rows = SizeOf(dot.lhs.rows), columns = SizeOf(dot.rhs.rows);
    const int64_t results = batch * rows * columns;
    const int64_t scales = batch * (rows + columns) * static_cast<int64_t>(sizeof(RowScale));
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> memory,
                           device.Allocate(scales + 8 + 4 * results));
    std::shared_ptr<DeviceMemory> lhs, rhs;
    ASSAY_ASSIGN_OR_RETURN(dot.lhs.address, Widened(call, 0, lhs));
    ASSAY_ASSIGN_OR_RETURN(dot.rhs.address, Widened(call, 1, rhs));
    dot.lhs.scales = memory->address();
    dot.rhs.scales = memory->address() + static_cast<uint64_t>(batch * rows) * sizeof(RowScale);
    dot.open_count = memory->address() + static_cast<uint64_t>(scales);
    dot.open = dot.open_count + 8;
    dot.result = call.result;
    ASSAY_RETURN_IF_ERROR(device.Zero(dot.open_count, 8));
    for (const DotOperand& operand : {dot.lhs, dot.rhs}) {
      const LaunchShape shape{.blocks = {static_cast<uint32_t>(ScaleBlocks(operand)), 1, 1},
                              .threads = {kScaleThreads, 1, 1},
                              .shared_bytes = kScaleSharedBytes};
      ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.scales, shape, DotScaleArguments{operand}));
    }
    const LaunchShape tiles{.blocks = {static_cast<uint32_t>(DotBlocks(tile_, dot)), 1, 1},
                            .threads = {tile_.threads, 1, 1},
                            .shared_bytes = tile_.shared_bytes};
    ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.dot, tiles, dot));
    constexpr int kThreadsOfWarp = 32;  // one warp an open element
    const LaunchShape repair{.blocks = {BlocksFor(device, results * kThreadsOfWarp, kRepairThreads), 1, 1},
                             .threads = {kRepairThreads, 1, 1}};
    return device.Launch(*functions_.repair, repair, dot);
  }

  // Where operand k lies as f32: in `memory`, if it is of another type.
  absl::StatusOr<DeviceAddress> Widened(const DeviceCall& call, size_t k,
                                        std::shared_ptr<DeviceMemory>& memory) const {
    const Widening& widening = widenings_[k];
    if (widening.function == nullptr || widening.count == 0) return call.operands[k];
    ASSAY_ASSIGN_OR_RETURN(memory, call.device.Allocate(widening.count * 4));
    const WidenArguments arguments{.from = call.operands[k],
                                   .to = memory->address(),
                                   .count = widening.count,
                                   .table = widening.table == nullptr ? 0 : widening.table->address()};
    const LaunchShape shape{.blocks = {BlocksFor(call.device, widening.count, kWidenThreads), 1, 1},
                            .threads = {kWidenThreads, 1, 1},
                            .shared_bytes = widening.table == nullptr ? 0 : kWidenTableBytes};
    ASSAY_RETURN_IF_ERROR(call.device.Launch(*widening.function, shape, arguments));
    return memory->address();
  }

  const Functions functions_;
  const DotTile tile_;
  const DotArguments arguments_;
  const bool is_double_;
  const std::array<Widening, 2> widenings_;
};

// Of bytes, on integer tensor cores: sums modulo 2^32, of which the result has the low bytes.
class ByteDotStep final : public DeviceKernel {
 public:
  ByteDotStep(std::shared_ptr<Device> device, const DeviceFunction& function,
              const ByteDotArguments& arguments)
      : DeviceKernel(std::move(device)), function_(function), arguments_(arguments) {}

  std::string_view algorithm() const override { return "integer tensor cores"; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    ByteDotArguments dot = arguments_;
    dot.lhs.address = call.operands[0];
    dot.rhs.address = call.operands[1];
    dot.result = call.result;
    const LaunchShape shape{.blocks = {static_cast<uint32_t>(ByteDotBlocks(dot)), 1, 1},
                            .threads = {kByteDotThreads, 1, 1},
                            .shared_bytes = kByteDotSharedBytes};
    return call.device.Launch(function_, shape, dot);
  }

  const DeviceFunction& function_;
  const ByteDotArguments arguments_;
};

bool IsByte(ElementType type) { return type == ElementType::kS8 || type == ElementType::kU8; }

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareByteDot(const std::shared_ptr<Device>& device,
                                                             const StepView& step) {
  const ElementType lhs = step.operand_shape(0).element_type(), rhs = step.operand_shape(1).element_type();
  ASSAY_ASSIGN_OR_RETURN(ByteDotArguments arguments, ArgumentsOf<ByteDotArguments>(step));
  arguments.result_bytes = static_cast<int32_t>(Bytes(step.result_shape().element_type()));
  const std::string name =
      fmt::format("dot_i8_{}{}", IsSignedIntegral(lhs) ? 's' : 'u', IsSignedIntegral(rhs) ? 's' : 'u');
  ASSAY_ASSIGN_OR_RETURN(const DeviceFunction* const function, KernelFunction(*device, "dot_i8", name));
  return std::make_shared<const ByteDotStep>(device, *function, arguments);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareDot(const std::shared_ptr<Device>& device,
                                                         const StepView& step) {
  const ElementType lhs = step.operand_shape(0).element_type(), rhs = step.operand_shape(1).element_type();
  const Shape& result = step.result_shape();
  const ElementType type = result.element_type();
  if (result.num_elements() >= int64_t{1} << 32)
    return NotSupported({}, fmt::format("{} results", result.num_elements()));
  if (IsByte(lhs) && IsByte(rhs) && IsIntegral(type) && Info(type).bits >= 8 && Info(type).bits <= 32)
    return PrepareByteDot(device, step);
  const std::optional<Float> format = FloatOf(type);
  if (!format) return NotSupported({}, fmt::format("dots to {}", Name(type)));
  const bool is_double = lhs == ElementType::kF64 && rhs == ElementType::kF64;
  Widening left, right;
  if (!is_double) {
    ASSAY_ASSIGN_OR_RETURN(left, WideningOf(*device, step.operand_shape(0)));
    ASSAY_ASSIGN_OR_RETURN(right, WideningOf(*device, step.operand_shape(1)));
  }
  ASSAY_ASSIGN_OR_RETURN(DotArguments arguments, ArgumentsOf<DotArguments>(step));
  arguments.result_type = *format;
  if (const int64_t terms = SizeOf(arguments.lhs.depth); terms > kMostDotTerms)
    return NotSupported({}, fmt::format("sums of {} products", terms));
  for (const DotOperand& operand : {arguments.lhs, arguments.rhs}) {
    if (const int64_t blocks = ScaleBlocks(operand); blocks > kMostBlocks)
      return NotSupported({}, fmt::format("{} blocks, a launch has at most {}", blocks, kMostBlocks));
  }
  // Tiles of the large kind pay where they are mostly full.
  const bool is_large =
      SizeOf(arguments.lhs.rows) >= kDotTile.rows && SizeOf(arguments.rhs.rows) >= kDotTile.columns;
  const DotTile& tile = is_double ? kPairDotTile : is_large ? kDotTile : kSmallDotTile;
  const std::string_view module = is_double ? "dot_f64" : "dot";
  const std::string suffix = is_double ? "f64" : "f32";
  DotStep::Functions functions{};
  ASSAY_ASSIGN_OR_RETURN(functions.scales, KernelFunction(*device, module, "dot_scales_" + suffix));
  ASSAY_ASSIGN_OR_RETURN(
      functions.dot,
      KernelFunction(*device, module, is_double || is_large ? "dot_" + suffix : "dot_small_" + suffix));
  ASSAY_ASSIGN_OR_RETURN(functions.repair, KernelFunction(*device, module, "dot_repair_" + suffix));
  return std::make_shared<const DotStep>(device, functions, tile, arguments, is_double,
                                         std::array{std::move(left), std::move(right)});
}

}  // namespace assay::gpu
