#include "find/reduce/replacements.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "find/reduce/cost.h"
#include "find/reduce/edit.h"
#include "fmt/format.h"

namespace assay {
namespace {

// The places of each computation, by instruction: of several of one instruction, the first.
std::map<int32_t, std::map<int32_t, ReductionPlace>> ByComputation(std::span<const ReductionPlace> places) {
  std::map<int32_t, std::map<int32_t, ReductionPlace>> by_computation;
  for (const ReductionPlace& place : places)
    by_computation[place.computation].emplace(place.instruction, place);
  return by_computation;
}

bool IsFilled(const Computation& computation, const Instruction& instruction) {
  if (instruction.opcode != Opcode::kBroadcast) return false;
  const Instruction& operand = computation.instructions[static_cast<size_t>(instruction.operands[0])];
  return operand.opcode == Opcode::kConstant && operand.shape->IsScalar();
}

}  // namespace

std::vector<ReductionPlace> OperandPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  const Module& module = from.module();
  // From users to operands, so that a chain is cut behind what matters.
  for (size_t c = module.computations.size(); c-- > 0;) {
    const Computation& computation = module.computations[c];
    for (size_t k = computation.instructions.size(); k-- > 0;) {
      const Instruction& instruction = computation.instructions[k];
      std::set<int32_t> seen;
      for (size_t o = 0; o < instruction.operands.size(); ++o) {
        const int32_t operand = instruction.operands[o];
        const Shape& shape = *computation.instructions[static_cast<size_t>(operand)].shape;
        if (Shape::Compatible(shape, *instruction.shape) && seen.insert(operand).second)
          places.push_back({static_cast<int32_t>(c), static_cast<int32_t>(k), static_cast<int64_t>(o)});
      }
    }
  }
  return places;
}

absl::StatusOr<TestCase> UseOperands(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  for (const auto& [computation, by_instruction] : ByComputation(places)) {
    ComputationEdit edit(to.module, ComputationId{computation});
    for (int32_t k = 0; k < edit.size(); ++k) {
      const auto it = by_instruction.find(k);
      if (it == by_instruction.end()) {
        edit.Keep(k);
      } else {
        edit.Become(k, edit.At(edit.before(k).operands[static_cast<size_t>(it->second.which)]));
      }
    }
    ASSAY_RETURN_IF_ERROR(edit.Finish());
  }
  return to;
}

std::vector<ReductionPlace> FillPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  const Module& module = from.module();
  for (const int64_t number : {0, 1}) {
    for (size_t c = module.computations.size(); c-- > 0;) {
      const Computation& computation = module.computations[c];
      for (size_t k = computation.instructions.size(); k-- > 0;) {
        const Instruction& instruction = computation.instructions[k];
        if (!instruction.shape->IsArray() || instruction.shape->HasDynamic()) continue;
        if (instruction.opcode == Opcode::kParameter || instruction.opcode == Opcode::kConstant) continue;
        if (IsFilled(computation, instruction)) continue;
        places.push_back({static_cast<int32_t>(c), static_cast<int32_t>(k), 0, number});
      }
    }
  }
  return places;
}

absl::StatusOr<TestCase> FillWithNumbers(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  for (const auto& [computation, by_instruction] : ByComputation(places)) {
    ComputationEdit edit(to.module, ComputationId{computation});
    for (int32_t k = 0; k < edit.size(); ++k) {
      const auto it = by_instruction.find(k);
      if (it == by_instruction.end()) {
        edit.Keep(k);
      } else {
        edit.Become(k, edit.AddFilled(edit.before(k).shape, it->second.how));
      }
    }
    ASSAY_RETURN_IF_ERROR(edit.Finish());
  }
  return to;
}

std::vector<ReductionPlace> ConstantPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  for (size_t k = 0; k < from.entry().instructions.size(); ++k) {
    const Instruction& instruction = from.entry().instructions[k];
    if (instruction.opcode == Opcode::kConstant || !instruction.shape->IsArray() || !from.values()[k])
      continue;
    if (instruction.shape->HasDynamic() || instruction.shape->num_elements() > kMaxConstant) continue;
    if (static_cast<int32_t>(k) != from.entry().root)
      places.push_back({from.module().entry.value, static_cast<int32_t>(k)});
  }
  return places;
}

absl::StatusOr<TestCase> MakeConstants(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  const auto by_computation = ByComputation(places);
  const std::map<int32_t, ReductionPlace>& replaced = by_computation.begin()->second;
  std::set<int64_t> parameters;
  ComputationEdit edit(to.module, to.module.entry);
  for (int32_t k = 0; k < edit.size(); ++k) {
    const Instruction& before = edit.before(k);
    if (!replaced.contains(k)) {
      edit.Keep(k);
      continue;
    }
    if (before.opcode == Opcode::kParameter) {
      edit.Keep(k);  // nobody uses it any longer
      parameters.insert(before.parameter_number);
    }
    Instruction constant(Opcode::kConstant);
    constant.name = before.name;
    constant.shape = before.shape;
    constant.literal =
        std::make_shared<const Literal>(from.values()[static_cast<size_t>(k)]->WithShape(before.shape));
    edit.Become(k, edit.Add(std::move(constant)));
  }
  ASSAY_RETURN_IF_ERROR(edit.Finish());
  DropParameters(to, [&](int64_t number) { return parameters.contains(number); });
  return to;
}

}  // namespace assay
