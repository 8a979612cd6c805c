// The engine "native": kernels compiled from C++ that give the reference's bits at speed
// (docs/engines.md). Which opcode has which kernel is one table in native_engine.cc.
#ifndef ASSAY_ENGINES_NATIVE_NATIVE_ENGINE_H_
#define ASSAY_ENGINES_NATIVE_NATIVE_ENGINE_H_

#include "engines/engine.h"
#include "jit/isa.h"

namespace assay::native {

// Uses the instruction sets of this machine.
const Engine& NativeEngine();
// Uses instruction sets up to `isa`, which the machine must have; for tests.
const Engine& NativeEngine(Isa isa);

// A kernel for the step, or NotSupported with the reason.
using PrepareFn = absl::StatusOr<std::shared_ptr<const Kernel>> (*)(const StepView& step, Isa isa);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_NATIVE_ENGINE_H_
