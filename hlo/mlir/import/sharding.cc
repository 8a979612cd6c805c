// Shardings, as XLA itself writes them in HLO (docs/spec/sharding.md, SDY-27): operations of the Shardy
// dialect become custom calls that change no value, or that stand at the border of a manual region; shardings
// of values become frontend attributes. What XLA has no form for is marked by kShardingOp
// (hlo/manual_region.h), so that it is printed as it was.
#include <algorithm>

#include "fmt/format.h"
#include "hlo/manual_region.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/sharding_syntax.h"
#include "hlo/text/sharding_text.h"

namespace assay::mlir {
namespace {

// The text of an attribute of the Shardy dialect.
std::string_view ShardingText(OpImport& in, std::string_view name) {
  const Attribute* const attribute = in.Require(name);
  return attribute == nullptr ? std::string_view() : attribute->text;
}

// "#sdy.sharding<...>" as the list of one result.
std::string PerValue(std::string_view sharding) {
  constexpr std::string_view kPrefix = "#sdy.sharding";
  return fmt::format("#sdy.sharding_per_value<[{}]>",
                     sharding.starts_with(kPrefix) ? sharding.substr(kPrefix.size()) : sharding);
}

int32_t AddCall(OpImport& in, std::string_view target, SharedShape shape, absl::Span<const int32_t> inputs,
                bool has_side_effect) {
  AttributeMap attributes = in.Map({{Attr::kCustomCallTarget, std::string(target)}});
  if (has_side_effect) attributes.Set(Attr::kCustomCallHasSideEffect, true);
  return in.Add(Opcode::kCustomCall, std::move(shape), inputs, std::move(attributes));
}

// SDY-1: a custom call that gives its operand.
int32_t AddIdentity(OpImport& in, std::string_view target, bool has_side_effect) {
  if (!in.Arity(1)) return -1;
  const SharedShape shape = in.scope.computation.instructions[in.operands[0]].shape;
  const int32_t call = AddCall(in, target, shape, in.operands, has_side_effect);
  in.BindResult(0, call);
  return in.ok() ? call : -1;
}

void ImportConstraint(OpImport& in) {
  const std::string_view sharding = ShardingText(in, "sharding");
  const int32_t call = AddIdentity(in, "Sharding", false);
  if (call >= 0) in.SetFrontend(call, std::string(kSharding), PerValue(sharding));
}

// The text of an attribute that says how the operation moves pieces.
void SetAxes(OpImport& in, int32_t call) {
  for (const NamedAttribute& attribute : in.op.attributes) {
    if (attribute.value->kind != Attribute::Kind::kOpaque || attribute.name == "sharding" ||
        attribute.name == "out_sharding" || IsShardingName(attribute.name))
      continue;
    in.SetFrontend(call, fmt::format("{}{}", kShardingField, attribute.name),
                   std::string(attribute.value->text));
  }
}

// Operations that move pieces of a value or join its uses: the logical value is the same.
void ImportMarkedIdentity(OpImport& in) {
  const Attribute* sharding = in.Find("out_sharding");
  if (sharding == nullptr) sharding = in.Find("sharding");
  const int32_t call = AddIdentity(in, "Sharding", false);
  if (call < 0) return;
  if (sharding != nullptr) in.SetFrontend(call, std::string(kSharding), PerValue(sharding->text));
  in.SetFrontend(call, std::string(kShardingOp), std::string(in.op.name));
  SetAxes(in, call);
}

void ImportBarrier(OpImport& in) {
  const int64_t direction = in.Int("allowed_direction");
  const int32_t call = AddIdentity(in, "xla.sdy.PropagationBarrier", true);
  if (call >= 0) in.SetFrontend(call, std::string(kAllowedDirection), fmt::format("{} : i32", direction));
}

void ImportGroup(OpImport& in) {
  const int64_t id = in.Int("group_id");
  if (!in.Arity(1, 0)) return;
  const int32_t call =
      AddCall(in, "xla.sdy.ShardingGroup", in.importer.Share(Shape::Tuple({})), in.operands, true);
  in.SetFrontend(call, std::string(kShardingGroupId), fmt::format("{} : i64", id));
}

SharedShape WholeOf(OpImport& in, std::span<const SharedShape> shapes) {
  if (shapes.size() == 1) return shapes[0];
  std::vector<Shape> elements;
  for (const SharedShape& shape : shapes) elements.push_back(*shape);
  return in.importer.Share(Shape::Tuple(std::move(elements)));
}

// The elements of a tuple of these shapes, or the one value.
absl::InlinedVector<int32_t, 4> ElementsOf(OpImport& in, int32_t whole, std::span<const SharedShape> shapes) {
  if (shapes.size() == 1) return {whole};
  absl::InlinedVector<int32_t, 4> elements;
  for (size_t i = 0; i < shapes.size(); ++i) elements.push_back(in.TupleElement(whole, shapes[i], i));
  return elements;
}

// The shapes of values, the first error being kept.
std::vector<SharedShape> ShapesOf(OpImport& in, auto&& values, auto&& type_of) {
  std::vector<SharedShape> shapes;
  for (const auto& value : values) {
    absl::StatusOr<SharedShape> shape = in.importer.ShapeOf(*type_of(value));
    if (!shape.ok()) {
      in.Fail(shape.status());
      return {};
    }
    shapes.push_back(*std::move(shape));
  }
  return shapes;
}

// What both region operations have: one region that takes nothing from outside and
// returns a value for each result.
std::optional<ComputationId> RegionBody(OpImport& in, std::string_view name) {
  if (!in.Regions(1)) return std::nullopt;
  const absl::StatusOr<ComputationId> body = in.importer.RegionComputation(
      in.op.regions[0], Importer::Arguments::kScalars, {}, /*keeps_captured=*/false, in.op, name);
  if (body.ok()) return *body;
  in.Fail(body.status());
  return std::nullopt;
}

void ImportManual(OpImport& in) {
  const std::string in_shardings(ShardingText(in, "in_shardings"));
  const std::string out_shardings(ShardingText(in, "out_shardings"));
  const std::string axes(ShardingText(in, "manual_axes"));
  const std::optional<ComputationId> body = RegionBody(in, kManualBody);
  if (!body) return;
  const Region& region = in.op.regions[0];
  const std::vector<SharedShape> inner =
      ShapesOf(in, region.arguments, [](const Value& value) { return value.type; });
  const std::vector<SharedShape> given =
      ShapesOf(in, region.operations.back()->operands, [](const Value* value) { return value->type; });
  if (!in.ok()) return;
  absl::InlinedVector<int32_t, 4> inputs;
  if (!inner.empty()) {
    const int32_t enter = AddCall(in, kGlobalToLocalShape, WholeOf(in, inner), in.operands, true);
    in.SetFrontend(enter, std::string(kInShardings), in_shardings);
    in.SetFrontend(enter, std::string(kManualAxes), axes);
    inputs = ElementsOf(in, enter, inner);
  }
  const int32_t call = in.Add(Opcode::kCall, WholeOf(in, given), inputs, in.Map({{Attr::kToApply, *body}}));
  in.SetFrontend(call, "inlineable", "false");
  // XLA has no form for a region without operands and results.
  if (inner.empty() && given.empty()) in.SetFrontend(call, std::string(kManualAxes), axes);
  if (given.empty()) return;
  const int32_t leave = AddCall(in, kLocalToGlobalShape, in.WholeShape(), ElementsOf(in, call, given), true);
  in.SetFrontend(leave, std::string(kOutShardings), out_shardings);
  in.SetFrontend(leave, std::string(kManualAxes), axes);
  in.BindResults(leave);
}

// named_computation: a call of its body, which keeps the name.
void ImportNamed(OpImport& in) {
  const std::string name(in.Text("name"));
  const std::optional<ComputationId> body = RegionBody(in, "region");
  if (!body) return;
  SharedShape shape = in.WholeShape();
  if (!in.ok()) return;
  const int32_t call =
      in.Add(Opcode::kCall, std::move(shape), in.operands, in.Map({{Attr::kToApply, *body}}));
  in.SetFrontend(call, std::string(kShardingOp), std::string(in.op.name));
  in.SetFrontend(call, fmt::format("{}name", kShardingField), name);
  SetAxes(in, call);
  in.BindResults(call);
}

// The canonical text of an mhlo.sharding.
absl::StatusOr<std::string> HloSharding(const Attribute& attribute, const Shape& shape) {
  TokenReader reader(attribute.text);
  std::string text;
  absl::Status status = ReadSharding(reader, &text);
  if (status.ok() && !reader.At(TokenKind::kEof)) status = reader.Unexpected("the end");
  if (!status.ok()) {
    return InvalidProgram({}, fmt::format("mhlo.sharding '{}': {}", attribute.text.substr(0, 200),
                                          std::string(status.message())));
  }
  SpreadShardingOverTuple(shape, &text);
  return text;
}

void AddFrontend(std::string_view key, StringOrJson value, FrontendAttributes* attributes) {
  auto at = attributes->begin();
  while (at != attributes->end() && at->first < key) ++at;
  if (at != attributes->end() && at->first == key) {
    at->second = std::move(value);
  } else {
    attributes->insert(at, {std::string(key), std::move(value)});
  }
}

constexpr ImportRow kShardingRows[] = {
    {"sdy.sharding_constraint", ImportConstraint},      {"sdy.reshard", ImportMarkedIdentity},
    {"sdy.data_flow_edge", ImportMarkedIdentity},       {"sdy.func_data_flow_edge", ImportMarkedIdentity},
    {"sdy.all_gather", ImportMarkedIdentity},           {"sdy.all_slice", ImportMarkedIdentity},
    {"sdy.all_to_all", ImportMarkedIdentity},           {"sdy.collective_permute", ImportMarkedIdentity},
    {"sdy.all_reduce", ImportMarkedIdentity},           {"sdy.reduce_scatter", ImportMarkedIdentity},
    {"sdy.sharded_to_unreduced", ImportMarkedIdentity}, {"sdy.replicated_to_unreduced", ImportMarkedIdentity},
    {"sdy.propagation_barrier", ImportBarrier},         {"sdy.sharding_group", ImportGroup},
    {"sdy.manual_computation", ImportManual},           {"sdy.named_computation", ImportNamed},
};

}  // namespace

std::span<const ImportRow> ShardingRows() { return kShardingRows; }

void OpImport::SetFrontend(int32_t instruction, std::string_view key, std::string text, bool is_json) {
  AddFrontend(key, {std::move(text), is_json}, &OwnExtras(instruction).frontend_attributes);
}

// sdy.mesh: what the module keeps of it.
void Importer::ImportMesh(const Operation& mesh) {
  const Attribute* const name = mesh.Find("sym_name");
  const Attribute* const value = mesh.Find("mesh");
  if (mesh.name != "sdy.mesh" || name == nullptr || value == nullptr) return;
  if (!meshes_.empty()) meshes_ += ", ";
  meshes_ += fmt::format("{} = {}", SymbolText(name->text).substr(1), value->text);
}

void Importer::SetModuleFrontend(std::span<const NamedAttribute> fields) {
  for (const NamedAttribute& field : fields) {
    if (field.value->kind != Attribute::Kind::kString) continue;
    AddFrontend(field.name, {std::string(field.value->text), field.value->text.starts_with('{')},
                &module_.frontend_attributes);
  }
}

void Importer::SetMeshes() {
  if (meshes_.empty()) return;
  AddFrontend(kMeshes, {fmt::format("{{{}}}", meshes_), true}, &module_.frontend_attributes);
}

// Shardings of an argument, a result or an operation in the extras of an instruction. `per_value`: an
// sdy.sharding of one value becomes a list.
absl::Status Importer::SetShardings(std::span<const NamedAttribute> fields, bool per_value,
                                    Instruction* instruction) {
  std::shared_ptr<InstructionExtras> extras;
  for (const NamedAttribute& field : fields) {
    const Attribute& value = *field.value;
    const bool is_sdy = field.name.starts_with("sdy.") && value.text.starts_with("#sdy");
    if (!is_sdy && field.name != "mhlo.sharding" && field.name != Tree::kFrontendAttributes) continue;
    if (extras == nullptr) {
      extras = instruction->extras == nullptr ? std::make_shared<InstructionExtras>()
                                              : std::make_shared<InstructionExtras>(*instruction->extras);
    }
    if (field.name == "sdy.sharding") {
      AddFrontend(kSharding, {per_value ? PerValue(value.text) : std::string(value.text), false},
                  &extras->frontend_attributes);
    } else if (field.name == "sdy.sharding_rule") {
      AddFrontend(kShardingRule, {std::string(value.text), false}, &extras->frontend_attributes);
    } else if (field.name == "mhlo.sharding") {
      ASSAY_ASSIGN_OR_RETURN(extras->sharding, HloSharding(value, *instruction->shape));
    } else {
      for (const NamedAttribute& inner : value.fields) {
        if (inner.value->kind == Attribute::Kind::kString)
          AddFrontend(inner.name, {std::string(inner.value->text), false}, &extras->frontend_attributes);
      }
    }
  }
  if (extras != nullptr) instruction->extras = std::move(extras);
  return absl::OkStatus();
}

// Those of an operation stand on the instruction that gives its results;
// not on others that the importer makes of it.
absl::Status Importer::SetOperationShardings(Scope& scope, const Operation& operation, size_t first_added) {
  const bool has_some = std::ranges::any_of(
      operation.attributes, [](const NamedAttribute& attribute) { return IsShardingName(attribute.name); });
  std::vector<Instruction>& instructions = scope.computation.instructions;
  if (!has_some || instructions.size() == first_added) return absl::OkStatus();
  auto giving = static_cast<int32_t>(instructions.size() - 1);
  if (!operation.results.empty()) giving = Lookup(scope, operation.results[0]);
  if (operation.results.size() > 1 && instructions[giving].opcode == Opcode::kGetTupleElement)
    giving = instructions[giving].operands[0];
  if (giving < static_cast<int32_t>(first_added)) return absl::OkStatus();
  return SetShardings(operation.attributes, /*per_value=*/false, &instructions[static_cast<size_t>(giving)]);
}

namespace {

std::span<const NamedAttribute> FieldsOf(const Attribute* attributes, size_t i) {
  if (attributes == nullptr || i >= attributes->elements.size()) return {};
  return attributes->elements[i]->fields;
}

}  // namespace

absl::Status Importer::SetArgumentShardings(Scope& scope, const Operation& function) {
  const Attribute* const attributes = function.Find("arg_attrs");
  if (attributes == nullptr) return absl::OkStatus();
  for (size_t i = 0; i < scope.computation.parameters.size(); ++i) {
    Instruction& parameter = scope.computation.instructions[scope.computation.parameters[i]];
    ASSAY_RETURN_IF_ERROR(SetShardings(FieldsOf(attributes, i), /*per_value=*/false, &parameter));
  }
  return absl::OkStatus();
}

// As XLA has it: a result with an sdy.sharding passes a custom call that carries it; mhlo.sharding is that of
// the root, which says {replicated} of results without one.
absl::StatusOr<int32_t> Importer::ShardedRoot(Scope& scope, const Operation& function) {
  const Region& body = function.regions[0];
  const Operation& last = *body.operations.back();
  const Attribute* const attributes = function.Find("res_attrs");
  absl::InlinedVector<int32_t, 8> results;
  std::string shardings;
  bool has_sharding = false;
  for (size_t i = 0; i < last.operands.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(int32_t result, Use(scope, *last.operands[i]));
    const std::span<const NamedAttribute> fields = FieldsOf(attributes, i);
    const SharedShape shape = scope.computation.instructions[result].shape;
    if (const Attribute* sharding = mlir::Find(fields, "sdy.sharding"); sharding != nullptr) {
      AttributeMap call = Map({{Attr::kCustomCallTarget, std::string(kFuncResultSharding)}});
      call.Set(Attr::kCustomCallHasSideEffect, true);
      const NamedAttribute only[] = {{"sdy.sharding", sharding}};
      result = Add(scope, Opcode::kCustomCall, shape, {&result, 1}, std::move(call), last);
      ASSAY_RETURN_IF_ERROR(SetShardings(only, /*per_value=*/true, &scope.computation.instructions[result]));
    }
    const Attribute* const sharding = mlir::Find(fields, "mhlo.sharding");
    std::string text = "{replicated}";
    if (sharding != nullptr) {
      ASSAY_ASSIGN_OR_RETURN(text, HloSharding(*sharding, *shape));
    }
    has_sharding |= sharding != nullptr;
    shardings += (i == 0 ? "" : i % 5 == 0 ? fmt::format(", /*index={}*/", i) : ", ") + text;
    results.push_back(result);
  }
  if (results.size() == 1 && !has_sharding) return results[0];
  std::vector<Shape> shapes;
  for (const int32_t result : results) shapes.push_back(*scope.computation.instructions[result].shape);
  int32_t root = Add(scope, Opcode::kTuple, Share(Shape::Tuple(std::move(shapes))), results, {}, last);
  if (!has_sharding) return root;
  if (results.size() == 1) {
    const SharedShape shape = scope.computation.instructions[results[0]].shape;
    root = Add(scope, Opcode::kGetTupleElement, shape, {&root, 1}, TupleIndex(0), last);
  } else {
    shardings = fmt::format("{{{}}}", shardings);
  }
  auto extras = std::make_shared<InstructionExtras>();
  extras->sharding = std::move(shardings);
  scope.computation.instructions[static_cast<size_t>(root)].extras = std::move(extras);
  return root;
}

}  // namespace assay::mlir
