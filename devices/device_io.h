// Inputs and outputs of several devices by name, as .npz files and goldens hold them: the keys of
// run/inputs/program_io.h, for one device with its name before them: r0p1/arg0, r1p0/out2. An input without a
// name is every device's. Outputs have none where all devices give the same, nor have those of programs that
// work on whole values (DeviceGrid::logical).
#ifndef ASSAY_DEVICES_DEVICE_IO_H_
#define ASSAY_DEVICES_DEVICE_IO_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "devices/run_devices.h"
#include "evaluator/verify.h"
#include "literal/npz.h"
#include "run/inputs/program_io.h"

namespace assay {

// The part of a key behind the device's name, or the whole key.
std::string_view WithoutDevice(std::string_view key);

// What each device of the grid is given. BadInput: as ArgumentsFrom's,
// and for names of devices that are not there.
absl::StatusOr<std::vector<DeviceInputs>> InputsOfDevices(const VerifiedModule& module,
                                                          const DeviceGrid& grid,
                                                          const std::map<std::string, NpyArray>& arrays);
absl::StatusOr<std::vector<DeviceInputs>> InputsOfDevices(const VerifiedModule& module,
                                                          const DeviceGrid& grid,
                                                          const std::map<std::string, Literal>& values);
// Device number i draws by seed + i.
absl::StatusOr<std::vector<DeviceInputs>> RandomInputsOfDevices(const VerifiedModule& module,
                                                                const DeviceGrid& grid, uint64_t seed);

// Results, and what was sent to the host (AllResults): one set where the devices agree to the last bit, else
// each device's.
NamedLiterals ResultsOfDevices(const DeviceGrid& grid, const std::vector<DeviceOutputs>& outputs);

}  // namespace assay

#endif  // ASSAY_DEVICES_DEVICE_IO_H_
