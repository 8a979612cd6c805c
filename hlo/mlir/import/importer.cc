// Instructions, shapes, literals, and the computations of regions.
#include "hlo/mlir/import/importer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/ascii.h"
#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/manual_region.h"
#include "hlo/opcode_names.h"

namespace assay::mlir {
namespace {

absl::StatusOr<Shape> TensorShape(const Type& type) {
  const Type& element = *type.element_type;
  if (element.kind != Type::Kind::kElement) {
    return NotSupported(
        {}, fmt::format("type {}: HLO has no element type {}", ToString(type), ToString(element)));
  }
  DimVector sizes(type.sizes.begin(), type.sizes.end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t bound = type.bounds.empty() ? kDynamicSize : type.bounds[d];
    if (sizes[d] != kDynamicSize) {
      if (bound == kDynamicSize) continue;
      return InvalidProgram(
          {}, fmt::format("type {}: dimension {} is static and has a bound", ToString(type), d));
    }
    sizes[d] = bound == kDynamicSize ? kUnboundedSize : bound;
  }
  absl::StatusOr<Shape> shape = Shape::Array(element.element, sizes);
  if (!shape.ok()) return WithPrefix(shape.status(), fmt::format("type {}", ToString(type)));
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (type.sizes[d] == kDynamicSize && sizes[d] != kUnboundedSize)
      shape->set_dynamic(static_cast<int64_t>(d), true);
  }
  return shape;
}

bool IsNameInHlo(std::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(name[0]) &&
         std::ranges::all_of(name, [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

}  // namespace

// Constants are built anew where they are used; anything else must be passed in.
bool Importer::IsConstant(const Value& value) const {
  return value.owner != nullptr && Facts(*value.owner).role == NameFacts::Role::kConstant;
}

// Results of several are taken from a tuple, a splat is a scalar and its broadcast.
size_t Importer::NumInstructions(const Region& region) const {
  size_t count = region.captures.size() + 1;
  for (const Operation* operation : region.operations) {
    count += operation->results.size() > 1 ? operation->results.size() + 1 : 1;
    count += Facts(*operation).role == NameFacts::Role::kConstant ? 1 : 0;
  }
  return count;
}

absl::StatusOr<SharedShape> Importer::ShapeOf(const Type& type) {
  SharedShape& known = shapes_[static_cast<size_t>(type.id)];
  if (known != nullptr) return known;
  Shape shape;
  switch (type.kind) {
    case Type::Kind::kTensor: {
      ASSAY_ASSIGN_OR_RETURN(shape, TensorShape(type));
      break;
    }
    case Type::Kind::kToken:
      shape = Shape::Token();
      break;
    case Type::Kind::kTuple: {
      std::vector<Shape> elements;
      for (const Type* element : type.inputs) {
        ASSAY_ASSIGN_OR_RETURN(const SharedShape element_shape, ShapeOf(*element));
        elements.push_back(*element_shape);
      }
      shape = Shape::Tuple(std::move(elements));
      break;
    }
    case Type::Kind::kUnsupported:
      return NotSupported({}, fmt::format("type {}", ToString(type)));
    default:
      return InvalidProgram(
          {}, fmt::format("found a value of type {}, want a tensor, a tuple or a token", ToString(type)));
  }
  known = Share(std::move(shape));
  return known;
}

SharedShape Importer::Scalar(ElementType type) {
  SharedShape& shape = scalars_[static_cast<size_t>(type)];
  if (shape == nullptr) shape = Share(Shape::Scalar(type));
  return shape;
}

// Where the literal of an attribute is kept for its next use. Large ones are never made twice.
LiteralPtr& Importer::KnownLiteral(const Attribute& dense) {
  constexpr size_t kSmall = 64;
  if (dense.data.size() > kSmall) return large_literals_[&dense];
  KnownSmall& known =
      small_literals_[reinterpret_cast<uintptr_t>(&dense) / alignof(Attribute) % small_literals_.size()];
  if (known.dense != &dense) known = {&dense, nullptr};
  return known.literal;
}

absl::StatusOr<LiteralPtr> Importer::LiteralOf(const Attribute& dense, const SharedShape& shape) {
  LiteralPtr& known = KnownLiteral(dense);
  if (known != nullptr) return known;
  const SharedShape own = dense.is_splat && !shape->IsScalar() ? Scalar(shape->element_type()) : shape;
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(own, nullptr, /*zero=*/false));
  const std::span<std::byte> bytes = literal.MutableBytes();
  if (bytes.size() != dense.data.size()) {
    return InvalidProgram(
        {}, fmt::format("constant: found {} of elements, want {} for {}", Counted(dense.data.size(), "byte"),
                        bytes.size(), shape->ToString()));
  }
  if (!bytes.empty()) std::memcpy(bytes.data(), dense.data.data(), bytes.size());
  known = std::make_shared<const Literal>(std::move(literal));
  return known;
}

Scope Importer::NewScope(const Operation& from) {
  Scope scope;
  scope.serial = ++num_scopes_;
  scope.computation.position = from.position;
  return scope;
}

Scope Importer::NewScope(const Operation& from, const Region& region, size_t num_parameters) {
  Scope scope = NewScope(from);
  const size_t count = num_parameters + NumInstructions(region);
  scope.computation.instructions.reserve(count + count / 8);  // some operations become several
  scope.computation.parameters.reserve(num_parameters);
  return scope;
}

AttributeMap Importer::AttributesOf(const Operation& operation, absl::FunctionRef<AttributeMap()> build) {
  if (operation.attributes.empty()) return build();
  const NamedAttribute* const fields = operation.attributes.data();
  const size_t hash = reinterpret_cast<uintptr_t>(fields) / sizeof(NamedAttribute);
  KnownAttributes& known = known_attributes_[hash % known_attributes_.size()];
  if (known.fields != fields || known.name != operation.name.data()) {
    known = {fields, operation.name.data(), build()};
  }
  return known.built;
}

AttributeMap Importer::TupleIndex(size_t index) {
  if (index >= tuple_indices_.size()) tuple_indices_.resize(index + 1);
  AttributeMap& known = tuple_indices_[index];
  if (known.empty()) known = Map({{Attr::kIndex, static_cast<int64_t>(index)}});
  return known;
}

AttributeMap Importer::NoDimensions() {
  if (no_dimensions_.empty()) no_dimensions_ = Map({{Attr::kDimensions, Ints()}});
  return no_dimensions_;
}

// The name of the location, and what XLA keeps of an operation's attributes.
void Importer::AddExtras(const Operation& from, Instruction* instruction) {
  const Attribute* const frontend =
      tree_.has_frontend_attributes ? from.Find(Tree::kFrontendAttributes) : nullptr;
  const Location* const location = from.location;
  if (frontend == nullptr) {
    if (location != nullptr) instruction->extras = ExtrasOf(*location);
    return;
  }
  std::shared_ptr<InstructionExtras> extras = extras_.New();
  if (location != nullptr) SetMetadata(*location, &extras->metadata);
  for (const NamedAttribute& field : frontend->fields) {
    if (field.value->kind != Attribute::Kind::kString) continue;
    extras->frontend_attributes.emplace_back(std::string(field.name),
                                             StringOrJson{std::string(field.value->text), false});
  }
  std::sort(extras->frontend_attributes.begin(), extras->frontend_attributes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  instruction->extras = std::move(extras);
}

// Shared by the instructions of one location.
inline const std::shared_ptr<const InstructionExtras>& Importer::ExtrasOf(const Location& location) {
  std::shared_ptr<const InstructionExtras>& known = location_extras_[static_cast<size_t>(location.id)];
  if (known == nullptr && !(location.name.empty() && location.source_file.empty())) {
    std::shared_ptr<InstructionExtras> extras = extras_.New();
    SetMetadata(location, &extras->metadata);
    known = std::move(extras);
  }
  return known;
}

void Importer::SetMetadata(const Location& location, OpMetadata* metadata) {
  metadata->op_name = texts_.Add(location.name);
  // Nearly all locations are in the file of the one before.
  if (last_file_.view() != location.source_file) last_file_ = texts_.Add(location.source_file);
  metadata->source_file = last_file_;
  metadata->source_line = location.line;
}

int32_t Importer::Add(Scope& scope, Opcode opcode, SharedShape shape, std::span<const int32_t> operands,
                      AttributeMap&& attributes, const Operation& from) {
  const auto index = static_cast<int32_t>(scope.computation.instructions.size());
  Instruction& added = scope.computation.instructions.emplace_back();
  added.opcode = opcode;
  added.position = from.position;
  names_.Next(opcode, &added.name);
  added.shape = std::move(shape);
  if (operands.size() <= kFewOperands) {
    for (const int32_t operand : operands) added.operands.push_back(operand);
  } else {
    added.operands.assign(operands.begin(), operands.end());
  }
  added.attributes = std::move(attributes);
  if (opcode != Opcode::kParameter) {
    const std::shared_ptr<const InstructionExtras>* known = nullptr;
    if ((from.attributes.empty() || !tree_.has_frontend_attributes) && from.location != nullptr)
      known = &location_extras_[static_cast<size_t>(from.location->id)];
    if (known != nullptr && *known != nullptr) {
      added.extras = *known;
    } else {
      AddExtras(from, &added);
    }
  }
  if (opcode == Opcode::kCall || opcode == Opcode::kWhile || opcode == Opcode::kConditional ||
      (!from.regions.empty() && std::ranges::any_of(from.regions, HasTests)))
    scope.unordered.push_back(index);
  return index;
}

int32_t Importer::LookupCaptured(const Scope& scope, const Value& value) const {
  const auto captured = scope.captured.find(value.id);
  return captured == scope.captured.end() ? -1 : captured->second;
}

absl::StatusOr<int32_t> Importer::Use(Scope& scope, Value& value, int depth) {
  if (const int32_t known = Lookup(scope, value); known >= 0) return known;
  if (value.owner == nullptr || depth > kMaxNesting || !value.owner->regions.empty() ||
      value.owner->results.size() != 1 || Facts(*value.owner).role == NameFacts::Role::kCall ||
      value.owner->name == "stablehlo.custom_call" || value.owner->name.starts_with("interpreter.")) {
    return NotSupported({}, "a region that uses a value from outside which is not a constant");
  }
  // Bound in the outer scope and here: the binding is put back when this one is in `captured`.
  const Binding outer = bindings_[static_cast<size_t>(value.id)];
  for (Value* operand : value.owner->operands)
    ASSAY_RETURN_IF_ERROR(Use(scope, *operand, depth + 1).status());
  ASSAY_RETURN_IF_ERROR(ImportOperation(scope, *value.owner));
  const int32_t built = Lookup(scope, value);
  bindings_[static_cast<size_t>(value.id)] = outer;
  scope.captured[value.id] = built;
  return built;
}

absl::Status Importer::ImportOperation(Scope& scope, const Operation& operation) {
  const ImportFn import = Facts(operation).import;
  if (import == nullptr) {
    return tree_.WithPlace(
        NotSupported({}, fmt::format("operation '{}'{}", operation.name, NearStableHloNames(operation.name))),
        operation);
  }
  OpImport in(*this, scope, operation);
  if (operation.operands.size() > kFewOperands) in.operands.reserve(operation.operands.size());
  for (Value* operand : operation.operands) {
    if (const int32_t known = Lookup(scope, *operand); known >= 0) {
      in.operands.push_back(known);
      continue;
    }
    const absl::StatusOr<int32_t> index = Use(scope, *operand);
    if (!index.ok()) return tree_.WithPlace(index.status(), operation);
    in.operands.push_back(*index);
  }
  const size_t first_added = scope.computation.instructions.size();
  import(in);
  if (tree_.has_shardings && in.status.ok()) in.status = SetOperationShardings(scope, operation, first_added);
  return in.status.ok() ? absl::OkStatus() : tree_.WithPlace(in.status, operation);
}

// All operations but the terminator.
absl::Status Importer::ImportBody(Scope& scope, const Region& region) {
  const auto is_terminator = [&](const Operation& operation) {
    return Facts(operation).role == NameFacts::Role::kTerminator;
  };
  if (region.operations.empty() || !is_terminator(*region.operations.back())) {
    return InvalidProgram({}, "a region does not end with a return");
  }
  for (const Operation* operation : region.operations.first(region.operations.size() - 1)) {
    if (is_terminator(*operation)) {
      return tree_.WithPlace(InvalidProgram({}, "found a return that is not the last operation"), *operation);
    }
    ASSAY_RETURN_IF_ERROR(ImportOperation(scope, *operation));
  }
  return absl::OkStatus();
}

// What the region returns, and `more`: one value itself, several as a tuple.
absl::StatusOr<int32_t> Importer::Root(Scope& scope, const Region& region, std::span<const int32_t> more) {
  const Operation& last = *region.operations.back();
  absl::InlinedVector<int32_t, 8> values;
  for (Value* operand : last.operands) {
    const absl::StatusOr<int32_t> index = Use(scope, *operand);
    if (!index.ok()) return tree_.WithPlace(index.status(), last);
    values.push_back(*index);
  }
  values.insert(values.end(), more.begin(), more.end());
  if (values.size() == 1) return values[0];
  std::vector<Shape> shapes;
  shapes.reserve(values.size());
  for (int32_t value : values) shapes.push_back(*scope.computation.instructions[value].shape);
  SharedShape shape = Share(Shape::Tuple(std::move(shapes)));
  return Add(scope, Opcode::kTuple, std::move(shape), values, {}, last);
}

ComputationId Importer::Finish(Scope& scope, std::string name, int32_t root) {
  Computation& computation = scope.computation;
  computation.root = root;
  const ComputationId id{static_cast<int32_t>(module_.computations.size())};
  // Functions keep their names where they are names in HLO.
  if (!IsNameInHlo(name) && name != kManualBody) name = "region";
  const fmt::format_int number(id.value + 1);
  computation.name = std::move(name.append(1, '.').append(number.data(), number.size()));
  module_.computations.push_back(std::move(computation));
  return id;
}

std::vector<Value*> Importer::Passed(std::span<const Region> regions) const {
  std::vector<Value*> passed;
  HashMap<const Value*, bool> seen;
  for (const Region& region : regions) {
    for (Value* value : region.captures) {
      if (!IsConstant(*value) && seen.emplace(value, true).second) passed.push_back(value);
    }
  }
  return passed;
}

absl::StatusOr<ComputationId> Importer::RegionComputation(const Region& region, Arguments form,
                                                          std::span<Value* const> captured,
                                                          bool keeps_captured, const Operation& from,
                                                          std::string_view name) {
  Scope scope = NewScope(from, region, region.arguments.size() + captured.size() + 1);
  absl::InlinedVector<SharedShape, 8> shapes;
  for (const Value& argument : region.arguments) {
    ASSAY_ASSIGN_OR_RETURN(shapes.emplace_back(), ShapeOf(*argument.type));
  }
  for (const Value* value : captured) {
    ASSAY_ASSIGN_OR_RETURN(shapes.emplace_back(), ShapeOf(*value->type));
  }
  const auto add_parameter = [&](SharedShape shape) {
    const auto number = static_cast<int64_t>(scope.computation.parameters.size());
    const int32_t parameter = Add(scope, Opcode::kParameter, std::move(shape), {}, {}, from);
    scope.computation.instructions[parameter].parameter_number = number;
    scope.computation.parameters.push_back(parameter);
    return parameter;
  };
  absl::InlinedVector<int32_t, 8> values;
  if (form == Arguments::kScalars) {
    for (const SharedShape& shape : shapes) values.push_back(add_parameter(shape));
  } else if (shapes.size() == 1) {
    values.push_back(add_parameter(shapes[0]));
  } else {
    std::vector<Shape> elements;
    elements.reserve(shapes.size());
    for (const SharedShape& shape : shapes) elements.push_back(*shape);
    const int32_t tuple = add_parameter(Share(Shape::Tuple(std::move(elements))));
    for (size_t i = 0; i < shapes.size(); ++i) {
      values.push_back(Add(scope, Opcode::kGetTupleElement, shapes[i], {&tuple, 1}, TupleIndex(i), from));
    }
  }
  const size_t num_arguments = region.arguments.size();
  for (size_t i = 0; i < num_arguments; ++i) Bind(scope, region.arguments[i], values[i]);
  for (size_t i = 0; i < captured.size(); ++i) scope.captured[captured[i]->id] = values[num_arguments + i];
  ASSAY_RETURN_IF_ERROR(ImportBody(scope, region));
  std::span<const int32_t> more;
  if (keeps_captured) more = std::span<const int32_t>(values.data(), values.size()).subspan(num_arguments);
  ASSAY_ASSIGN_OR_RETURN(const int32_t root, Root(scope, region, more));
  return Finish(scope, std::string(name), root);
}

}  // namespace assay::mlir
