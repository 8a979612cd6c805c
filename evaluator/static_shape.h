// Shapes whose sizes are all known when a program is planned, and why another is none of them.
#ifndef ASSAY_EVALUATOR_STATIC_SHAPE_H_
#define ASSAY_EVALUATOR_STATIC_SHAPE_H_

#include <string_view>

#include "shape/shape.h"

namespace assay {

// Empty for an array of static sizes; else what `assay plan` prints.
inline std::string_view WhyNotStatic(const Shape& shape) {
  if (shape.IsTuple()) return "a tuple, not an array";
  if (shape.IsToken()) return "a token, not an array";
  if (!shape.IsArray()) return "not an array";
  if (shape.HasUnbounded()) return "a dimension without a bound";
  return shape.HasDynamic() ? "a dynamic dimension" : "";
}

inline bool IsStaticArray(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamic() && !shape.HasUnbounded();
}

}  // namespace assay

#endif  // ASSAY_EVALUATOR_STATIC_SHAPE_H_
