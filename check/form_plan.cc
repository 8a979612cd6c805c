#include "check/form_plan.h"

#include <algorithm>

#include "evaluator/bounds/linear_forms.h"
#include "evaluator/bounds/products.h"
#include "evaluator/instruction_view.h"

namespace assay {
namespace {

// A form has a slope for each source that it knows.
constexpr size_t kMaxSources = 4;

bool IsSumOfProducts(const Instruction& instruction) {
  if (!bound::SumsProducts(instruction.opcode) || !instruction.shape->IsArray()) return false;
  const ElementType type = instruction.shape->element_type();
  return IsFloat(type) && RadiusType(type) == type;
}

}  // namespace

FormPlan::FormPlan(const Computation& computation) {
  const size_t n = computation.instructions.size();
  std::vector<bool> carries(n), meets(n);
  for (size_t i = 0; i < n; ++i) carries[i] = bound::CarriesForms({computation, computation.instructions[i]});
  places_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    if (IsSumOfProducts(computation.instructions[i]))
      AddSource(computation, carries, static_cast<int32_t>(i), meets);
  }
  std::vector<bool> has_other_reader(n);
  has_other_reader[static_cast<size_t>(computation.root)] = true;
  for (size_t i = 0; i < n; ++i) {
    if (!places_[i].carried.empty() && !places_[i].is_source) continue;
    for (const int32_t k : computation.instructions[i].operands)
      has_other_reader[static_cast<size_t>(k)] = true;
  }
  for (size_t i = 0; i < n; ++i) places_[i].sharpens = meets[i] && has_other_reader[i];
}

// Instructions are in an order in which operands come first.
void FormPlan::AddSource(const Computation& computation, const std::vector<bool>& carries, int32_t source,
                         std::vector<bool>& meets) {
  const size_t n = computation.instructions.size();
  std::vector<bool> reached(n), meets_here(n), useful(n);
  reached[static_cast<size_t>(source)] = true;
  const auto is_reached = [&](int32_t k) { return reached[static_cast<size_t>(k)]; };
  for (size_t i = static_cast<size_t>(source) + 1; i < n; ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (!carries[i]) continue;
    const auto& operands = instruction.operands;
    const auto count = std::count_if(operands.begin(), operands.end(), is_reached);
    reached[i] = count > 0;
    // A square has a rule of its own, and a choice reads one side.
    meets_here[i] = count > 1 && instruction.opcode != Opcode::kSelect && operands[0] != operands[1];
  }
  for (size_t i = n; i-- > static_cast<size_t>(source) + 1;) {
    if (!reached[i] || !(meets_here[i] || useful[i])) continue;
    for (const int32_t k : computation.instructions[i].operands) {
      if (is_reached(k)) useful[static_cast<size_t>(k)] = true;
    }
  }
  if (!useful[static_cast<size_t>(source)]) return;
  places_[static_cast<size_t>(source)].is_source = true;
  for (size_t i = static_cast<size_t>(source); i < n; ++i) {
    if (!reached[i] || !(meets_here[i] || useful[i]) || places_[i].carried.size() >= kMaxSources) continue;
    places_[i].carried.push_back(source);
    if (meets_here[i]) meets[i] = true;
  }
}

}  // namespace assay
