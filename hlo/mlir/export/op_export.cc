// What one instruction's export can say, and the table of all exports.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/text_writer.h"

namespace assay::mlir {

namespace {

bool HaveSameType(const Shape& a, const Shape& b) {
  if (!a.IsArray() || !b.IsArray()) return a.IsToken() && b.IsToken();
  if (a.element_type() != b.element_type() || !Shape::SameDimensions(a, b)) return false;
  for (int64_t d = 0; d < a.rank(); ++d) {
    if (a.is_dynamic(d) != b.is_dynamic(d) || a.size(d) != b.size(d)) return false;
  }
  return true;
}

// Whether a value, and each of a tuple, is of the type that StableHLO has for the shape;
// what it has no value for is of any.
bool HasTypeOf(const Exporter& exporter, NodeId id, const Shape& shape) {
  const Node& node = exporter.node(id);
  if (node.kind == Node::Kind::kAbsent) return true;
  if (node.kind != Node::Kind::kTuple) return shape.IsTuple() || HaveSameType(*node.shape, shape);
  if (!shape.IsTuple() || node.elements.size() != shape.elements().size()) return true;
  for (size_t i = 0; i < node.elements.size(); ++i) {
    if (!HasTypeOf(exporter, node.elements[i], shape.element(static_cast<int64_t>(i)))) return false;
  }
  return true;
}

}  // namespace

std::string Upper(std::string_view word) {
  std::string upper(word);
  for (char& c : upper) c = absl::ascii_toupper(static_cast<unsigned char>(c));
  return upper;
}

ExportFn FindExport(Opcode opcode) {
  static const auto* const kTable = [] {
    auto* table = new std::array<ExportFn, kNumOpcodes>{};
    for (const auto rows : {ElementwiseExports(), ShapeExports(), LinalgExports(), ControlExports(),
                            CallExports(), CollectiveExports()}) {
      for (const ExportRow& row : rows) (*table)[static_cast<size_t>(row.opcode)] = row.fn;
    }
    return table;
  }();
  return (*kTable)[static_cast<size_t>(opcode)];
}

void OpExport::Refuse(std::string_view why) {
  if (!ok()) return;
  status =
      NotSupported(hlo.position, fmt::format("{} '%{}' as StableHLO: {}", Name(hlo.opcode), hlo.name, why));
}

void OpExport::Bind(NodeId node) {
  if (ok() && !HasTypeOf(exporter, node, *hlo.shape))
    Refuse("a static size that is declared dynamic, or the other way");
  if (ok()) block.nodes[static_cast<size_t>(index)] = node;
}

void OpExport::Use(NodeId node) {
  node = Whole(node);
  if (ok()) operands_.push_back(node);
}

void OpExport::UseLeaves(NodeId node) {
  if (ok() && !exporter.Leaves(block, node, &operands_)) {
    Refuse("it takes the state of a transfer, which StableHLO does not have");
  }
}

void OpExport::UseOperands() {
  for (size_t i = 0; i < num_operands(); ++i) UseLeaves(Operand(i));
}

void OpExport::Property(std::string_view name, std::string_view value) {
  if (!properties_.empty()) properties_ += ", ";
  properties_.append(name).append(" = ").append(value);
}

void OpExport::Discardable(std::string_view name, std::string_view value) {
  discardable_ += fmt::format("{}{} = {}", discardable_.empty() ? "" : ", ", name, value);
}

void OpExport::Unit(std::string_view name) {
  if (!properties_.empty()) properties_ += ", ";
  properties_ += name;
}

void OpExport::Int(std::string_view name, int64_t value, std::string_view type) {
  Property(name, fmt::format("{} : {}", value, type));
}

void OpExport::IntList(std::string_view name, std::span<const int64_t> values) {
  std::string text = "array<i64";
  for (size_t i = 0; i < values.size(); ++i) text += fmt::format("{}{}", i == 0 ? ": " : ", ", values[i]);
  Property(name, text + ">");
}

void OpExport::IntListUnless(int64_t absent, std::string_view name, std::span<const int64_t> values) {
  const bool all = std::all_of(values.begin(), values.end(), [&](int64_t value) { return value == absent; });
  if (!all) IntList(name, values);
}

void OpExport::Enum(std::string_view name, std::string_view enumeration, std::string_view value) {
  Property(name, fmt::format("#stablehlo<{} {}>", enumeration, value));
}

void OpExport::Text(std::string_view name, std::string_view value) { Property(name, Quoted(value)); }

void OpExport::Rows(std::string_view name, const IntLists& rows, size_t columns) {
  for (const Ints& row : rows) columns = std::max(columns, row.size());
  Ints flat;
  for (const Ints& row : rows) {
    flat.insert(flat.end(), row.begin(), row.end());
    flat.insert(flat.end(), columns - row.size(), -1);
  }
  const int64_t sizes[] = {static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns)};
  std::string text;
  AppendDense(ElementType::kS64, sizes, std::as_bytes(std::span<const int64_t>(flat)), text);
  Property(name, text);
}

NodeId OpExport::Make(std::string_view name, const Shape& shape, const Syntax& syntax) {
  std::vector<const Shape*> types;
  exporter.Tree(shape, [&](const Shape& leaf) {
    types.push_back(&leaf);
    return -1;
  });
  const std::vector<NodeId> results = MakeEach(name, types, syntax);
  if (!ok()) return -1;
  size_t next = 0;
  return exporter.Tree(shape, [&](const Shape&) { return results[next++]; });
}

std::vector<NodeId> OpExport::MakeEach(std::string_view name, std::span<const Shape* const> types,
                                       const Syntax& syntax) {
  std::vector<NodeId> results;
  if (!ok()) return results;
  std::string& out = exporter.out();
  exporter.Indent(block);
  const int32_t number = types.empty() ? 0 : exporter.NewValue();
  for (size_t i = 0; i < types.size(); ++i) {
    Node value;
    value.kind = Node::Kind::kValue;
    value.number = number;
    value.result = types.size() > 1 ? static_cast<int32_t>(i) : -1;
    value.shape = types[i];
    results.push_back(exporter.Add(std::move(value)));
  }
  if (!types.empty()) out += fmt::format("%{}", number);
  if (types.size() > 1) out += fmt::format(":{}", types.size());
  if (!types.empty()) out += " = ";
  if (syntax.types == Syntax::Types::kGeneric) {
    AppendGeneric(name, types);
    if (!ok()) return results;
    out += " : (";
    exporter.AppendTypes(operands_);
    out += types.size() == 1 ? ") -> " : ") -> (";
    exporter.AppendTypes(results);
    if (types.size() != 1) out += ')';
  } else {
    AppendOwn(name, syntax, types);
  }
  if (!is_plain_) AppendLocation(hlo, out);
  out += '\n';
  operands_.clear();
  properties_.clear();
  regions_.clear();
  return results;
}

void OpExport::AppendDiscardable(std::span<const Shape* const> types) {
  if (is_plain_ && discardable_.empty()) return;
  std::string attributes = std::exchange(discardable_, {});
  if (!is_plain_) {
    const std::string more = exporter.DiscardableAttributes(hlo, types, frontend_left_out_);
    attributes += (attributes.empty() || more.empty() ? "" : ", ") + more;
  }
  if (!attributes.empty()) exporter.out() += fmt::format(" {{{}}}", attributes);
}

// "name"(operands) <{properties}> ({regions}) {attributes}
void OpExport::AppendGeneric(std::string_view name, std::span<const Shape* const> types) {
  std::string& out = exporter.out();
  out.append(1, '"').append(name).append("\"(");
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (i > 0) out += ", ";
    exporter.AppendValue(operands_[i]);
  }
  out += ')';
  if (!properties_.empty()) out.append(" <{").append(properties_).append("}>");
  for (size_t i = 0; i < regions_.size() && ok(); ++i) {
    out += i == 0 ? " (" : ", ";
    const RegionText& region = regions_[i];
    status = exporter.WriteRegion(region.computation, region.captured, region.terminator, block);
  }
  if (!regions_.empty()) out += ')';
  AppendDiscardable(types);
}

// name prefix operands suffix {attributes} : types
void OpExport::AppendOwn(std::string_view name, const Syntax& syntax, std::span<const Shape* const> types) {
  using Types = Syntax::Types;
  std::string& out = exporter.out();
  out += name;
  // A call's "@f(" follows, else the operands or "prefix, ".
  if (syntax.prefix != "(" && !(syntax.prefix.empty() && operands_.empty())) out += ' ';
  out += syntax.prefix;
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (i > 0) out += ", ";
    exporter.AppendValue(operands_[i]);
  }
  out += syntax.suffix;
  AppendDiscardable(types);
  out += " : ";
  const std::span<const NodeId> operands(operands_);
  const bool same = std::all_of(operands.begin(), operands.end(), [&](NodeId operand) {
    return HaveSameType(*exporter.node(operand).shape, *types[0]);
  });
  if (syntax.types == Types::kResult || (syntax.types == Types::kSame && same)) {
    return exporter.AppendTypeOf(*types[0]);
  }
  const auto chosen_has_type = [&](size_t i) {
    return HaveSameType(*exporter.node(operands[i]).shape, *types[0]);
  };
  if (syntax.types == Types::kSelect && chosen_has_type(1) && chosen_has_type(2))
    return exporter.AppendTypes(operands.first(2));
  out += '(';
  exporter.AppendTypes(operands);
  out += types.size() == 1 ? ") -> " : ") -> (";
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) out += ", ";
    exporter.AppendTypeOf(*types[i]);
  }
  if (types.size() != 1) out += ')';
}

NodeId OpExport::TakenApart(NodeId value) {
  const Shape* const shape = exporter.node(value).shape;
  if (!ok() || !shape->IsTuple()) return value;
  std::vector<NodeId> elements;
  for (size_t i = 0; i < shape->elements().size(); ++i) {
    const Shape* const element = &shape->elements()[i];
    operands_.push_back(value);
    is_plain_ = true;
    Syntax syntax{Syntax::Types::kFunction, {}, fmt::format("[{}]", i)};
    const std::vector<NodeId> results = MakeEach("stablehlo.get_tuple_element", {&element, 1}, syntax);
    is_plain_ = false;
    if (!ok()) return value;
    elements.push_back(TakenApart(results[0]));
  }
  return exporter.Tuple(*shape, std::move(elements));
}

NodeId OpExport::Broadcast(NodeId scalar, const Shape& shape) {
  const Node& from = exporter.node(scalar);
  // (An empty constant may have sizes whose product no literal has.)
  if (from.kind == Node::Kind::kConstant && from.shape->IsScalar() && !shape.HasDynamic() &&
      shape.num_elements() > 0) {
    Node constant = from;
    constant.shape = &shape;
    constant.origin = &hlo;
    return exporter.Add(std::move(constant));
  }
  UseLeaves(scalar);
  return Make("stablehlo.broadcast_in_dim", shape, {Syntax::Types::kFunction, {}, ", dims = []"});
}

NodeId OpExport::Spread(size_t i, const Shape& like) {
  const Shape& shape = OperandShape(i);
  // (The size of a dynamic array is not known here, and a scalar goes with any.)
  if (!shape.IsScalar() || like.IsScalar() || like.HasDynamic()) return Operand(i);
  Shape spread = like;
  spread.set_element_type(shape.element_type());
  return Broadcast(Operand(i), exporter.Keep(std::move(spread)));
}

NodeId OpExport::Whole(NodeId node) {
  if (!ok()) return node;
  if (exporter.node(node).kind != Node::Kind::kTuple) {
    std::vector<NodeId> leaves;
    if (exporter.Leaves(block, node, &leaves)) return leaves[0];
    Refuse("it takes the state of a transfer, which StableHLO does not have");
    return node;
  }
  if (const auto known = block.written.find(node); known != block.written.end()) return known->second;
  const Shape* const shape = exporter.node(node).shape;
  std::vector<NodeId> elements;
  for (size_t i = 0; i < shape->elements().size(); ++i) {
    elements.push_back(Whole(exporter.node(node).elements[i]));
  }
  if (!ok()) return node;
  std::vector<NodeId> gathered = std::exchange(operands_, std::move(elements));
  is_plain_ = true;
  const std::vector<NodeId> results =
      MakeEach("stablehlo.tuple", {&shape, 1}, {Syntax::Types::kResult, {}, {}});
  is_plain_ = false;
  operands_ = std::move(gathered);
  block.written.emplace(node, results[0]);
  return results[0];
}

NodeId OpExport::Aside(std::string_view name, const Shape& shape, NodeId operand, const Syntax& syntax) {
  std::vector<NodeId> gathered = std::exchange(operands_, {});
  UseLeaves(operand);
  const NodeId result = Make(name, shape, syntax);
  operands_ = std::move(gathered);
  return result;
}

}  // namespace assay::mlir
