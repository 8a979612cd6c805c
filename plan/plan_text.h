// Plans as text: `assay plan`.
#ifndef ASSAY_PLAN_PLAN_TEXT_H_
#define ASSAY_PLAN_PLAN_TEXT_H_

#include <string>

#include "plan/plan.h"

namespace assay {

// Each step of each computation: engine, instruction, shape, bytes, what it fuses, what is freed, and why faster
// engines declined.
std::string PlanToText(const Plan& plan);

}  // namespace assay

#endif  // ASSAY_PLAN_PLAN_TEXT_H_
