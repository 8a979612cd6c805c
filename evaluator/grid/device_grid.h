// How many devices a program runs on. Decided when it runs, not when it is read (Decision: device-counts):
// until then a count that the header omits, or gives as 1, is open.
#ifndef ASSAY_EVALUATOR_GRID_DEVICE_GRID_H_
#define ASSAY_EVALUATOR_GRID_DEVICE_GRID_H_

#include "base/error.h"
#include "evaluator/device.h"
#include "hlo/module.h"

namespace assay {

// True for collectives and transfers between devices, whose meaning depends on the number of devices.
bool IsCollectiveOrTransfer(const Instruction& instruction);

// True if the instruction receives a value from the host, or sends one, while the program runs.
bool MeetsHost(const Instruction& instruction);

// Checks the collectives that the entry computation reaches on this grid: ids are in range and, where the op
// wants it, all of them listed, and shapes fit the sizes of groups. InvalidProgram with the label of the
// violated constraint, at the instruction.
absl::Status CheckDevices(const Module& module, const DeviceGrid& grid);

// The smallest grid on which the program runs; counts above 0 in `given` are used; where `given` is 0,
// those of the header, if any. A program with manual regions has the devices of their meshes, and is
// logical. Errors: CheckDevices' where no grid fits; LimitExceeded beyond kMaxDevices.
absl::StatusOr<DeviceGrid> ResolveDeviceGrid(const Module& module, const DeviceGrid& given);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_GRID_DEVICE_GRID_H_
