// What a program of the Shardy dialect must keep to (docs/spec/sharding.md, section 5): SDY-V3 to SDY-V17, as
// Shardy's own verifier has them, on the tree before it is imported.
#ifndef ASSAY_HLO_MLIR_IMPORT_SHARDING_CHECKS_H_
#define ASSAY_HLO_MLIR_IMPORT_SHARDING_CHECKS_H_

#include "hlo/mlir/ir.h"

namespace assay::mlir {

absl::Status CheckShardings(const Tree& tree);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_IMPORT_SHARDING_CHECKS_H_
