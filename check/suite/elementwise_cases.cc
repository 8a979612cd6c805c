// Cases of operations that give each element from those at its index.
#include <algorithm>
#include <array>
#include <map>

#include "check/suite/edge_values.h"
#include "check/suite/suite_case.h"
#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay {
namespace {

// A program of one elementwise operation on arrays of `operands`.
struct Elementwise {
  Opcode op;
  ElementType type;  // in the case's id
  std::string what;  // before the kind of its values; may be empty
  std::vector<ElementType> operands;
  ElementType result;
  std::string attributes;  // ", direction=LT"
  // Two cases in place of one for each kind: of finite values, and of infinities and NaNs.
  bool is_merged = false;
};

using Row = std::vector<ScalarValue>;  // of one element's operands

bool IsOneOf(Opcode op, std::initializer_list<Opcode> list) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

class Cases {
 public:
  Cases(uint64_t seed, const AddCase& add) : seed_(seed), add_(add) {}

  void Add(const Elementwise& op) {
    Rows rows;
    SuiteRandom random(seed_, IdOf(op, "rows"));
    if (op.operands.size() == 1) {
      const ElementType type = op.operands[0];
      for (const EdgeValue& value : Bits(type) <= 8 ? AllValues(type) : EdgeValues(type, 32, random))
        rows[value.kind].push_back({value.value});
    } else {
      AddProducts(op, random, rows);
    }
    if (op.is_merged || Bits(op.type) <= 8) {
      Emit(op, "finite", Joined(rows, EdgeKind::kOrdinary, EdgeKind::kSubnormals));
      Emit(op, "special", Joined(rows, EdgeKind::kInfinities, EdgeKind::kNans));
    } else {
      for (const auto& [kind, of_kind] : rows) Emit(op, Name(kind), of_kind);
    }
    // One type of each kind for arrays without elements.
    const std::array with_empty = {ElementType::kF32, ElementType::kS32, ElementType::kPred,
                                   ElementType::kC64};
    if (std::count(with_empty.begin(), with_empty.end(), op.type) > 0) Emit(op, "empty", {}, true);
  }

 private:
  using Rows = std::map<EdgeKind, std::vector<Row>>;

  static std::vector<Row> Joined(const Rows& rows, EdgeKind first, EdgeKind last) {
    std::vector<Row> joined;
    for (const auto& [kind, of_kind] : rows) {
      if (first <= kind && kind <= last) joined.insert(joined.end(), of_kind.begin(), of_kind.end());
    }
    return joined;
  }

  static std::string IdOf(const Elementwise& op, std::string_view kind) {
    return fmt::format("{}/{}/{}{}{}", Name(op.op), Name(op.type), op.what, op.what.empty() ? "" : "-", kind);
  }

  // Pairs: all of the short lists. More operands: as many rows, drawn of these.
  void AddProducts(const Elementwise& op, SuiteRandom& random, Rows& rows) {
    constexpr int kDrawn = 400, kOrdinary = 32;
    std::vector<std::vector<EdgeValue>> lists;
    for (const ElementType type : op.operands) lists.push_back(EdgeValues(type, 0, random));
    const auto add = [&](const std::vector<const EdgeValue*>& values) {
      EdgeKind kind = EdgeKind::kOrdinary;
      Row row;
      for (const EdgeValue* const value : values) {
        kind = std::max(kind, value->kind);
        row.push_back(value->value);
      }
      rows[kind].push_back(std::move(row));
    };
    if (lists.size() == 2) {
      for (const EdgeValue& a : lists[0]) {
        for (const EdgeValue& b : lists[1]) add({&a, &b});
      }
    } else {
      for (int i = 0; i < kDrawn; ++i) {
        std::vector<const EdgeValue*> values;
        for (const std::vector<EdgeValue>& list : lists) values.push_back(&list[random.Below(list.size())]);
        add(values);
      }
    }
    for (int i = 0; i < kOrdinary; ++i) {
      Row row;
      for (const ElementType type : op.operands) row.push_back(OrdinaryValue(type, random));
      // Small numbers may be zeros, which are a kind of their own.
      rows[EdgeKind::kOrdinary].push_back(std::move(row));
    }
  }

  void Emit(const Elementwise& op, std::string_view kind, const std::vector<Row>& rows,
            bool may_be_empty = false) {
    if (rows.empty() && !may_be_empty) return;
    SuiteCase made;
    made.id = IdOf(op, kind);
    made.op = op.op;
    made.type = op.type;
    made.what = made.id.substr(made.id.rfind('/') + 1);
    made.tags = {"elementwise", std::string(kind)};
    if (IsOneOf(op.op, {Opcode::kMaximum, Opcode::kMinimum}) && IsComplex(op.type) &&
        kind == Name(EdgeKind::kNans))
      made.open_by = "complex-maximum";
    std::string parameters, names;
    const std::vector<int64_t> sizes = {static_cast<int64_t>(rows.size())};
    for (size_t k = 0; k < op.operands.size(); ++k) {
      parameters += fmt::format("  x{} = {}[{}] parameter({})\n", k, Name(op.operands[k]), rows.size(), k);
      names += fmt::format("{}x{}", k == 0 ? "" : ", ", k);
      std::vector<ScalarValue> values;
      for (const Row& row : rows) values.push_back(row[k]);
      made.arguments.push_back(ArrayOf(op.operands[k], sizes, values));
    }
    made.program = fmt::format("ENTRY main {{\n{}  ROOT result = {}[{}] {}({}){}\n}}\n", parameters,
                               Name(op.result), rows.size(), Name(op.op), names, op.attributes);
    add_(std::move(made));
  }

  const uint64_t seed_;
  const AddCase& add_;
};

// Of AddCompares and AddConversions, and the one whose random bits are an operand of another type.
bool HasOwnCases(Opcode op) {
  return IsOneOf(op, {Opcode::kCompare, Opcode::kConvert, Opcode::kBitcastConvert, Opcode::kReducePrecision,
                      Opcode::kStochasticConvert});
}

std::vector<ElementType> TypesOf(TypeSet types) {
  std::vector<ElementType> list;
  for (int i = 0; i < kNumElementTypes; ++i) {
    if (types.Has(static_cast<ElementType>(i))) list.push_back(static_cast<ElementType>(i));
  }
  return list;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

void AddCompares(Cases& cases) {
  for (const ElementType type : TypesOf(DefinitionOf(Opcode::kCompare).types)) {
    for (const std::string_view direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      if (IsComplex(type) && direction != "EQ" && direction != "NE") continue;
      const std::string attribute = fmt::format(", direction={}", direction);
      const ElementType pred = ElementType::kPred;
      cases.Add({Opcode::kCompare, type, Lower(direction), {type, type}, pred, attribute, true});
      if (!IsFloat(type)) continue;
      cases.Add({Opcode::kCompare,
                 type,
                 Lower(direction) + "-total",
                 {type, type},
                 pred,
                 attribute + ", type=TOTALORDER",
                 true});
    }
  }
}

void AddConversions(Cases& cases) {
  for (const ElementType from : TypesOf(DefinitionOf(Opcode::kConvert).types)) {
    for (const ElementType to : TypesOf(kArrayTypes)) {
      if (IsComplex(from) && !IsComplex(to)) continue;
      cases.Add({Opcode::kConvert, from, fmt::format("to-{}", Name(to)), {from}, to, "", true});
    }
  }
  for (const ElementType from : TypesOf(DefinitionOf(Opcode::kBitcastConvert).types)) {
    if (IsComplex(from)) continue;
    for (const ElementType to : TypesOf(kArrayTypes)) {
      if (IsComplex(to) || Bits(from) != Bits(to) ||
          (from == ElementType::kPred) != (to == ElementType::kPred))
        continue;
      cases.Add({Opcode::kBitcastConvert, from, fmt::format("to-{}", Name(to)), {from}, to, "", true});
    }
  }
  for (const ElementType type : TypesOf(DefinitionOf(Opcode::kReducePrecision).types)) {
    for (const auto& [exponent, mantissa] : {std::pair(5, 10), {8, 7}, {4, 3}, {2, 1}, {3, 0}, {8, 23}}) {
      cases.Add({Opcode::kReducePrecision,
                 type,
                 fmt::format("e{}m{}", exponent, mantissa),
                 {type},
                 type,
                 fmt::format(", exponent_bits={}, mantissa_bits={}", exponent, mantissa)});
    }
  }
}

}  // namespace

void AddElementwiseCases(uint64_t seed, const AddCase& add) {
  Cases cases(seed, add);
  for (int i = 0; i < kNumOpcodes; ++i) {
    const auto op = static_cast<Opcode>(i);
    const OpDef& definition = DefinitionOf(op);
    if (definition.strip == nullptr || HasOwnCases(op)) continue;
    for (const ElementType type : TypesOf(definition.types)) {
      std::vector<ElementType> operands(static_cast<size_t>(definition.operands.min), type);
      ElementType result = type;
      if (op == Opcode::kIsFinite) result = ElementType::kPred;
      if (IsOneOf(op, {Opcode::kAbs, Opcode::kReal, Opcode::kImag}) && IsComplex(type))
        result = ComponentType(type);
      if (op == Opcode::kComplex) result = type == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
      if (op == Opcode::kSelect) operands[0] = ElementType::kPred;
      cases.Add({op, type, "", operands, result, ""});
    }
  }
  AddCompares(cases);
  AddConversions(cases);
}

}  // namespace assay
