#include "gpu/scatter_rows.h"

#include "fmt/format.h"
#include "gpu/kernel_function.h"

namespace assay::gpu {
namespace {

// Rows of one update each are quicker found from the updates than from the rows.
constexpr int64_t kMostRowsOfItem = 4;

// Whether neighbours of the index are neighbours in memory by these strides, elements of `size` apart.
bool AreNeighbours(const Strides& dimensions, const int64_t* strides, int64_t size) {
  for (int32_t d = dimensions.rank; d-- > 0;) {
    if (dimensions.sizes[d] != 1 && strides[d] != size) return false;
    size *= dimensions.sizes[d];
  }
  return true;
}

}  // namespace

absl::StatusOr<std::optional<ScatterRows>> ScatterRows::Make(Device& device, const ScatterArguments& scatter,
                                                             int64_t elements, ElementType type) {
  const int64_t length = SizeOf(scatter.window);
  if (length == 0 || scatter.key_stride != length || elements % length != 0) return std::nullopt;
  if (!AreNeighbours(scatter.window, scatter.window.strides, 1) ||
      !AreNeighbours(scatter.window, scatter.window_to_strides, 1) ||
      !AreNeighbours(scatter.batch, scatter.batch.strides, length))
    return std::nullopt;
  ScatterRows rows;
  ScatterRowsArguments& a = rows.arguments_;
  a.items = scatter.items;
  a.rows = elements / length;
  a.length = length;
  if (a.items * kMostRowsOfItem < a.rows) return std::nullopt;
  a.result_type = scatter.result_type;
  rows.columns_ = ScatterColumns(Bytes(type), length);
  const int64_t vectors = length / rows.columns_;
  for (a.lanes = 1; a.lanes < 32 && a.lanes < vectors;) a.lanes *= 2;
  a.strips = static_cast<int32_t>((vectors + a.lanes - 1) / a.lanes);
  if (ScatterRowsBlocks(a) > kMaxBlocks) return std::nullopt;
  const char* const width = rows.columns_ == 1 ? "1_" : "";
  const auto function = [&](std::string_view name) {
    return KernelFunction(device, "scatter_rows", fmt::format("scatter_{}_{}{}", name, width, Name(type)));
  };
  ASSAY_ASSIGN_OR_RETURN(rows.starts_, KernelFunction(device, "scatter_rows", "scatter_starts"));
  ASSAY_ASSIGN_OR_RETURN(rows.rows_, function("rows"));
  ASSAY_ASSIGN_OR_RETURN(rows.parts_, function("parts"));
  return rows;
}

absl::StatusOr<ScatterRows::Memory> ScatterRows::Allocate(Device& device) const {
  Memory memory;
  ScatterRowsArguments& a = memory.arguments = arguments_;
  const int64_t parts = ScatterMostParts(a), state = kSumStateBytes * a.lanes * columns_;
  int64_t bytes = 0;
  const auto place = [&](int64_t size) {
    const int64_t at = bytes;
    bytes += (size + 31) / 32 * 32;
    return static_cast<uint64_t>(at);
  };
  const uint64_t counts = place(16), counters = place(4 * parts);
  const int64_t zeroed = bytes;
  const uint64_t list = place(static_cast<int64_t>(sizeof(ScatterPart)) * parts),
                 partial = place(state * parts), starts = place(4 * (a.rows + 1)),
                 open = place(4 * a.items * a.length);
  ASSAY_ASSIGN_OR_RETURN(memory.memory, device.Allocate(bytes));
  const DeviceAddress first = memory.memory->address();
  a.open_count = first + counts;
  a.part_count = first + counts + 8;
  a.part_counters = first + counters;
  a.parts = first + list;
  a.partial = first + partial;
  a.starts = first + starts;
  a.open = first + open;
  ASSAY_RETURN_IF_ERROR(device.Zero(first, zeroed));
  return memory;
}

absl::Status ScatterRows::Sum(Device& device, const Memory& memory, const ScatterArguments& scatter,
                              DeviceAddress operand) const {
  ScatterRowsArguments a = memory.arguments;
  a.updates = scatter.updates;
  a.operand = operand;
  a.result = scatter.result;
  a.keys = scatter.keys;
  a.order = scatter.order;
  const auto shape = [](uint32_t blocks, uint32_t shared) {
    return LaunchShape{
        .blocks = {blocks, 1, 1}, .threads = {kScatterRowsThreads, 1, 1}, .shared_bytes = shared};
  };
  ASSAY_RETURN_IF_ERROR(
      device.Launch(*starts_, shape(BlocksFor(device, a.rows + 1, kScatterRowsThreads), 0), a));
  ASSAY_RETURN_IF_ERROR(device.Launch(*rows_, shape(static_cast<uint32_t>(ScatterRowsBlocks(a)), 0), a));
  const int64_t parts = ScatterMostParts(a);
  if (parts == 0) return absl::OkStatus();
  const uint32_t blocks = BlocksFor(device, parts * kScatterRowsThreads, kScatterRowsThreads);
  return device.Launch(*parts_, shape(blocks, ScatterPartsSharedBytes(columns_)), a);
}

}  // namespace assay::gpu
