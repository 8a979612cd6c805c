// Replaces quantized types, which HLO has not, by their storage types and the arithmetic of
// docs/spec/quantized.md.
//
// A value of type tensor<2x!quant.uniform<i8:f32, 0.5>> becomes one of tensor<2xi8>. Operations that compute
// with quantized values become operations on the numbers that these mean: D of each operand, the operation on
// the expressed type, Q of each result (section 6). What moves values moves their storage. The rules of the
// types, which no later step can see, are checked here: QUANT-1 and QUANT-20 to QUANT-32. A tree without
// quantized types stays as it is.
#ifndef ASSAY_HLO_MLIR_QUANTIZED_LOWERING_H_
#define ASSAY_HLO_MLIR_QUANTIZED_LOWERING_H_

#include "hlo/mlir/ir.h"

namespace assay::mlir {

absl::Status LowerQuantizedTypes(Tree& tree);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_QUANTIZED_LOWERING_H_
