#include "gpu/reduce_step.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/kernels/reduce_arguments.h"
#include "gpu/line_plan.h"
#include "gpu/reducer.h"
#include "gpu/resident.h"
#include "gpu/strided.h"

namespace assay::gpu {
namespace {

constexpr int64_t kMaxTerms = int64_t{1} << 30, kMaxResults = (int64_t{1} << 32) - 1;

struct Box {
  Strides kept, reduced;
  int64_t results = 1, terms = 1;
};

absl::StatusOr<Box> BoxOf(const StepView& step) {
  const Shape& operand = step.operand_shape(0);
  const std::span<const int64_t> dimensions = step.instruction.attributes.List(Attr::kDimensions);
  DimVector kept, reduced;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const bool goes = std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
    (goes ? reduced : kept).push_back(d);
  }
  const std::optional<Strides> left = StridesOf(AxesOf(operand.sizes(), kept));
  const std::optional<Strides> gone = StridesOf(AxesOf(operand.sizes(), reduced));
  if (!left || !gone) return NotSupported({}, fmt::format("more than {} dimensions", kMaxDimensions));
  const Box box{*left, *gone, SizeOf(*left), SizeOf(*gone)};
  if (box.terms > kMaxTerms || box.results > kMaxResults)
    return NotSupported(
        {}, fmt::format("{} of {}", Counted(box.results, "result"), Counted(box.terms, "element")));
  return box;
}

// Neighbouring lanes read neighbouring elements, and there are threads enough to keep the device busy: by
// parts of the results where there are few of these.
ReducePlan PlanFor(const Device& device, const Box& box) {
  constexpr int64_t kThreadsOfMultiprocessor = 2048, kLeastOfThread = 8;
  ReducePlan plan{box.kept, box.reduced, 1, 1};
  const bool is_row = box.reduced.rank > 0 && box.reduced.strides[box.reduced.rank - 1] == 1;
  while (is_row && plan.group < 32 && plan.group * kLeastOfThread < box.terms) plan.group *= 2;
  const int64_t threads = kThreadsOfMultiprocessor * std::max(1, device.properties().multiprocessors);
  const int64_t wanted = threads / std::max<int64_t>(1, box.results * plan.group);
  const int64_t most = box.terms / (plan.group * kLeastOfThread);
  plan.parts = std::max<int64_t>(1, std::min(wanted, most));
  return plan;
}

LaunchShape ReduceShape(const ReducePlan& plan) {
  return {.blocks = {static_cast<uint32_t>(ReduceBlocks(plan)), 1, 1}, .threads = {kReduceThreads, 1, 1}};
}

LaunchShape RepairShape(const Device& device, int64_t results) {
  return {.blocks = {BlocksFor(device, results * 32, kSumRepairThreads), 1, 1},
          .threads = {kSumRepairThreads, 1, 1},
          .shared_bytes = kSumRepairSharedBytes};
}

class SumStep final : public DeviceKernel {
 public:
  struct Functions {
    const DeviceFunction *sum, *finish, *repair;
  };
  SumStep(std::shared_ptr<Device> device, const Functions& functions, const ReducePlan& plan, Float type)
      : DeviceKernel(std::move(device)), functions_(functions), plan_(plan), type_(type) {}

  std::string_view algorithm() const override { return "exact sums"; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    Device& device = call.device;
    const int64_t results = SizeOf(plan_.kept);
    const int64_t parts =
        plan_.parts == 1 ? 0 : results * plan_.parts * static_cast<int64_t>(sizeof(SumPart));
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> memory,
                           device.Allocate(parts + 8 + 4 * results));
    const DeviceAddress open_count = memory->address() + static_cast<uint64_t>(parts);
    const SumArguments sum{.plan = plan_,
                           .input = call.operands[0],
                           .init = call.operands[1],
                           .result = call.result,
                           .parts = memory->address(),
                           .open = open_count + 8,
                           .open_count = open_count,
                           .result_type = type_};
    ASSAY_RETURN_IF_ERROR(device.Zero(open_count, 8));
    ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.sum, ReduceShape(plan_), sum));
    if (parts > 0) {
      constexpr int64_t kResultsOfBlock = kReduceThreads / 32;
      const auto blocks = static_cast<uint32_t>((results + kResultsOfBlock - 1) / kResultsOfBlock);
      ASSAY_RETURN_IF_ERROR(device.Launch(
          *functions_.finish, {.blocks = {blocks, 1, 1}, .threads = {kReduceThreads, 1, 1}}, sum));
    }
    return device.Launch(*functions_.repair, RepairShape(device, results), sum);
  }

  const Functions functions_;
  const ReducePlan plan_;
  const Float type_;
};

class FoldStep final : public DeviceKernel {
 public:
  FoldStep(std::shared_ptr<Device> device, const DeviceFunction& function, const FoldArguments& fold,
           int64_t width)
      : DeviceKernel(std::move(device)), function_(function), fold_(fold), width_(width) {}

  std::string_view algorithm() const override { return "in any order"; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    FoldArguments fold = fold_;
    fold.input = call.operands[0];
    fold.init = call.operands[1];
    fold.result = call.result;
    if (fold.plan.parts == 1) return call.device.Launch(function_, ReduceShape(fold.plan), fold);
    const int64_t results = SizeOf(fold.plan.kept), parts = fold.plan.parts;
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<DeviceMemory> memory,
                           call.device.Allocate(results * parts * width_));
    fold.init = 0;
    fold.result = memory->address();
    ASSAY_RETURN_IF_ERROR(call.device.Launch(function_, ReduceShape(fold.plan), fold));
    const Axis of_results{results, {parts, 0}}, of_parts{parts, {1, 0}};
    fold.plan = {*StridesOf({&of_results, 1}), *StridesOf({&of_parts, 1}), 1, 32};
    fold.input = memory->address();
    fold.init = call.operands[1];
    fold.result = call.result;
    return call.device.Launch(function_, ReduceShape(fold.plan), fold);
  }

  const DeviceFunction& function_;
  const FoldArguments fold_;
  const int64_t width_;
};

// A sum or fold over lines in one launch, and a sum's repair.
class LineStep final : public DeviceKernel {
 public:
  // `repair`: of sums, whose elements `dimensions` says.
  LineStep(std::shared_ptr<Device> device, const DeviceFunction& function, const DeviceFunction* repair,
           LinePlan plan, const ReducePlan& dimensions)
      : DeviceKernel(std::move(device)),
        function_(function),
        repair_(repair),
        plan_(plan),
        dimensions_(dimensions) {}

  std::string_view algorithm() const override { return repair_ != nullptr ? "exact sums" : "in any order"; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    Device& device = call.device;
    const int64_t results = SizeOf(dimensions_.kept);
    LineArguments a = plan_.arguments;
    a.input = call.operands[0];
    a.init = call.operands[1];
    a.result = call.result;
    // What is zeroed stands in front: the count of open results, and the counters.
    const int64_t zeroed = (repair_ != nullptr ? 8 : 0) + (plan_.counters + 1) / 2 * 8;
    const int64_t open = repair_ != nullptr ? (results + 7) / 8 * 32 : 0;
    std::shared_ptr<DeviceMemory> memory;
    if (zeroed > 0) {
      const int64_t first = (zeroed + 31) / 32 * 32;
      ASSAY_ASSIGN_OR_RETURN(memory, device.Allocate(first + open + plan_.partial_bytes));
      ASSAY_RETURN_IF_ERROR(device.Zero(memory->address(), zeroed));
      a.open_count = memory->address();
      a.counters = memory->address() + (repair_ != nullptr ? 8 : 0);
      a.open = memory->address() + static_cast<uint64_t>(first);
      a.partial = a.open + static_cast<uint64_t>(open);
    }
    ASSAY_RETURN_IF_ERROR(device.Launch(function_, plan_.launch(), a));
    if (repair_ == nullptr) return absl::OkStatus();
    const SumArguments sum{.plan = dimensions_,
                           .input = a.input,
                           .init = a.init,
                           .result = a.result,
                           .open = a.open,
                           .open_count = a.open_count,
                           .result_type = a.result_type};
    return device.Launch(*repair_, RepairShape(device, results), sum);
  }

  const DeviceFunction& function_;
  const DeviceFunction* const repair_;
  const LinePlan plan_;
  const ReducePlan dimensions_;
};

// The kernel of fold_lines.cu of an operation, and what its arguments say of it.
std::string SetLineFold(const FoldingArguments& folding, int64_t bytes, LineArguments* a) {
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  a->infinity = folding.infinity;
  a->nan = folding.nan;
  switch (folding.op) {
    case FoldOp::kMax:
    case FoldOp::kMin:
      if (folding.kind == FoldKind::kFloat) {
        a->flip = folding.op == FoldOp::kMin ? sign : 0;
        return fmt::format("float_{}", bytes);
      }
      a->flip =
          (folding.op == FoldOp::kMin ? ~uint64_t{0} : 0) ^ (folding.kind == FoldKind::kSigned ? sign : 0);
      return fmt::format("max_{}", bytes);
    case FoldOp::kAnd:
      a->flip = ~uint64_t{0};
      return fmt::format("or_{}", bytes);
    case FoldOp::kOr:
      return fmt::format("or_{}", bytes);
    case FoldOp::kXor:
      return fmt::format("xor_{}", bytes);
    case FoldOp::kAdd:
      return fmt::format("add_{}", bytes);
    case FoldOp::kMultiply:
      return fmt::format("multiply_{}", bytes);
  }
  return "";
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareLines(const std::shared_ptr<Device>& device,
                                                           LinePlan plan, const Box& box,
                                                           const DeviceReducer& kind, ElementType type) {
  const DeviceFunction *function = nullptr, *repair = nullptr;
  if (kind.sum) {
    plan.arguments.result_type = *kind.sum;
    ASSAY_ASSIGN_OR_RETURN(
        function, KernelFunction(*device, "sum_lines", fmt::format("sum_{}_{}", plan.shape, Name(type))));
    ASSAY_ASSIGN_OR_RETURN(repair,
                           KernelFunction(*device, "reduce", fmt::format("sum_repair_{}", Name(type))));
  } else {
    const std::string operation = SetLineFold(kind.folding, Bytes(type), &plan.arguments);
    ASSAY_ASSIGN_OR_RETURN(
        function, KernelFunction(*device, "fold_lines", fmt::format("fold_{}_{}", plan.shape, operation)));
  }
  return std::make_shared<const LineStep>(device, *function, repair, plan,
                                          ReducePlan{box.kept, box.reduced, 1, 1});
}

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSum(const std::shared_ptr<Device>& device,
                                                         const ReducePlan& plan, Float type,
                                                         ElementType element) {
  SumStep::Functions functions{};
  const std::string suffix(Name(element));
  ASSAY_ASSIGN_OR_RETURN(functions.sum, KernelFunction(*device, "reduce", "sum_" + suffix));
  ASSAY_ASSIGN_OR_RETURN(functions.finish, KernelFunction(*device, "reduce", "sum_finish_" + suffix));
  ASSAY_ASSIGN_OR_RETURN(functions.repair, KernelFunction(*device, "reduce", "sum_repair_" + suffix));
  return std::make_shared<const SumStep>(device, functions, plan, type);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareReduce(const std::shared_ptr<Device>& device,
                                                            const StepView& step) {
  if (step.instruction.operands.size() != 2) return NotSupported({}, "several operands");
  const ElementType type = step.operand_shape(0).element_type();
  if (step.operand_shape(1).element_type() != type || step.result_shape().element_type() != type)
    return NotSupported({}, "operand, init value and result of more than one type");
  const ComputationId reducer = *step.instruction.attributes.Computation(Attr::kToApply);
  ASSAY_ASSIGN_OR_RETURN(const Box box, BoxOf(step));
  ASSAY_ASSIGN_OR_RETURN(const DeviceReducer kind, DeviceReducerOf(step.module, reducer, type));
  const int64_t bytes = Bytes(type);
  const LineElements elements{.bytes = bytes,
                              .state_bytes = kind.sum ? kSumStateBytes : FoldStateBytes(bytes),
                              .columns = kind.sum ? SumColumns(bytes) : FoldColumns(bytes)};
  if (std::optional<LinePlan> lines = LinePlanOf(device->properties(), box.kept, box.reduced, elements))
    return PrepareLines(device, *lines, box, kind, type);
  const ReducePlan plan = PlanFor(*device, box);
  if (kind.sum) return PrepareSum(device, plan, *kind.sum, type);
  const FoldArguments fold{.plan = plan, .folding = kind.folding};
  ASSAY_ASSIGN_OR_RETURN(const DeviceFunction* const function,
                         KernelFunction(*device, "fold", fmt::format("fold_{}", Bytes(type))));
  return std::make_shared<const FoldStep>(device, *function, fold, Bytes(type));
}

}  // namespace assay::gpu
