// Plans as text: `assay plan`.
#ifndef ASSAY_PLAN_PLAN_TEXT_H_
#define ASSAY_PLAN_PLAN_TEXT_H_

#include <span>
#include <string>

#include "plan/plan.h"

namespace assay {

// An engine that is not available on this machine, and why.
struct IdleEngine {
  const Engine* engine;
  std::string why;
};
// Each step of each computation: engine, instruction, shape, bytes, what it fuses, what is freed, and why
// faster engines declined. Why idle ones did stands once, above.
std::string PlanToText(const Plan& plan, std::span<const IdleEngine> idle = {});

}  // namespace assay

#endif  // ASSAY_PLAN_PLAN_TEXT_H_
