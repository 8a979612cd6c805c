// A finding as a folder that shows it again: program.hlo (program.mlir, program.pb), inputs.npz, README.md.
#ifndef ASSAY_FIND_REDUCE_FINDING_H_
#define ASSAY_FIND_REDUCE_FINDING_H_

#include <functional>
#include <string>
#include <vector>

#include "hlo/load/load.h"
#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

struct FindingFolder {
  std::string title;  // of the README
  std::string what;   // in words
  // The command that shows it again, of the names of program and inputs.
  std::function<std::string(const std::string& program, const std::string& inputs)> command;
  std::vector<std::string> notes;  // lines of the README
};

// Writes the folder, whole or not at all; gives its name: `wanted`, or where that is taken the first of
// wanted-2, wanted-3, … that is not. A program that does not go into StableHLO is written as HLO text alone.
absl::StatusOr<std::string> WriteFinding(const std::string& wanted, const FindingFolder& finding,
                                         const Module& module, const std::vector<Literal>& arguments,
                                         ProgramForm form);

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_FINDING_H_
