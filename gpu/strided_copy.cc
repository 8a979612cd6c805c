#include "gpu/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "absl/numeric/int128.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// The axes as a transpose of tiles: both sides have a dimension of stride 1, another one each,
// that is long enough.
std::optional<TransposeArguments> AsTranspose(const std::vector<Axis>& axes, int64_t width) {
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
  if (TransposeBlocks(transpose, static_cast<int>(width)) > kMaxBlocks) return std::nullopt;
  return transpose;
}

LaunchShape ShapeFor(const Device& device, const CopyArguments& copy, int64_t /*width*/) {
  return {.blocks = {BlocksFor(device, SizeOf(copy.from_dimensions), kMoveThreads), 1, 1},
          .threads = {kMoveThreads, 1, 1}};
}
LaunchShape ShapeFor(const Device& /*device*/, const BoxArguments& box, int64_t /*width*/) {
  return {.blocks = {static_cast<uint32_t>(BoxBlocks(box.count)), 1, 1}, .threads = {kMoveThreads, 1, 1}};
}
LaunchShape ShapeFor(const Device& /*device*/, const TransposeArguments& transpose, int64_t width) {
  return {.blocks = {static_cast<uint32_t>(TransposeBlocks(transpose, static_cast<int>(width))), 1, 1},
          .threads = {kMoveThreads, 1, 1},
          .shared_bytes = TransposeSharedBytes(static_cast<int>(width))};
}

}  // namespace

std::optional<StridedCopy> CopyInto(std::span<const int64_t> sizes, std::span<const Placing> places,
                                    std::span<const int64_t> whole) {
  const DimVector from = RowMajorStrides(sizes), to = RowMajorStrides(whole);
  StridedCopy copy;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const absl::int128 apart = absl::int128(places[d].gap) + 1, low = places[d].low;
    const auto up = [&](absl::int128 x) { return x <= 0 ? absl::int128(0) : (x + apart - 1) / apart; };
    const absl::int128 first = up(-low), end = std::min(up(whole[d] - low), absl::int128(sizes[d]));
    if (first >= end) return std::nullopt;
    copy.from += static_cast<int64_t>(first) * from[d];
    copy.to += static_cast<int64_t>(low + first * apart) * to[d];
    // Of one element alone no stride counts, and it may be beyond 64 bits.
    const int64_t stride = end - first == 1 ? 0 : static_cast<int64_t>(apart) * to[d];
    copy.axes.push_back({static_cast<int64_t>(end - first), {from[d], stride}});
  }
  return copy;
}

absl::StatusOr<PreparedCopy> PreparedCopy::Make(Device& device, const StridedCopy& copy, int64_t width,
                                                const std::string& kernel) {
  PreparedCopy prepared;
  prepared.width_ = width;
  prepared.from_ = copy.from * width;
  prepared.to_ = copy.to * width;
  const std::vector<Axis> axes = Merged(copy.axes);
  if (const std::optional<TransposeArguments> transpose = AsTranspose(axes, width);
      transpose && kernel.empty()) {
    prepared.arguments_ = *transpose;
    ASSAY_ASSIGN_OR_RETURN(prepared.function_,
                           KernelFunction(device, "move", fmt::format("transpose_{}", width)));
    return prepared;
  }
  if (kernel.empty()) {
    std::vector<BoxAxis> box;
    box.reserve(axes.size());
    for (const Axis& axis : axes) box.push_back({axis.size, axis.strides[0], axis.strides[1]});
    const int64_t offsets[] = {copy.from, copy.to};
    if (const std::optional<BoxPlan> plan = BoxPlanOf(box, width, offsets);
        plan && plan->arguments.count > 0) {
      prepared.arguments_ = plan->arguments;
      ASSAY_ASSIGN_OR_RETURN(prepared.function_,
                             KernelFunction(device, "move", fmt::format("box_{}", plan->bytes)));
      return prepared;
    }
  }
  CopyArguments arguments{};
  const std::optional<Strides> from = StridesOf(axes, arguments.to_strides);
  if (!from) return NotSupported({}, fmt::format("more than {} dimensions", kMaxDimensions));
  arguments.from_dimensions = *from;
  prepared.arguments_ = arguments;
  ASSAY_ASSIGN_OR_RETURN(
      prepared.function_,
      KernelFunction(device, "move", kernel.empty() ? fmt::format("copy_{}", width) : kernel));
  return prepared;
}

absl::Status PreparedCopy::Enqueue(Device& device, DeviceAddress from, DeviceAddress to) const {
  return std::visit(
      [&](auto arguments) {
        arguments.from = from + static_cast<uint64_t>(from_);
        arguments.to = to + static_cast<uint64_t>(to_);
        return device.Launch(*function_, ShapeFor(device, arguments, width_), arguments);
      },
      arguments_);
}

absl::StatusOr<PreparedFill> PreparedFill::Make(Device& device, int64_t width) {
  PreparedFill fill;
  ASSAY_ASSIGN_OR_RETURN(fill.function_, KernelFunction(device, "move", fmt::format("fill_{}", width)));
  return fill;
}

absl::Status PreparedFill::Enqueue(Device& device, DeviceAddress to, int64_t count,
                                   std::span<const std::byte> element) const {
  FillArguments arguments{.to = to};
  std::memcpy(arguments.value, element.data(), element.size());
  const Axis all{count, {1, 0}};
  arguments.dimensions = *StridesOf({&all, 1});
  const LaunchShape shape{.blocks = {BlocksFor(device, count, kMoveThreads), 1, 1},
                          .threads = {kMoveThreads, 1, 1}};
  return device.Launch(*function_, shape, arguments);
}

}  // namespace assay::gpu
