// The engine "custom": custom calls of the operations that a module was given (evaluator/custom_op.h), by the
// kernel that their operation holds for the fastest. It is prepared once a call.
#ifndef ASSAY_ENGINES_CUSTOM_CUSTOM_ENGINE_H_
#define ASSAY_ENGINES_CUSTOM_CUSTOM_ENGINE_H_

#include "engines/engine.h"

namespace assay::custom {

const Engine& CustomEngine();

}  // namespace assay::custom

#endif  // ASSAY_ENGINES_CUSTOM_CUSTOM_ENGINE_H_
