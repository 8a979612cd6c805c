#include "gpu/reduction_step.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "evaluator/patterns/associative.h"
#include "evaluator/patterns/selection.h"
#include "evaluator/scalar_function.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"
#include "gpu/approximate_members.h"
#include "gpu/fused_launch.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/fused/reduced_arguments.h"
#include "gpu/ptx/fused.h"
#include "gpu/ptx/reduction.h"
#include "gpu/reduce_step.h"
#include "gpu/resident.h"

namespace assay::gpu {
namespace {

// A kernel that the driver has compiled.
struct Reduction {
  ReductionPlan plan;
  ReductionKernel kernel;
  const DeviceFunction* function = nullptr;

  absl::Status Load(Device& device) {
    ASSAY_ASSIGN_OR_RETURN(
        function, device.Load(std::as_bytes(std::span(kernel.text)), std::string(ReductionKernel::kName)));
    return absl::OkStatus();
  }
  absl::Status Launch(Device& device, const ReductionArgument& argument) const {
    return device.Launch(*function, kernel.Shape(), kernel.Argument(argument));
  }
};

// The operand by itself, and its reduce: of results that the fused kernels leave open.
struct Unfused {
  FusedKernel kernel;
  const DeviceFunction* function = nullptr;
  std::shared_ptr<const DeviceKernel> reduce;
};

// What a reduction's members are, for as long as its kernel lives.
struct Members {
  const Module& module;
  const Computation& computation;
  std::vector<int32_t> members, operands;

  explicit Members(const FusionView& step)
      : module(step.module),
        computation(step.computation),
        members(step.members.begin(), step.members.end()),
        operands(step.operands.begin(), step.operands.end()) {}
  const Instruction& root() const { return computation.instructions[static_cast<size_t>(members.back())]; }
  FusionView All() const { return {module, computation, members, operands}; }
  FusionView Producer() const {
    return {module, computation, std::span(members).first(members.size() - 1), operands};
  }
  const Shape& ShapeOf(int32_t i) const { return *computation.instructions[static_cast<size_t>(i)].shape; }
  size_t PlaceOf(int32_t operand) const {
    return static_cast<size_t>(std::find(operands.begin(), operands.end(), operand) - operands.begin());
  }
};

// The device's memory of one call: what is zeroed, the list of open elements, the parts.
struct CallMemory {
  std::shared_ptr<DeviceMemory> memory;
  DeviceAddress counts = 0;  // uint64_t of open elements, uint32_t of open results
  DeviceAddress list = 0;
  std::vector<DeviceAddress> parts;
};

class ReductionStep final : public DeviceKernel {
 public:
  struct Parts {
    Reduction reduction;
    std::optional<Reduction> ends;           // of folds of several parts
    const DeviceFunction* finish = nullptr;  // of sums
    ReducedArguments finish_arguments{};
    bool by_block = false;
    std::optional<Unfused> unfused;
  };
  ReductionStep(std::shared_ptr<Device> device, const FusionView& step, Parts parts)
      : DeviceKernel(std::move(device)), step_(step), parts_(std::move(parts)) {
    elements_ = step_.ShapeOf(step_.root().operands[0]).num_elements();
    if (parts_.reduction.kernel.is_approximate) approximate_.emplace(shared_device(), step_.All());
  }

  std::string_view algorithm() const override {
    switch (parts_.reduction.plan.order) {
      case ReductionOrder::kSum:
        return "exact sums, generated PTX";
      case ReductionOrder::kAny:
        return "in any order, generated PTX";
      default:
        return "in order, generated PTX";
    }
  }
  const Accuracy& accuracy() const override { return approximate_ ? approximate_->accuracy() : BitExact(); }
  Approximation ApproximationOf(const Instruction& member) const override {
    return approximate_ ? approximate_->Of(member) : Approximation{};
  }
  bool defers_checks() const override { return needs_check() && elements_ <= kMaxDeferred; }

 private:
  bool is_sum() const { return parts_.reduction.plan.order == ReductionOrder::kSum; }
  bool may_leave_open() const { return parts_.reduction.kernel.may_leave_open; }
  bool needs_check() const { return is_sum() || may_leave_open(); }
  size_t num_reduced() const { return parts_.reduction.kernel.num_reduced; }
  int64_t room() const { return may_leave_open() ? RoomForOpen(elements_) : 0; }

  absl::StatusOr<CallMemory> Allocate(Device& device) const {
    const ReductionPlan& plan = parts_.reduction.plan;
    CallMemory memory;
    int64_t bytes = 0;
    const auto place = [&](int64_t size) {
      const int64_t at = bytes;
      bytes += (size + 15) / 16 * 16;
      return static_cast<uint64_t>(at);
    };
    const uint64_t counts = place(16), list = place(8 * room());
    std::vector<uint64_t> parts;
    const int64_t of_all = plan.results() * plan.parts();
    if (is_sum()) {
      parts.push_back(place(of_all * static_cast<int64_t>(sizeof(ReducedPart))));
    } else if (parts_.ends) {
      for (size_t k = 0; k < num_reduced(); ++k)
        parts.push_back(place(of_all * Bytes(step_.ShapeOf(step_.root().operands[k]).element_type())));
    }
    ASSAY_ASSIGN_OR_RETURN(memory.memory, device.Allocate(bytes));
    memory.counts = memory.memory->address() + counts;
    memory.list = memory.memory->address() + list;
    for (const uint64_t part : parts) memory.parts.push_back(memory.memory->address() + part);
    if (needs_check()) ASSAY_RETURN_IF_ERROR(device.Zero(memory.counts, 16));
    return memory;
  }

  absl::Status Enqueue(const DeviceCall& call) const override {
    ASSAY_ASSIGN_OR_RETURN(CallMemory memory, Allocate(call.device));
    DeferredChecks* const checks = defers_checks() ? DeferredChecks::Current() : nullptr;
    ReductionArgument argument;
    argument.open = memory.list;
    argument.open_room = static_cast<uint64_t>(room());
    argument.open_count = memory.counts;
    DeviceAddress open_results = memory.counts + 8;
    if (checks != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(open_results, CountOfOpen(*checks, call.device));
      argument.open_count = open_results;
      argument.open_room = 0;
    }
    std::vector<DeviceAddress> inits;
    for (size_t k = 0; k < num_reduced(); ++k)
      inits.push_back(call.operands[step_.PlaceOf(step_.root().operands[num_reduced() + k])]);
    argument.inits = inits;
    argument.operands = call.operands;
    argument.outputs = memory.parts.empty() ? call.results : std::span<const DeviceAddress>(memory.parts);
    ASSAY_RETURN_IF_ERROR(parts_.reduction.Launch(call.device, argument));
    if (parts_.ends) {
      ReductionArgument ends;
      ends.inits = inits;
      ends.operands = memory.parts;
      ends.outputs = call.results;
      ASSAY_RETURN_IF_ERROR(parts_.ends->Launch(call.device, ends));
    }
    if (is_sum()) ASSAY_RETURN_IF_ERROR(Finish(call, memory, inits[0], open_results, 0, 0));
    return checks != nullptr || !needs_check() ? absl::OkStatus() : Check(call, memory, inits[0]);
  }

  // Adds the parts and `count` terms that are in none.
  absl::Status Finish(const DeviceCall& call, const CallMemory& memory, DeviceAddress init,
                      DeviceAddress open_results, DeviceAddress terms, int64_t count) const {
    ReducedArguments a = parts_.finish_arguments;
    a.parts = memory.parts[0];
    a.terms = terms;
    a.num_terms = count;
    a.init = init;
    a.result = call.result;
    a.open_count = open_results;
    const int64_t blocks = parts_.by_block ? a.results : ReducedBlocks(a);
    const LaunchShape shape{.blocks = {static_cast<uint32_t>(blocks), 1, 1},
                            .threads = {kReduceThreads, 1, 1},
                            .shared_bytes = parts_.by_block ? kReducedSharedBytes : 0};
    return call.device.Launch(*parts_.finish, shape, a);
  }

  struct Counts {
    uint64_t elements = 0;
    uint32_t results = 0, unused = 0;
  };
  absl::StatusOr<Counts> ReadCounts(const DeviceCall& call, const CallMemory& memory) const {
    Counts counts;
    ASSAY_RETURN_IF_ERROR(call.device.CopyOut(std::as_writable_bytes(std::span(&counts, 1)), memory.counts));
    return counts;
  }

  // Looks at what was left open, and sees to it.
  absl::Status Check(const DeviceCall& call, const CallMemory& memory, DeviceAddress init) const {
    ASSAY_ASSIGN_OR_RETURN(Counts counts, ReadCounts(call, memory));
    if (counts.elements == 0 && counts.results == 0) return absl::OkStatus();
    if (is_sum() && counts.elements != 0 && counts.elements <= static_cast<uint64_t>(room())) {
      ASSAY_RETURN_IF_ERROR(AddOpen(call, memory, init, counts.elements));
      ASSAY_ASSIGN_OR_RETURN(counts, ReadCounts(call, memory));
      counts.elements = 0;
    }
    if (counts.elements == 0 && counts.results == 0) return absl::OkStatus();
    return ReduceUnfused(call, counts);
  }

  // The sums again, with the elements that the host has made.
  absl::Status AddOpen(const DeviceCall& call, const CallMemory& memory, DeviceAddress init,
                       uint64_t count) const {
    ASSAY_ASSIGN_OR_RETURN(const OpenElements open, RepairOpen(call, step_.Producer(), memory.list, count,
                                                               static_cast<uint64_t>(room())));
    const ReductionPlan& plan = parts_.reduction.plan;
    const auto width = static_cast<size_t>(Bytes(step_.ShapeOf(step_.root().operands[0]).element_type()));
    std::vector<ReducedTerm> terms;
    for (size_t i = 0; i < open.positions.size(); ++i) {
      const int64_t row = open.positions[i] / plan.inner / plan.length,
                    column = open.positions[i] % plan.inner;
      ReducedTerm term{0, static_cast<uint32_t>(row * plan.inner + column), 0};
      std::memcpy(&term.bits, open.elements.data() + i * width, width);
      terms.push_back(term);
    }
    std::stable_sort(terms.begin(), terms.end(),
                     [](const ReducedTerm& a, const ReducedTerm& b) { return a.result < b.result; });
    const std::span<const std::byte> bytes = std::as_bytes(std::span(terms));
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> to,
                           call.device.Allocate(static_cast<int64_t>(bytes.size())));
    ASSAY_RETURN_IF_ERROR(call.device.CopyIn(to->address(), bytes));
    ASSAY_RETURN_IF_ERROR(call.device.Zero(memory.counts, 16));
    ASSAY_RETURN_IF_ERROR(
        Finish(call, memory, init, memory.counts + 8, to->address(), static_cast<int64_t>(terms.size())));
    return call.context.Charge(static_cast<int64_t>(terms.size()));
  }

  absl::Status ReduceUnfused(const DeviceCall& call, const Counts& counts) const {
    if (!parts_.unfused)
      return Fallback(fmt::format("{} and {} need repair", Counted(counts.elements, "element"),
                                  Counted(counts.results, "result")));
    const Unfused& unfused = *parts_.unfused;
    const Instruction& root = step_.root();
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> operand,
                           call.device.Allocate(step_.ShapeOf(root.operands[0]).num_bytes()));
    ASSAY_RETURN_IF_ERROR(
        LaunchFused(call, step_.Producer(), unfused.kernel, *unfused.function, operand->address()));
    const DeviceAddress operands[] = {operand->address(), call.operands[step_.PlaceOf(root.operands[1])]};
    DeviceCall reduce{.device = call.device,
                      .context = call.context,
                      .values = {},
                      .arrays = {},
                      .operands = operands,
                      .results = call.results,
                      .result = call.result,
                      .in_place = false};
    return unfused.reduce->EnqueueFor(reduce);
  }

  const Members step_;
  const Parts parts_;
  int64_t elements_ = 0;
  std::optional<ApproximateMembers> approximate_;
};

std::string WhyNotOneType(const StepView& reduce) {
  const size_t count = reduce.instruction.operands.size() / 2;
  const Shape& result = reduce.result_shape();
  for (size_t k = 0; k < count; ++k) {
    const auto at = static_cast<int64_t>(k);
    const Shape& operand = reduce.operand_shape(at);
    if (const std::string_view why = WhyNotStatic(operand); !why.empty()) return std::string(why);
    if (operand.num_elements() != reduce.operand_shape(0).num_elements()) return "operands of several sizes";
    const ElementType type = operand.element_type();
    const Shape& of_result = result.IsTuple() ? result.elements()[k] : result;
    if (IsComplex(type)) return fmt::format("element type {}", Name(type));
    if (reduce.operand_shape(at + static_cast<int64_t>(count)).element_type() != type ||
        of_result.element_type() != type)
      return "operand, init value and result of more than one type";
  }
  return {};
}

absl::StatusOr<ReductionOrder> OrderOf(const StepView& reduce) {
  const ComputationId reducer = *reduce.instruction.attributes.Computation(Attr::kToApply);
  const bool is_single = reduce.instruction.operands.size() == 2 && reduce.result_shape().IsArray();
  if (is_single && IsExactSum(reduce.module, reducer)) {
    const ElementType type = reduce.operand_shape(0).element_type();
    if (!FloatOf(type)) return NotSupported({}, fmt::format("sums of {}", Name(type)));
    return ReductionOrder::kSum;
  }
  if (is_single && IsAssociative(reduce.module, reducer)) return ReductionOrder::kAny;
  if (IsAssociativeSelection(reduce.module, reducer)) return ReductionOrder::kOwn;
  return NotSupported({}, "the order of the reducer affects the result");
}

absl::StatusOr<ReductionPlan> PlanOf(const StepView& reduce, int multiprocessors) {
  if (std::string why = WhyNotOneType(reduce); !why.empty()) return NotSupported({}, why);
  std::optional<ReductionPlan> plan = ReductionPlanOf(reduce, multiprocessors);
  if (!plan) return NotSupported({}, "the reduced dimensions are no neighbours");
  ASSAY_ASSIGN_OR_RETURN(plan->order, OrderOf(reduce));
  return *plan;
}

// How the parts of sums are added.
absl::Status PrepareFinish(Device& device, ElementType type, ReductionStep::Parts* parts) {
  constexpr int64_t kMostOfWarp = 512;
  const ReductionPlan& plan = parts->reduction.plan;
  ReducedArguments& a = parts->finish_arguments;
  a.results = plan.results();
  a.of_result = plan.parts();
  a.count = static_cast<double>(plan.chunk);
  a.depth = static_cast<double>(parts->reduction.kernel.terms_of_thread + 6);
  a.result_type = *FloatOf(type);
  for (a.group = 1; a.group < 32 && a.group < a.of_result;) a.group *= 2;
  parts->by_block = a.of_result > kMostOfWarp;
  ASSAY_ASSIGN_OR_RETURN(
      parts->finish,
      KernelFunction(device, "reduced",
                     fmt::format("reduced_{}{}", parts->by_block ? "block_" : "", Name(type))));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Unfused>> PrepareUnfused(const std::shared_ptr<Device>& device,
                                                      const FusionView& step, bool approximate) {
  const Members members(step);
  if (step.is_single() || step.root().operands.size() != 2) return std::nullopt;
  const FusionView producer = members.Producer();
  if (producer.members.back() != step.root().operands[0])
    return NotSupported({}, "the reduce does not read the last member");
  Unfused unfused;
  ASSAY_ASSIGN_OR_RETURN(unfused.kernel,
                         MakeFusedPtx(producer, device->properties().capability, approximate));
  ASSAY_ASSIGN_OR_RETURN(unfused.function, device->Load(std::as_bytes(std::span(unfused.kernel.text)),
                                                        std::string(FusedKernel::kName)));
  absl::StatusOr<std::shared_ptr<const Kernel>> reduce =
      PrepareReduce(device, {step.module, step.computation, step.root()});
  if (absl::IsUnimplemented(reduce.status())) return std::nullopt;
  ASSAY_RETURN_IF_ERROR(reduce.status());
  unfused.reduce = std::static_pointer_cast<const DeviceKernel>(*std::move(reduce));
  return unfused;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduction(const std::shared_ptr<Device>& device,
                                                               const FusionView& step, bool approximate) {
  const StepView reduce{step.module, step.computation, step.root()};
  ReductionStep::Parts parts;
  ASSAY_ASSIGN_OR_RETURN(parts.reduction.plan, PlanOf(reduce, device->properties().multiprocessors));
  ASSAY_ASSIGN_OR_RETURN(parts.reduction.kernel, MakeReductionPtx(step, parts.reduction.plan, approximate));
  ASSAY_RETURN_IF_ERROR(parts.reduction.Load(*device));
  const ReductionPlan& plan = parts.reduction.plan;
  if (plan.order == ReductionOrder::kSum) {
    ASSAY_RETURN_IF_ERROR(PrepareFinish(*device, reduce.operand_shape(0).element_type(), &parts));
  } else if (plan.parts() > 1) {
    constexpr int64_t kLeastOfLane = 4;
    Reduction& ends = parts.ends.emplace();
    ends.plan = {.order = plan.order, .outer = plan.results(), .length = plan.parts(), .chunk = plan.parts()};
    while (ends.plan.group < 32 && ends.plan.group * kLeastOfLane <= plan.parts()) ends.plan.group *= 2;
    ASSAY_ASSIGN_OR_RETURN(ends.kernel, MakePartsPtx(step, ends.plan));
    ASSAY_RETURN_IF_ERROR(ends.Load(*device));
  }
  ASSAY_ASSIGN_OR_RETURN(parts.unfused, PrepareUnfused(device, step, parts.reduction.kernel.is_approximate));
  return std::make_shared<const ReductionStep>(device, step, std::move(parts));
}

std::string WhyNoReduction(const StepView& reduce) {
  const absl::StatusOr<ReductionPlan> plan = PlanOf(reduce, 1);
  return plan.ok() ? std::string() : std::string(plan.status().message());
}

}  // namespace assay::gpu
