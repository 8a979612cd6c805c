#include "evaluator/steps.h"

#include <algorithm>

#include "evaluator/custom_op.h"
#include "evaluator/registry.h"
#include "evaluator/work.h"

namespace assay {

int64_t StepUnitsOf(const Module& module, const Computation& computation, const Instruction& instruction) {
  constexpr int64_t kMost = int64_t{1} << 48;
  const InstructionView view{computation, instruction};
  const CustomOp* const op = CustomOpOf(module, instruction);
  const double elements =
      op != nullptr ? op->Elements(view) : work::ElementsOf(DefinitionOf(instruction.opcode).work, view);
  const int64_t counted = elements < static_cast<double>(kMost) ? static_cast<int64_t>(elements) : kMost;
  return std::min(kUnitsPerStep + counted, kMost);
}

}  // namespace assay
