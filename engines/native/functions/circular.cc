#include "engines/native/functions/circular.h"

#include "engines/native/functions/passes.h"

namespace assay::native {

constinit const Passes kSinPasses = PassesOf<Sin>();
constinit const Passes kCosPasses = PassesOf<Cos>();
constinit const Passes kTanPasses = PassesOf<Tan>();

}  // namespace assay::native
