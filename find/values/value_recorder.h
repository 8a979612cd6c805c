// The intermediate values of a run by name, within limits.
#ifndef ASSAY_FIND_VALUES_VALUE_RECORDER_H_
#define ASSAY_FIND_VALUES_VALUE_RECORDER_H_

#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/hash_map.h"
#include "devices/run_devices.h"
#include "find/values/call_watch.h"
#include "run/inputs/program_io.h"
#include "run/program.h"

namespace assay {

struct ValuesOptions {
  std::optional<std::regex> only;  // names that it is found in; nullopt: all
  int64_t max_values = 100'000;
  // Values take no more of the memory limit than this share, in all.
  double memory_share = 0.5;
};

struct RunValues {
  NamedLiterals values;  // in the order in which they were computed; one device behind the other
  int64_t left_out = 0;  // values that a limit kept out
  std::string first_left_out;
  int64_t not_run = 0;  // instructions of the computations that ran which no result and no effect needs
  std::map<std::string, int64_t> iterations;  // of loops, by name
  std::vector<DeviceOutputs> outputs;         // of the run
};

// Runs the program by the reference's bits, one step an instruction. Errors are the run's, and NotSupported
// where the devices are of several processes.
absl::StatusOr<RunValues> RunForValues(const Program& program, const DeviceGrid& grid,
                                       std::vector<DeviceInputs> inputs, const RunOptions& run,
                                       const ValuesOptions& options);

// "3 values were left out, from 'add.5' on: …": a line for each fact that the file of values does not show.
std::vector<std::string> NotesOf(const RunValues& values);

}  // namespace assay

#endif  // ASSAY_FIND_VALUES_VALUE_RECORDER_H_
