// Comparators that are orders by keys: what a comparator compares of an element, where it is one comparison
// of the same function of both elements, or a lexicographic chain of such comparisons.
//
//   compare(f(a), f(b), LT)                                 by f, ascending
//   or(compare(f(a), f(b), LT), and(compare(f(a), f(b), EQ), rest))   by f, then by rest
//   select(compare(f(a), f(b), EQ), rest, compare(f(a), f(b), LT))    the same
//
// The merge sort that defines the result (evaluator/ops/indexing/sort.cc) takes from the right part only
// where comparator(right, left): for LT and GT that is the stable order by the keys. For LE and GE, the right
// one of two equal elements comes first at every merge, so that equal ones come out in reverse.
#ifndef ASSAY_EVALUATOR_PATTERNS_SORT_ORDER_H_
#define ASSAY_EVALUATOR_PATTERNS_SORT_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/module.h"

namespace assay {

struct OrderKey {
  ElementType type = ElementType::kPred;
  int64_t operand = -1;  // the key is this operand's element; -1: it is the value of an instruction
  int32_t value = -1;    // of the comparator, a function of one of the two elements
  bool descending = false;
  bool total_order = true;  // false: floats as numbers (FLOAT): no order where there is a NaN
  // Where it is an operand's element, as jax.numpy has it: these stand for every NaN and for both zeros.
  LiteralPtr nan, zero;
};

struct SortOrder {
  std::vector<OrderKey> keys;  // the first one decides first
  bool ties_reversed = false;
};

// Empty where the comparator has another form.
std::optional<SortOrder> RecogniseOrder(const Module& module, ComputationId comparator);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_PATTERNS_SORT_ORDER_H_
