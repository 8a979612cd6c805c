#include "check/isolate/sites.h"

#include <cstring>
#include <utility>

#include "check/module_deriver.h"
#include "fmt/format.h"
#include "literal/leaves.h"

namespace assay {
namespace {

// Row `slot` of an array of rows.
absl::StatusOr<Literal> SliceOf(const Literal& stack, int64_t slot) {
  const std::span<const int64_t> sizes = stack.shape().sizes();
  ASSAY_ASSIGN_OR_RETURN(Literal slice,
                         Literal::Make(Shape::ArrayOrDie(stack.shape().element_type(), sizes.subspan(1))));
  const std::span<std::byte> bytes = slice.MutableBytes();
  if (!bytes.empty())
    std::memcpy(bytes.data(), stack.data() + slot * static_cast<int64_t>(bytes.size()), bytes.size());
  return slice;
}

// Conditional: true is branch 0, false branch 1; a number out of range takes the last branch.
int64_t ChosenBranch(const Literal& selector, int64_t branches) {
  const int64_t number = selector.GetInt(0);
  if (selector.shape().element_type() == ElementType::kPred) return number != 0 ? 0 : 1;
  return number < 0 || number >= branches ? branches - 1 : number;
}

}  // namespace

const ValueSources& ModuleSources::Of(ComputationId id) {
  std::unique_ptr<ValueSources>& sources = sources_[id.value];
  if (sources == nullptr) sources = std::make_unique<ValueSources>(module_.computation(id));
  return *sources;
}

std::vector<Literal> LeavesAt(ModuleSources& sources, ComputationId id, const Values& values,
                              int32_t instruction) {
  const Computation& computation = sources.module().computation(id);
  std::vector<Literal> leaves;
  for (const ValueId value : sources.Of(id).Of(instruction)) {
    const Instruction& source = computation.instructions[static_cast<size_t>(value.instruction)];
    if (source.opcode == Opcode::kConstant) {
      leaves.push_back(LeavesOf(*source.literal)[static_cast<size_t>(value.leaf)]);
    } else if (const auto it = values.find(value); it != values.end()) {
      leaves.push_back(it->second);
    } else {
      leaves.push_back(Literal::Token());
    }
  }
  return leaves;
}

bool IsLookedInto(const Instruction& instruction) {
  return instruction.opcode == Opcode::kCall || instruction.opcode == Opcode::kFusion ||
         instruction.opcode == Opcode::kConditional || instruction.opcode == Opcode::kWhile;
}

Site CalledSite(ModuleSources& sources, const Site& site, int64_t iteration, int32_t instruction,
                const Values& values) {
  const Instruction& caller =
      sources.module().computation(site.computation).instructions[static_cast<size_t>(instruction)];
  Site called;
  std::span<const int32_t> operands(caller.operands.data(), caller.operands.size());
  if (caller.opcode == Opcode::kWhile) {
    called.loop = &caller;
    called.computation = *caller.attributes.Computation(Attr::kBody);
  } else {
    const std::vector<ComputationId> callees = CalledComputations(caller);
    size_t callee = 0;
    if (caller.opcode == Opcode::kConditional) {
      const Literal selector = LeavesAt(sources, site.computation, values, operands[0])[0];
      callee = static_cast<size_t>(ChosenBranch(selector, std::ssize(callees)));
      operands = operands.subspan(callee + 1, 1);
    }
    called.computation = callees[callee];
  }
  for (const int32_t operand : operands) {
    for (Literal& leaf : LeavesAt(sources, site.computation, values, operand))
      called.arguments.push_back(std::move(leaf));
  }
  called.place = site.place;
  if (!site.place.empty()) called.place.push_back(site.loop != nullptr ? iteration : 0);
  called.place.push_back(instruction);
  called.callers = site.callers;
  called.callers.push_back(site.computation.value);
  called.callers.push_back(instruction);
  called.inside = fmt::format("{}{}{}", site.inside, site.inside.empty() ? "" : "/", caller.name);
  called.iteration = site.loop != nullptr ? iteration : site.iteration;
  return called;
}

Site ConditionSite(const Site& site, int64_t iteration, const std::vector<Literal>& state) {
  Site condition;
  condition.computation = *site.loop->attributes.Computation(Attr::kCondition);
  condition.arguments = state;
  condition.place = site.place;
  condition.place.push_back(iteration);
  condition.callers = site.callers;
  condition.inside = site.inside;
  condition.iteration = iteration;
  return condition;
}

absl::StatusOr<Values> ValuesOfIteration(ModuleSources& sources, const Site& site, int64_t iteration,
                                         const std::vector<Literal>& state,
                                         std::span<const Literal> outputs) {
  const ValueSources& of = sources.Of(site.computation);
  Values values;
  size_t argument = 0;
  for (const int32_t parameter : sources.module().computation(site.computation).parameters) {
    for (const ValueId value : of.Of(parameter)) values[value] = state[argument++];
  }
  for (size_t k = 0; k < of.own().size(); ++k) {
    Literal value = outputs[k];
    if (site.loop != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(value, SliceOf(value, iteration));
    }
    values.emplace(of.own()[k], std::move(value));
  }
  return values;
}

}  // namespace assay
