// A tree as MLIR text, in the generic form: for programs whose types HLO has not, which export.h can't write.
#ifndef ASSAY_HLO_MLIR_TEXT_TREE_TEXT_H_
#define ASSAY_HLO_MLIR_TEXT_TREE_TEXT_H_

#include <string>

#include "hlo/mlir/ir.h"

namespace assay::mlir {

// Values are numbered in each function. NotSupported: an attribute that was read over
// (shardings of other dialects).
absl::StatusOr<std::string> TreeToText(const Tree& tree);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_TEXT_TREE_TEXT_H_
