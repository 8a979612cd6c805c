// Which operand elements a result element is a sum of, for ops whose result elements are sums.
#ifndef ASSAY_EVALUATOR_TERMS_H_
#define ASSAY_EVALUATOR_TERMS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "evaluator/instruction_view.h"

namespace assay {

// The row-major positions in each operand of the terms of result elements, one after the other.
struct Terms {
  std::vector<std::vector<int64_t>> operands;
  std::vector<int64_t> counts;  // of terms, by element
};

struct SumDef {
  enum class Of : uint8_t {
    kNothing,   // no result element is a sum, or the op has no such rule
    kProducts,  // pairs of elements of operands 0 and 1, multiplied
    kFold,      // elements of operand 0, with the start value, operand 1
  };
  Of of = Of::kNothing;
  // Appends the terms of the result element at `index` and their number; of a fold those of operand 0 alone.
  void (*add_terms)(const InstructionView& view, std::span<const int64_t> index, Terms& terms) = nullptr;
  // No element has more terms.
  int64_t (*most_terms)(const InstructionView& view) = nullptr;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_TERMS_H_
