#include "gpu/gpu_engine.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "evaluator/registry.h"
#include "fmt/format.h"
#include "gpu/convolution_step.h"
#include "gpu/custom_step.h"
#include "gpu/dot_step.h"
#include "gpu/fused_step.h"
#include "gpu/move_step.h"
#include "gpu/placement.h"
#include "gpu/ptx/fused.h"
#include "gpu/random_step.h"
#include "gpu/reduce_step.h"
#include "gpu/reduce_window_step.h"
#include "gpu/reduction_step.h"
#include "gpu/scatter_step.h"
#include "gpu/slice_step.h"
#include "gpu/sort_step.h"

namespace assay::gpu {
namespace {

// The elements that a step reads and gives: of the largest array.
int64_t ElementsOf(const FusionView& step) {
  int64_t elements = 0;
  const auto look_at = [&](const Shape& shape) {
    if (shape.IsArray() && !shape.HasUnbounded()) elements = std::max(elements, shape.num_elements());
  };
  const Shape& result = *step.root().shape;
  if (!result.IsTuple()) look_at(result);
  for (const Shape& element : result.elements()) look_at(element);
  for (int32_t operand : step.operands)
    look_at(*step.computation.instructions[static_cast<size_t>(operand)].shape);
  return elements;
}

// An array, or a tuple of arrays, of one size each.
bool GivesArrays(const Shape& result) {
  if (!result.IsTuple()) return result.IsArray();
  return std::all_of(result.elements().begin(), result.elements().end(),
                     [](const Shape& element) { return element.IsArray() && !element.HasDynamic(); });
}

// Whether a reduce can be the root of a fusion with what computes its operands.
bool CanReduce(const GpuOptions& options, const StepView& step) {
  const Shape& shape = step.operand_shape(0);
  if (!shape.IsArray() || shape.HasUnbounded() || shape.num_elements() < options.min_elements) return false;
  if (options.min_elements < 0) {
    const auto self = static_cast<int32_t>(&step.instruction - step.computation.instructions.data());
    if (!WhyOnCpu({step.module, step.computation, {&self, 1}, step.instruction.operands}).empty())
      return false;
  }
  return Device::Open(options.driver).ok() && WhyNoReduction(step).empty();
}

}  // namespace

bool GpuEngine::CanFuse(const StepView& step) const {
  if (step.instruction.opcode == Opcode::kReduce) return CanReduce(options_, step);
  const Shape& shape = step.result_shape();
  if (!shape.IsArray() || shape.HasUnbounded() || shape.num_elements() < options_.min_elements) return false;
  if (options_.min_elements < 0) {
    const auto self = static_cast<int32_t>(&step.instruction - step.computation.instructions.data());
    const FusionView alone{step.module, step.computation, {&self, 1}, step.instruction.operands};
    if (!WhyOnCpu(alone).empty()) return false;
  }
  return Device::Open(options_.driver).ok() && WhyNoMember(step).empty();
}

namespace {

// Kernels of gpu/kernels, else generated ones.
absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduceOrReduction(const std::shared_ptr<Device>& device,
                                                                       const StepView& step) {
  absl::StatusOr<std::shared_ptr<const Kernel>> kernel = PrepareReduce(device, step);
  if (!absl::IsUnimplemented(kernel.status())) return kernel;
  const auto self = static_cast<int32_t>(&step.instruction - step.computation.instructions.data());
  absl::StatusOr<std::shared_ptr<const Kernel>> generated =
      PrepareReduction(device, {step.module, step.computation, {&self, 1}, step.instruction.operands},
                       /*approximate=*/false);
  const bool is_single = step.instruction.operands.size() == 2;
  return is_single && absl::IsUnimplemented(generated.status()) ? kernel : generated;
}

struct KernelRow {
  Opcode opcode;
  absl::StatusOr<std::shared_ptr<const Kernel>> (*prepare)(const std::shared_ptr<Device>& device,
                                                           const StepView& step);
  // Where it depends on the options from how many products on residues take them, and whether they are exact.
  absl::StatusOr<std::shared_ptr<const Kernel>> (*prepare_product)(const std::shared_ptr<Device>& device,
                                                                   const StepView& step,
                                                                   int64_t residues_from,
                                                                   bool fast) = nullptr;
};

// The ops with kernels of their own. Others are generated where each element comes
// of elements (fused_step.h).
constexpr KernelRow kKernels[] = {
    {Opcode::kBroadcast, PrepareMove},
    {Opcode::kConcatenate, nullptr},  // PrepareConcatenate
    {Opcode::kConvolution, nullptr, PrepareConvolution},
    {Opcode::kCustomCall, PrepareCustom},
    {Opcode::kDot, nullptr, PrepareDot},
    {Opcode::kDynamicSlice, PrepareIndexedSlice},
    {Opcode::kDynamicUpdateSlice, PrepareIndexedSlice},
    {Opcode::kGather, PrepareIndexedSlice},
    {Opcode::kPad, PrepareMove},
    {Opcode::kReduce, PrepareReduceOrReduction},
    {Opcode::kReduceWindow, PrepareReduceWindow},
    {Opcode::kReverse, PrepareMove},
    {Opcode::kRngBitGenerator, PrepareRandom},
    {Opcode::kScatter, PrepareScatter},
    {Opcode::kSlice, PrepareMove},
    {Opcode::kSort, PrepareSort},
    {Opcode::kTopK, PrepareSort},
    {Opcode::kTranspose, PrepareMove},
};

const KernelRow* KernelFor(Opcode opcode) {
  const auto* const row = std::find_if(std::begin(kKernels), std::end(kKernels),
                                       [&](const KernelRow& r) { return r.opcode == opcode; });
  return row == std::end(kKernels) ? nullptr : row;
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareOn(const std::shared_ptr<Device>& device,
                                                        const FusionView& step, const GpuOptions& options) {
  if (step.root().opcode == Opcode::kConcatenate) return PrepareConcatenate(device, step);
  if (!step.is_single())
    return step.root().opcode == Opcode::kReduce ? PrepareReduction(device, step, options.fast)
                                                 : PrepareFused(device, step, options.fast);
  const StepView single = step.single();
  if (IsPassed(single)) return PreparePassed();
  if (const KernelRow* const row = KernelFor(single.instruction.opcode)) {
    return row->prepare_product != nullptr
               ? row->prepare_product(device, single, options.residues_from, options.fast)
               : row->prepare(device, single);
  }
  if (!step.root().shape->IsArray()) return NotSupported({}, "several results");
  return PrepareFused(device, step, options.fast);
}

}  // namespace

bool GpuEngine::MayTake(Opcode opcode) const {
  const OpDef& op = DefinitionOf(opcode);
  return KernelFor(opcode) != nullptr || op.strip != nullptr || op.source != nullptr || op.from_index;
}

absl::StatusOr<std::shared_ptr<const Kernel>> GpuEngine::Prepare(const FusionView& step) const {
  ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<Device> device, Device::Open(options_.driver));
  if (!GivesArrays(*step.root().shape))
    return NotSupported({}, "result is neither an array nor a tuple of arrays");
  if (const int64_t elements = ElementsOf(step); elements < options_.min_elements)
    return NotSupported({}, fmt::format("too few elements ({} < {})", elements, options_.min_elements));
  if (options_.min_elements < 0) {
    if (const std::string why = WhyOnCpu(step); !why.empty()) return NotSupported({}, why);
  }
  absl::StatusOr<std::shared_ptr<const Kernel>> kernel = PrepareOn(device, step, options_);
  // A device that fails, or has no memory left, has run nothing yet: the CPU can do all of it.
  if (kernel.ok() || absl::IsUnimplemented(kernel.status())) return kernel;
  return NotSupported({},
                      std::string_view(kernel.status().message().data(), kernel.status().message().size()));
}

const Engine& GpuEngineFor(const GpuOptions& options) {
  static std::mutex mutex;
  static auto* const engines = new std::map<GpuOptions, std::unique_ptr<const GpuEngine>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const GpuEngine>& engine = (*engines)[options];
  if (engine == nullptr) engine = std::make_unique<const GpuEngine>(options);
  return *engine;
}

}  // namespace assay::gpu
