// What a program costs, by the keys of XLA's cost analysis.
#ifndef ASSAY_PJRT_PLUGIN_COSTS_H_
#define ASSAY_PJRT_PLUGIN_COSTS_H_

#include "pjrt/plugin/compiled_program.h"
#include "pjrt/plugin/named_values.h"

namespace assay::pjrt {

// "flops", "transcendentals", "bytes accessed": of one run of the entry computation with all that it calls,
// loops counted as one turn, as XLA counts them (plan/costs.h has the rules, which are not
// XLA's to the last operation).
void AddCosts(const CompiledProgram& program, NamedValues& values);

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_COSTS_H_
