// A partitioned program beside the whole one: the first collective whose value is another one.
#ifndef ASSAY_FIND_PROGRAMS_FIRST_COLLECTIVE_H_
#define ASSAY_FIND_PROGRAMS_FIRST_COLLECTIVE_H_

#include <optional>
#include <span>
#include <string>

#include "find/programs/value_trace.h"
#include "literal/compare.h"
#include "run/engine_list.h"
#include "run/program.h"

namespace assay {

// How far floats of this type may lie apart, as a share of the largest element of the output: a sum that is
// cut over P devices is rounded P times more, by half a unit of its type each, and each collective of the
// program may be behind such a cut. 0 for other types.
double ShareOfReordering(ElementType type, const Program& partitioned, int64_t devices);

struct CollectiveDifference {
  std::string name, op;              // of the partitioned program
  std::string whole_name, whole_op;  // what it stands for in the whole one
};

// The first collective whose value, put together from the devices, is not that of its counterpart
// (CounterpartsOf); without a tolerance, beyond ShareOfReordering. nullopt: names tell of none.
absl::StatusOr<std::optional<CollectiveDifference>> FirstDifferingCollective(
    const Program& partitioned, const ProgramInputs& partitioned_inputs, const Program& whole,
    const ProgramInputs& whole_inputs, const std::optional<Tolerance>& tolerance,
    std::span<const Engine* const> engines = EnginesOf());

}  // namespace assay

#endif  // ASSAY_FIND_PROGRAMS_FIRST_COLLECTIVE_H_
