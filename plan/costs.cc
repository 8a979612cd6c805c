#include "plan/costs.h"

#include <algorithm>
#include <cmath>

#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr double kMost = 1e300;  // operations: no sum is infinite

bool HasUnbounded(const Shape& shape) {
  if (shape.IsArray()) return shape.HasUnbounded();
  return std::any_of(shape.elements().begin(), shape.elements().end(), HasUnbounded);
}

void AddOperations(const Cost& more, double times, Cost& cost) {
  cost.flops = std::min(cost.flops + times * more.flops, kMost);
  cost.functions = std::min(cost.functions + times * more.functions, kMost);
  cost.known = cost.known && more.known;
}

bool RunsSteps(const Instruction& instruction) { return DefinitionOf(instruction.opcode).runs_steps; }

// The operations of the computations that the instruction runs as steps, or of a conditional's largest one.
Cost CalledOperations(std::span<const Cost> totals, const Instruction& instruction) {
  Cost sum, largest;
  for (ComputationId id : CalledComputations(instruction)) {
    const Cost& called = totals[static_cast<size_t>(id.value)];
    AddOperations(called, 1, sum);
    if (called.flops + called.functions >= largest.flops + largest.functions) largest = called;
  }
  return instruction.opcode == Opcode::kConditional ? largest : sum;
}

// The bytes read of a fusion's operand: what members move of it alone where no other member reads it.
double BytesReadOf(const Computation& computation, const Fusion& fusion, int32_t operand) {
  const auto shape = [&](int32_t i) -> const Shape& {
    return *computation.instructions[static_cast<size_t>(i)].shape;
  };
  const double whole = work::BytesOf(shape(operand));
  double sliced = 0;
  for (int32_t member : fusion.members) {
    const Instruction& instruction = computation.instructions[static_cast<size_t>(member)];
    if (std::find(instruction.operands.begin(), instruction.operands.end(), operand) ==
        instruction.operands.end()) {
      continue;
    }
    if (DefinitionOf(instruction.opcode).source == nullptr) return whole;
    sliced += work::BytesOf(shape(member));
  }
  return std::min(whole, sliced);
}

}  // namespace

Costs::Costs(const Module& module) {
  totals_.reserve(module.computations.size());
  for (const Computation& computation : module.computations) {
    Cost total;
    for (const Instruction& instruction : computation.instructions) {
      AddOperations(Of(computation, instruction), 1, total);
      if (RunsSteps(instruction)) AddOperations(CalledOperations(totals_, instruction), 1, total);
    }
    totals_.push_back(total);
  }
}

Cost Costs::Of(const Computation& computation, const Instruction& instruction) const {
  const InstructionView view{computation, instruction};
  const Work work = DefinitionOf(instruction.opcode).work(view);
  Cost cost{.read = work.read, .written = work.written};
  AddOperations({.flops = work.flops, .functions = work.functions, .known = work.known}, 1, cost);
  for (const Work::Applied& applied : work.applied) {
    const std::optional<ComputationId> id = view.attributes().Computation(applied.computation);
    if (id && applied.times > 0) AddOperations(totals_[static_cast<size_t>(id->value)], applied.times, cost);
  }
  cost.known = cost.known && !HasUnbounded(view.result());
  for (size_t k = 0; k < view.num_operands(); ++k) cost.known = cost.known && !HasUnbounded(view.operand(k));
  return cost;
}

Cost Costs::Of(const Computation& computation, const Step& step) const {
  const Instruction& instruction = computation.instructions[static_cast<size_t>(step.instruction)];
  const auto bytes = [&](int32_t i) {
    return work::BytesOf(*computation.instructions[static_cast<size_t>(i)].shape);
  };
  if (step.fusion == nullptr && (step.kernel == nullptr || !RunsSteps(instruction)))
    return Of(computation, instruction);
  Cost cost;
  for (int32_t operand : step.Reads(computation))
    cost.read += step.fusion == nullptr ? bytes(operand) : BytesReadOf(computation, *step.fusion, operand);
  cost.written = bytes(step.instruction);
  if (step.fusion == nullptr) {
    AddOperations(CalledOperations(totals_, instruction), 1, cost);
    cost.per_iteration = true;
    return cost;
  }
  for (int32_t member : step.fusion->members)
    AddOperations(Of(computation, computation.instructions[static_cast<size_t>(member)]), 1, cost);
  return cost;
}

namespace {

// Three digits and a prefix: {1.07, "G"}, also of 1023 as {1023, ""}.
struct Scaled {
  std::string digits;
  std::string_view prefix;
};
Scaled ScaledBy(double base, double value) {
  constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t k = 0;
  for (; k + 1 < std::size(kPrefixes) && value >= base - 0.5; ++k) value /= base;
  const bool whole = k == 0 || value >= 99.95;
  return {whole ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value), kPrefixes[k]};
}

}  // namespace

std::string BytesText(double bytes) {
  const Scaled scaled = ScaledBy(1024, bytes);
  if (scaled.prefix.empty()) return scaled.digits + " B";
  return fmt::format("{} {}iB", scaled.digits, scaled.prefix == "k" ? "K" : scaled.prefix);
}

std::string OperationsText(const Cost& cost) {
  const Scaled flops = ScaledBy(1000, cost.flops), functions = ScaledBy(1000, cost.functions);
  std::string text;
  if (!cost.known) {
    text = "? flop";
  } else if (cost.flops > 0 || cost.functions == 0) {
    text = fmt::format("{} {}flop", flops.digits, flops.prefix);
  }
  if (cost.functions > 0) {
    text += fmt::format("{}{}{}{} {}", text.empty() ? "" : " + ", functions.digits,
                        functions.prefix.empty() ? "" : " ", functions.prefix,
                        cost.functions == 1 ? "function" : "functions");
  }
  return cost.per_iteration ? text + " per iteration" : text;
}

}  // namespace assay
