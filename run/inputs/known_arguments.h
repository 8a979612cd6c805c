// The shapes that a program with free dimensions is refined for, from its inputs or as a flag writes them.
#ifndef ASSAY_RUN_INPUTS_KNOWN_ARGUMENTS_H_
#define ASSAY_RUN_INPUTS_KNOWN_ARGUMENTS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/mlir/refine/known_argument.h"
#include "hlo/module.h"
#include "literal/npz.h"

namespace assay {

// Of arrays by their keys (arg0, arg1.0, r0p0/arg0: of the first device that has one). `module`: as
// LoadProgram gives it. BadInput: one is missing. That element types and static sizes are the program's is
// checked by who refines it.
absl::StatusOr<std::vector<KnownArgument>> KnownArgumentsFrom(const Module& module,
                                                              const std::map<std::string, NpyArray>& arrays);
absl::StatusOr<std::vector<KnownArgument>> KnownArgumentsFrom(const Module& module,
                                                              const std::map<std::string, Literal>& values);
// Of a value for each parameter.
std::vector<KnownArgument> KnownArgumentsFrom(const Module& module, std::span<const Literal> arguments);

// "arg0=3x1,arg1=4": the sizes of arrays, in any order; of a dimension variable its value. Those without '?'
// may be left out. BadInput: what is written otherwise, is no parameter, or is missing.
absl::StatusOr<std::vector<KnownArgument>> KnownArgumentsOfText(const Module& module, std::string_view text);

}  // namespace assay

#endif  // ASSAY_RUN_INPUTS_KNOWN_ARGUMENTS_H_
