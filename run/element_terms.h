// Which elements of its operands an element of an instruction's result is made of (elements_at.h).
#ifndef ASSAY_RUN_ELEMENT_TERMS_H_
#define ASSAY_RUN_ELEMENT_TERMS_H_

#include <optional>
#include <span>

#include "evaluator/terms.h"
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
int64_t MaxTerms(const Computation& computation, const Instruction& instruction);

Terms TermsOf(const Computation& computation, const Instruction& instruction,
              std::span<const int64_t> positions);

}  // namespace assay

#endif  // ASSAY_RUN_ELEMENT_TERMS_H_
