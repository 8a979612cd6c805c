#include "check/module_deriver.h"

#include <algorithm>
#include <utility>

#include "check/computation_deriver.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"
#include "plan/inline_calls.h"

namespace assay {
namespace {

// More than 100 for each instruction of the largest programs that people have.
constexpr int64_t kMaxInstructions = 1 << 22;

// The attributes with other computations.
AttributeMap WithComputations(AttributeMap attributes, ModuleDeriver& deriver) {
  std::vector<Attr> calls;
  for (const AttributeMap::Entry& entry : attributes.entries()) {
    if (std::holds_alternative<ComputationId>(entry.value) ||
        std::holds_alternative<std::vector<ComputationId>>(entry.value))
      calls.push_back(entry.attr);
  }
  for (const Attr attr : calls) {
    AttrValue value = *attributes.Find(attr);
    if (auto* const id = std::get_if<ComputationId>(&value)) *id = deriver.Copied(*id);
    if (auto* const ids = std::get_if<std::vector<ComputationId>>(&value)) {
      for (ComputationId& id : *ids) id = deriver.Copied(id);
    }
    attributes.Set(attr, std::move(value));
  }
  return attributes;
}

}  // namespace

ModuleDeriver::ModuleDeriver(const Module& from, const Profile& profile, LoopSet with_forms)
    : from_(from),
      profile_(profile),
      with_forms_(std::move(with_forms)),
      instructions_left_(kMaxInstructions) {
  Module& module = result_.module;
  module.name = from.name + "_bounds";
  module.replica_count = from.replica_count;
  module.num_partitions = from.num_partitions;
  module.custom_ops = from.custom_ops;
  module.frontend_attributes = from.frontend_attributes;  // the meshes that shardings name
}

absl::StatusOr<DerivedComputation> ModuleDeriver::Derive(ComputationId id, const std::vector<bool>& radii,
                                                         const std::vector<bool>& wanted,
                                                         const std::optional<std::vector<bool>>& ends,
                                                         const LoopForms& forms,
                                                         const std::vector<bool>& read) {
  const Key key(id.value, radii, wanted, ends, forms, read);
  if (const auto it = derived_.find(key); it != derived_.end()) return it->second;
  ComputationDeriver deriver(*this, from_.computation(id));
  ASSAY_ASSIGN_OR_RETURN(DerivedComputation result, deriver.Derive(radii, wanted, ends, forms, read));
  derived_.emplace(key, result);
  return result;
}

absl::StatusOr<ProbedComputation> ModuleDeriver::DeriveProbed(ComputationId id,
                                                              const std::vector<bool>& radii) {
  return ComputationDeriver(*this, from_.computation(id)).DeriveProbed(radii);
}

absl::Status ModuleDeriver::DeriveEntry(const std::vector<bool>& subnormal_arguments) {
  ComputationDeriver deriver(*this, from_.entry_computation());
  ASSAY_ASSIGN_OR_RETURN(
      const ComputationId entry,
      deriver.DeriveEntry(subnormal_arguments, result_.radius_of_leaf, result_.ends_of_leaf));
  result_.module.entry = entry;
  return absl::OkStatus();
}

ComputationId ModuleDeriver::Copied(ComputationId id) {
  if (const auto it = copied_.find(id.value); it != copied_.end()) return it->second;
  Computation computation = from_.computation(id);
  for (Instruction& instruction : computation.instructions)
    instruction.attributes = WithComputations(std::move(instruction.attributes), *this);
  instructions_left_ -= static_cast<int64_t>(computation.instructions.size());
  module().computations.push_back(std::move(computation));
  const ComputationId copy{static_cast<int32_t>(module().computations.size()) - 1};
  copied_.emplace(id.value, copy);
  return copy;
}

ComputationId ModuleDeriver::Widened(ComputationId id, std::span<const ElementType> types) {
  Computation computation = module().computation(Copied(id));
  for (const ElementType type : types) {
    for (int side = 0; side < 2; ++side) {
      Instruction parameter(Opcode::kParameter);
      parameter.parameter_number = static_cast<int64_t>(computation.parameters.size());
      parameter.name = fmt::format("along~{}", parameter.parameter_number);
      parameter.shape = std::make_shared<const Shape>(Shape::Scalar(type));
      computation.parameters.push_back(static_cast<int32_t>(computation.instructions.size()));
      computation.instructions.push_back(std::move(parameter));
    }
  }
  instructions_left_ -= static_cast<int64_t>(computation.instructions.size());
  module().computations.push_back(std::move(computation));
  return ComputationId{static_cast<int32_t>(module().computations.size()) - 1};
}

ComputationId ModuleDeriver::Reducer(Opcode op, ElementType type) {
  const auto [it, is_new] = reducers_.try_emplace({static_cast<int>(op), type});
  if (!is_new) return it->second;
  ComputationWriter writer(module(), fmt::format("{}_{}", Name(op), Name(type)), instructions_left_);
  const auto scalar = std::make_shared<const Shape>(Shape::Scalar(type));
  const Node a = writer.Parameter(0, scalar), b = writer.Parameter(1, scalar);
  Instruction instruction(op);
  instruction.operands = {a.id, b.id};
  instruction.shape = scalar;
  return it->second = writer.Finish(writer.Write(std::move(instruction)));
}

ComputationId ModuleDeriver::Replacer(ElementType type) {
  const auto [it, is_new] = reducers_.try_emplace({-1, type});
  if (!is_new) return it->second;
  ComputationWriter writer(module(), fmt::format("second_{}", Name(type)), instructions_left_);
  const auto scalar = std::make_shared<const Shape>(Shape::Scalar(type));
  writer.Parameter(0, scalar);
  return it->second = writer.Finish(writer.Parameter(1, scalar));
}

bool ModuleDeriver::IsExact(ComputationId id) {
  const auto [it, is_new] = exact_.try_emplace(id.value, false);
  if (!is_new) return it->second;
  size_t leaves = 0;
  const Computation& computation = from_.computation(id);
  for (const int32_t p : computation.parameters)
    leaves += LeafShapes(*computation.instructions[static_cast<size_t>(p)].shape).size();
  const std::vector<bool> none(LeafShapes(*computation.root_instruction().shape).size());
  ++quiet_;
  const absl::StatusOr<DerivedComputation> derived = Derive(id, std::vector<bool>(leaves), none);
  --quiet_;
  // The map may have grown in between.
  return exact_[id.value] = derived.ok() && derived->radii == none;
}

bool ModuleDeriver::MeetsDevices(ComputationId id) const {
  const std::vector<Instruction>& instructions = from_.computation(id).instructions;
  return std::any_of(instructions.begin(), instructions.end(), [&](const Instruction& instruction) {
    const std::vector<ComputationId> called = CalledComputations(instruction);
    return IsCollectiveOrTransfer(instruction) ||
           std::any_of(called.begin(), called.end(),
                       [&](ComputationId callee) { return MeetsDevices(callee); });
  });
}

void ModuleDeriver::NoteLoopForms(const Instruction& loop) {
  std::vector<std::string>& names = result_.loops_with_forms;
  if (std::find(names.begin(), names.end(), loop.name) == names.end()) names.push_back(loop.name);
}

void ModuleDeriver::NoteUndecided(const Instruction& instruction,
                                  std::initializer_list<ComputationId> computations) {
  for (const ComputationId id : computations) {
    if (MeetsDevices(id)) result_.undecided_collectives = instruction.name;
  }
}

void ModuleDeriver::Note(const Computation& computation, const Instruction& instruction,
                         std::string_view why) {
  if (quiet_ > 0 || !noted_.insert(computation.name + "/" + instruction.name).second) return;
  result_.unchecked.push_back({instruction.name, std::string(Name(instruction.opcode)), std::string(why)});
}

namespace {

// Rules of several instructions look across calls that are written out where they stand. Loops that call
// functions are not: their bodies are looked at one by one where something is undecided.
bool HasLoops(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == Opcode::kWhile) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<DerivedBounds> DeriveBounds(const VerifiedModule& program, const Profile& profile,
                                           const std::vector<bool>& subnormal_arguments,
                                           const LoopSet& with_forms) {
  for (const Computation& computation : program.module().computations) {
    for (const Instruction& instruction : computation.instructions) {
      for (const Shape* const leaf : LeafShapes(*instruction.shape)) {
        if (leaf->IsArray() && leaf->HasDynamic()) {
          return NotSupported(
              instruction.position,
              fmt::format("bounds: '{}' has dynamic dimensions, want static ones", instruction.name));
        }
      }
    }
  }
  const std::shared_ptr<const Module> inlined =
      HasLoops(program.module()) ? nullptr : InlineCalls(program.module());
  ModuleDeriver deriver(inlined != nullptr ? *inlined : program.module(), profile, with_forms);
  ASSAY_RETURN_IF_ERROR(deriver.DeriveEntry(subnormal_arguments));
  return std::move(deriver).TakeResult();
}

}  // namespace assay
