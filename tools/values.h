// --values of `assay run` and `assay diff`: files of intermediate values.
#ifndef ASSAY_TOOLS_VALUES_H_
#define ASSAY_TOOLS_VALUES_H_

#include <string>

#include "find/values/value_recorder.h"
#include "tools/commands.h"
#include "tools/output_files.h"

namespace assay::cli {

// Of --only, which is a regular expression.
ValuesOptions ValuesOptionsOf(const std::string& only);
// Writes the values, and to standard error what the file lacks; returns the exit code.
int WriteValues(const RunValues& values, const std::string& path);

// Writes exact values and those that the backend has of the same names on these arguments; returns the exit
// code.
int WriteBothValues(const DiffFlags& flags, const LoadedProgram& loaded, const RunValues& exact,
                    const std::vector<Literal>& arguments, Backend& backend);

// An array of two files by the same name; nothing: the file lacks it.
struct NamedPair {
  std::string name;
  std::optional<Literal> first, second;
};
// Whether the arrays are intermediate values: some name is neither an output's nor that of something sent to
// the host.
bool HoldsValues(const Arrays& arrays);
// assay diff of two files of values, in the order of the first: a line for each that differs or that one file
// lacks, then the first that differs. 1 where there is any such.
int ReportValues(const std::vector<NamedPair>& pairs, const DiffFlags& flags);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_VALUES_H_
