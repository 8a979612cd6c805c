// Instructions get numbers: equal ones where they compute the same of their parameters (value numbering), and
// a second set of numbers for the comparator with the two elements exchanged. f of one element and f of the
// other then have equal numbers, one from each set.
#include "evaluator/patterns/sort_order.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <variant>

#include "evaluator/op.h"
#include "evaluator/registry.h"

namespace assay {
namespace {

constexpr size_t kMaxInstructions = 1000;

// Attributes of the forms that elementwise ops have.
bool SameValue(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b]<class T>(const T& x) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> || std::is_same_v<T, Word> ||
                      std::is_same_v<T, ResultAccuracy>) {
          return x == std::get<T>(b);
        } else {
          return false;
        }
      },
      a);
}
bool SameAttributes(const AttributeMap& a, const AttributeMap& b) {
  return std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(), b.entries().end(),
                    [](const AttributeMap::Entry& x, const AttributeMap::Entry& y) {
                      return x.attr == y.attr && SameValue(x.value, y.value);
                    });
}

bool IsMove(const Instruction& instruction, const Instruction& operand) {
  switch (instruction.opcode) {
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
      return operand.shape->IsScalar(instruction.shape->element_type());
    default:
      return false;
  }
}

class Recogniser {
 public:
  explicit Recogniser(const Computation& computation) : computation_(computation) {}

  std::optional<SortOrder> Run() {
    if (computation_.instructions.size() > kMaxInstructions || !NumberAll()) return std::nullopt;
    SortOrder order;
    for (int32_t at = computation_.root;;) {
      at = values_[At(at)].source;
      const Instruction& node = computation_.instructions[At(at)];
      if (node.opcode == Opcode::kCompare) {
        std::optional<Comparison> last = ComparisonAt(at);
        if (!last || last->direction == "EQ" || last->direction == "NE") return std::nullopt;
        order.ties_reversed = last->direction == "LE" || last->direction == "GE";
        order.keys.push_back(KeyOf(*last));
        return order;
      }
      const std::optional<Link> link = LinkAt(node);
      if (!link) return std::nullopt;
      order.keys.push_back(KeyOf(link->comparison));
      at = link->rest;
    }
  }

 private:
  static constexpr int kFirst = 1, kSecond = 2;  // elements of a pair

  struct Value {
    int number = -1, exchanged = -1;  // with the two elements exchanged
    int elements = 0;                 // which ones it depends on
    int32_t source = -1;              // itself, or what it is a copy of
  };

  // compare(f(first), f(second)), or the other way round.
  struct Comparison {
    int32_t left = -1, right = -1;
    std::string_view direction;
    bool swapped = false;  // left is of the second element
    bool total_order = true;
  };
  // One comparison of a chain, and what decides where it finds both equal.
  struct Link {
    Comparison comparison;
    int32_t rest = -1;
  };

  static size_t At(int32_t i) { return static_cast<size_t>(i); }
  const Instruction& Source(int32_t i) const { return computation_.instructions[At(values_[At(i)].source)]; }

  // False where some instruction is not elementwise on scalars.
  bool NumberAll() {
    for (size_t i = 0; i < computation_.instructions.size(); ++i) {
      const Instruction& instruction = computation_.instructions[i];
      if (!instruction.shape->IsScalar()) return false;
      Value value{.source = static_cast<int32_t>(i)};
      if (instruction.opcode == Opcode::kParameter) {
        const int n = static_cast<int>(instruction.parameter_number);
        value.number = NumberOf({-1, n}), value.exchanged = NumberOf({-1, n ^ 1});
        value.elements = n % 2 == 0 ? kFirst : kSecond;
      } else if (instruction.opcode == Opcode::kConstant) {
        if (instruction.literal == nullptr) return false;
        value.number = value.exchanged = NumberOf({-2, SameConstant(static_cast<int>(i))});
      } else if (instruction.operands.size() == 1 && IsMove(instruction, Operand(instruction, 0))) {
        value = values_[At(instruction.operands[0])];
      } else if (instruction.opcode == Opcode::kBitcast ||  // to another type: bitcast-convert
                 DefinitionOf(instruction.opcode).strip != nullptr) {
        NumberElementwise(static_cast<int>(i), value);
      } else {
        return false;
      }
      values_.push_back(value);
    }
    return true;
  }

  const Instruction& Operand(const Instruction& instruction, size_t k) const {
    return computation_.instructions[At(instruction.operands[k])];
  }

  void NumberElementwise(int i, Value& value) {
    const Instruction& instruction = computation_.instructions[At(i)];
    std::vector<int> key = {SameOperation(i)}, exchanged = key;
    for (int32_t operand : instruction.operands) {
      const Value& v = values_[At(operand)];
      key.push_back(v.number), exchanged.push_back(v.exchanged);
      value.elements |= v.elements;
    }
    value.number = NumberOf(key), value.exchanged = NumberOf(exchanged);
  }

  int NumberOf(const std::vector<int>& key) {
    return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

  // The first instruction that does the same with its operands.
  int SameOperation(int i) const {
    const Instruction& instruction = computation_.instructions[At(i)];
    for (int k = 0; k < i; ++k) {
      const Instruction& other = computation_.instructions[At(k)];
      if (other.opcode == instruction.opcode &&
          other.shape->element_type() == instruction.shape->element_type() &&
          SameAttributes(other.attributes, instruction.attributes)) {
        return k;
      }
    }
    return i;
  }
  int SameConstant(int i) const {
    const Literal& literal = *computation_.instructions[At(i)].literal;
    for (int k = 0; k < i; ++k) {
      const Instruction& other = computation_.instructions[At(k)];
      if (other.opcode == Opcode::kConstant && Literal::BitwiseEqual(*other.literal, literal)) return k;
    }
    return i;
  }

  std::optional<Comparison> ComparisonAt(int32_t i) const {
    const Instruction& node = Source(i);
    if (node.opcode != Opcode::kCompare) return std::nullopt;
    const Value& left = values_[At(node.operands[0])];
    const Value& right = values_[At(node.operands[1])];
    if (left.number != right.exchanged || (left.elements != kFirst && left.elements != kSecond)) {
      return std::nullopt;
    }
    const ElementType type = Operand(node, 0).shape->element_type();
    if (IsComplex(type)) return std::nullopt;
    return Comparison{.left = node.operands[0],
                      .right = node.operands[1],
                      .direction = node.attributes.Text(Attr::kDirection),
                      .swapped = left.elements == kSecond,
                      .total_order = !IsFloat(type) || node.attributes.Text(Attr::kType) == "TOTALORDER"};
  }

  // Whether the value is true where, and only where, the comparison finds both equal.
  bool IsEqual(int32_t i, const Comparison& c) const {
    const std::optional<Comparison> equal = ComparisonAt(i);
    if (!equal || equal->direction != "EQ" || equal->total_order != c.total_order) return false;
    const int number = values_[At(equal->left)].number;
    return number == values_[At(c.left)].number || number == values_[At(c.right)].number;
  }
  std::optional<Comparison> StrictAt(int32_t i) const {
    std::optional<Comparison> c = ComparisonAt(i);
    if (c && c->direction != "LT" && c->direction != "GT") c.reset();
    return c;
  }

  std::optional<Link> LinkAt(const Instruction& node) const {
    if (node.opcode == Opcode::kSelect) {
      const std::optional<Comparison> c = StrictAt(node.operands[2]);
      if (c && IsEqual(node.operands[0], *c)) return Link{*c, node.operands[1]};
      return std::nullopt;
    }
    if (node.opcode != Opcode::kOr) return std::nullopt;
    for (size_t k = 0; k < 2; ++k) {
      const std::optional<Comparison> c = StrictAt(node.operands[k]);
      const Instruction& both = Source(node.operands[1 - k]);
      if (!c || both.opcode != Opcode::kAnd) continue;
      for (size_t j = 0; j < 2; ++j) {
        if (IsEqual(both.operands[j], *c)) return Link{*c, both.operands[1 - j]};
      }
    }
    return std::nullopt;
  }

  OrderKey KeyOf(const Comparison& c) const {
    const Instruction& value = Source(c.left);
    OrderKey key{.type = value.shape->element_type(),
                 .value = values_[At(c.left)].source,
                 .descending = (c.direction == "GT" || c.direction == "GE") != c.swapped,
                 .total_order = c.total_order};
    if (value.opcode == Opcode::kParameter) key.operand = value.parameter_number / 2;
    FindCanonical(value, key);
    return key;
  }

  // select(x != x, nan, select(x == 0, zero, x)) of a parameter x.
  void FindCanonical(const Instruction& value, OrderKey& key) const {
    if (value.opcode != Opcode::kSelect || !IsFloat(key.type)) return;
    const Instruction& numbers = Source(value.operands[2]);
    if (numbers.opcode != Opcode::kSelect) return;
    const int32_t x = values_[At(numbers.operands[2])].source;
    if (Source(x).opcode != Opcode::kParameter) return;
    const auto compares_x = [&](int32_t at, std::string_view direction) -> const Instruction* {
      const Instruction& c = Source(at);
      if (c.opcode != Opcode::kCompare || c.attributes.Text(Attr::kDirection) != direction ||
          c.attributes.Text(Attr::kType) == "TOTALORDER" || values_[At(c.operands[0])].source != x) {
        return nullptr;
      }
      return &Source(c.operands[1]);
    };
    const Instruction* const same = compares_x(value.operands[0], "NE");
    const Instruction* const compared = compares_x(numbers.operands[0], "EQ");
    const Instruction& nan = Source(value.operands[1]);
    const Instruction& zero = Source(numbers.operands[1]);
    if (same != &Source(x) || compared == nullptr || compared->opcode != Opcode::kConstant ||
        nan.opcode != Opcode::kConstant || zero.opcode != Opcode::kConstant) {
      return;
    }
    if (compared->literal == nullptr || nan.literal == nullptr || zero.literal == nullptr) return;
    if (compared->literal->GetDouble(0) != 0 || zero.literal->GetDouble(0) != 0) return;
    if (nan.literal->GetDouble(0) == nan.literal->GetDouble(0)) return;
    key.operand = Source(x).parameter_number / 2;
    key.nan = nan.literal, key.zero = zero.literal;
  }

  const Computation& computation_;
  std::vector<Value> values_;
  std::map<std::vector<int>, int> numbers_;
};

}  // namespace

std::optional<SortOrder> RecogniseOrder(const Module& module, ComputationId comparator) {
  return Recogniser(module.computation(comparator)).Run();
}

}  // namespace assay
