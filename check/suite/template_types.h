// The sets of element types that templates of cases are for.
#ifndef ASSAY_CHECK_SUITE_TEMPLATE_TYPES_H_
#define ASSAY_CHECK_SUITE_TEMPLATE_TYPES_H_

#include "shape/element_type.h"

namespace assay {

// f8e8m0fnu has neither zero nor negative numbers: sums of it begin nowhere.
inline constexpr TypeSet kFloatsWithZero = TypeSet::Range(ElementType::kF16, ElementType::kF8E4M3FNUZ) |
                                           TypeSet::Range(ElementType::kF6E3M2FN, ElementType::kF4E2M1FN);
inline constexpr TypeSet kSummedTypes = kIntegralTypes | kFloatsWithZero | kComplexTypes;
inline constexpr TypeSet kOrderedTypes = kPredTypes | kIntegralTypes | kFloatsWithZero;
inline constexpr TypeSet kWideFloats = TypeSet::Range(ElementType::kF16, ElementType::kBF16);

}  // namespace assay

#endif  // ASSAY_CHECK_SUITE_TEMPLATE_TYPES_H_
