// Which elements of its operands an element of an instruction's result is made of (elements_at.h).
#ifndef ASSAY_ENGINE_ELEMENT_TERMS_H_
#define ASSAY_ENGINE_ELEMENT_TERMS_H_

#include <optional>
#include <span>
#include <vector>

#include "hlo/module.h"

namespace assay {

enum class TermRule : uint8_t {
  kElementwise,  // one element of each operand
  kMove,         // the element itself, of operand 0
  kIota,         // none
  kProducts,     // pairs of elements of operands 0 and 1, whose products are summed
  kReduce,       // elements of operand 0, and the start value, operand 1
};
// nullopt where there is no rule.
std::optional<TermRule> TermRuleOf(const Computation& computation, const Instruction& instruction);
// The most of them for an element.
int64_t MostTerms(const Computation& computation, const Instruction& instruction);

// For result elements one after the other: the positions of their terms in each operand.
struct Terms {
  std::vector<std::vector<int64_t>> operands;
  std::vector<int64_t> counts;  // of terms, by element
};
Terms TermsOf(const Computation& computation, const Instruction& instruction,
              std::span<const int64_t> positions);

}  // namespace assay

#endif  // ASSAY_ENGINE_ELEMENT_TERMS_H_
