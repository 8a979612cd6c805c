#include "run/element_terms.h"

#include "evaluator/registry.h"
#include "shape/index.h"

namespace assay {
namespace {

DimVector IndexAt(const Shape& shape, int64_t position) {
  DimVector index(static_cast<size_t>(shape.rank()));
  IndexOfPosition(position, shape.sizes(), index);
  return index;
}

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && !shape.HasDynamic(); }

void AddElementwise(const InstructionView& view, std::span<const int64_t> positions, Terms& terms) {
  for (size_t k = 0; k < view.num_operands(); ++k) {
    if (view.operand(k).rank() == view.result().rank())
      terms.operands[k].assign(positions.begin(), positions.end());
    else
      terms.operands[k].assign(positions.size(), 0);
  }
}

}  // namespace

std::optional<TermRule> TermRuleOf(const Computation& computation, const Instruction& instruction) {
  const InstructionView view{computation, instruction};
  if (!IsStaticArray(view.result())) return std::nullopt;
  for (size_t k = 0; k < view.num_operands(); ++k) {
    if (!IsStaticArray(view.operand(k))) return std::nullopt;
  }
  const OpDef& op = DefinitionOf(instruction.opcode);
  if (op.strip != nullptr) return TermRule::kElementwise;
  if (op.from_index) return TermRule::kIota;
  if (op.sum.of == SumDef::Of::kProducts) return TermRule::kProducts;
  if (op.sum.of == SumDef::Of::kFold && view.num_operands() == 2) return TermRule::kReduce;
  if (op.source != nullptr && op.source(view).has_value()) return TermRule::kMove;
  return std::nullopt;
}

int64_t MaxTerms(const Computation& computation, const Instruction& instruction) {
  const auto rule = TermRuleOf(computation, instruction);
  if (rule != TermRule::kReduce && rule != TermRule::kProducts) return 1;
  return DefinitionOf(instruction.opcode).sum.most_terms({computation, instruction});
}

Terms TermsOf(const Computation& computation, const Instruction& instruction,
              std::span<const int64_t> positions) {
  const InstructionView view{computation, instruction};
  const OpDef& op = DefinitionOf(instruction.opcode);
  Terms terms{std::vector<std::vector<int64_t>>(view.num_operands()), {}};
  switch (*TermRuleOf(computation, instruction)) {
    case TermRule::kElementwise:
      AddElementwise(view, positions, terms);
      break;
    case TermRule::kMove: {
      const AffineMap source = *op.source(view);
      for (int64_t position : positions) {
        terms.operands[0].push_back(source.base +
                                    LinearPosition(IndexAt(view.result(), position), source.strides));
      }
      break;
    }
    case TermRule::kIota:
      break;
    case TermRule::kProducts:
    case TermRule::kReduce:
      for (int64_t position : positions) op.sum.add_terms(view, IndexAt(view.result(), position), terms);
      if (op.sum.of == SumDef::Of::kFold) terms.operands[1] = {0};
      break;
  }
  return terms;
}

}  // namespace assay
