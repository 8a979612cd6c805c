#include "evaluator/steps.h"

#include <algorithm>

#include "evaluator/registry.h"

namespace assay {

int64_t CountsOf(const Computation& computation, const Instruction& instruction) {
  constexpr int64_t kMost = int64_t{1} << 48;
  const double elements = work::ElementsOf(DefinitionOf(instruction.opcode).work, {computation, instruction});
  const int64_t counted = elements < static_cast<double>(kMost) ? static_cast<int64_t>(elements) : kMost;
  return std::min(kCountsPerStep + counted, kMost);
}

}  // namespace assay
