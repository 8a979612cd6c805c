#include "find/programs/value_trace.h"

#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "evaluator/registry.h"
#include "literal/leaves.h"
#include "plan/step_observer.h"

namespace assay {
namespace {

// Two multiplicative hashes over words of eight bytes, with other multipliers and shifts.
class Digester {
 public:
  void Add(uint64_t word) {
    low_ = (low_ ^ word) * 0x9E3779B97F4A7C15;
    low_ ^= low_ >> 29;
    high_ = (high_ + word) * 0xC2B2AE3D27D4EB4F;
    high_ ^= high_ >> 33;
  }
  void Add(std::span<const std::byte> bytes) {
    Add(bytes.size());
    uint64_t word = 0;
    size_t i = 0;
    for (; i + sizeof(word) <= bytes.size(); i += sizeof(word)) {
      std::memcpy(&word, bytes.data() + i, sizeof(word));
      Add(word);
    }
    word = 0;
    if (i < bytes.size()) std::memcpy(&word, bytes.data() + i, bytes.size() - i);
    Add(word);
  }
  ValueDigest Result() const { return {low_, high_}; }

 private:
  uint64_t low_ = 0x243F6A8885A308D3, high_ = 0x13198A2E03707344;
};

bool IsForwarded(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
      return true;
    default:
      return DefinitionOf(instruction.opcode).runs_steps || DefinitionOf(instruction.opcode).is_identity;
  }
}

// Shows each evaluation that belongs to a trace.
class Watch final : public StepObserver {
 public:
  using Seen = std::function<absl::Status(InstructionRef, std::span<const Literal>, const Literal&)>;
  Watch(const Module& module, Seen seen) : module_(module), seen_(std::move(seen)) {}

  void Begin(const Computation&, const Step&) override {}
  void End() override {}
  void Part(Clock::time_point, Clock::time_point, int64_t, int64_t) override {}
  bool LooksAtValues() const override { return true; }
  absl::Status Evaluated(EvalContext& context, std::span<const Literal> operands,
                         const Literal& result) override {
    if (IsForwarded(context.instruction())) return absl::OkStatus();
    const auto computation = &context.computation() - module_.computations.data();
    const auto instruction = &context.instruction() - context.computation().instructions.data();
    return seen_({{static_cast<int32_t>(computation)}, static_cast<int32_t>(instruction)}, operands, result);
  }

 private:
  const Module& module_;
  const Seen seen_;
};

absl::StatusOr<std::vector<DeviceOutputs>> RunWatched(const Program& program, const ProgramInputs& inputs,
                                                      Watch::Seen seen) {
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, program.PlanAsWritten());
  Watch watch(*plan.module, std::move(seen));
  return RunDevices(plan, inputs.grid, inputs.inputs, inputs.options, &watch);
}

void AddConstants(const Module& module, std::vector<ValueRun>& runs) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].opcode != Opcode::kConstant || instructions[i].literal == nullptr) continue;
      runs.push_back(
          {{{static_cast<int32_t>(c)}, static_cast<int32_t>(i)}, 0, {}, DigestsOf(*instructions[i].literal)});
    }
  }
}

}  // namespace

ValueDigest DigestOf(const Literal& array) {
  Digester digester;
  digester.Add(static_cast<uint64_t>(array.shape().element_type()));
  if (!array.IsFullSize()) {
    for (const int64_t size : array.runtime_sizes()) digester.Add(static_cast<uint64_t>(size));
  }
  digester.Add(array.bytes());
  return digester.Result();
}

ValueDigest DigestOfBytes(std::span<const std::byte> bytes) {
  Digester digester;
  digester.Add(bytes);
  return digester.Result();
}

ValueDigests DigestsOf(const Literal& value) {
  ValueDigests digests;
  ForEachLeaf(value, [&](const ShapeIndex&, const Literal& leaf) {
    if (leaf.shape().IsArray()) digests.push_back(DigestOf(leaf));
  });
  return digests;
}

const Instruction& InstructionOf(const Module& module, const InstructionRef& ref) {
  return module.computation(ref.computation).instructions[static_cast<size_t>(ref.instruction)];
}

absl::StatusOr<ValueTrace> TraceValues(const Program& program, const ProgramInputs& inputs,
                                       int64_t max_runs) {
  ValueTrace trace;
  AddConstants(program.module(), trace.runs);
  const size_t most = trace.runs.size() + static_cast<size_t>(max_runs);
  std::map<InstructionRef, int64_t> counts;
  ASSAY_ASSIGN_OR_RETURN(
      trace.outputs,
      RunWatched(program, inputs,
                 [&](InstructionRef of, std::span<const Literal> operands, const Literal& result) {
                   if (trace.runs.size() >= most) {
                     trace.is_complete = false;
                     return absl::OkStatus();
                   }
                   ValueRun run{of, counts[of]++, {}, DigestsOf(result)};
                   for (const Literal& operand : operands) {
                     const ValueDigests digests = DigestsOf(operand);
                     run.operands.insert(run.operands.end(), digests.begin(), digests.end());
                   }
                   trace.runs.push_back(std::move(run));
                   return absl::OkStatus();
                 }));
  for (const Literal& argument : inputs.inputs[0].arguments) {
    const ValueDigests digests = DigestsOf(argument);
    trace.parameters.insert(trace.parameters.end(), digests.begin(), digests.end());
  }
  return trace;
}

absl::StatusOr<std::vector<Literal>> ValueOfRun(const Program& program, const ProgramInputs& inputs,
                                                const ValueTrace& trace, size_t run) {
  const ValueRun& wanted = trace.runs[run];
  std::optional<Literal> value;
  const Instruction& instruction = InstructionOf(program.module(), wanted.of);
  if (instruction.opcode == Opcode::kConstant) {
    value = *instruction.literal;
  } else {
    int64_t ordinal = 0;
    const absl::Status status =
        RunWatched(program, inputs,
                   [&](InstructionRef of, std::span<const Literal>, const Literal& result) -> absl::Status {
                     if (of != wanted.of || ordinal++ != wanted.ordinal) return absl::OkStatus();
                     value = result;
                     return absl::CancelledError("the value is there");
                   })
            .status();
    if (!value) return status.ok() ? EvalError({}, "a second run has other steps than the first") : status;
  }
  std::vector<Literal> arrays;
  for (Literal& leaf : LeavesOf(*std::move(value))) {
    if (leaf.shape().IsArray()) arrays.push_back(std::move(leaf));
  }
  return arrays;
}

}  // namespace assay
