// What a program asks of the values of its parameters, so that random inputs mean something
// (evaluator/input_demand.h).
//
// An analysis, not a rule: a demand is followed backward from the op that makes it to the parameters, through
// ops that move values or choose among them, across calls, loops and branches, and given up elsewhere.
#ifndef ASSAY_RUN_INPUTS_INPUT_DEMANDS_H_
#define ASSAY_RUN_INPUTS_INPUT_DEMANDS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "evaluator/input_demand.h"
#include "hlo/module.h"

namespace assay {

// Parameter number and index of an array in it.
using ParameterLeaf = std::pair<int64_t, std::vector<int64_t>>;

// Demands on the parameters of the entry computation; leaves without one may hold anything.
std::map<ParameterLeaf, InputDemand> InputDemands(const Module& module);

}  // namespace assay

#endif  // ASSAY_RUN_INPUTS_INPUT_DEMANDS_H_
