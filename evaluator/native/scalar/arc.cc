#include "evaluator/native/scalar/arc.h"

#include "evaluator/native/scalar/passes.h"

namespace assay::native {

constinit const Passes kAtan2Passes = PassesOf<Atan2>();
constinit const Passes kAsinPasses = PassesOf<Asin>();
constinit const Passes kAcosPasses = PassesOf<Acos>();

}  // namespace assay::native
