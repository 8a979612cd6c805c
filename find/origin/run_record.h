// What a run computed, kept for questions that are asked afterwards: steps with their operands, by the call
// that they stand in.
#ifndef ASSAY_FIND_ORIGIN_RUN_RECORD_H_
#define ASSAY_FIND_ORIGIN_RUN_RECORD_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "devices/run_devices.h"
#include "find/values/call_watch.h"
#include "run/program.h"

namespace assay {

struct RecordedStep {
  Literal result;
  std::vector<Literal> operands;
  int64_t order = 0;        // in which its device computed it
  int64_t iterations = -1;  // of a while; -1: another instruction, or a loop without a step to count them by
};

// A call of a computation in which something was recorded, or that was asked for.
struct RecordedCall {
  CallPlace place;
  RecordedCall* around = nullptr;  // null: the entry computation
  std::string path;                // "call.3/while.1/it0002/"
  std::map<int32_t, RecordedStep> steps;
  std::map<std::tuple<int32_t, bool, int64_t>, std::unique_ptr<RecordedCall>> calls;

  const RecordedStep* StepOf(int32_t instruction) const {
    const auto it = steps.find(instruction);
    return it == steps.end() ? nullptr : &it->second;
  }
};
// The call at this place inside of another; an empty one where nothing was recorded in it.
RecordedCall& CallAt(const Module& module, RecordedCall& around, const CallPlace& place);

struct RecordedDevice {
  std::string prefix;  // "r0p1/"; empty: there is one device
  std::vector<Literal> arguments;
  std::unique_ptr<RecordedCall> entry;
  std::vector<std::pair<RecordedCall*, int32_t>> order;  // of the steps
};

struct RunRecord {
  std::shared_ptr<const Module> module;
  DeviceGrid grid;
  std::vector<RecordedDevice> devices;
  int64_t left_out = 0;  // steps that should have been kept, and for which there was no room
  std::vector<DeviceOutputs> outputs;
};

struct RecordOptions {
  // Which steps are kept; it is called by several threads.
  std::function<bool(const Instruction& instruction, std::span<const Literal> operands,
                     const Literal& result)>
      keeps;
  int64_t max_steps = 200'000;
  double memory_share = 0.5;  // of the memory limit, for what is kept of all devices
};

// Runs the program once, by ObservedPlan. Errors are the run's.
absl::StatusOr<RunRecord> RecordRun(const Plan& plan, const DeviceGrid& grid,
                                    std::vector<DeviceInputs> inputs, const RunOptions& run,
                                    const RecordOptions& options);

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_RUN_RECORD_H_
