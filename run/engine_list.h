// The one file that knows every engine, and what `--engine` means.
#ifndef ASSAY_RUN_ENGINE_LIST_H_
#define ASSAY_RUN_ENGINE_LIST_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"
#include "gpu/gpu_engine.h"
#include "jit/isa.h"
#include "plan/plan_text.h"

namespace assay {

enum class EngineChoice : uint8_t {
  kReference,  // the op table alone
  kExact,      // kernels that give the reference's bits, the reference elsewhere
  kFast,       // before these, kernels that are within a bound of it (Kernel::accuracy)
  kGpu,        // before those of kExact, kernels on a GPU that give the reference's bits
  kGpuFast,    // the same, some of which are within a bound of it
};
std::string_view Name(EngineChoice choice);

// The engines of a choice in the order in which they are asked, without the reference. Their code is for
// instruction sets up to `isa`, which the machine must have.
// `allow_rwx`: also those that map memory which is writable and executable at once, as oneDNN does for its
// code. `gpu`: of kGpu and kGpuFast alone.
std::span<const Engine* const> EnginesOf(EngineChoice choice = EngineChoice::kExact, Isa isa = MachineIsa(),
                                         bool allow_rwx = false, const gpu::GpuOptions& gpu = {});

// The names of those of EnginesOf that may take steps of the op, each once.
// Of kGpu and kGpuFast as on a machine with a GPU.
std::vector<std::string_view> EnginesFor(Opcode opcode, EngineChoice choice, Isa isa = MachineIsa());

// Those of EnginesOf that this machine can't use, so that others take all of their steps. Asked after a
// program was planned for them: oneDNN's library is loaded by the first step that may need it.
std::vector<IdleEngine> IdleEngines(EngineChoice choice, Isa isa = MachineIsa(), bool allow_rwx = false,
                                    const gpu::GpuOptions& gpu = {});

// Of the exact ones, those that take nothing but single instructions.
std::span<const Engine* const> InstructionEngines();

}  // namespace assay

#endif  // ASSAY_RUN_ENGINE_LIST_H_
