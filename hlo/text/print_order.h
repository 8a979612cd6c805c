// The canonical order of computations and instructions, and which async computations the sugared form hides
// (docs/spec/hlo-text.md section 8). Linear time, no recursion. Used by printer.cc.
#ifndef ASSAY_HLO_TEXT_PRINT_ORDER_H_
#define ASSAY_HLO_TEXT_PRINT_ORDER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace assay::print {

// The indices of each computation's instructions as printed. A scheduled module keeps the order that it has,
// but for computations that a fusion calls; otherwise it is a depth-first post-order from the instructions
// without users: control predecessors first, then operands in order.
std::vector<std::vector<int32_t>> InstructionOrders(const Module& module);

// Callees before callers, as the printed instructions call them; roots of the call graph in module order.
//
// Decision: computations-in-printed-call-order. XLA goes by the order in which instructions were made, which
// reading its text changes; and where a computation stands in a list before one that calls it, XLA prints the
// caller first, which its own reader refuses.
std::vector<ComputationId> ComputationOrder(const Module& module,
                                            const std::vector<std::vector<int32_t>>& instruction_orders);

// True for each computation whose every caller is an async-start that may be written "<op>-start", so that
// the computation itself is not printed.
std::vector<bool> SugaredComputations(const Module& module);

// The thread that each computation runs on; empty for the main one. The thread of an async-start is that of
// the computation that it calls, on whichever of the two the program states it.
std::vector<std::string_view> ExecutionThreads(const Module& module);

// The async-start that an async-update or async-done belongs to, or -1. `instruction` is an index.
int32_t AsyncStartOf(const Computation& computation, int32_t instruction);

}  // namespace assay::print

#endif  // ASSAY_HLO_TEXT_PRINT_ORDER_H_
