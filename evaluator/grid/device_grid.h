// How many devices a program runs on. Decided when it runs, not when it is read (Decision: device-counts):
// until then a count that the header leaves out, or says to be 1, is open.
#ifndef ASSAY_EVALUATOR_GRID_DEVICE_GRID_H_
#define ASSAY_EVALUATOR_GRID_DEVICE_GRID_H_

#include "base/error.h"
#include "evaluator/device.h"
#include "hlo/module.h"

namespace assay {

// A collective or a transfer between devices: how many there are matters to it.
bool IsCollectiveOrTransfer(const Instruction& instruction);

// The instruction takes a value from the host, or gives it one, while the program runs.
bool MeetsHost(const Instruction& instruction);

// The collectives that the entry computation reaches hold on this grid: ids are in range and, where the op
// wants it, all of them listed, and shapes fit the sizes of groups. InvalidProgram with the label of the
// violated constraint, at the instruction.
absl::Status CheckDevices(const Module& module, const DeviceGrid& grid);

// The smallest grid on which the program runs; counts above 0 in `given` stand as they are, the header's, if
// it says some, where `given` has 0. A program with manual regions has the devices of their meshes, and is
// logical. Errors: CheckDevices' where no grid will do; LimitExceeded beyond kMaxDevices.
absl::StatusOr<DeviceGrid> ResolveDeviceGrid(const Module& module, const DeviceGrid& given);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_GRID_DEVICE_GRID_H_
