// Sorting that can be polled while it goes on, for references whose arrays may have billions of elements.
#ifndef ASSAY_EVALUATOR_HEAP_SORT_H_
#define ASSAY_EVALUATOR_HEAP_SORT_H_

#include <algorithm>
#include <span>

#include "evaluator/meter.h"

namespace assay {

// Puts items in ascending order by `less`; equal ones in any order.
template <typename T, typename Less>
absl::Status HeapSort(std::span<T> items, Less less, Meter& meter) {
  for (size_t n = 1; n <= items.size(); ++n) {
    std::push_heap(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n), less);
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  for (size_t n = items.size(); n > 1; --n) {
    std::pop_heap(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n), less);
    ASSAY_RETURN_IF_ERROR(meter.Add(1));
  }
  return absl::OkStatus();
}

}  // namespace assay

#endif  // ASSAY_EVALUATOR_HEAP_SORT_H_
