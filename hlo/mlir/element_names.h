// What MLIR calls the element types.
#ifndef ASSAY_HLO_MLIR_ELEMENT_NAMES_H_
#define ASSAY_HLO_MLIR_ELEMENT_NAMES_H_

#include <string>

#include "shape/element_type.h"

namespace assay::mlir {

// f8E4M3FN, i32, ui8, complex<f32>
std::string ElementName(ElementType type);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_ELEMENT_NAMES_H_
