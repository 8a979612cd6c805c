// Calls of functions, composites and custom calls (docs/spec/stablehlo-text.md sections 6 to 8).
#include <algorithm>
#include <array>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/text/attribute_values.h"

namespace assay::mlir {
namespace {

// Emit without binding: the call, whose extras are then completed.
int32_t AddWhole(OpImport& in, Opcode opcode, absl::Span<const int32_t> inputs, AttributeMap attributes) {
  SharedShape shape = in.WholeShape();
  return in.Add(opcode, std::move(shape), inputs, std::move(attributes));
}

void ImportCall(OpImport& in) {
  const absl::StatusOr<ComputationId> callee = in.importer.Function(in.Text("callee"));
  if (!callee.ok()) return in.Fail(callee.status());
  in.Emit(Opcode::kCall, in.operands, in.Map({{Attr::kToApply, *callee}}));
}

// Imports `in` as another operation, whose attributes are the fields of `attributes` (null: none).
void ImportAs(OpImport& in, std::string_view operation, const Attribute* attributes) {
  Operation* const stand_in = const_cast<Tree&>(in.importer.tree()).arena().New<Operation>();
  *stand_in = in.op;
  stand_in->name = operation;
  stand_in->attributes = attributes == nullptr ? std::span<const NamedAttribute>() : attributes->fields;
  OpImport other(in.importer, in.scope, *stand_in);
  other.operands = in.operands;
  FactsOf(operation).import(other);
  in.Fail(other.status);
}

// composite: a call of its decomposition, unless it stands for an operation that we have.
void ImportComposite(OpImport& in) {
  const std::string_view name = in.Text("name");
  if (!in.ok()) return;
  if (const std::string_view operation = OperationOfComposite(name); !operation.empty())
    return ImportAs(in, operation, in.Find("composite_attributes"));
  const absl::StatusOr<ComputationId> callee = in.importer.Function(in.Text("decomposition"));
  if (!callee.ok()) return in.Fail(callee.status());
  const Attribute* const attributes = in.Find("composite_attributes");
  const int64_t version = in.Int("version", 0);
  const int32_t call = AddWhole(in, Opcode::kCall, in.operands,
                                in.Map({{Attr::kToApply, *callee}, {Attr::kIsComposite, true}}));
  in.SetFrontend(call, "composite.attributes",
                 attributes == nullptr ? "{}" : ToString(*attributes, /*whole=*/true), /*is_json=*/true);
  in.SetFrontend(call, "composite.name", std::string(name));
  in.SetFrontend(call, "composite.version", fmt::format("{}", version));
  in.BindResults(call);
}

std::string ReadApiVersion(OpImport& in) {
  constexpr std::array<std::string_view, 5> kNames = {
      "API_VERSION_ORIGINAL", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
      "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
  const int64_t number = in.Int("api_version", 1);
  if (number < 0 || number > 4) {
    in.Invalid(fmt::format("api_version is {}, want 0 to 4", number));
    return {};
  }
  return std::string(kNames[static_cast<size_t>(number)]);
}

// `shape` with the layout dense<[minor, ..., major]>.
bool SetLayout(const Attribute& layout, Shape* shape) {
  Ints order;
  if (!shape->IsArray()) return true;
  if (!IntegersOf(layout, &order) || static_cast<int64_t>(order.size()) != shape->rank()) return false;
  std::vector<bool> seen(order.size());
  Layout result;
  for (int64_t d : order) {
    if (d < 0 || d >= shape->rank() || seen[static_cast<size_t>(d)]) return false;
    seen[static_cast<size_t>(d)] = true;
    result.minor_to_major.push_back(d);
  }
  shape->set_layout(std::move(result));
  return true;
}

void ReadLayouts(OpImport& in, AttributeMap* attributes) {
  const Attribute* const layouts = in.Find("operand_layouts");
  if (layouts == nullptr || layouts->elements.empty()) return;
  if (layouts->elements.size() != in.num_operands()) {
    return in.Invalid(fmt::format("found {} operand_layouts for {}", layouts->elements.size(),
                                  Counted(in.num_operands(), "operand")));
  }
  ShapeList shapes;
  for (size_t i = 0; i < in.num_operands(); ++i) {
    shapes.push_back(in.OperandShape(i));
    if (!SetLayout(*layouts->elements[i], &shapes.back())) {
      return in.Invalid(
          fmt::format("operand_layouts[{}] is not a layout of {}", i, shapes.back().ToString()));
    }
  }
  attributes->Set(Attr::kOperandLayoutConstraints, std::move(shapes));
}

// The shape of all results with the layouts that result_layouts says.
SharedShape WholeShapeWithLayouts(OpImport& in) {
  SharedShape whole = in.WholeShape();
  const Attribute* const layouts = in.Find("result_layouts");
  if (!in.ok() || layouts == nullptr || layouts->elements.empty()) return whole;
  if (layouts->elements.size() != in.num_results()) {
    in.Invalid(fmt::format("found {} result_layouts for {}", layouts->elements.size(),
                           Counted(in.num_results(), "result")));
    return whole;
  }
  std::vector<Shape> shapes;
  for (size_t i = 0; i < in.num_results(); ++i) {
    shapes.push_back(*in.ResultShape(i));
    if (!SetLayout(*layouts->elements[i], &shapes.back())) {
      in.Invalid(fmt::format("result_layouts[{}] is not a layout of {}", i, shapes.back().ToString()));
    }
  }
  return std::make_shared<const Shape>(shapes.size() == 1 ? shapes[0] : Shape::Tuple(std::move(shapes)));
}

void ReadAliases(OpImport& in, AttributeMap* attributes) {
  const Attribute* const aliases = in.Find("output_operand_aliases");
  if (aliases == nullptr || aliases->elements.empty()) return;
  Aliasing aliasing;
  for (const Attribute* alias : aliases->elements) {
    OutputOperandAlias& added = aliasing.emplace_back();
    const Attribute* const output = mlir::Find(alias->fields, "output_tuple_indices");
    const Attribute* const operand = mlir::Find(alias->fields, "operand_index");
    const Attribute* const inside = mlir::Find(alias->fields, "operand_tuple_indices");
    const bool good = (output == nullptr || IntegersOf(*output, &added.output_index)) &&
                      (inside == nullptr || IntegersOf(*inside, &added.operand_index));
    if (!good) return in.Invalid("output_operand_aliases is not a list of aliases");
    added.operand = operand == nullptr ? 0 : operand->integer;
  }
  attributes->Set(Attr::kOutputToOperandAliasing, std::move(aliasing));
}

void ReadCalled(OpImport& in, AttributeMap* attributes) {
  const Attribute* const called = in.Find("called_computations");
  if (called == nullptr || called->elements.empty()) return;
  std::vector<ComputationId> ids;
  for (const Attribute* symbol : called->elements) {
    const absl::StatusOr<ComputationId> id = in.importer.Function(symbol->text);
    if (!id.ok()) return in.Fail(id.status());
    ids.push_back(*id);
  }
  attributes->Set(Attr::kCalledComputations, std::move(ids));
}

// backend_config: a string, or the dictionary of a typed call, which mhlo.backend_config also stands for.
void ReadConfig(OpImport& in, int32_t call, const Attribute* config) {
  if (config == nullptr || (config->kind == Attribute::Kind::kString && config->text.empty())) return;
  const bool is_dictionary = config->kind == Attribute::Kind::kDictionary;
  in.OwnExtras(call).backend_config = {
      is_dictionary ? ToString(*config, /*whole=*/true) : std::string(config->text), is_dictionary};
}

// The CHLO operation of a custom call in artifacts of older versions, "" if it is none.
std::string_view OperationOfOlderCall(std::string_view target) {
  static constexpr std::pair<std::string_view, std::string_view> kTargets[] = {
      {"mhlo.acos", "chlo.acos"},   {"mhlo.acosh", "chlo.acosh"}, {"mhlo.asin", "chlo.asin"},
      {"mhlo.asinh", "chlo.asinh"}, {"mhlo.atanh", "chlo.atanh"}, {"mhlo.cosh", "chlo.cosh"},
      {"mhlo.erf", "chlo.erf"},     {"mhlo.mulhi", "chlo.mulhi"}, {"mhlo.sinh", "chlo.sinh"},
      {"mhlo.tan", "chlo.tan"},     {"mhlo.topk", "chlo.top_k"}};
  for (const auto& [name, operation] : kTargets) {
    if (name == target) return operation;
  }
  return {};
}

// A field of @ApproxTopK: its dictionary is typed or, in older programs, backend_config itself.
const Attribute* ApproxTopKField(OpImport& in, std::string_view name) {
  const Attribute* config = in.Find("mhlo.backend_config");
  if (config == nullptr) config = in.Find("backend_config");
  if (config == nullptr || config->kind != Attribute::Kind::kDictionary) return nullptr;
  return mlir::Find(config->fields, name);
}

int64_t ApproxTopKInt(OpImport& in, std::string_view name) {
  const Attribute* const field = ApproxTopKField(in, name);
  if (field == nullptr || field->kind != Attribute::Kind::kInteger) {
    in.Invalid(fmt::format("ApproxTopK: want an integer {} in backend_config", name));
    return 0;
  }
  return field->integer;
}

// The operands sorted together along `dimension` by the called computation.
int32_t AddSort(OpImport& in, size_t num_inputs, int64_t dimension, ComputationId comparator) {
  std::vector<Shape> sorted;
  for (size_t i = 0; i < num_inputs; ++i) sorted.push_back(in.OperandShape(i));
  SharedShape shape =
      in.importer.Share(num_inputs == 1 ? std::move(sorted[0]) : Shape::Tuple(std::move(sorted)));
  return in.Add(Opcode::kSort, std::move(shape), absl::MakeConstSpan(in.operands).first(num_inputs),
                in.Map({{Attr::kDimensions, Ints{dimension}}, {Attr::kToApply, comparator}}));
}

// The first elements of operand i, sorted, along `dimension`: as many as result i has.
void BindFirstSorted(OpImport& in, int32_t sorted, size_t i, int64_t dimension) {
  const Shape& operand = in.OperandShape(i);
  const SharedShape result = in.ResultShape(i);
  if (!in.ok()) return;
  SliceConfig slices;
  for (const int64_t size : operand.sizes()) slices.push_back({0, size, 1});
  if (result->IsArray() && result->rank() == operand.rank()) {
    slices[static_cast<size_t>(dimension)].limit = result->sizes()[static_cast<size_t>(dimension)];
  }
  const int32_t whole =
      in.num_results() == 1 ? sorted : in.TupleElement(sorted, in.importer.Share(Shape(operand)), i);
  in.BindResult(i, in.Add(Opcode::kSlice, result, {whole}, in.Map({{Attr::kSlice, std::move(slices)}})));
}

// ApproxTopK(x*, init*) = the first elements of sort(x*) by the called computation: an exact answer is one
// that every recall target allows. Decision: approx-top-k.
void ImportApproxTopK(OpImport& in) {
  const size_t num_inputs = in.num_results();
  if (num_inputs == 0 || in.num_operands() != 2 * num_inputs || !in.OperandShape(0).IsArray()) {
    return in.Invalid(
        fmt::format("ApproxTopK: found {} and {}, want an array and an initial "
                    "value for each result",
                    Counted(in.num_operands(), "operand"), Counted(num_inputs, "result")));
  }
  const int64_t dimension = ApproxTopKInt(in, "reduction_dim"), k = ApproxTopKInt(in, "top_k");
  const Attribute* const aggregate = ApproxTopKField(in, "aggregate_to_topk");
  if (!in.ok()) return;
  const int64_t rank = in.OperandShape(0).rank();
  if (dimension < 0 || dimension >= rank)
    return in.Invalid(fmt::format("ApproxTopK: reduction_dim is {}, the rank {}", dimension, rank));
  const SharedShape result = in.ResultShape();
  if (!in.ok()) return;
  const int64_t found =
      result->IsArray() && result->rank() == rank ? result->sizes()[static_cast<size_t>(dimension)] : -1;
  if (found < k || (aggregate != nullptr && aggregate->integer != 0 && found != k)) {
    return in.Invalid(fmt::format("ApproxTopK: the result is {}, wanted {} of dimension {}",
                                  result->ToString(), Counted(k, "element"), dimension));
  }
  AttributeMap called;
  ReadCalled(in, &called);
  const auto* const computations =
      std::get_if<std::vector<ComputationId>>(called.Find(Attr::kCalledComputations));
  if (!in.ok()) return;
  if (computations == nullptr || computations->size() != 1)
    return in.Invalid("ApproxTopK: want one called computation, the order of elements");
  const int32_t sorted = AddSort(in, num_inputs, dimension, (*computations)[0]);
  for (size_t i = 0; i < num_inputs && in.ok(); ++i) BindFirstSorted(in, sorted, i, dimension);
}

// What HLO alone says of a call: kHloAttributesOfCalls as HLO text, in any order.
void ReadHloAttributes(OpImport& in, AttributeMap* attributes) {
  const std::string_view text = in.Text(kHloAttributes);
  if (!in.ok() || text.empty()) return;
  TokenReader reader(text);
  do {
    const std::optional<Attr> attr =
        reader.At(TokenKind::kAttrName) ? AttrFromName(reader.token().text) : std::nullopt;
    if (!attr || std::ranges::find(kHloAttributesOfCalls, *attr) == std::end(kHloAttributesOfCalls) ||
        attributes->Has(*attr))
      return in.Invalid(fmt::format("{}: found '{}', want an attribute of a custom call", kHloAttributes,
                                    reader.token().text));
    reader.Next();
    absl::StatusOr<AttrValue> value = ReadAttributeValue(reader, *attr);
    if (!value.ok())
      return in.Invalid(fmt::format("{}: {}", kHloAttributes, std::string(value.status().message())));
    attributes->Set(*attr, *std::move(value));
  } while (reader.Eat(TokenKind::kComma));
  if (!reader.At(TokenKind::kEof))
    in.Invalid(fmt::format("{}: found '{}', want ','", kHloAttributes, reader.token().text));
}

// A custom call; @mhlo.topk and the like, with their attributes in a dictionary,
// are older forms of CHLO operations.
void ImportCustomCall(OpImport& in) {
  const std::string_view target = in.Text("call_target_name");
  if (const std::string_view operation = OperationOfOlderCall(target); !operation.empty()) {
    if (const int64_t version = in.Int("mhlo.version", 1); version != 1)
      return in.Unsupported(fmt::format("version {} of {}", version, target));
    return ImportAs(in, operation, in.Find("mhlo.attributes"));
  }
  if (target == "ApproxTopK") return ImportApproxTopK(in);
  if (target == "ragged_all_to_all") {
    const Attribute* const typed = in.Find("mhlo.backend_config");
    return ImportAs(in, "custom_call.ragged_all_to_all",
                    typed != nullptr ? typed : in.Find("backend_config"));
  }
  std::string api = ReadApiVersion(in);
  const Attribute* config = in.Find("backend_config");
  if (const Attribute* typed = in.Find("mhlo.backend_config"); typed != nullptr) {
    config = typed;
    api = "API_VERSION_TYPED_FFI";
  }
  AttributeMap attributes = in.Map({{Attr::kCustomCallTarget, std::string(target)}});
  if (api != "API_VERSION_ORIGINAL") attributes.Set(Attr::kApiVersion, assay::Word{api});
  if (in.Bool("has_side_effect")) attributes.Set(Attr::kCustomCallHasSideEffect, true);
  ReadLayouts(in, &attributes);
  ReadAliases(in, &attributes);
  ReadCalled(in, &attributes);
  ReadHloAttributes(in, &attributes);
  if (!in.ok()) return;
  SharedShape shape = WholeShapeWithLayouts(in);
  if (!in.ok()) return;
  const int32_t call = in.Add(Opcode::kCustomCall, std::move(shape), in.operands, std::move(attributes));
  ReadConfig(in, call, config);
  // Checks written as custom calls have their fields beside the call's own attributes.
  FinishTestCall(in, call, target, config == nullptr ? TestCallConfig(in.op, target) : std::string());
  if (in.num_results() != 1) return in.BindResults(call);
  in.importer.Bind(in.scope, in.op.results[0], call);  // which may have another layout than its type says
}

// The same value: casts between the two dialects of bytecode say nothing.
void ImportIdentity(OpImport& in) {
  if (in.Arity(1)) in.BindResult(0, in.operands[0]);
}

constexpr ImportRow kCallRows[] = {
    {"func.call", ImportCall},
    {"stablehlo.composite", ImportComposite},
    {"stablehlo.custom_call", ImportCustomCall},
    {"builtin.unrealized_conversion_cast", ImportIdentity},
};

}  // namespace

std::span<const ImportRow> CallRows() { return kCallRows; }

}  // namespace assay::mlir
