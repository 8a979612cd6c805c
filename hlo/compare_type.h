// What the `type` of a compare is where it is not written (docs/spec/operations-elementwise.md).
#ifndef ASSAY_HLO_COMPARE_TYPE_H_
#define ASSAY_HLO_COMPARE_TYPE_H_

#include <string_view>

#include "shape/element_type.h"

namespace assay {

// The comparison type that goes with the first operand's element type.
inline std::string_view DefaultComparisonType(ElementType type) {
  switch (ClassOf(type)) {
    case TypeClass::kSigned:
      return "SIGNED";
    case TypeClass::kUnsigned:
    case TypeClass::kPred:
      return "UNSIGNED";
    case TypeClass::kFloat:
    case TypeClass::kComplex:
      return "FLOAT";
  }
  return {};
}

}  // namespace assay

#endif  // ASSAY_HLO_COMPARE_TYPE_H_
