#include "find/values/value_recorder.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/counted.h"
#include "evaluator/eval_context.h"
#include "find/values/value_names.h"
#include "fmt/format.h"
#include "literal/leaves.h"
#include "plan/live.h"

namespace assay {
namespace {

// Longer ones are left out: a zip file has 16 bits for the length of a member's name, and std::regex takes
// stack for each character that it looks at.
constexpr size_t kMaxName = 4000;

// Of one device.
class ValueRecorder final : public CallWatch {
 public:
  ValueRecorder(const Module& module, std::string prefix, int64_t devices, const ValuesOptions& options)
      : CallWatch(module),
        prefix_(std::move(prefix)),
        options_(options),
        devices_(devices),
        values_left_(std::max<int64_t>(1, options.max_values / devices)) {}

  // Adds what was recorded to that of other devices.
  void Finish(RunValues& all, std::set<int32_t>& ran) && {
    for (auto& value : values_) all.values.push_back(std::move(value));
    if (all.left_out == 0) all.first_left_out = std::move(first_left_out_);
    all.left_out += left_out_;
    all.iterations.merge(iterations_);
    ran.merge(ran_);
  }

 protected:
  absl::Status Take(EvalContext& context, int32_t, std::span<const Literal>, const Literal& result) override {
    ran_.insert(calls().back().place.computation.value);
    if (bytes_left_ < 0) {
      const double room = options_.memory_share * static_cast<double>(context.run().budget()->limit());
      bytes_left_ = static_cast<int64_t>(room / static_cast<double>(devices_));
    }
    const Instruction& instruction = context.instruction();
    if (!IsRecorded(instruction)) return absl::OkStatus();
    const std::string path = prefix_ + calls().back().path;
    if (instruction.opcode == Opcode::kWhile)
      iterations_[path + LeafName(instruction, {})] = std::max<int64_t>(0, iterations());
    ForEachLeaf(result, [&](const ShapeIndex& index, const Literal& leaf) {
      if (leaf.shape().IsArray()) Record(path + LeafName(instruction, index), leaf);
    });
    return absl::OkStatus();
  }

 private:
  void Record(std::string name, const Literal& array) {
    const bool is_long = name.size() > kMaxName;
    if (!is_long && options_.only && !std::regex_search(name, *options_.only)) return;
    const int64_t bytes = static_cast<int64_t>(array.bytes().size() + name.size());
    if (values_left_ == 0 || bytes > bytes_left_ || is_long) {
      if (left_out_++ == 0) first_left_out_ = std::move(name);
      return;
    }
    --values_left_;
    bytes_left_ -= bytes;
    // Of instructions with one name, which protos may have, the second is "add~2".
    std::string key = name;
    for (int64_t n = 2; !names_.insert(key).second; ++n) key = fmt::format("{}~{}", name, n);
    values_.emplace_back(std::move(key), array.shape().HasDynamic() ? CropToRuntimeSizes(array) : array);
  }

  const std::string prefix_;
  const ValuesOptions& options_;
  const int64_t devices_;
  int64_t values_left_, bytes_left_ = -1;
  NamedLiterals values_;
  HashSet<std::string> names_;
  std::map<std::string, int64_t> iterations_;
  std::set<int32_t> ran_;
  int64_t left_out_ = 0;
  std::string first_left_out_;
};

int64_t CountNotRun(const Module& module, const std::set<int32_t>& ran) {
  const std::vector<std::vector<bool>> live = LiveInstructions(module);
  int64_t count = 0;
  for (const int32_t id : ran) {
    const std::vector<Instruction>& instructions = module.computations[static_cast<size_t>(id)].instructions;
    for (size_t k = 0; k < instructions.size(); ++k)
      count += !live[static_cast<size_t>(id)][k] && IsRecorded(instructions[k]) ? 1 : 0;
  }
  return count;
}

}  // namespace

absl::StatusOr<RunValues> RunForValues(const Program& program, const DeviceGrid& grid,
                                       std::vector<DeviceInputs> inputs, const RunOptions& run,
                                       const ValuesOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, ObservedPlan(program));
  // Where values are whole ones, those of all devices are the same.
  const int64_t devices = grid.logical ? 1 : grid.size();
  std::vector<std::unique_ptr<ValueRecorder>> recorders;
  std::vector<StepObserver*> observers;
  for (int64_t id = 0; id < devices; ++id) {
    const std::string prefix = devices > 1 ? grid.NameOf(id) + "/" : "";
    recorders.push_back(std::make_unique<ValueRecorder>(*plan.module, prefix, devices, options));
    observers.push_back(recorders.back().get());
  }
  RunValues result;
  ASSAY_ASSIGN_OR_RETURN(result.outputs, RunObservedDevices(plan, grid, std::move(inputs), run, observers));
  std::set<int32_t> ran;
  for (const std::unique_ptr<ValueRecorder>& recorder : recorders) std::move(*recorder).Finish(result, ran);
  result.not_run = CountNotRun(*plan.module, ran);
  return result;
}

std::vector<std::string> NotesOf(const RunValues& values) {
  std::vector<std::string> notes;
  if (values.left_out > 0) {
    notes.push_back(fmt::format(
        "{} left out, '{}' the first: the limit is on their number or a share of --memory-limit; --only "
        "selects some",
        Counted(values.left_out, "value"), values.first_left_out));
  }
  if (values.not_run > 0) {
    notes.push_back(fmt::format("{} of the program did not run: no result and no effect needs them",
                                Counted(values.not_run, "instruction")));
  }
  return notes;
}

}  // namespace assay
