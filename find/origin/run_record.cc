#include "find/origin/run_record.h"

#include <algorithm>
#include <utility>

#include "base/hash_map.h"
#include "evaluator/eval_context.h"
#include "find/values/value_names.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// Of one device.
class StepRecorder final : public CallWatch {
 public:
  StepRecorder(const Module& module, RecordedDevice& device, int64_t devices, const RecordOptions& options)
      : CallWatch(module),
        device_(device),
        options_(options),
        devices_(devices),
        steps_left_(std::max<int64_t>(1, options.max_steps / devices)) {}

  int64_t left_out() const { return left_out_; }

 protected:
  absl::Status Take(EvalContext& context, int32_t instruction, std::span<const Literal> operands,
                    const Literal& result) override {
    if (bytes_left_ < 0) {
      const double room = options_.memory_share * static_cast<double>(context.run().budget()->limit());
      bytes_left_ = static_cast<int64_t>(room / static_cast<double>(devices_));
    }
    if (!options_.keeps(context.instruction(), operands, result)) return absl::OkStatus();
    if (steps_left_ == 0 || !TakeRoom(operands, result)) {
      ++left_out_;
      return absl::OkStatus();
    }
    --steps_left_;
    RecordedCall* call = device_.entry.get();
    for (const ActiveCall& inner : calls().subspan(1)) call = &CallAt(module(), *call, inner.place);
    const int64_t order = std::ssize(device_.order);
    call->steps[instruction] = {result,
                                {operands.begin(), operands.end()},
                                order,
                                context.instruction().opcode == Opcode::kWhile ? iterations() : -1};
    device_.order.emplace_back(call, instruction);
    return absl::OkStatus();
  }

 private:
  // Arrays in one storage are counted once.
  bool TakeRoom(std::span<const Literal> operands, const Literal& result) {
    int64_t bytes = 256;
    std::vector<const std::byte*> added;
    const auto add = [&](const ShapeIndex&, const Literal& leaf) {
      if (!leaf.shape().IsArray() || leaf.bytes().empty() || kept_.contains(leaf.data())) return;
      if (std::find(added.begin(), added.end(), leaf.data()) != added.end()) return;
      added.push_back(leaf.data());
      bytes += static_cast<int64_t>(leaf.bytes().size());
    };
    for (const Literal& operand : operands) ForEachLeaf(operand, add);
    ForEachLeaf(result, add);
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    kept_.insert(added.begin(), added.end());
    return true;
  }

  RecordedDevice& device_;
  const RecordOptions& options_;
  const int64_t devices_;
  int64_t steps_left_, bytes_left_ = -1, left_out_ = 0;
  HashSet<const std::byte*> kept_;
};

}  // namespace

RecordedCall& CallAt(const Module& module, RecordedCall& around, const CallPlace& place) {
  std::unique_ptr<RecordedCall>& call = around.calls[{place.caller, place.is_condition, place.iteration}];
  if (call == nullptr) {
    call = std::make_unique<RecordedCall>();
    call->place = place;
    call->around = &around;
    const Instruction& caller =
        module.computation(around.place.computation).instructions[static_cast<size_t>(place.caller)];
    call->path = around.path + CallName(caller, place);
  }
  return *call;
}

absl::StatusOr<RunRecord> RecordRun(const Plan& plan, const DeviceGrid& grid,
                                    std::vector<DeviceInputs> inputs, const RunOptions& run,
                                    const RecordOptions& options) {
  RunRecord record;
  record.module = plan.module;
  record.grid = grid;
  const int64_t devices = grid.logical ? 1 : grid.size();
  record.devices.resize(static_cast<size_t>(devices));
  std::vector<std::unique_ptr<StepRecorder>> recorders;
  std::vector<StepObserver*> observers;
  for (int64_t id = 0; id < devices; ++id) {
    RecordedDevice& device = record.devices[static_cast<size_t>(id)];
    device.prefix = devices > 1 ? grid.NameOf(id) + "/" : "";
    device.arguments = inputs[static_cast<size_t>(id)].arguments;
    device.entry = std::make_unique<RecordedCall>();
    device.entry->place.computation = plan.module->entry;
    device.entry->path = device.prefix;
    recorders.push_back(std::make_unique<StepRecorder>(*plan.module, device, devices, options));
    observers.push_back(recorders.back().get());
  }
  ASSAY_ASSIGN_OR_RETURN(record.outputs, RunObservedDevices(plan, grid, std::move(inputs), run, observers));
  for (const auto& recorder : recorders) record.left_out += recorder->left_out();
  return record;
}

}  // namespace assay
