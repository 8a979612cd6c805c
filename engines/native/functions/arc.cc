#include "engines/native/functions/arc.h"

#include "engines/native/functions/passes.h"

namespace assay::native {

constinit const Passes kAtan2Passes = PassesOf<Atan2>();
constinit const Passes kAsinPasses = PassesOf<Asin>();
constinit const Passes kAcosPasses = PassesOf<Acos>();

}  // namespace assay::native
