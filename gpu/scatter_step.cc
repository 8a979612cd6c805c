#include "gpu/scatter_step.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/indexing/scatter.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/scatter/scatter_arguments.h"
#include "gpu/radix_sort.h"
#include "gpu/reducer.h"
#include "gpu/resident.h"
#include "gpu/scatter_rows.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

void Append(Strides& dimensions, int64_t* to_strides, int64_t size, int64_t from, int64_t to) {
  to_strides[dimensions.rank] = to;
  dimensions.sizes[dimensions.rank] = size;
  dimensions.strides[dimensions.rank] = from;
  ++dimensions.rank;
}

// A window's components, in the operand, and in the indices' bytes.
struct ScatterGeometry {
  ScatterArguments arguments{};
  std::vector<int64_t> start_offsets;
};

// The operand's dimension that a window dimension of the updates stands for, by dimension of the updates;
// -1: one of the batch.
DimVector WindowDimensionsOf(const ScatterNumbers& numbers, int64_t updates_rank, int64_t operand_rank) {
  const DimVector window_dims = numbers.WindowOperandDims(operand_rank);
  DimVector dimensions(static_cast<size_t>(updates_rank), -1);
  for (size_t k = 0; k < window_dims.size(); ++k)
    dimensions[static_cast<size_t>(numbers.update_window_dims[k])] = window_dims[k];
  return dimensions;
}

// Whether two windows have all of their elements in common, or none.
bool AreDisjoint(const ScatterNumbers& numbers, const Shape& operand, std::span<const int64_t> extents) {
  return std::all_of(numbers.scatter_dims_to_operand_dims.begin(), numbers.scatter_dims_to_operand_dims.end(),
                     [&](int64_t d) {
                       const int64_t extent = extents[static_cast<size_t>(d)];
                       return extent == 1 || extent == operand.size(d);
                     });
}

void AddStarts(const StepView& step, const ScatterNumbers& numbers, std::span<const int64_t> extents,
               ScatterGeometry& geometry) {
  const Shape &operand = step.operand_shape(0), &indices = step.operand_shape(1);
  const DimVector in_operand = RowMajorStrides(operand.sizes()),
                  in_indices = RowMajorStrides(indices.sizes());
  const bool is_scalar = numbers.index_vector_dim == indices.rank();
  const int64_t apart =
      is_scalar ? 0
                : in_indices[static_cast<size_t>(numbers.index_vector_dim)] * Bytes(indices.element_type());
  ScatterArguments& a = geometry.arguments;
  for (size_t k = 0; k < numbers.scatter_dims_to_operand_dims.size(); ++k) {
    const auto d = static_cast<size_t>(numbers.scatter_dims_to_operand_dims[k]);
    a.starts[a.components++] = {0, operand.sizes()[d] - extents[d], in_operand[d]};
    geometry.start_offsets.push_back(apart * static_cast<int64_t>(k));
  }
  a.index_bytes = static_cast<int32_t>(Bytes(indices.element_type()));
  a.index_is_signed = IsSignedIntegral(indices.element_type()) ? 1 : 0;
}

// Items begin at multiples of the strides' common divisor: fewer keys are sorted by fewer bits.
void SetKeys(int64_t elements, ScatterArguments& a) {
  int64_t stride = 0;
  for (int32_t d = 0; d < a.batch.rank; ++d) stride = std::gcd(stride, a.batch_to_strides[d]);
  for (int32_t c = 0; c < a.components; ++c) stride = std::gcd(stride, a.starts[c].stride);
  if (stride == 0) stride = std::max<int64_t>(1, elements);
  for (int32_t d = 0; d < a.batch.rank; ++d) a.batch_to_strides[d] /= stride;
  for (int32_t c = 0; c < a.components; ++c) a.starts[c].stride /= stride;
  a.key_stride = stride;
  a.keys_end = (elements + stride - 1) / stride;
}

ScatterGeometry ScatterGeometryOf(const StepView& step) {
  const ScatterNumbers numbers(step.instruction.attributes);
  const Shape &operand = step.operand_shape(0), &indices = step.operand_shape(1),
              &updates = step.operand_shape(2);
  const DimVector in_operand = RowMajorStrides(operand.sizes()),
                  in_indices = RowMajorStrides(indices.sizes()),
                  in_updates = RowMajorStrides(updates.sizes());
  const DimVector window_dims = WindowDimensionsOf(numbers, updates.rank(), operand.rank());
  DimVector extents(static_cast<size_t>(operand.rank()), 1);
  for (size_t d = 0; d < window_dims.size(); ++d) {
    if (window_dims[d] >= 0) extents[static_cast<size_t>(window_dims[d])] = updates.sizes()[d];
  }
  const bool by_windows = AreDisjoint(numbers, operand, extents);
  ScatterGeometry geometry;
  ScatterArguments& a = geometry.arguments;
  int64_t next_index = 0;  // the next dimension of the indices but for index_vector_dim
  for (size_t d = 0; d < window_dims.size(); ++d) {
    const int64_t size = updates.sizes()[d], from = in_updates[d];
    if (window_dims[d] >= 0) {
      const int64_t to = in_operand[static_cast<size_t>(window_dims[d])];
      if (by_windows) {
        Append(a.window, a.window_to_strides, size, from, to);
      } else {
        Append(a.batch, a.batch_to_strides, size, from, to);
      }
      continue;
    }
    if (next_index == numbers.index_vector_dim) ++next_index;
    int64_t to = 0;
    for (size_t k = 0; k < numbers.scatter_indices_batching_dims.size(); ++k) {
      if (numbers.scatter_indices_batching_dims[k] == next_index)
        to = in_operand[static_cast<size_t>(numbers.input_batching_dims[k])];
    }
    a.batch_index_strides[a.batch.rank] = in_indices[static_cast<size_t>(next_index++)];
    Append(a.batch, a.batch_to_strides, size, from, to);
  }
  AddStarts(step, numbers, extents, geometry);
  a.items = SizeOf(a.batch);
  SetKeys(operand.num_elements(), a);
  return geometry;
}

class ScatterStep final : public DeviceKernel {
 public:
  struct Functions {
    const DeviceFunction *keys = nullptr, *combine = nullptr, *repair = nullptr;  // repair: of sums
  };
  ScatterStep(std::shared_ptr<Device> device, const Functions& functions, const RadixSort& sort,
              ScatterGeometry geometry, const std::optional<ScatterRows>& rows)
      : DeviceKernel(std::move(device)),
        functions_(functions),
        sort_(sort),
        geometry_(std::move(geometry)),
        rows_(rows) {}

  std::string_view algorithm() const override {
    return rows_                          ? "sorted, exact sums of rows"
           : functions_.repair != nullptr ? "sorted, exact sums"
                                          : "sorted";
  }

 private:
  std::span<const size_t> overwrites() const override {
    static constexpr size_t kOperand[] = {0};
    return kOperand;
  }

  absl::Status Enqueue(const DeviceCall& call) const override {
    Device& device = call.device;
    ScatterArguments a = geometry_.arguments;
    a.indices = call.operands[1];
    a.updates = call.operands[2];
    a.result = call.result;
    for (int32_t c = 0; c < a.components; ++c)
      a.starts[c].address =
          a.indices + static_cast<uint64_t>(geometry_.start_offsets[static_cast<size_t>(c)]);
    const int64_t targets = a.items * SizeOf(a.window);
    const auto copy = [&] {
      return call.in_place
                 ? absl::OkStatus()
                 : device.CopyWithin(call.result, call.operands[0], call.context.result_shape().num_bytes());
    };
    if (targets == 0) return copy();
    // What may find no room comes before the operand is written over.
    ASSAY_ASSIGN_OR_RETURN(SortMemory memory, SortMemory::Make(device, a.items, 4));
    ScatterRows::Memory of_rows;
    std::shared_ptr<DeviceMemory> open;
    if (rows_) {
      ASSAY_ASSIGN_OR_RETURN(of_rows, rows_->Allocate(device));
      a.open_count = of_rows.arguments.open_count;
      a.open = of_rows.arguments.open;
    } else if (functions_.repair != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(open, device.Allocate(8 + 4 * targets));
      a.open_count = open->address();
      a.open = open->address() + 8;
      ASSAY_RETURN_IF_ERROR(device.Zero(a.open_count, 8));
    }
    ASSAY_RETURN_IF_ERROR(Sort(device, memory, a));
    a.order = memory.order();
    a.keys = memory.keys();
    if (rows_) {
      ASSAY_RETURN_IF_ERROR(rows_->Sum(device, of_rows, a, call.operands[0]));
    } else {
      ASSAY_RETURN_IF_ERROR(copy());
      const LaunchShape shape{.blocks = {static_cast<uint32_t>(ScatterBlocks(a)), 1, 1},
                              .threads = {kScatterThreads, 1, 1}};
      ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.combine, shape, a));
    }
    if (functions_.repair == nullptr) return absl::OkStatus();
    const LaunchShape repair{.blocks = {BlocksFor(device, targets * 32, kSumRepairThreads), 1, 1},
                             .threads = {kSumRepairThreads, 1, 1},
                             .shared_bytes = kSumRepairSharedBytes};
    return device.Launch(*functions_.repair, repair, a);
  }

  absl::Status Sort(Device& device, SortMemory& memory, ScatterArguments a) const {
    int bits = 0;
    while (a.keys_end >> bits != 0) ++bits;
    a.keys = memory.keys();
    ASSAY_ASSIGN_OR_RETURN(a.counts, sort_.BeginKeys(device, memory, bits));
    const LaunchShape shape{.blocks = {BlocksFor(device, a.items, kScatterThreads), 1, 1},
                            .threads = {kScatterThreads, 1, 1},
                            .shared_bytes = SortCountSharedBytes(a.counts.passes)};
    ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.keys, shape, a));
    return sort_.SortByKeys(device, memory, 4, bits);
  }

  const Functions functions_;
  const RadixSort sort_;
  const ScatterGeometry geometry_;
  const std::optional<ScatterRows> rows_;
};

// Whether the combiner gives the update, and nothing else: the last one stays.
bool TakesUpdate(const Module& module, ComputationId combiner) {
  const Computation& computation = module.computation(combiner);
  return computation.parameters.size() == 2 && computation.root == computation.parameters[1];
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareScatter(const std::shared_ptr<Device>& device,
                                                             const StepView& step) {
  if (step.instruction.operands.size() != 3 || !step.result_shape().IsArray())
    return NotSupported({}, "several operands");
  for (int64_t i = 0; i < 3; ++i) {
    const Shape& shape = step.operand_shape(i);
    if (shape.HasDynamic() || shape.HasUnbounded()) return NotSupported({}, "dynamic dimensions");
    if (shape.rank() > kMaxDimensions)
      return NotSupported({}, fmt::format("more than {} dimensions", kMaxDimensions));
    if (shape.num_elements() > kMaxSorted)
      return NotSupported({}, fmt::format("{}", Counted(shape.num_elements(), "element")));
  }
  const ElementType type = step.operand_shape(0).element_type(), index = step.operand_shape(1).element_type();
  if (step.operand_shape(2).element_type() != type || step.result_shape().element_type() != type)
    return NotSupported({}, "operand, updates and result of more than one type");
  if (Info(index).bits < 8) return NotSupported({}, fmt::format("indices of {}", Name(index)));
  const ComputationId combiner = *step.instruction.attributes.Computation(Attr::kToApply);
  ScatterGeometry geometry = ScatterGeometryOf(step);
  ScatterArguments& a = geometry.arguments;
  std::string combine = fmt::format("scatter_move_{}", Bytes(type));
  ScatterStep::Functions functions;
  std::optional<ScatterRows> rows;
  a.group = 1;
  if (!TakesUpdate(step.module, combiner)) {
    ASSAY_ASSIGN_OR_RETURN(const DeviceReducer reducer, DeviceReducerOf(step.module, combiner, type));
    a.folding = reducer.folding;
    a.result_type = reducer.sum.value_or(Float::kF32);
    combine =
        reducer.sum ? fmt::format("scatter_sum_{}", Name(type)) : fmt::format("scatter_fold_{}", Bytes(type));
    if (reducer.sum) {
      ASSAY_ASSIGN_OR_RETURN(
          functions.repair, KernelFunction(*device, "scatter", fmt::format("scatter_repair_{}", Name(type))));
      ASSAY_ASSIGN_OR_RETURN(rows, ScatterRows::Make(*device, a, step.operand_shape(0).num_elements(), type));
    }
    // Where elements get many updates each, a warp adds them up.
    constexpr int64_t kManyUpdates = 16;
    if (a.items * SizeOf(a.window) >= kManyUpdates * step.operand_shape(0).num_elements()) a.group = 32;
  }
  if (ScatterBlocks(a) > kMaxBlocks) return NotSupported({}, fmt::format("{}", Counted(a.items, "update")));
  ASSAY_ASSIGN_OR_RETURN(functions.keys, KernelFunction(*device, "scatter", "scatter_keys"));
  ASSAY_ASSIGN_OR_RETURN(functions.combine, KernelFunction(*device, "scatter", combine));
  ASSAY_ASSIGN_OR_RETURN(const RadixSort sort, RadixSort::Make(*device));
  return std::make_shared<const ScatterStep>(device, functions, sort, std::move(geometry), rows);
}

}  // namespace assay::gpu
