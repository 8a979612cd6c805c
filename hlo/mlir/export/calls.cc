// Calls of functions, composites, fusions and custom calls: the inverse of import/calls.cc.
#include <algorithm>
#include <array>
#include <memory>

#include "fmt/format.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/text/parser.h"
#include "hlo/mlir/text_writer.h"
#include "hlo/text/print_values.h"

namespace assay::mlir {
namespace {

using Types = Syntax::Types;

std::string Symbol(OpExport& out, ComputationId id) { return fmt::format("@{}", out.exporter.Function(id)); }

// The text of a dictionary that HLO keeps as text, as it is printed again; empty:
// it is none that we can read.
std::string DictionaryText(std::string_view text) {
  const std::string program = fmt::format("module attributes {{d = {}}} {{}}", text);
  const absl::StatusOr<std::unique_ptr<Tree>> tree = ParseMlirText(program);
  if (!tree.ok() || (*tree)->top->operations.size() != 1) return {};
  const Operation& module = *(*tree)->top->operations[0];
  if (module.attributes.size() != 1 || module.attributes[0].name != "d") return {};
  const Attribute& value = *module.attributes[0].value;
  return value.kind == Attribute::Kind::kDictionary ? ToString(value, /*whole=*/true) : std::string();
}

// A composite whose name, attributes and version can be written, and which the importer makes a call again.
bool SetComposite(OpExport& out) {
  if (!out.attributes().Bool(Attr::kIsComposite)) return false;
  const std::string* const name = FrontendAttribute(out.hlo, "composite.name");
  const std::string* const attributes = FrontendAttribute(out.hlo, "composite.attributes");
  const std::string* const version = FrontendAttribute(out.hlo, "composite.version");
  if (name == nullptr || name->find('.') == std::string::npos || !OperationOfComposite(*name).empty())
    return false;
  const std::string dictionary = attributes == nullptr ? "{}" : DictionaryText(*attributes);
  int32_t number = 0;
  if (version != nullptr && !absl::SimpleAtoi(*version, &number)) return false;
  if (dictionary.empty() || number < 0) return false;
  if (dictionary != "{}") out.Property("composite_attributes", dictionary);
  out.Property("decomposition", Symbol(out, *out.attributes().Computation(Attr::kToApply)));
  out.Text("name", *name);
  if (number != 0) out.Int("version", number, "i32");
  out.LeaveOutFrontend("composite.");
  return true;
}

void ExportCall(OpExport& out) {
  if (ExportShardingRegion(out)) return;
  out.UseOperands();
  if (SetComposite(out)) return out.Emit("stablehlo.composite");
  out.Bind(out.Call(*out.attributes().Computation(Attr::kToApply), *out.hlo.shape));
}

void ExportFusion(OpExport& out) {
  out.UseOperands();
  out.Bind(out.Call(*out.attributes().Computation(Attr::kCalls), *out.hlo.shape));
}

// dense<[minor, ..., major]> : tensor<Nxindex>; without a layout the last dimension is the fastest.
std::string LayoutText(const Shape& shape) {
  if (!shape.IsArray()) return "dense<> : tensor<0xindex>";
  Ints order(shape.layout().minor_to_major.begin(), shape.layout().minor_to_major.end());
  if (order.size() != static_cast<size_t>(shape.rank())) {
    order.clear();
    for (int64_t d = shape.rank(); d-- > 0;) order.push_back(d);
  }
  if (order.empty()) return "dense<> : tensor<0xindex>";
  return fmt::format("dense<{}> : tensor<{}xindex>", ListText(order), order.size());
}

// Types of the results: the elements of a tuple, or one, where a tuple of one element is one.
std::vector<const Shape*> ResultTypes(const Shape& shape) {
  if (!shape.IsTuple() || shape.elements().size() == 1) return {&shape};
  std::vector<const Shape*> types;
  for (const Shape& element : shape.elements()) types.push_back(&element);
  return types;
}

bool HasOtherLayout(const Shape& shape) {
  return shape.IsArray() && !shape.layout().minor_to_major.empty() && !shape.layout().IsRowMajor();
}

// Layouts are written where the call has constraints, and where a result's is another than the default one:
// what a call means may depend on it (custom/xla). Then operands have those of their instructions.
void SetLayouts(OpExport& out, std::span<const Shape* const> results) {
  const AttrValue* const constraints = out.attributes().Find(Attr::kOperandLayoutConstraints);
  ShapeList shapes;
  if (constraints != nullptr) {
    shapes = std::get<ShapeList>(*constraints);
  } else if (std::any_of(results.begin(), results.end(), [](const Shape* s) { return HasOtherLayout(*s); })) {
    for (const int32_t operand : out.hlo.operands)
      shapes.push_back(*out.block.computation->instructions[static_cast<size_t>(operand)].shape);
  }
  std::string operand_layouts, result_layouts;
  for (const Shape& shape : shapes) {
    operand_layouts += fmt::format("{}{}", operand_layouts.empty() ? "" : ", ", LayoutText(shape));
  }
  for (const Shape* shape : results) {
    result_layouts += fmt::format("{}{}", result_layouts.empty() ? "" : ", ", LayoutText(*shape));
  }
  if (operand_layouts.empty()) return;
  out.Property("operand_layouts", fmt::format("[{}]", operand_layouts));
  out.Property("result_layouts", fmt::format("[{}]", result_layouts));
}

void SetAliases(OpExport& out) {
  const AttrValue* const aliasing = out.attributes().Find(Attr::kOutputToOperandAliasing);
  if (aliasing == nullptr) return;
  std::string text;
  for (const OutputOperandAlias& alias : std::get<Aliasing>(*aliasing)) {
    text += fmt::format(
        "{}#stablehlo.output_operand_alias<output_tuple_indices = {}, operand_index = {}, "
        "operand_tuple_indices = {}>",
        text.empty() ? "" : ", ", ListText(alias.output_index), alias.operand, ListText(alias.operand_index));
  }
  if (!text.empty()) out.Property("output_operand_aliases", fmt::format("[{}]", text));
}

void SetCalled(OpExport& out) {
  std::string symbols;
  for (const ComputationId id : CalledComputations(out.hlo)) {
    const Computation& computation = out.exporter.module().computation(id);
    for (const int32_t parameter : computation.parameters) {
      if (computation.instructions[static_cast<size_t>(parameter)].shape->IsTuple()) {
        return out.Refuse("a called computation that takes a tuple");
      }
    }
    symbols += fmt::format("{}{}", symbols.empty() ? "" : ", ", Symbol(out, id));
  }
  if (!symbols.empty()) out.Property("called_computations", fmt::format("[{}]", symbols));
}

int64_t WriteApiVersion(OpExport& out) {
  constexpr std::array<std::string_view, 5> kNames = {
      "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
      "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
  const std::string_view word = out.attributes().Text(Attr::kApiVersion, kNames[1]);
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == word) return static_cast<int64_t>(i);
  }
  out.Refuse(fmt::format("api_version {}", word));
  return 0;
}

// A typed call has a dictionary, every other one a string.
void SetConfig(OpExport& out, int64_t api_version) {
  const StringOrJson* const config = out.hlo.extras == nullptr ? nullptr : &out.hlo.extras->backend_config;
  const bool has_text = config != nullptr && !config->text.empty();
  if (api_version != 4) {
    if (has_text) out.Text("backend_config", config->text);
    return;
  }
  const std::string dictionary = has_text ? DictionaryText(config->text) : "{}";
  if (dictionary.empty())
    return out.Refuse("a typed call whose backend_config is not a dictionary of attributes");
  if (has_text) out.Property("backend_config", dictionary);
}

// What HLO alone says of a call, as HLO text: "window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_01io->bf01".
// Readers that don't know the attribute leave it on the operation.
void SetHloAttributes(OpExport& out) {
  std::string text;
  for (const Attr attr : kHloAttributesOfCalls) {
    const AttrValue* const value = out.attributes().Find(attr);
    if (value == nullptr) continue;
    text += fmt::format("{}{}=", text.empty() ? "" : ", ", Name(attr));
    print::AppendAttributeValue(attr, *value, {}, text);
  }
  if (!text.empty()) out.Discardable(kHloAttributes, Quoted(text));
}

// The call that the importer makes of a CHLO function which HLO does not have.
bool IsFunction(const OpExport& out) {
  const std::string_view target = out.attributes().Text(Attr::kCustomCallTarget);
  if (!IsChloFunction(target, out.num_operands()) || out.attributes().entries().size() != 1) return false;
  const Shape& shape = *out.hlo.shape;
  if (!shape.IsArray()) return false;
  const ElementType type = shape.element_type();
  // The importer makes what it can of these out of operations that HLO has.
  if (target == "chlo.atan") return IsComplex(type);
  return IsFloat(type) && (target != "chlo.next_after" || Bits(type) < 16);
}

void ExportCustomCall(OpExport& out) {
  if (IsFunction(out)) {
    out.UseOperands();
    return out.Emit(out.attributes().Text(Attr::kCustomCallTarget));
  }
  if (ExportShardingCall(out)) return;
  for (size_t i = 0; i < out.num_operands(); ++i) out.Use(out.Operand(i));
  const std::vector<const Shape*> types = ResultTypes(*out.hlo.shape);
  const int64_t api_version = WriteApiVersion(out);
  if (api_version != 1) out.Int("api_version", api_version, "i32");
  SetConfig(out, api_version);
  out.Text("call_target_name", out.attributes().Text(Attr::kCustomCallTarget));
  SetCalled(out);
  if (out.attributes().Bool(Attr::kCustomCallHasSideEffect)) out.Flag("has_side_effect", true);
  SetLayouts(out, types);
  SetAliases(out);
  SetHloAttributes(out);
  std::vector<NodeId> results = out.MakeEach("stablehlo.custom_call", types);
  if (!out.ok()) return;
  for (NodeId& result : results) result = out.TakenApart(result);
  const bool is_one = types.size() == 1 && types[0] == out.hlo.shape.get();
  out.Bind(is_one ? results[0] : out.exporter.Tuple(*out.hlo.shape, std::move(results)));
}

constexpr ExportRow kCallExports[] = {
    {Opcode::kCall, ExportCall},
    {Opcode::kCustomCall, ExportCustomCall},
    {Opcode::kFusion, ExportFusion},
};

// Functions take and give exactly what they say; in HLO a size that is dynamic goes with one that is not.
bool SameTensors(const Shape& a, const Shape& b) {
  if (a.kind() != b.kind() || a.elements().size() != b.elements().size()) return false;
  if (a.IsArray()) {
    if (!Shape::Compatible(a, b)) return false;
    for (int64_t d = 0; d < a.rank(); ++d) {
      if (a.is_dynamic(d) != b.is_dynamic(d) || a.size(d) != b.size(d)) return false;
    }
  }
  for (size_t i = 0; i < a.elements().size(); ++i) {
    if (!SameTensors(a.elements()[i], b.elements()[i])) return false;
  }
  return true;
}

}  // namespace

NodeId OpExport::Call(ComputationId callee, const Shape& shape) {
  const Computation& called = exporter.module().computation(callee);
  bool same = SameTensors(shape, *called.root_instruction().shape);
  for (size_t i = 0; i < num_operands(); ++i) {
    const auto parameter = static_cast<size_t>(called.parameters[i]);
    same = same && SameTensors(OperandShape(i), *called.instructions[parameter].shape);
  }
  if (!same) {
    Refuse(fmt::format("a call of '{}' with types other than its own", called.name));
    return -1;
  }
  // "func.call @f(%0, %1) : (..) -> .."
  return Make(fmt::format("func.call @{}", exporter.Function(callee)), shape, {Types::kFunction, "(", ")"});
}

std::span<const ExportRow> CallExports() { return kCallExports; }

}  // namespace assay::mlir
