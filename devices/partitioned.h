// A program that a partitioner has been over, against the whole one: inputs cut as the partitioned parameters
// say, outputs put together again. Spec: docs/spec/sharding.md, SDY-3, SDY-9, SDY-23.
#ifndef ASSAY_DEVICES_PARTITIONED_H_
#define ASSAY_DEVICES_PARTITIONED_H_

#include <span>
#include <vector>

#include "devices/run_devices.h"
#include "evaluator/verify.h"
#include "run/program.h"

namespace assay {

// What each device of `grid` gets of whole arguments, one for each parameter: the chunk that the parameter's
// sharding= says, or all where the shapes are the same. Chunks beyond the end of a value are filled with
// zeros. InvalidProgram: a parameter has no sharding, or one that gives another shape.
absl::StatusOr<std::vector<DeviceInputs>> SplitArguments(const VerifiedModule& partitioned,
                                                         const DeviceGrid& grid,
                                                         std::span<const Literal> arguments);

// The root value of the whole program, from those of the devices. How the pieces lie is what the root of
// `whole` says, else what shapes, and copies that have to agree, leave open to one way. EvalError: two copies
// of one chunk differ, or no way fits.
absl::StatusOr<Literal> AssembleRoot(const VerifiedModule& whole, const DeviceGrid& grid,
                                     std::span<const DeviceOutputs> outputs);

// A collective of the partitioned entry computation and the instruction of the whole one that it stands for:
// of the same name, or of the same op_name in their metadata; numbers in their computations.
struct Counterpart {
  int32_t partitioned = 0, whole = 0;
};
// In the order of the partitioned program; single arrays alone.
std::vector<Counterpart> CounterpartsOf(const Module& partitioned, const Module& whole);

// The program whose result is the value of this instruction of the entry computation.
absl::StatusOr<Program> ProgramOf(const Module& module, int32_t instruction);

}  // namespace assay

#endif  // ASSAY_DEVICES_PARTITIONED_H_
