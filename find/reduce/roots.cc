#include "find/reduce/roots.h"

#include <algorithm>
#include <set>
#include <utility>

#include "evaluator/registry.h"
#include "find/reduce/edit.h"
#include "fmt/format.h"

namespace assay {
namespace {

// Whether a parameter may have the shape, and an .npz file hold its values.
bool MayBeArgument(const Shape& shape) {
  bool may = true;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) {
    may = may && leaf.IsArray() && !leaf.HasDynamic();
  });
  return may;
}

bool HasTokens(const Shape& shape) {
  bool any = false;
  ForEachLeaf(shape, [&](const ShapeIndex&, const Shape& leaf) { any = any || !leaf.IsArray(); });
  return any;
}

std::set<int32_t> InstructionsOf(std::span<const ReductionPlace> places) {
  std::set<int32_t> instructions;
  for (const ReductionPlace& place : places) instructions.insert(place.instruction);
  return instructions;
}

}  // namespace

std::vector<ReductionPlace> OutputPlaces(const CheckedCase& from) {
  const Shape& result = *from.entry().root_instruction().shape;
  std::vector<ReductionPlace> places;
  if (!result.IsTuple()) return places;
  for (size_t k = 0; k < result.elements().size(); ++k)
    places.push_back({from.module().entry.value, from.entry().root, static_cast<int64_t>(k)});
  return places;
}

absl::StatusOr<TestCase> DropOutputs(const CheckedCase& from, std::span<const ReductionPlace> places) {
  const int64_t count = std::ssize(from.entry().root_instruction().shape->elements());
  std::set<int64_t> dropped;
  for (const ReductionPlace& place : places) dropped.insert(place.which);
  TestCase to = from.Copy();
  ComputationEdit edit(to.module, to.module.entry);
  for (int32_t k = 0; k < edit.size(); ++k) edit.Keep(k);
  std::vector<int32_t> kept;
  for (int64_t k = 0; k < count; ++k) {
    if (!dropped.contains(k)) kept.push_back(edit.AddElement(edit.At(edit.before().root), k));
  }
  // To drop the only one is to take the array out of its tuple.
  if (count == 1) kept.push_back(edit.AddElement(edit.At(edit.before().root), 0));
  if (kept.empty()) return InvalidProgram({}, "a program without outputs");
  edit.SetRoot(kept.size() == 1 ? kept[0] : edit.AddTuple(kept));
  ForgetSignature(to.module);
  ASSAY_RETURN_IF_ERROR(edit.Finish());
  return to;
}

absl::StatusOr<TestCase> WithAllOutputs(const CheckedCase& from) {
  const std::vector<int32_t> users = NumUsers(from.entry());
  TestCase to = from.Copy();
  ComputationEdit edit(to.module, to.module.entry);
  std::vector<int32_t> outputs;
  for (int32_t k = 0; k < edit.size(); ++k) {
    edit.Keep(k);
    const Instruction& instruction = edit.before(k);
    const bool is_dead = users[static_cast<size_t>(k)] == 0 && instruction.opcode != Opcode::kParameter;
    if (k == edit.before().root || (is_dead && !HasTokens(*instruction.shape))) outputs.push_back(edit.At(k));
  }
  edit.SetRoot(edit.AddTuple(outputs));
  ForgetSignature(to.module);
  ASSAY_RETURN_IF_ERROR(edit.Finish());
  return to;
}

std::vector<ReductionPlace> RootPlaces(const CheckedCase& from) {
  const Computation& entry = from.entry();
  std::vector<int32_t> candidates;
  for (int32_t k = 0; k < static_cast<int32_t>(entry.instructions.size()); ++k) {
    const Instruction& instruction = entry.instructions[static_cast<size_t>(k)];
    if (k == entry.root || instruction.opcode == Opcode::kParameter ||
        instruction.opcode == Opcode::kConstant)
      continue;
    if (!HasTokens(*instruction.shape)) candidates.push_back(k);
  }
  // Middles of halves, of quarters, …: the first one that is interesting halves the program.
  std::vector<ReductionPlace> places;
  std::vector<std::pair<size_t, size_t>> level = {{0, candidates.size()}};
  while (!level.empty()) {
    std::vector<std::pair<size_t, size_t>> next;
    for (const auto& [begin, end] : level) {
      if (begin == end) continue;
      const size_t middle = begin + (end - begin) / 2;
      places.push_back({from.module().entry.value, candidates[middle]});
      next.emplace_back(begin, middle);
      next.emplace_back(middle + 1, end);
    }
    level = std::move(next);
  }
  return places;
}

absl::StatusOr<TestCase> CutToRoot(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  to.module.computations[static_cast<size_t>(to.module.entry.value)].root = places[0].instruction;
  ForgetSignature(to.module);
  return to;
}

std::vector<ReductionPlace> ParameterPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  for (size_t k = 0; k < from.entry().instructions.size(); ++k) {
    const Instruction& instruction = from.entry().instructions[k];
    if (instruction.opcode == Opcode::kParameter || !from.values()[k]) continue;
    if (instruction.opcode == Opcode::kConstant && instruction.shape->num_elements() <= 1) continue;
    if (static_cast<int32_t>(k) != from.entry().root && MayBeArgument(*instruction.shape))
      places.push_back({from.module().entry.value, static_cast<int32_t>(k)});
  }
  return places;
}

absl::StatusOr<TestCase> MakeParameters(const CheckedCase& from, std::span<const ReductionPlace> places) {
  const std::set<int32_t> instructions = InstructionsOf(places);
  const Computation& entry = from.entry();
  // Of those that are replaced, the ones that another instruction still reads.
  std::vector<bool> is_read(entry.instructions.size(), false);
  for (size_t k = 0; k < entry.instructions.size(); ++k) {
    if (instructions.contains(static_cast<int32_t>(k))) continue;
    for (const int32_t operand : entry.instructions[k].operands) is_read[static_cast<size_t>(operand)] = true;
  }
  TestCase to = from.Copy();
  ComputationEdit edit(to.module, to.module.entry);
  for (int32_t k = 0; k < edit.size(); ++k) {
    if (!instructions.contains(k)) {
      edit.Keep(k);
      continue;
    }
    if (!is_read[static_cast<size_t>(k)]) continue;
    Instruction parameter(Opcode::kParameter);
    parameter.name = edit.before(k).name;
    parameter.shape = edit.before(k).shape;
    parameter.parameter_number = std::ssize(to.arguments);
    edit.Become(k, edit.Add(std::move(parameter)));
    to.arguments.push_back(*from.values()[static_cast<size_t>(k)]);
  }
  ForgetSignature(to.module);
  ASSAY_RETURN_IF_ERROR(edit.Finish());
  // Parameters that only what is gone has read. Others that nobody uses are another reduction's.
  const std::vector<int32_t> before = NumUsers(entry);
  RemoveDead(to.module);
  DropParameters(to, [&](int64_t number) {
    return number < std::ssize(entry.parameters) &&
           before[static_cast<size_t>(entry.parameters[static_cast<size_t>(number)])] > 0;
  });
  return to;
}

std::vector<ReductionPlace> UnusedPlaces(const CheckedCase& from) {
  const std::vector<int32_t> users = NumUsers(from.entry());
  std::vector<ReductionPlace> places;
  for (size_t k = 0; k < from.entry().parameters.size(); ++k) {
    const int32_t parameter = from.entry().parameters[k];
    if (users[static_cast<size_t>(parameter)] == 0 && parameter != from.entry().root)
      places.push_back({from.module().entry.value, parameter, static_cast<int64_t>(k)});
  }
  return places;
}

absl::StatusOr<TestCase> DropUnused(const CheckedCase& from, std::span<const ReductionPlace> places) {
  std::set<int64_t> numbers;
  for (const ReductionPlace& place : places) numbers.insert(place.which);
  TestCase to = from.Copy();
  DropParameters(to, [&](int64_t number) { return numbers.contains(number); });
  return to;
}

std::vector<ReductionPlace> EffectPlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  const Module& module = from.module();
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    for (size_t k = 0; k < computation.instructions.size(); ++k) {
      if (HasSideEffect(computation.instructions[k]))
        places.push_back({static_cast<int32_t>(c), static_cast<int32_t>(k)});
    }
  }
  return places;
}

absl::StatusOr<TestCase> DropEffects(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  std::set<int32_t> computations;
  for (const ReductionPlace& place : places) computations.insert(place.computation);
  for (const int32_t c : computations) {
    ComputationEdit edit(to.module, ComputationId{c});
    std::set<int32_t> dropped;
    for (const ReductionPlace& place : places) {
      if (place.computation == c) dropped.insert(place.instruction);
    }
    for (int32_t k = 0; k < edit.size(); ++k) {
      if (!dropped.contains(k)) {
        edit.Keep(k);
        continue;
      }
      // Tokens and values are passed on where an operand is like the result; else users make it invalid.
      for (const int32_t operand : edit.before(k).operands) {
        if (Shape::Compatible(*edit.before(operand).shape, *edit.before(k).shape))
          edit.Become(k, edit.At(operand));
      }
    }
    ASSAY_RETURN_IF_ERROR(edit.Finish());
  }
  return to;
}

}  // namespace assay
