// The engine "onednn": large dots and convolutions of f32 and bf16 within a stated bound (Accuracy). Their
// bits may depend on the number of threads and on the processor.
#ifndef ASSAY_ENGINES_ONEDNN_ONEDNN_ENGINE_H_
#define ASSAY_ENGINES_ONEDNN_ONEDNN_ENGINE_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::onednn {

// Takes steps that are large enough for oneDNN's start (40 ms for the first) to be worth it.
const Engine& OnednnEngine(Isa isa);
// Takes any number of products; for tests.
const Engine& EagerOnednnEngine(Isa isa);
// Why the library could not be used when a step wanted it; OK where none did, or it could.
absl::Status LoadFailure();

}  // namespace assay::onednn

#endif  // ASSAY_ENGINES_ONEDNN_ONEDNN_ENGINE_H_
