// Outputs of a program by key: out0, out1, out1.0, … (run/inputs/program_io.h).
#ifndef ASSAY_CHECK_BACKENDS_OUTPUT_KEYS_H_
#define ASSAY_CHECK_BACKENDS_OUTPUT_KEYS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hlo/module.h"
#include "literal/npz.h"

namespace assay {

// The arrays of the entry computation's result, in order; a token has no key.
std::vector<std::pair<std::string, Shape>> OutputsOf(const Module& module);

// The arrays of a file of outputs; a lone .npy holds the one output of a program. Errors: ReadNpzFile's.
absl::StatusOr<std::map<std::string, NpyArray>> ReadOutputs(const std::string& path);
// Values of the outputs' shapes from the arrays of a file. One that the file lacks is left out, and keys of
// no output are passed over. BadInput: another type or sizes.
absl::StatusOr<std::map<std::string, Literal>> DecodeOutputs(const Module& module,
                                                             const std::map<std::string, NpyArray>& arrays);

}  // namespace assay

#endif  // ASSAY_CHECK_BACKENDS_OUTPUT_KEYS_H_
