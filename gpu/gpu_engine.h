// The engine "gpu": large steps on a device by CUDA's driver API, with the reference's bits. Values stay on
// the device between its steps. "gpu-fast" is the same engine with approximate kernels for some steps, each
// with a bound (Kernel::accuracy).
#ifndef ASSAY_GPU_GPU_ENGINE_H_
#define ASSAY_GPU_GPU_ENGINE_H_

#include <memory>
#include <string>

#include "engines/engine.h"
#include "gpu/driver/device.h"

namespace assay::gpu {

struct GpuOptions {
  std::string driver;  // the library with the driver API; empty: libcuda.so.1
  // Steps that read and give fewer elements stay on the CPU; -1: by their work (placement.h).
  int64_t min_elements = -1;
  // From how many products on a device that can takes dots by residues; -1: by the table of residue_dot.h.
  int64_t residues_from = -1;
  bool fast = false;
  friend auto operator<=>(const GpuOptions&, const GpuOptions&) = default;
};

class GpuEngine final : public Engine {
 public:
  explicit GpuEngine(GpuOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return options_.fast ? "gpu-fast" : "gpu"; }
  // On a machine with a device.
  bool MayTake(Opcode opcode) const override;
  // Where there is no device, why is the reason of every step that it declines.
  absl::StatusOr<std::shared_ptr<const Kernel>> Prepare(const FusionView& step) const override;
  bool fuses() const override { return true; }
  bool CanFuse(const StepView& step) const override;

 private:
  const GpuOptions options_;
};

// One engine for equal options, for as long as the process lives.
const Engine& GpuEngineFor(const GpuOptions& options);

}  // namespace assay::gpu

#endif  // ASSAY_GPU_GPU_ENGINE_H_
