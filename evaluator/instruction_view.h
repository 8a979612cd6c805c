// One instruction with the shapes of its operands at hand: what the op table's functions of
// shapes and attributes see.
#ifndef ASSAY_EVALUATOR_INSTRUCTION_VIEW_H_
#define ASSAY_EVALUATOR_INSTRUCTION_VIEW_H_

#include <cstddef>
#include <cstdint>

#include "hlo/module.h"

namespace assay {

struct InstructionView {
  const Computation& computation;
  const Instruction& instruction;

  size_t num_operands() const { return instruction.operands.size(); }
  const Shape& operand(size_t k) const {
    return *computation.instructions[static_cast<size_t>(instruction.operands[k])].shape;
  }
  const Shape& result() const { return *instruction.shape; }
  const AttributeMap& attributes() const { return instruction.attributes; }
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_INSTRUCTION_VIEW_H_
