// Sorting by keys: for comparators that are one comparison, and for topk.
#ifndef ASSAY_EVALUATOR_OPS_SORT_KEYS_H_
#define ASSAY_EVALUATOR_OPS_SORT_KEYS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

// Ordered by key, then by position: sorting them is stable.
struct SortKey {
  uint64_t key;
  int32_t position;
  friend bool operator<(const SortKey& a, const SortKey& b) {
    return a.key != b.key ? a.key < b.key : a.position < b.position;
  }
};

// keys[i] for the i-th of keys.size() elements, stride_bytes apart: ascending (or descending) keys are
// ascending elements in the total order (NUM-10; numbers for integers, false before true).
void TotalOrderKeys(ElementType type, const std::byte* src, int64_t stride_bytes, bool descending,
                    std::span<SortKey> keys);

// A comparator compare(a, b) of the two elements of one operand, a before b where it is LT, after where GT.
struct PlainComparator {
  int64_t operand = 0;
  bool descending = false;
  bool total_order = true;  // false: floats as numbers (FLOAT)
};
std::optional<PlainComparator> RecognisePlainComparator(const Module& module, ComputationId id);

// The stable order of each line of `length` elements, `stride` apart from starts[l]; false where the
// comparator is no strict weak order on these elements (FLOAT with a NaN), nothing is decided then.
bool SortByKeys(const Literal& operand, const PlainComparator& comparator, std::span<const int64_t> starts,
                int64_t length, int64_t stride, std::span<int32_t> order);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_SORT_KEYS_H_
