// What the steps of a computation copy between the host's memory and a device's.
#ifndef ASSAY_PLAN_TRANSFERS_H_
#define ASSAY_PLAN_TRANSFERS_H_

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace assay {

struct DeviceCopies {
  int64_t to_device = 0, to_host = 0;  // bytes
};

// By step. Parameters, constants and what loops and calls give are taken to lie on the host, and the root to
// be wanted there: a value that comes from a device, or that an earlier run left there, costs nothing. A
// value is copied once each way. Empty where no step's kernel is on a device.
std::vector<DeviceCopies> TransfersOf(const Computation& computation, const ComputationPlan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_TRANSFERS_H_
