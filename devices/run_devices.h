// Runs a plan on several devices, each on a thread of its own: all of this process,
// or of those that mpirun started together.
#ifndef ASSAY_DEVICES_RUN_DEVICES_H_
#define ASSAY_DEVICES_RUN_DEVICES_H_

#include <span>
#include <vector>

#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "plan/plan.h"
#include "plan/step_observer.h"
#include "run/executor.h"

namespace assay {

// Inputs of a device: one literal for each parameter of the entry computation,
// and the contents of the host's queues.
struct DeviceInputs {
  std::vector<Literal> arguments;
  ProcessState process;
};

struct DeviceOutputs {
  Literal root;
  ProcessState process;  // host outputs
  RunStatistics statistics;
  // Of the run itself: what makes ready for it and clears up is not part. 0 of other processes' devices.
  double seconds = 0;
};

// Runs the plan on the executor's device; `outputs` are filled as far as they go also where the run fails.
absl::Status RunOne(Executor& executor, DeviceInputs inputs, StepObserver* observer, DeviceOutputs& outputs);

// Runs the entry computation on each device of the grid: inputs and outputs by id. Limits of memory and time
// are those of all devices together, --max-steps is each one's. `observer`, if any, is called for
// the steps of device 0; on a single device, a sampled cross-check selects runs by `counts`
// (Executor::CountRunsIn).
//
// Results do not depend on timing. The first error is that of the device which had counted least; the others
// end when they have counted as much. Errors: CheckDevices' where the program does not fit the grid; those of
// the runs, with the device's name; EvalError for a deadlock, with the devices that wait.
absl::StatusOr<std::vector<DeviceOutputs>> RunDevices(const Plan& plan, const DeviceGrid& grid,
                                                      std::vector<DeviceInputs> inputs, RunOptions options,
                                                      StepObserver* observer = nullptr,
                                                      RunCounts* counts = nullptr);

// The same with an observer for each device from the first on, as far as there are observers; each is called
// by its device's thread. NotSupported where the devices are of several processes.
absl::StatusOr<std::vector<DeviceOutputs>> RunObservedDevices(const Plan& plan, const DeviceGrid& grid,
                                                              std::vector<DeviceInputs> inputs,
                                                              RunOptions options,
                                                              std::span<StepObserver* const> observers);

}  // namespace assay

#endif  // ASSAY_DEVICES_RUN_DEVICES_H_
