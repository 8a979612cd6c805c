#include "evaluator/patterns/selection.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace assay {
namespace {

// Triples of at most so many elements are tried.
constexpr size_t kMaxElements = 32;

// An element of an operand, as comparisons see it.
struct Sample {
  int order = 0;
  bool is_nan = false;
  int identity = 0;  // equal elements have equal bits
};

std::vector<Sample> SamplesOf(ElementType type) {
  if (!IsFloat(type)) return {{0, false, 0}, {1, false, 1}, {2, false, 2}};
  return {{-2, false, 0}, {-1, false, 1}, {0, false, 2}, {0, false, 3},
          {1, false, 4},  {2, false, 5},  {0, true, 6},  {0, true, 7}};
}

bool Compares(std::string_view direction, const Sample& x, const Sample& y) {
  if (x.is_nan || y.is_nan) return direction == "NE";
  if (direction == "EQ") return x.order == y.order;
  if (direction == "NE") return x.order != y.order;
  if (direction == "LT") return x.order < y.order;
  if (direction == "LE") return x.order <= y.order;
  if (direction == "GT") return x.order > y.order;
  return x.order >= y.order;
}

// An instruction of the computation: a truth value, or an element of one operand.
struct Node {
  enum class Kind : uint8_t { kParameter, kCompare, kAnd, kOr, kXor, kNot, kSelect };
  Kind kind = Kind::kParameter;
  bool is_truth = false;
  size_t operand = 0;    // whose element it is
  size_t parameter = 0;  // of parameters
  int32_t inputs[3] = {-1, -1, -1};
  std::string_view direction;
};

class Selection {
 public:
  // Nothing if some instruction does anything else.
  static std::optional<Selection> Of(const Computation& computation) {
    Selection selection;
    if (computation.parameters.size() % 2 != 0 || computation.parameters.empty()) return std::nullopt;
    selection.operands_ = computation.parameters.size() / 2;
    selection.nodes_.resize(computation.instructions.size());
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      if (static_cast<int32_t>(i) == computation.root && computation.instructions[i].opcode == Opcode::kTuple)
        continue;
      if (!selection.Add(computation, static_cast<int32_t>(i))) return std::nullopt;
    }
    const Instruction& root = computation.root_instruction();
    if (root.opcode == Opcode::kTuple) {
      selection.results_.assign(root.operands.begin(), root.operands.end());
    } else {
      selection.results_ = {computation.root};
    }
    if (selection.results_.size() != selection.operands_) return std::nullopt;
    for (size_t k = 0; k < selection.operands_; ++k) {
      const Node& node = selection.nodes_[static_cast<size_t>(selection.results_[k])];
      if (node.is_truth || node.operand != k) return std::nullopt;
    }
    return selection;
  }

  using Tuple = std::vector<Sample>;

  bool IsAssociative(const Computation& computation) const {
    std::vector<Tuple> all = {{}};
    for (size_t k = 0; k < operands_; ++k) {
      const ElementType type =
          computation.instructions[static_cast<size_t>(computation.parameters[k])].shape->element_type();
      std::vector<Tuple> longer;
      for (const Tuple& tuple : all) {
        for (const Sample& sample : SamplesOf(type)) {
          longer.push_back(tuple);
          longer.back().push_back(sample);
        }
      }
      all = std::move(longer);
      if (all.size() > kMaxElements) return false;
    }
    for (const Tuple& a : all) {
      for (const Tuple& b : all) {
        const Tuple of_ab = Apply(a, b);
        for (const Tuple& c : all) {
          if (!AreSame(Apply(of_ab, c), Apply(a, Apply(b, c)))) return false;
        }
      }
    }
    return true;
  }

 private:
  bool Add(const Computation& computation, int32_t i) {
    const Instruction& instruction = computation.instructions[static_cast<size_t>(i)];
    Node& node = nodes_[static_cast<size_t>(i)];
    if (!instruction.shape->IsScalar()) return false;
    const ElementType type = instruction.shape->element_type();
    node.is_truth = type == ElementType::kPred;
    for (size_t k = 0; k < instruction.operands.size() && k < 3; ++k)
      node.inputs[k] = instruction.operands[k];
    const auto input = [&](size_t k) -> const Node& { return nodes_[static_cast<size_t>(node.inputs[k])]; };
    switch (instruction.opcode) {
      case Opcode::kParameter: {
        const auto at = std::find(computation.parameters.begin(), computation.parameters.end(), i);
        node.parameter = static_cast<size_t>(at - computation.parameters.begin());
        node.operand = node.parameter % operands_;
        return !node.is_truth && !IsComplex(type);
      }
      case Opcode::kCompare: {
        node.kind = Node::Kind::kCompare;
        node.direction = instruction.attributes.Text(Attr::kDirection);
        const bool in_total_order = instruction.attributes.Has(Attr::kType) &&
                                    instruction.attributes.Text(Attr::kType) == "TOTALORDER";
        return !in_total_order && !input(0).is_truth && !input(1).is_truth &&
               input(0).operand == input(1).operand;
      }
      case Opcode::kAnd:
      case Opcode::kOr:
      case Opcode::kXor:
        node.kind = instruction.opcode == Opcode::kAnd  ? Node::Kind::kAnd
                    : instruction.opcode == Opcode::kOr ? Node::Kind::kOr
                                                        : Node::Kind::kXor;
        return node.is_truth;
      case Opcode::kNot:
        node.kind = Node::Kind::kNot;
        return node.is_truth;
      case Opcode::kSelect:
        node.kind = Node::Kind::kSelect;
        node.operand = input(1).operand;
        return input(1).is_truth == node.is_truth && input(2).is_truth == node.is_truth &&
               (node.is_truth || input(1).operand == input(2).operand);
      default:
        return false;
    }
  }

  Tuple Apply(const Tuple& x, const Tuple& y) const {
    std::vector<Sample> values(nodes_.size());
    std::vector<char> truths(nodes_.size(), 0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      const auto truth = [&](size_t k) { return truths[static_cast<size_t>(node.inputs[k])] != 0; };
      const auto value = [&](size_t k) { return values[static_cast<size_t>(node.inputs[k])]; };
      switch (node.kind) {
        case Node::Kind::kParameter:
          values[i] = node.parameter < operands_ ? x[node.operand] : y[node.operand];
          break;
        case Node::Kind::kCompare:
          truths[i] = Compares(node.direction, value(0), value(1)) ? 1 : 0;
          break;
        case Node::Kind::kAnd:
          truths[i] = truth(0) && truth(1) ? 1 : 0;
          break;
        case Node::Kind::kOr:
          truths[i] = truth(0) || truth(1) ? 1 : 0;
          break;
        case Node::Kind::kXor:
          truths[i] = truth(0) != truth(1) ? 1 : 0;
          break;
        case Node::Kind::kNot:
          truths[i] = truth(0) ? 0 : 1;
          break;
        case Node::Kind::kSelect:
          if (node.is_truth) {
            truths[i] = truth(0) ? truth(1) : truth(2);
          } else {
            values[i] = truth(0) ? value(1) : value(2);
          }
          break;
      }
    }
    Tuple results;
    for (const int32_t result : results_) results.push_back(values[static_cast<size_t>(result)]);
    return results;
  }

  static bool AreSame(const Tuple& x, const Tuple& y) {
    return std::equal(x.begin(), x.end(), y.begin(),
                      [](const Sample& a, const Sample& b) { return a.identity == b.identity; });
  }

  size_t operands_ = 0;
  std::vector<Node> nodes_;  // by instruction
  std::vector<int32_t> results_;
};

}  // namespace

bool IsAssociativeSelection(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const std::optional<Selection> selection = Selection::Of(computation);
  return selection.has_value() && selection->IsAssociative(computation);
}

}  // namespace assay
