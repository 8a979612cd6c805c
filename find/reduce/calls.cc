#include "find/reduce/calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "evaluator/inlining.h"
#include "evaluator/registry.h"
#include "find/reduce/edit.h"
#include "fmt/format.h"

namespace assay {
namespace {

// Inlining of what is called from several places may multiply a program.
constexpr int64_t kMostInlined = 20000;

std::vector<ReductionPlace> PlacesOf(const CheckedCase& from,
                                     absl::FunctionRef<bool(const Instruction& instruction)> is_one) {
  std::vector<ReductionPlace> places;
  const Module& module = from.module();
  for (size_t c = module.computations.size(); c-- > 0;) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (size_t k = 0; k < instructions.size(); ++k) {
      if (is_one(instructions[k])) places.push_back({static_cast<int32_t>(c), static_cast<int32_t>(k)});
    }
  }
  return places;
}

// Writes each computation that has places anew: `replace` writes what a place's instruction becomes.
absl::StatusOr<TestCase> ReplaceAt(
    const CheckedCase& from, std::span<const ReductionPlace> places,
    absl::FunctionRef<int32_t(ComputationEdit& edit, const ReductionPlace& place)> replace) {
  TestCase to = from.Copy();
  // What is called is written before its callers.
  std::map<int32_t, std::map<int32_t, ReductionPlace>> by_computation;
  for (const ReductionPlace& place : places)
    by_computation[place.computation].emplace(place.instruction, place);
  for (const auto& [computation, by_instruction] : by_computation) {
    ComputationEdit edit(to.module, ComputationId{computation});
    for (int32_t k = 0; k < edit.size(); ++k) {
      const auto it = by_instruction.find(k);
      if (it == by_instruction.end()) {
        edit.Keep(k);
      } else {
        edit.Become(k, replace(edit, it->second));
      }
    }
    ASSAY_RETURN_IF_ERROR(edit.Finish());
    if (NumInstructions(to.module) > std::max(kMostInlined, NumInstructions(from.module())))
      return InvalidProgram({}, fmt::format("more than {} instructions", kMostInlined));
  }
  return to;
}

std::vector<int32_t> OperandsNow(const ComputationEdit& edit, const Instruction& before) {
  std::vector<int32_t> operands;
  for (const int32_t operand : before.operands) operands.push_back(edit.At(operand));
  return operands;
}

// The parts of a loop whose state is a tuple that can be taken apart.
struct TakenLoop {
  ComputationId condition, body;
  int64_t size = 0;
};

bool ReadsElementsAlone(const Computation& computation) {
  const int32_t parameter = computation.parameters[0];
  if (computation.root == parameter) return false;
  for (const Instruction& instruction : computation.instructions) {
    if (instruction.opcode == Opcode::kGetTupleElement) continue;
    if (std::find(instruction.operands.begin(), instruction.operands.end(), parameter) !=
        instruction.operands.end())
      return false;
  }
  return true;
}

int64_t NumCallers(const Module& module, ComputationId id) {
  int64_t callers = 0;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const std::vector<ComputationId> called = CalledComputations(instruction);
      callers += std::count(called.begin(), called.end(), id);
    }
  }
  return callers;
}

std::optional<TakenLoop> TakeLoop(const Module& module, const Instruction& loop) {
  if (loop.opcode != Opcode::kWhile || !loop.shape->IsTuple()) return std::nullopt;
  const TakenLoop taken{*loop.attributes.Computation(Attr::kCondition),
                        *loop.attributes.Computation(Attr::kBody), std::ssize(loop.shape->elements())};
  for (const ComputationId id : {taken.condition, taken.body}) {
    if (!ReadsElementsAlone(module.computation(id)) || NumCallers(module, id) != 1) return std::nullopt;
  }
  if (module.computation(taken.body).root_instruction().opcode != Opcode::kTuple) return std::nullopt;
  return taken;
}

std::vector<ReductionPlace> StateElements(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  for (const ReductionPlace& loop :
       PlacesOf(from, [](const Instruction& instruction) { return instruction.opcode == Opcode::kWhile; })) {
    const Instruction& instruction = from.module()
                                         .computations[static_cast<size_t>(loop.computation)]
                                         .instructions[static_cast<size_t>(loop.instruction)];
    const std::optional<TakenLoop> taken = TakeLoop(from.module(), instruction);
    if (!taken) continue;
    for (int64_t k = taken->size; k-- > 0;) places.push_back({loop.computation, loop.instruction, k});
  }
  return places;
}

// By loop, the elements of its state. What is called comes before its caller, and loops of one computation
// from the last one: each is changed while the indices of those that follow here are what they were.
struct LoopPlace {
  int32_t computation = 0, loop = 0;
  bool operator<(const LoopPlace& other) const {
    return computation != other.computation ? computation < other.computation : loop > other.loop;
  }
};
using ElementsByLoop = std::map<LoopPlace, std::set<int64_t>>;
ElementsByLoop ByLoop(std::span<const ReductionPlace> places) {
  ElementsByLoop by_loop;
  for (const ReductionPlace& place : places)
    by_loop[{place.computation, place.instruction}].insert(place.which);
  return by_loop;
}

Shape WithoutElements(const Shape& tuple, const std::set<int64_t>& dropped) {
  std::vector<Shape> elements;
  for (int64_t k = 0; k < std::ssize(tuple.elements()); ++k) {
    if (!dropped.contains(k)) elements.push_back(tuple.element(k));
  }
  return Shape::Tuple(std::move(elements));
}

// Instructions of a condition or body that are needed without these elements of its root.
std::vector<bool> NeededWithout(const Computation& computation, bool is_body,
                                const std::set<int64_t>& dropped) {
  std::vector<bool> needed(computation.instructions.size(), false);
  for (size_t k = 0; k < needed.size(); ++k) needed[k] = HasSideEffect(computation.instructions[k]);
  if (is_body) {
    const Instruction& root = computation.root_instruction();
    for (size_t k = 0; k < root.operands.size(); ++k) {
      if (!dropped.contains(static_cast<int64_t>(k))) needed[static_cast<size_t>(root.operands[k])] = true;
    }
  } else {
    needed[static_cast<size_t>(computation.root)] = true;
  }
  MarkOperands(computation, needed);
  needed[static_cast<size_t>(computation.parameters[0])] = true;
  return needed;
}

// The condition or body of a loop on a state without these elements. An instruction that needs one of them is
// an error.
absl::Status NarrowState(Module& module, ComputationId id, bool is_body, const std::set<int64_t>& dropped) {
  ComputationEdit edit(module, id);
  const Computation& before = edit.before();
  const std::vector<bool> needed = NeededWithout(before, is_body, dropped);
  const int32_t parameter = before.parameters[0];
  for (int32_t k = 0; k < edit.size(); ++k) {
    const Instruction& instruction = edit.before(k);
    if (!needed[static_cast<size_t>(k)]) continue;
    if (k == parameter) {
      Instruction narrow = instruction;
      narrow.extras = nullptr;
      narrow.shape = SharedShape(WithoutElements(*instruction.shape, dropped));
      edit.Become(k, edit.Add(std::move(narrow)));
    } else if (instruction.opcode == Opcode::kGetTupleElement && instruction.operands[0] == parameter) {
      const int64_t index = instruction.attributes.Int(Attr::kIndex);
      if (dropped.contains(index)) continue;
      const int64_t before_it = std::distance(dropped.begin(), dropped.lower_bound(index));
      edit.Become(k, edit.AddElement(edit.At(parameter), index - before_it));
    } else {
      edit.Keep(k);
    }
  }
  if (is_body) {
    std::vector<int32_t> elements;
    const Instruction& root = before.root_instruction();
    for (size_t k = 0; k < root.operands.size(); ++k) {
      if (!dropped.contains(static_cast<int64_t>(k))) elements.push_back(edit.At(root.operands[k]));
    }
    edit.SetRoot(edit.AddTuple(elements));
  }
  return edit.Finish();
}

// The loop on the narrower state, and behind it a tuple like the one that it gave.
absl::Status NarrowLoop(Module& module, ComputationId computation, int32_t loop,
                        const std::set<int64_t>& dropped) {
  ComputationEdit edit(module, computation);
  for (int32_t k = 0; k < edit.size(); ++k) {
    const Instruction& instruction = edit.before(k);
    if (k != loop) {
      const bool reads_loop =
          instruction.opcode == Opcode::kGetTupleElement && instruction.operands[0] == loop;
      if (reads_loop) {
        edit.Become(k, edit.AddElement(edit.At(loop), instruction.attributes.Int(Attr::kIndex)));
      } else {
        edit.Keep(k);
      }
      continue;
    }
    const int32_t init = edit.At(instruction.operands[0]);
    const int64_t size = std::ssize(instruction.shape->elements());
    std::vector<int32_t> state, result;
    for (int64_t e = 0; e < size; ++e) {
      if (!dropped.contains(e)) state.push_back(edit.AddElement(init, e));
    }
    Instruction narrow = instruction;
    narrow.extras = nullptr;
    narrow.control_predecessors.clear();
    narrow.shape = SharedShape(WithoutElements(*instruction.shape, dropped));
    narrow.operands = {edit.AddTuple(state)};
    const int32_t now = edit.Add(std::move(narrow));
    for (int64_t e = 0, next = 0; e < size; ++e)
      result.push_back(dropped.contains(e) ? edit.AddElement(init, e) : edit.AddElement(now, next++));
    edit.Become(k, edit.AddTuple(result));
  }
  return edit.Finish();
}

}  // namespace

std::vector<ReductionPlace> CallPlaces(const CheckedCase& from) {
  return PlacesOf(from, [](const Instruction& instruction) {
    return instruction.opcode == Opcode::kCall || instruction.opcode == Opcode::kFusion;
  });
}

absl::StatusOr<TestCase> InlineCalls(const CheckedCase& from, std::span<const ReductionPlace> places) {
  return ReplaceAt(from, places, [](ComputationEdit& edit, const ReductionPlace& place) {
    const Instruction& call = edit.before(place.instruction);
    return edit.Inline(CalledComputations(call)[0], OperandsNow(edit, call));
  });
}

std::vector<ReductionPlace> BranchPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  for (const ReductionPlace& place : PlacesOf(
           from, [](const Instruction& instruction) { return instruction.opcode == Opcode::kConditional; })) {
    const Instruction& conditional = from.module()
                                         .computations[static_cast<size_t>(place.computation)]
                                         .instructions[static_cast<size_t>(place.instruction)];
    const int64_t branches = std::ssize(CalledComputations(conditional));
    int64_t taken = 0;
    if (place.computation == from.module().entry.value) {
      const std::optional<Literal>& index = from.values()[static_cast<size_t>(conditional.operands[0])];
      // Of a predicate the first branch is that of true; an index that is out of range takes the last one.
      if (index && index->shape().element_type() == ElementType::kPred) {
        taken = index->GetInt(0) != 0 ? 0 : 1;
      } else if (index) {
        taken = index->GetInt(0) < 0 ? branches - 1 : std::min(index->GetInt(0), branches - 1);
      }
    }
    for (int64_t k = 0; k < branches; ++k)
      places.push_back({place.computation, place.instruction, (taken + k) % branches});
  }
  return places;
}

absl::StatusOr<TestCase> InlineBranches(const CheckedCase& from, std::span<const ReductionPlace> places) {
  return ReplaceAt(from, places, [](ComputationEdit& edit, const ReductionPlace& place) {
    const Instruction& conditional = edit.before(place.instruction);
    const size_t branch = static_cast<size_t>(place.which);
    const int32_t operand = edit.At(conditional.operands[branch + 1]);
    return edit.Inline(CalledComputations(conditional)[branch], {&operand, 1});
  });
}

std::vector<ReductionPlace> LoopPlaces(const CheckedCase& from) {
  return PlacesOf(from, [](const Instruction& instruction) { return instruction.opcode == Opcode::kWhile; });
}

absl::StatusOr<TestCase> RunBodyOnce(const CheckedCase& from, std::span<const ReductionPlace> places) {
  return ReplaceAt(from, places, [](ComputationEdit& edit, const ReductionPlace& place) {
    const Instruction& loop = edit.before(place.instruction);
    return edit.Inline(*loop.attributes.Computation(Attr::kBody), OperandsNow(edit, loop));
  });
}

std::vector<ReductionPlace> FreezePlaces(const CheckedCase& from) { return StateElements(from); }

absl::StatusOr<TestCase> FreezeState(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  for (const auto& [at, frozen] : ByLoop(places)) {
    const Instruction loop = to.module.computations[static_cast<size_t>(at.computation)]
                                 .instructions[static_cast<size_t>(at.loop)];
    ComputationEdit edit(to.module, *loop.attributes.Computation(Attr::kBody));
    for (int32_t k = 0; k < edit.size(); ++k) edit.Keep(k);
    const Computation& body = edit.before();
    std::vector<int32_t> elements;
    for (size_t k = 0; k < body.root_instruction().operands.size(); ++k) {
      elements.push_back(frozen.contains(static_cast<int64_t>(k))
                             ? edit.AddElement(edit.At(body.parameters[0]), static_cast<int64_t>(k))
                             : edit.At(body.root_instruction().operands[k]));
    }
    edit.SetRoot(edit.AddTuple(elements));
    ASSAY_RETURN_IF_ERROR(edit.Finish());
  }
  return to;
}

std::vector<ReductionPlace> StatePlaces(const CheckedCase& from) { return StateElements(from); }

absl::StatusOr<TestCase> DropState(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  for (const auto& [at, dropped] : ByLoop(places)) {
    const Instruction loop = to.module.computations[static_cast<size_t>(at.computation)]
                                 .instructions[static_cast<size_t>(at.loop)];
    const std::optional<TakenLoop> taken = TakeLoop(to.module, loop);
    if (!taken || std::ssize(dropped) == taken->size) return InvalidProgram({}, "a loop without state");
    ASSAY_RETURN_IF_ERROR(NarrowState(to.module, taken->condition, /*is_body=*/false, dropped));
    ASSAY_RETURN_IF_ERROR(NarrowState(to.module, taken->body, /*is_body=*/true, dropped));
    ASSAY_RETURN_IF_ERROR(NarrowLoop(to.module, ComputationId{at.computation}, at.loop, dropped));
  }
  return to;
}

}  // namespace assay
