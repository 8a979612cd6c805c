#include "find/reduce/attributes.h"

#include <algorithm>
#include <utility>

#include "evaluator/registry.h"
#include "find/reduce/edit.h"

namespace assay {
namespace {

Shape WithoutLayouts(const Shape& shape) {
  if (shape.IsArray()) {
    Shape plain = shape;
    plain.set_layout(Layout::RowMajor(shape.rank()));
    return plain;
  }
  if (!shape.IsTuple()) return shape;
  std::vector<Shape> elements;
  for (const Shape& element : shape.elements()) elements.push_back(WithoutLayouts(element));
  return Shape::Tuple(std::move(elements));
}

bool HasExtras(const InstructionExtras& extras) {
  const OpMetadata& m = extras.metadata;
  const bool has_metadata = !m.op_type.empty() || !m.op_name.empty() || !m.source_file.empty() ||
                            !m.deduplicated_name.empty() || !m.scheduling_name.empty() ||
                            !m.metadata_payload.empty() || m.source_line != 0 || m.source_end_line != 0 ||
                            m.source_column != 0 || m.source_end_column != 0 || m.stack_frame_id != 0 ||
                            !m.profile_type.empty();
  return has_metadata || !extras.frontend_attributes.empty() || !extras.sharding.empty() ||
         !extras.statistics.empty() || !extras.origin.empty() || !extras.parameter_replication.empty();
}

// Changes what the instruction says; false: it says nothing of the kind.
using Simplify = bool (*)(Instruction& instruction);

bool DropExtras(Instruction& instruction) {
  if (instruction.extras == nullptr || !HasExtras(*instruction.extras)) return false;
  auto plain = std::make_shared<InstructionExtras>();
  plain->backend_config = instruction.extras->backend_config;
  plain->declared_shape = instruction.extras->declared_shape;
  instruction.extras = std::move(plain);
  return true;
}

bool DropBackendConfig(Instruction& instruction) {
  if (instruction.extras == nullptr || instruction.extras->backend_config.text.empty()) return false;
  auto plain = std::make_shared<InstructionExtras>(*instruction.extras);
  plain->backend_config = {};
  instruction.extras = std::move(plain);
  return true;
}

bool DropLayouts(Instruction& instruction) {
  Shape plain = WithoutLayouts(*instruction.shape);
  if (Shape::Equal(plain, *instruction.shape)) return false;
  instruction.shape = SharedShape(std::move(plain));
  return true;
}

bool DropControlPredecessors(Instruction& instruction) {
  return !std::exchange(instruction.control_predecessors, {}).empty();
}

template <Attr attr>
bool DropAttribute(Instruction& instruction) {
  if (!instruction.attributes.Has(attr)) return false;
  for (const AttrSpec& spec : DefinitionOf(instruction.opcode).attributes) {
    if (spec.attr == attr && spec.required) return false;
  }
  instruction.attributes.Erase(attr);
  return true;
}

bool MakeLoopFusion(Instruction& instruction) {
  if (instruction.opcode != Opcode::kFusion || instruction.attributes.Text(Attr::kKind) == "kLoop")
    return false;
  instruction.attributes.Set(Attr::kKind, Word{"kLoop"});
  return true;
}

bool DropReversal(Instruction& instruction) {
  if (!instruction.attributes.Has(Attr::kWindow)) return false;
  Window window = instruction.attributes.WindowOf();
  bool changes = false;
  for (WindowDimension& dimension : window) changes = std::exchange(dimension.reversal, false) || changes;
  if (changes) instruction.attributes.Set(Attr::kWindow, std::move(window));
  return changes;
}

constexpr Simplify kOfInstructions[] = {
    DropExtras,
    DropBackendConfig,
    DropLayouts,
    DropControlPredecessors,
    DropAttribute<Attr::kOperandPrecision>,
    DropAttribute<Attr::kAlgorithm>,
    DropAttribute<Attr::kResultAccuracy>,
    DropAttribute<Attr::kIndicesAreSorted>,
    DropAttribute<Attr::kUniqueIndices>,
    DropAttribute<Attr::kIsStable>,
    DropAttribute<Attr::kSchedule>,
    DropAttribute<Attr::kOutputToOperandAliasing>,
    DropAttribute<Attr::kCustomCallHasSideEffect>,
    DropAttribute<Attr::kOperandLayoutConstraints>,
    DropAttribute<Attr::kIsComposite>,
    DropReversal,
    MakeLoopFusion,
};

bool DropSchedule(Module& module) { return std::exchange(module.is_scheduled, false); }
bool DropSignature(Module& module) {
  const bool any = module.entry_computation_layout || !module.input_output_alias.empty() ||
                   !module.buffer_donor.empty() ||
                   !module.allow_spmd_sharding_propagation_to_parameters.empty() ||
                   !module.allow_spmd_sharding_propagation_to_output.empty();
  ForgetSignature(module);
  return any;
}
bool DropNotes(Module& module) {
  const bool any = !module.frontend_attributes.empty() || !module.origin_recovery_table.empty() ||
                   !module.debug_attributes.empty() || !module.frame_tables.empty() ||
                   module.alias_passthrough_params;
  module.frontend_attributes.clear();
  module.origin_recovery_table.clear();
  module.debug_attributes.clear();
  module.frame_tables = {};
  module.alias_passthrough_params = false;
  return any;
}
bool DropThreads(Module& module) {
  bool any = false;
  for (Computation& computation : module.computations)
    any = !std::exchange(computation.execution_thread, {}).empty() || any;
  return any;
}

constexpr bool (*kOfModule[])(Module& module) = {DropNotes, DropSignature, DropSchedule, DropThreads};

}  // namespace

std::vector<ReductionPlace> AttributePlaces(const CheckedCase& from) {
  std::vector<ReductionPlace> places;
  Module module = from.module();
  for (int64_t how = 0; how < std::ssize(kOfModule); ++how) {
    if (kOfModule[how](module)) places.push_back({0, -1, 0, how});
  }
  for (int64_t how = 0; how < std::ssize(kOfInstructions); ++how) {
    for (size_t c = 0; c < module.computations.size(); ++c) {
      std::vector<Instruction>& instructions = module.computations[c].instructions;
      for (size_t k = 0; k < instructions.size(); ++k) {
        if (kOfInstructions[how](instructions[k]))
          places.push_back({static_cast<int32_t>(c), static_cast<int32_t>(k), 0, how});
      }
    }
  }
  return places;
}

absl::StatusOr<TestCase> DropAttributes(const CheckedCase& from, std::span<const ReductionPlace> places) {
  TestCase to = from.Copy();
  for (const ReductionPlace& place : places) {
    if (place.instruction < 0) {
      kOfModule[place.how](to.module);
    } else {
      kOfInstructions[place.how](to.module.computations[static_cast<size_t>(place.computation)]
                                     .instructions[static_cast<size_t>(place.instruction)]);
    }
  }
  return to;
}

int64_t CostOfAttributes(const Module& module) {
  Module plain = module;
  int64_t cost = 0;
  for (const auto simplify : kOfModule) cost += simplify(plain) ? 1 : 0;
  for (Computation& computation : plain.computations) {
    for (Instruction& instruction : computation.instructions) {
      for (const Simplify simplify : kOfInstructions) cost += simplify(instruction) ? 1 : 0;
    }
  }
  return cost;
}

}  // namespace assay
