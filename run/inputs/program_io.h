// Arguments and results of a program by name, as .npz files hold them:
//   arg0, arg1, …; a leaf of a tuple parameter: arg1.0, arg1.0.2; results out0, out1, …: a bare array is
//   out0, leaves of a root tuple out0, out1, …, nested ones out1.0; items of the infeed queue infeed0, …;
//   what is received from the host on channel 3 host_recv3/0, …, with a handler name host_recv3/NAME/0, …; a
//   token has no key.
// Opaque parameters can't be given.
#ifndef ASSAY_RUN_INPUTS_PROGRAM_IO_H_
#define ASSAY_RUN_INPUTS_PROGRAM_IO_H_

#include <map>
#include <string>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/verify.h"
#include "literal/npz.h"

namespace assay {

using NamedLiterals = std::vector<std::pair<std::string, Literal>>;

// The array leaves of a value, keys from `prefix`: "arg1" or "arg1.0", …
NamedLiterals LeavesOf(const std::string& prefix, const Literal& value);
// The same of each argument: arg0, arg1.0, ...
std::map<std::string, Literal> LeavesOfArguments(const std::vector<Literal>& arguments);
// The results of a program, by the rule for out0, out1, … ; dynamic dimensions cropped to their run-time
// sizes.
NamedLiterals ResultsOf(const Literal& root);
// Results, and what the program sent to the host: items of the outfeed queue outfeed0, ...; values of host
// channel 3 host_send3/0, host_send3/1, ..., with a handler name host_send3/NAME/0;
// values of probe ID probe/ID.0, ....
NamedLiterals AllResults(const Literal& root, const ProcessState& process);
// The live part of an array: static, of the run-time sizes.
Literal CropToRuntimeSizes(const Literal& array);

// One line for each array that the program takes: "arg1.0  f32[2,3]".
std::string DescribeParameters(const VerifiedModule& module);

// Arguments from the arrays of a file. BadInput: missing or extra keys, wrong shape or type. Keys that start
// with "infeed" or "host_recv" fill the queues of `process` in order; null: such keys are extra. A dynamic
// parameter may be given at any run-time size within its bounds.
absl::StatusOr<std::vector<Literal>> ArgumentsFrom(const VerifiedModule& module,
                                                   const std::map<std::string, NpyArray>& arrays,
                                                   ProcessState* process);
// The same from values that have shapes already (goldens).
absl::StatusOr<std::vector<Literal>> ArgumentsFrom(const VerifiedModule& module,
                                                   const std::map<std::string, Literal>& values,
                                                   ProcessState* process);

}  // namespace assay

#endif  // ASSAY_RUN_INPUTS_PROGRAM_IO_H_
