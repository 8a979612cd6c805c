#include "pjrt/plugin/costs.h"

#include "plan/costs.h"

namespace assay::pjrt {
namespace {

// A computation with those that its instructions call; callees stand before callers.
std::vector<Cost> TotalsOf(const Module& module) {
  const Costs costs(module);
  std::vector<Cost> totals;
  for (const Computation& computation : module.computations) {
    Cost total;
    for (const Instruction& instruction : computation.instructions) {
      const Cost own = costs.Of(computation, instruction);
      total.read += own.read;
      total.written += own.written;
      total.flops += own.flops;
      total.functions += own.functions;
      // What is applied to elements is in the instruction's own cost.
      const bool runs_them = instruction.opcode == Opcode::kWhile ||
                             instruction.opcode == Opcode::kConditional ||
                             instruction.opcode == Opcode::kCall || instruction.opcode == Opcode::kFusion ||
                             instruction.opcode == Opcode::kAsyncStart;
      if (!runs_them) continue;
      for (const ComputationId called : CalledComputations(instruction)) {
        const Cost& inner = totals[static_cast<size_t>(called.value)];
        total.read += inner.read;
        total.written += inner.written;
        total.flops += inner.flops;
        total.functions += inner.functions;
      }
    }
    totals.push_back(total);
  }
  return totals;
}

}  // namespace

void AddCosts(const CompiledProgram& program, NamedValues& values) {
  const Cost total = TotalsOf(program.module())[static_cast<size_t>(program.module().entry.value)];
  values.AddFloat("flops", static_cast<float>(total.flops));
  values.AddFloat("transcendentals", static_cast<float>(total.functions));
  values.AddFloat("bytes accessed", static_cast<float>(total.bytes()));
}

}  // namespace assay::pjrt
