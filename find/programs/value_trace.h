// The values of all instructions of a run, as digests: two programs are held beside each other by them.
#ifndef ASSAY_FIND_PROGRAMS_VALUE_TRACE_H_
#define ASSAY_FIND_PROGRAMS_VALUE_TRACE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "devices/run_devices.h"
#include "run/program.h"

namespace assay {

// Of an array's element type and elements in row-major order, without its sizes: a reshape has its operand's.
struct ValueDigest {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const ValueDigest&, const ValueDigest&) = default;
};
ValueDigest DigestOf(const Literal& array);
ValueDigest DigestOfBytes(std::span<const std::byte> bytes);
// Those of the arrays in the value, in order.
using ValueDigests = absl::InlinedVector<ValueDigest, 2>;
ValueDigests DigestsOf(const Literal& value);

// An instruction of a module.
struct InstructionRef {
  ComputationId computation;
  int32_t instruction = 0;
  friend bool operator==(const InstructionRef&, const InstructionRef&) = default;
  friend bool operator<(const InstructionRef& a, const InstructionRef& b) {
    return a.computation.value != b.computation.value ? a.computation.value < b.computation.value
                                                      : a.instruction < b.instruction;
  }
};
const Instruction& InstructionOf(const Module& module, const InstructionRef& ref);

// One evaluation of an instruction.
struct ValueRun {
  InstructionRef of;
  int64_t ordinal = 0;  // how many evaluations of the instruction came before it
  ValueDigests operands, results;
};

// Evaluations in order. Instructions that make no value of their own are left out: parameters, tuples and
// their elements, and what runs a computation whose instructions are seen (call, fusion, while, conditional,
// async). Constants come first. Of a reducer or comparator nothing is seen.
struct ValueTrace {
  std::vector<ValueRun> runs;
  std::vector<ValueDigest> parameters;  // of device 0
  std::vector<DeviceOutputs> outputs;   // by device
  bool is_complete = true;              // else later evaluations are left out
};

// What a program runs on.
struct ProgramInputs {
  DeviceGrid grid;
  std::vector<DeviceInputs> inputs;
  RunOptions options;
};

constexpr int64_t kMaxValueRuns = int64_t{1} << 20;

// Of several devices the trace is device 0's. Errors: those of the run.
absl::StatusOr<ValueTrace> TraceValues(const Program& program, const ProgramInputs& inputs,
                                       int64_t max_runs = kMaxValueRuns);
// The arrays of the result of run number `run` of that trace: the program runs again as far as there.
absl::StatusOr<std::vector<Literal>> ValueOfRun(const Program& program, const ProgramInputs& inputs,
                                                const ValueTrace& trace, size_t run);

}  // namespace assay

#endif  // ASSAY_FIND_PROGRAMS_VALUE_TRACE_H_
