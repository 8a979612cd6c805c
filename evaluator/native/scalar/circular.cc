#include "evaluator/native/scalar/circular.h"

#include "evaluator/native/scalar/passes.h"

namespace assay::native {

constinit const Passes kSinPasses = PassesOf<Sin>();
constinit const Passes kCosPasses = PassesOf<Cos>();
constinit const Passes kTanPasses = PassesOf<Tan>();

}  // namespace assay::native
