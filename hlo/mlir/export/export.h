// Module to StableHLO text (docs/spec/stablehlo-text.md).
#ifndef ASSAY_HLO_MLIR_EXPORT_EXPORT_H_
#define ASSAY_HLO_MLIR_EXPORT_EXPORT_H_

#include <string>

#include "hlo/module.h"

namespace assay {

// The module must have been verified. Reading the text back gives a module that computes the same, and
// printing that one gives the same text.
//
// Left out, because no result can show it: layouts, schedules, control dependencies, shardings, aliases of
// parts of tuples, and metadata beyond the name and place of an operation. Errors: NotSupported, with the
// instruction's name, for what StableHLO has no counterpart of.
absl::StatusOr<std::string> ExportStableHlo(const Module& module);

}  // namespace assay

#endif  // ASSAY_HLO_MLIR_EXPORT_EXPORT_H_
