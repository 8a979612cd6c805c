// Which elements of the operands of several devices an element of a collective's result is made of.
#ifndef ASSAY_EVALUATOR_OPS_COLLECTIVE_COLLECTIVE_TERMS_H_
#define ASSAY_EVALUATOR_OPS_COLLECTIVE_COLLECTIVE_TERMS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "evaluator/device.h"
#include "hlo/module.h"
#include "shape/index.h"

namespace assay {

struct DeviceElement {
  size_t device = 0;
  int32_t operand = 0;
  int64_t position = 0;
};

// Of an element of a leaf of what the device has: of all-reduce, reduce-scatter, all-gather, all-to-all of
// one array, collective-permute and collective-broadcast; empty where it is made of none, as what no pair of
// a permute sends. `operand`: the shape of the leaf's operand, the same on all devices. nullopt: another
// instruction, or dynamic sizes; any element of any device's operands may be part.
std::optional<std::vector<DeviceElement>> TermsOfCollective(const DeviceGrid& grid,
                                                            const Instruction& instruction,
                                                            const Shape& operand, const Shape& result,
                                                            size_t device, const ShapeIndex& leaf,
                                                            int64_t position);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_COLLECTIVE_COLLECTIVE_TERMS_H_
