#include "engines/native/functions/logarithm.h"

#include "engines/native/functions/passes.h"

namespace assay::native {

constinit const Passes kLogPasses = PassesOf<Log>();
constinit const Passes kLog1pPasses = PassesOf<Log1p>();
constinit const Passes kAsinhPasses = PassesOf<Asinh>();
constinit const Passes kAcoshPasses = PassesOf<Acosh>();
constinit const Passes kAtanhPasses = PassesOf<Atanh>();

}  // namespace assay::native
