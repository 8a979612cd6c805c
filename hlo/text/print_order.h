// The canonical order of computations and instructions, and which async computations the sugared form hides
// (spec/hlo-text.md section 8). Linear time, no recursion. Used by printer.cc.
#ifndef ASSAY_HLO_TEXT_PRINT_ORDER_H_
#define ASSAY_HLO_TEXT_PRINT_ORDER_H_

#include <cstdint>
#include <vector>

#include "hlo/module.h"

namespace assay::print {

// Callees before callers; roots of the call graph in module order.
std::vector<ComputationId> ComputationOrder(const Module& module);

// Depth-first post-order from the instructions without users: operands in order, before them the control
// predecessors.
std::vector<int32_t> InstructionOrder(const Computation& computation);

// By computation: called by a fusion. The schedule of a scheduled module covers all others.
std::vector<bool> FusionComputations(const Module& module);

// By computation: every caller is an async-start that may be written "<op>-start", so that the computation
// itself is not printed.
std::vector<bool> SugaredComputations(const Module& module);

// The async-start that an async-update or async-done belongs to, or -1. `instruction` is an index.
int32_t AsyncStartOf(const Computation& computation, int32_t instruction);

}  // namespace assay::print

#endif  // ASSAY_HLO_TEXT_PRINT_ORDER_H_
