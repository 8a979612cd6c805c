// A run whose devices are shared out among processes that mpirun started: each has a part of them, on
// threads; the first process is where all of them meet.
#ifndef ASSAY_DEVICES_MANY_PROCESSES_H_
#define ASSAY_DEVICES_MANY_PROCESSES_H_

#include <vector>

#include "devices/run_devices.h"
#include "devices/transport.h"

namespace assay {

// As RunDevices, in each of the processes, with the same program, inputs and options; each gets the outputs
// of all devices. The results are those of a run in one process, to the bit. EvalError:
// the processes run different programs.
absl::StatusOr<std::vector<DeviceOutputs>> RunOnProcesses(Transport& transport, const Plan& plan,
                                                          const DeviceGrid& grid,
                                                          std::vector<DeviceInputs> inputs,
                                                          RunOptions options);

}  // namespace assay

#endif  // ASSAY_DEVICES_MANY_PROCESSES_H_
