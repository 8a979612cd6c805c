#include "find/reduce/test_case.h"

#include <bit>
#include <cstring>
#include <utility>

#include "find/reduce/edit.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "literal/leaves.h"
#include "plan/step_observer.h"
#include "run/executor.h"

namespace assay {
namespace {

// Two independent 64-bit hashes (multiply and rotate, as in FNV-1a and xxHash): 128 bits in all, so that two
// of a few thousand candidates do not meet by chance.
class Digest {
 public:
  void Add(std::string_view bytes) {
    AddWord(bytes.size());
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      AddWord(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, bytes.data(), bytes.size());
    AddWord(rest);
  }
  std::string Text() const { return fmt::format("{:016x}{:016x}", first_, second_); }

 private:
  void AddWord(uint64_t word) {
    first_ = (first_ ^ word) * 0x100000001b3;
    first_ ^= first_ >> 29;
    second_ = std::rotl(second_ ^ (word * 0x9e3779b97f4a7c15), 31) * 0xc2b2ae3d27d4eb4f;
    second_ ^= second_ >> 32;
  }
  uint64_t first_ = 0xcbf29ce484222325, second_ = 0x2545f4914f6cdd1d;
};

std::string DigestOf(const Module& module, const std::vector<Literal>& arguments) {
  Digest digest;
  digest.Add(ModuleToText(module));
  for (const Literal& argument : arguments) {
    ForEachLeaf(argument, [&](const ShapeIndex&, const Literal& leaf) {
      if (!leaf.shape().IsArray()) return;
      const std::span<const std::byte> bytes = leaf.bytes();
      digest.Add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      for (const int64_t size : leaf.runtime_sizes()) digest.Add(fmt::format("{}", size));
    });
  }
  return digest.Text();
}

// Keeps the values of the entry computation's instructions.
class EntryValues final : public StepObserver {
 public:
  explicit EntryValues(const Module& module)
      : entry_(module.entry_computation()), values_(entry_.instructions.size()) {}

  void Begin(const Computation&, const Step&) override {}
  void End() override {}
  void Part(Clock::time_point, Clock::time_point, int64_t, int64_t) override {}
  bool LooksAtValues() const override { return true; }
  absl::Status Evaluated(EvalContext& context, std::span<const Literal>, const Literal& result) override {
    if (&context.computation() == &entry_)
      values_[static_cast<size_t>(&context.instruction() - entry_.instructions.data())] = result;
    return absl::OkStatus();
  }
  // Tuples and their elements run without being evaluated.
  std::vector<std::optional<Literal>> Finish(const std::vector<Literal>& arguments) && {
    for (size_t k = 0; k < values_.size(); ++k) {
      const Instruction& instruction = entry_.instructions[k];
      if (instruction.opcode == Opcode::kParameter)
        values_[k] = arguments[static_cast<size_t>(instruction.parameter_number)];
      if (instruction.opcode == Opcode::kConstant && instruction.literal != nullptr)
        values_[k] = *instruction.literal;
      if (values_[k]) continue;
      std::vector<Literal> operands;
      for (const int32_t operand : instruction.operands) {
        if (values_[static_cast<size_t>(operand)]) operands.push_back(*values_[static_cast<size_t>(operand)]);
      }
      if (operands.size() != instruction.operands.size()) continue;
      if (instruction.opcode == Opcode::kTuple) values_[k] = Literal::Tuple(instruction.shape, operands);
      if (instruction.opcode == Opcode::kGetTupleElement)
        values_[k] = operands[0].element(instruction.attributes.Int(Attr::kIndex));
    }
    return std::move(values_);
  }

 private:
  const Computation& entry_;
  std::vector<std::optional<Literal>> values_;
};

absl::StatusOr<std::vector<std::optional<Literal>>> ValuesOf(const Program& program,
                                                             const std::vector<Literal>& arguments,
                                                             const RunOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, program.PlanAsWritten());
  EntryValues values(program.module());
  Executor executor(plan, options);
  executor.Observe(&values);
  ASSAY_RETURN_IF_ERROR(executor.Run(arguments).status());
  return std::move(values).Finish(arguments);
}

}  // namespace

CheckedCase::CheckedCase(Program program, std::vector<Literal> arguments)
    : program_(std::move(program)),
      arguments_(std::move(arguments)),
      digest_(DigestOf(program_.as_written(), arguments_)) {}

absl::StatusOr<CheckedCase> CheckedCase::Of(TestCase test_case) {
  RemoveDead(test_case.module);
  ASSAY_ASSIGN_OR_RETURN(Program program, Program::OfModule(std::move(test_case.module)));
  const Computation& entry = program.as_written().entry_computation();
  if (entry.parameters.size() != test_case.arguments.size())
    return BadInput(
        fmt::format("{} parameters, {} arguments", entry.parameters.size(), test_case.arguments.size()));
  for (size_t k = 0; k < entry.parameters.size(); ++k) {
    const Shape& shape = *entry.instructions[static_cast<size_t>(entry.parameters[k])].shape;
    if (!Shape::Compatible(shape, test_case.arguments[k].shape())) {
      return BadInput(fmt::format("parameter {} is {}, its argument {}", k, shape.ToString(),
                                  test_case.arguments[k].shape().ToString()));
    }
  }
  return CheckedCase(std::move(program), std::move(test_case.arguments));
}

CheckedCase CheckedCase::AsRead(const Program& program, std::vector<Literal> arguments) {
  return CheckedCase(program, std::move(arguments));
}

void CheckedCase::ComputeValues(const RunOptions& options) {
  if (values_ != nullptr) return;
  std::vector<std::optional<Literal>> values;
  // Where custom calls were expanded the program that runs has other instructions than the edited one.
  if (&program_.module() == &program_.as_written() && !program_.has_free_dimensions()) {
    absl::StatusOr<std::vector<std::optional<Literal>>> computed = ValuesOf(program_, arguments_, options);
    if (computed.ok()) values = *std::move(computed);
  }
  values.resize(entry().instructions.size());
  values_ = std::make_shared<const std::vector<std::optional<Literal>>>(std::move(values));
}

}  // namespace assay
