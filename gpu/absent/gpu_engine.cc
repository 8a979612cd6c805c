// The engine "gpu" of a build without it (the option ASSAY_GPU): as on a machine without a device, all steps
// run on the engines behind it, and why is said wherever that is.
#include "gpu/gpu_engine.h"

namespace assay::gpu {

absl::StatusOr<std::shared_ptr<Device>> Device::Open(const std::string&) {
  return NotSupported({}, "this assay was built without the engine gpu; configure with -DASSAY_GPU=ON");
}

const Engine& GpuEngineFor(const GpuOptions& options) {
  static const GpuEngine& engine = *new GpuEngine(options);
  return engine;
}

bool GpuEngine::MayTake(Opcode) const { return false; }

bool GpuEngine::CanFuse(const StepView&) const { return false; }

absl::StatusOr<std::shared_ptr<const Kernel>> GpuEngine::Prepare(const FusionView&) const {
  return Device::Open(options_.driver).status();
}

}  // namespace assay::gpu
