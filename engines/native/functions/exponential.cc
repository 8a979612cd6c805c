#include "engines/native/functions/exponential.h"

#include "engines/native/functions/passes.h"

namespace assay::native {

constinit const Passes kExpPasses = PassesOf<Exp>();
constinit const Passes kExpm1Passes = PassesOf<Expm1>();
constinit const Passes kLogisticPasses = PassesOf<Logistic>();
constinit const Passes kTanhPasses = PassesOf<Tanh>();
constinit const Passes kSinhPasses = PassesOf<Sinh>();
constinit const Passes kCoshPasses = PassesOf<Cosh>();

}  // namespace assay::native
