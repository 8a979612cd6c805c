#include "find/reduce/arrays.h"

#include <set>

#include "evaluator/inlining.h"
#include "find/reduce/edit.h"

namespace assay {
namespace {

bool IsReduction(const Instruction& instruction) { return instruction.opcode == Opcode::kReduce; }

// How many arrays it works on; 0: it is no such operation.
int64_t NumArrays(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kSort) return std::ssize(instruction.operands);
  return IsReduction(instruction) ? std::ssize(instruction.operands) / 2 : 0;
}

// Parameters of the computation for array `which`: of a sort the two elements that are compared, of a reduce
// the partial result and the element.
std::set<int64_t> ParametersOf(const Instruction& instruction, int64_t which) {
  if (IsReduction(instruction)) return {which, NumArrays(instruction) + which};
  return {2 * which, 2 * which + 1};
}

// The computation of the instruction without the parameters of array `which`, and of a reduce without that
// element of its root. The instruction is the only one that calls it.
absl::Status NarrowComputation(Module& module, const Instruction& instruction, int64_t which) {
  const ComputationId id = *instruction.attributes.Computation(Attr::kToApply);
  const std::set<int64_t> dropped = ParametersOf(instruction, which);
  const Computation& before = module.computation(id);
  const Instruction& root = before.root_instruction();
  if (IsReduction(instruction) && root.opcode != Opcode::kTuple)
    return InvalidProgram({}, "a reducer whose result is no tuple of instructions");
  std::vector<bool> needed(before.instructions.size(), false);
  std::vector<int32_t> results;
  if (IsReduction(instruction)) {
    for (int64_t k = 0; k < std::ssize(root.operands); ++k) {
      if (k != which) results.push_back(root.operands[static_cast<size_t>(k)]);
    }
  } else {
    results.push_back(before.root);
  }
  for (const int32_t result : results) needed[static_cast<size_t>(result)] = true;
  MarkOperands(before, needed);
  ComputationEdit edit(module, id);
  int64_t number = 0;
  std::vector<int64_t> numbers;
  for (int64_t k = 0; k < std::ssize(before.parameters); ++k)
    numbers.push_back(dropped.contains(k) ? -1 : number++);
  for (int32_t k = 0; k < edit.size(); ++k) {
    Instruction copy = edit.before(k);
    if (copy.opcode != Opcode::kParameter) {
      if (needed[static_cast<size_t>(k)]) edit.Keep(k);
      continue;
    }
    copy.parameter_number = numbers[static_cast<size_t>(copy.parameter_number)];
    if (copy.parameter_number >= 0) edit.Become(k, edit.Add(std::move(copy)));
  }
  if (IsReduction(instruction)) {
    for (int32_t& result : results) result = edit.At(result);
    edit.SetRoot(results.size() == 1 ? results[0] : edit.AddTuple(results));
  }
  return edit.Finish();
}

int64_t NumCalls(const Module& module, ComputationId id) {
  int64_t calls = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      for (const ComputationId called : CalledComputations(instruction)) calls += called == id ? 1 : 0;
    }
  }
  return calls;
}

}  // namespace

std::vector<ReductionPlace> ArrayPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  const Module& module = from.module();
  for (size_t c = module.computations.size(); c-- > 0;) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (size_t k = 0; k < instructions.size(); ++k) {
      if (NumArrays(instructions[k]) < 2) continue;
      for (int64_t which = NumArrays(instructions[k]); which-- > 0;)
        places.push_back({static_cast<int32_t>(c), static_cast<int32_t>(k), which});
    }
  }
  return places;
}

absl::StatusOr<TestCase> DropArrays(const CheckedCase& from, std::span<const ReductionPlace> places) {
  const ReductionPlace& place = places[0];
  TestCase to = from.Copy();
  const ComputationId id{place.computation};
  const Instruction before = to.module.computation(id).instructions[static_cast<size_t>(place.instruction)];
  if (NumCalls(to.module, *before.attributes.Computation(Attr::kToApply)) != 1)
    return InvalidProgram({}, "a computation that is called from several places");
  ASSAY_RETURN_IF_ERROR(NarrowComputation(to.module, before, place.which));
  ComputationEdit edit(to.module, id);
  const int64_t arrays = NumArrays(before);
  // The program's result itself, which nobody else reads, leaves an output out.
  const bool is_result = id == to.module.entry && edit.before().root == place.instruction &&
                         NumUsers(edit.before())[static_cast<size_t>(place.instruction)] == 0;
  for (int32_t k = 0; k < edit.size(); ++k) {
    if (k != place.instruction) {
      const Instruction& user = edit.before(k);
      if (user.opcode == Opcode::kGetTupleElement && user.operands[0] == place.instruction) {
        edit.Become(k, edit.AddElement(edit.At(place.instruction), user.attributes.Int(Attr::kIndex)));
      } else {
        edit.Keep(k);
      }
      continue;
    }
    Instruction narrow = before;
    narrow.operands.clear();
    narrow.control_predecessors.clear();
    narrow.shape = nullptr;
    for (int64_t o = 0; o < std::ssize(before.operands); ++o) {
      if (o % arrays != place.which)
        narrow.operands.push_back(edit.At(before.operands[static_cast<size_t>(o)]));
    }
    const int32_t now = edit.Add(std::move(narrow));
    if (is_result) {
      edit.Become(k, now);
      continue;
    }
    std::vector<int32_t> elements;
    for (int64_t e = 0, next = 0; e < arrays; ++e) {
      if (e != place.which) {
        elements.push_back(arrays == 2 ? now : edit.AddElement(now, next++));
      } else if (IsReduction(before)) {
        Instruction fill(Opcode::kBroadcast);
        fill.operands = {edit.At(before.operands[static_cast<size_t>(arrays + e)])};
        fill.attributes.Set(Attr::kDimensions, Ints{});
        fill.shape = SharedShape(before.shape->element(e));
        elements.push_back(edit.Add(std::move(fill)));
      } else {
        elements.push_back(edit.At(before.operands[static_cast<size_t>(e)]));
      }
    }
    edit.Become(k, edit.AddTuple(elements));
  }
  ForgetSignature(to.module);
  ASSAY_RETURN_IF_ERROR(edit.Finish());
  return to;
}

}  // namespace assay
