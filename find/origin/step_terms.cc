#include "find/origin/step_terms.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "evaluator/elements.h"
#include "evaluator/eval_context.h"
#include "evaluator/open_sizes.h"
#include "evaluator/registry.h"
#include "run/element_terms.h"
#include "shape/index.h"

namespace assay {
namespace {

// An element of more terms than this is taken to be made of its operands in whole.
constexpr int64_t kMaxTerms = 1 << 22;

bool IsArrayOf(const Shape& shape, std::span<const int64_t> sizes) {
  return shape.IsArray() && std::ranges::equal(shape.sizes(), sizes);
}

}  // namespace

bool IsElementwise(const Instruction& instruction, const RecordedStep& step) {
  if (instruction.opcode == Opcode::kSelect || DefinitionOf(instruction.opcode).strip == nullptr)
    return false;
  // A bitcast-convert to another width has other elements.
  return std::ranges::all_of(step.operands, [&](const Literal& operand) {
    return operand.shape().rank() == 0 || IsArrayOf(operand.shape(), step.result.shape().sizes());
  });
}

const Shape& LeafShape(const Instruction& instruction, const ShapeIndex& leaf) {
  const Shape* shape = instruction.shape.get();
  for (const int64_t k : leaf) shape = &shape->element(static_cast<size_t>(k));
  return *shape;
}

std::vector<int64_t> IndexAt(const Shape& shape, int64_t position) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  IndexOfPosition(position, shape.sizes(), index);
  return index;
}

bool StepTerms::IsStatic() const {
  const auto is_static = [](const Literal& value) {
    return value.shape().IsArray() && !value.shape().HasDynamic();
  };
  bool all = std::ranges::all_of(step_.operands, is_static);
  ForEachLeaf(*instruction_.shape, [&](const ShapeIndex&, const Shape& shape) {
    all = all && shape.IsArray() && !shape.HasDynamic();
  });
  return all;
}

ElementTerms StepTerms::AllOperands() const {
  ElementTerms terms;
  terms.whole.resize(step_.operands.size());
  std::iota(terms.whole.begin(), terms.whole.end(), 0);
  return terms;
}

OperandElement StepTerms::Aligned(size_t k, int64_t position) const {
  return {static_cast<int32_t>(k), step_.operands[k].shape().rank() == 0 ? 0 : position};
}

ElementTerms StepTerms::OfSelect(int64_t position) const {
  ElementTerms terms;
  const OperandElement predicate = Aligned(0, position);
  terms.elements = {predicate, Aligned(step_.operands[0].GetInt(predicate.position) != 0 ? 1 : 2, position)};
  return terms;
}

ElementTerms StepTerms::OfSums(int64_t position) const {
  const Terms of = TermsOf(computation_, instruction_, {&position, 1});
  ElementTerms terms;
  // The factors of a product follow each other.
  if (*TermRuleOf(computation_, instruction_) == TermRule::kProducts) {
    for (size_t i = 0; i < of.operands[0].size(); ++i) {
      terms.elements.push_back({0, of.operands[0][i]});
      terms.elements.push_back({1, of.operands[1][i]});
    }
    return terms;
  }
  for (size_t k = 0; k < of.operands.size(); ++k) {
    for (const int64_t at : of.operands[k]) terms.elements.push_back({static_cast<int32_t>(k), at});
  }
  return terms;
}

ElementTerms StepTerms::OfReduce(const ShapeIndex& leaf, int64_t position) const {
  const InstructionView view{computation_, instruction_};
  const size_t inputs = step_.operands.size() / 2;
  Terms of{std::vector<std::vector<int64_t>>(step_.operands.size()), {}};
  DefinitionOf(instruction_.opcode).sum.add_terms(view, IndexAt(LeafShape(instruction_, leaf), position), of);
  ElementTerms terms;
  for (size_t k = 0; k < inputs; ++k) {
    for (const int64_t at : of.operands[0]) terms.elements.push_back({static_cast<int32_t>(k), at});
  }
  for (size_t k = inputs; k < 2 * inputs; ++k) terms.elements.push_back({static_cast<int32_t>(k), 0});
  return terms;
}

ElementTerms StepTerms::OfReduceWindow(const ShapeIndex& leaf, int64_t position) const {
  const Window& window = instruction_.attributes.WindowOf();
  const std::span<const int64_t> sizes = step_.operands[0].shape().sizes();
  const DimVector strides = RowMajorStrides(sizes);
  const std::vector<int64_t> output = IndexAt(LeafShape(instruction_, leaf), position);
  const size_t inputs = step_.operands.size() / 2;
  DimVector entries;
  for (size_t d = 0; d < sizes.size(); ++d) entries.push_back(window.empty() ? 1 : window[d].size);
  ElementTerms terms;
  for (IndexWalk k(entries); !k.done(); k.Next()) {
    int64_t at = 0;
    bool is_inside = true;
    for (size_t d = 0; d < sizes.size() && is_inside; ++d) {
      const int64_t index =
          window.empty() ? output[d] : WindowBaseIndex(output[d], k.index()[d], sizes[d], window[d]);
      is_inside = index >= 0;
      at += index * strides[d];
    }
    for (size_t i = 0; i < inputs && is_inside; ++i) terms.elements.push_back({static_cast<int32_t>(i), at});
  }
  for (size_t k = inputs; k < 2 * inputs; ++k) terms.elements.push_back({static_cast<int32_t>(k), 0});
  return terms;
}

ElementTerms StepTerms::OfSort(const ShapeIndex& leaf, int64_t position) const {
  const size_t along = static_cast<size_t>(instruction_.attributes.List(Attr::kDimensions)[0]);
  const int32_t operand = leaf.empty() ? 0 : static_cast<int32_t>(leaf[0]);
  const Shape& shape = step_.operands[static_cast<size_t>(operand)].shape();
  const int64_t stride = RowMajorStrides(shape.sizes())[along];
  const int64_t size = shape.size(static_cast<int64_t>(along));
  const int64_t first = position - position / stride % size * stride;
  ElementTerms terms;
  for (int64_t k = 0; k < size; ++k) terms.elements.push_back({operand, first + k * stride});
  return terms;
}

ElementTerms StepTerms::OfBitcastConvert(int64_t position) const {
  const int64_t elements = step_.result.shape().num_elements();
  const int64_t operand_elements = step_.operands[0].shape().num_elements();
  ElementTerms terms;
  if (elements >= operand_elements) {
    terms.elements = {{0, position / (elements / operand_elements)}};
    return terms;
  }
  const int64_t parts = operand_elements / elements;
  for (int64_t k = 0; k < parts; ++k) terms.elements.push_back({0, position * parts + k});
  return terms;
}

ElementTerms StepTerms::OfScatter(const ShapeIndex& leaf, int64_t position) const {
  ElementTerms terms;
  terms.elements = {{leaf.empty() ? 0 : static_cast<int32_t>(leaf[0]), position}};
  for (size_t k = step_.operands.size() / 2; k < step_.operands.size(); ++k)
    terms.whole.push_back(static_cast<int32_t>(k));
  return terms;
}

absl::Status StepTerms::MovePositions() {
  const size_t data = DefinitionOf(instruction_.opcode).moves.count(step_.operands.size());
  Computation alone;
  Instruction move = instruction_;
  move.operands.clear();
  std::vector<Literal> operands = step_.operands;
  int64_t next = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (k < data) {
      Shape shape = Shape::ArrayOrDie(ElementType::kS64, operands[k].shape().sizes());
      ASSAY_ASSIGN_OR_RETURN(Literal positions, Literal::Make(shape));
      auto* const numbers = reinterpret_cast<int64_t*>(positions.MutableBytes().data());
      const int64_t count = shape.num_elements();
      std::iota(numbers, numbers + count, next);
      next += count;
      operands[k] = std::move(positions);
    }
    Instruction parameter(Opcode::kParameter);
    parameter.shape = operands[k].shared_shape();
    parameter.parameter_number = static_cast<int64_t>(k);
    alone.instructions.push_back(std::move(parameter));
    move.operands.push_back(static_cast<int32_t>(k));
  }
  move.shape =
      std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kS64, instruction_.shape->sizes()));
  alone.instructions.push_back(std::move(move));
  const Instruction& last = alone.instructions.back();
  EvalContext context(run_, module_, alone, last, 0);
  ASSAY_ASSIGN_OR_RETURN(moved_, DefinitionOf(last.opcode).eval(context, operands));
  return absl::OkStatus();
}

absl::StatusOr<ElementTerms> StepTerms::OfMove(int64_t position) {
  if (!moved_) ASSAY_RETURN_IF_ERROR(MovePositions());
  int64_t number = moved_->GetInt(position);
  size_t k = 0;
  for (; number >= step_.operands[k].shape().num_elements(); ++k)
    number -= step_.operands[k].shape().num_elements();
  ElementTerms terms;
  terms.elements.push_back({static_cast<int32_t>(k), number});
  // Start indices decide where it comes from.
  const size_t data = DefinitionOf(instruction_.opcode).moves.count(step_.operands.size());
  for (size_t i = data; i < step_.operands.size(); ++i) {
    if (step_.operands[i].shape().rank() == 0) terms.elements.push_back({static_cast<int32_t>(i), 0});
  }
  return terms;
}

absl::StatusOr<ElementTerms> StepTerms::Of(const ShapeIndex& leaf, int64_t position) {
  if (!is_static_) is_static_ = IsStatic();
  if (!*is_static_) return AllOperands();
  if (!is_elementwise_) is_elementwise_ = IsElementwise(instruction_, step_);
  if (*is_elementwise_) {
    ElementTerms terms;
    terms.elements.reserve(step_.operands.size());
    for (size_t k = 0; k < step_.operands.size(); ++k) terms.elements.push_back(Aligned(k, position));
    return terms;
  }
  const OpDef& op = DefinitionOf(instruction_.opcode);
  const std::span<const int64_t> sizes = LeafShape(instruction_, leaf).sizes();
  if (instruction_.opcode == Opcode::kSelect) return OfSelect(position);
  if (instruction_.opcode == Opcode::kBitcastConvert) return OfBitcastConvert(position);
  if (instruction_.opcode == Opcode::kSort) return OfSort(leaf, position);
  if (instruction_.opcode == Opcode::kScatter) return OfScatter(leaf, position);
  if (instruction_.opcode == Opcode::kReduceWindow) return OfReduceWindow(leaf, position);
  if (op.sum.of == SumDef::Of::kFold)
    return MaxTerms(computation_, instruction_) > kMaxTerms ? AllOperands() : OfReduce(leaf, position);
  if (!leaf.empty() || instruction_.shape->IsTuple()) return AllOperands();
  if (TermRuleOf(computation_, instruction_)) {
    if (MaxTerms(computation_, instruction_) > kMaxTerms) return AllOperands();
    return OfSums(position);
  }
  const bool calls = !CalledComputations(instruction_).empty();
  // A bitcast's map is one of layouts, which the arrays of positions do not have.
  if (op.moves.any() && op.channel == Channel::kNone && !calls && instruction_.opcode != Opcode::kBitcast)
    return OfMove(position);
  if (op.open_sizes == open::Elementwise && std::ranges::all_of(step_.operands, [&](const Literal& operand) {
        return IsArrayOf(operand.shape(), sizes);
      })) {
    ElementTerms terms;
    for (size_t k = 0; k < step_.operands.size(); ++k) terms.elements.push_back(Aligned(k, position));
    return terms;
  }
  return AllOperands();
}

}  // namespace assay
