// StableHLO without free dimensions, text or bytecode, to Module.
#ifndef ASSAY_HLO_LOAD_STABLEHLO_H_
#define ASSAY_HLO_LOAD_STABLEHLO_H_

#include <string_view>

#include "hlo/module.h"

namespace assay {

// Errors: InvalidProgram with line and column; NotSupported for legal programs with operations, types or
// forms that HLO has no counterpart of, by name.
absl::StatusOr<Module> ParseStableHloText(std::string_view text);
// Parses portable artifacts alike; errors say "byte N" instead of a line.
absl::StatusOr<Module> ParseStableHloBytecode(std::string_view bytes);

}  // namespace assay

#endif  // ASSAY_HLO_LOAD_STABLEHLO_H_
