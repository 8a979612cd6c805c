// The element of an array that a window meets (docs/spec/operations-linalg.md, ReduceWindow).
#ifndef ASSAY_EVALUATOR_OPS_REDUCTION_WINDOW_INDEX_H_
#define ASSAY_EVALUATOR_OPS_REDUCTION_WINDOW_INDEX_H_

#include <cstdint>
#include <span>

#include "evaluator/elements.h"
#include "hlo/attribute.h"

namespace assay {

// The sizes of the space of the window's entries W over an array of `sizes`: those of the window, or of no
// entry where the array has no elements, since a window of any size meets none then.
DimVector WindowEntries(const Window& window, std::span<const int64_t> sizes);

// The index of the element under entry W of the window at position O, of an array of `sizes`. By dimension:
//   p = O * stride + W * window_dilation - padding_low
//   element = p div base_dilation
// False where the window meets no element there: p < 0, p mod base_dilation != 0 (a hole),
// or p div base_dilation >= size.
bool ElementUnderWindow(const Window& window, Index position, Index entry, std::span<const int64_t> sizes,
                        std::span<int64_t> element);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_REDUCTION_WINDOW_INDEX_H_
