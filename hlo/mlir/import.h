// StableHLO, text or bytecode, to Module.
#ifndef ASSAY_HLO_MLIR_IMPORT_H_
#define ASSAY_HLO_MLIR_IMPORT_H_

#include <string_view>

#include "hlo/mlir/ir.h"
#include "hlo/module.h"

namespace assay {

// Errors: InvalidProgram with line and column; NotSupported for legal programs with operations, types or forms
// that HLO has no counterpart of, by name.
absl::StatusOr<Module> ParseStableHloText(std::string_view text);
// Parses portable artifacts alike; errors say "byte N" instead of a line.
absl::StatusOr<Module> ParseStableHloBytecode(std::string_view bytes);

namespace mlir {

// The entry is @main, or the only public function. Functions that it does not reach are left out.
absl::StatusOr<Module> ImportModule(const Tree& tree);

}  // namespace mlir
}  // namespace assay

#endif  // ASSAY_HLO_MLIR_IMPORT_H_
