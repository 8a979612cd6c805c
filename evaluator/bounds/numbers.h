// What the rules' files have in common.
#ifndef ASSAY_EVALUATOR_BOUNDS_NUMBERS_H_
#define ASSAY_EVALUATOR_BOUNDS_NUMBERS_H_

#include <limits>

#include "shape/element_type.h"

namespace assay::bound {

// A radius of which nothing is known.
inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline bool IsNumber(ElementType type) { return IsFloat(type) || IsComplex(type); }

// Every value of the first type is one of the second.
bool Contains(ElementType from, ElementType to);

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_NUMBERS_H_
