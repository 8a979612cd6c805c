// Modules and functions: which functions the entry reaches, in which order, and what module and argument
// attributes become (docs/spec/stablehlo-text.md sections 2, 8 and 9).
#include <algorithm>
#include <charconv>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/import/sharding_checks.h"
#include "hlo/storage_range.h"

namespace assay::mlir {
namespace {

std::string_view TextOf(const Operation& operation, std::string_view name) {
  const Attribute* const attribute = operation.Find(name);
  return attribute == nullptr ? std::string_view() : attribute->text;
}

const Type* FunctionType(const Operation& function) {
  const Attribute* const type = function.Find("function_type");
  if (type == nullptr || type->type == nullptr || type->type->kind != Type::Kind::kFunction) return nullptr;
  return type->type;
}

bool HasBody(const Operation& function) {
  return !function.regions.empty() && !function.regions[0].operations.empty();
}

bool IsIgnored(std::string_view name) { return name == "sdy.mesh" || name == "stablehlo.mesh"; }

}  // namespace

absl::StatusOr<Module> ImportModule(const Tree& tree) { return Importer(tree).Run(); }

Importer::Importer(const Tree& tree)
    : tree_(tree),
      shapes_(static_cast<size_t>(tree.num_types())),
      bindings_(static_cast<size_t>(tree.num_values())),
      scalars_(kNumElementTypes),
      location_extras_(static_cast<size_t>(tree.num_locations())),
      facts_(static_cast<size_t>(tree.num_names())),
      extras_(static_cast<size_t>(tree.num_locations()) / 2),
      shape_pool_(static_cast<size_t>(tree.num_types())),
      attribute_pool_(static_cast<size_t>(tree.num_values()) / 8) {}

absl::StatusOr<Module> Importer::Run() {
  if (tree_.has_shardings) ASSAY_RETURN_IF_ERROR(CheckShardings(tree_));
  ASSAY_RETURN_IF_ERROR(FindFunctions(*tree_.top));
  ASSAY_ASSIGN_OR_RETURN(const int32_t entry, Entry());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int32_t> order, CallOrder(entry));
  ASSAY_RETURN_IF_ERROR(SettleProcesses(entry));
  module_.computations.reserve(2 * order.size());  // with those of regions
  for (const int32_t index : order) {
    FunctionState& function = functions_[static_cast<size_t>(index)];
    ASSAY_RETURN_IF_ERROR(tree_.WithPlace(ImportFunction(function), *function.operation));
  }
  const FunctionState& main = functions_[static_cast<size_t>(entry)];
  module_.entry = main.computation;
  ASSAY_RETURN_IF_ERROR(tree_.WithPlace(ImportEntryAttributes(*main.operation), *main.operation));
  ASSAY_RETURN_IF_ERROR(tree_.WithPlace(ImportLayoutModes(*main.operation), *main.operation));
  SetMeshes();
  ASSAY_RETURN_IF_ERROR(WriteOutGroups(module_, said_));
  return std::move(module_);
}

// The functions of the file, which are those of its module or stand at the top.
absl::Status Importer::FindFunctions(const Region& top) {
  const Region* region = &top;
  module_.name = "main";
  if (top.operations.size() == 1 && top.operations[0]->name == "builtin.module") {
    const Operation& module = *top.operations[0];
    if (module.regions.size() != 1) {
      return tree_.WithPlace(InvalidProgram({}, fmt::format("module: found {}, want 1",
                                                            Counted(module.regions.size(), "region"))),
                             module);
    }
    ASSAY_RETURN_IF_ERROR(tree_.WithPlace(ImportModuleAttributes(module), module));
    region = &module.regions[0];
  }
  functions_.reserve(region->operations.size());
  function_indices_.reserve(region->operations.size());
  for (const Operation* operation : region->operations) {
    ASSAY_RETURN_IF_ERROR(tree_.WithPlace(CheckTopLevel(*operation), *operation));
  }
  return absl::OkStatus();
}

absl::Status Importer::CheckTopLevel(const Operation& operation) {
  if (operation.name == "builtin.module") return NotSupported({}, "a module inside of a module");
  if (IsIgnored(operation.name)) {
    ImportMesh(operation);
    return absl::OkStatus();
  }
  if (operation.name != "func.func") {
    return InvalidProgram(
        {}, fmt::format("found operation '{}' at the top of a module, want functions", operation.name));
  }
  const std::string_view name = TextOf(operation, "sym_name");
  const Type* const type = FunctionType(operation);
  if (name.empty()) return InvalidProgram({}, "func.func: want a name in sym_name");
  if (type == nullptr) return InvalidProgram({}, "func.func: want a function type in function_type");
  if (operation.regions.size() > 1) return InvalidProgram({}, "func.func: found more than one region");
  if (HasBody(operation)) {
    const std::span<const Value> arguments = operation.regions[0].arguments;
    bool same = arguments.size() == type->inputs.size();
    for (size_t i = 0; same && i < arguments.size(); ++i)
      same = SameType(*arguments[i].type, *type->inputs[i]);
    if (!same) {
      return InvalidProgram(
          {}, fmt::format("function @{}: its arguments are not those of its type {}", name, ToString(*type)));
    }
  }
  const auto index = static_cast<int32_t>(functions_.size());
  if (!function_indices_.emplace(absl::string_view(name.data(), name.size()), index).second) {
    return InvalidProgram({}, fmt::format("function @{} is defined twice", name));
  }
  functions_.push_back({&operation, {}, FunctionState::Visit::kNone});
  return absl::OkStatus();
}

int32_t Importer::FunctionIndex(std::string_view name) const {
  const auto known = function_indices_.find(absl::string_view(name.data(), name.size()));
  return known == function_indices_.end() ? -1 : known->second;
}

absl::StatusOr<int32_t> Importer::Entry() const {
  const Operation& first = *tree_.top->operations[0];
  int32_t entry = FunctionIndex("main");
  if (entry >= 0) {
    const Operation& main = *functions_[static_cast<size_t>(entry)].operation;
    if (!HasBody(main)) return tree_.WithPlace(InvalidProgram({}, "function @main has no body"), main);
    return entry;
  }
  for (size_t i = 0; i < functions_.size(); ++i) {
    const Operation& function = *functions_[i].operation;
    const std::string_view visibility = TextOf(function, "sym_visibility");
    if (!HasBody(function) || visibility == "private" || visibility == "nested") continue;
    if (entry >= 0) {
      return tree_.WithPlace(
          InvalidProgram({}, "found several public functions and no @main, want one of them to be the entry"),
          first);
    }
    entry = static_cast<int32_t>(i);
  }
  if (entry < 0) return tree_.WithPlace(InvalidProgram({}, "found no public function"), first);
  return entry;
}

// The functions that a region calls, directly; regions are nested at most kMaxNesting deep.
absl::Status Importer::Callees(const Region& region, std::vector<int32_t>* callees) const {
  const auto add = [&](const Operation& operation, std::string_view name) -> absl::Status {
    const int32_t index = FunctionIndex(name);
    if (index < 0 || !HasBody(*functions_[static_cast<size_t>(index)].operation)) {
      return tree_.WithPlace(
          InvalidProgram({}, fmt::format("{}: function @{} is not defined", operation.name, name)),
          operation);
    }
    callees->push_back(index);
    return absl::OkStatus();
  };
  const auto add_all = [&](const Operation& operation, const Attribute* symbols) -> absl::Status {
    if (symbols == nullptr) return absl::OkStatus();
    for (const Attribute* symbol : symbols->elements) ASSAY_RETURN_IF_ERROR(add(operation, symbol->text));
    return absl::OkStatus();
  };
  using Role = NameFacts::Role;
  for (const Operation* operation : region.operations) {
    switch (Facts(*operation).role) {
      case Role::kCall:
        ASSAY_RETURN_IF_ERROR(add(*operation, TextOf(*operation, "callee")));
        break;
      case Role::kComposite:
        if (!OperationOfComposite(TextOf(*operation, "name")).empty()) continue;
        ASSAY_RETURN_IF_ERROR(add(*operation, TextOf(*operation, "decomposition")));
        break;
      case Role::kRunParallel:
        runs_parallel_ = true;
        if (const Attribute* programs = operation->Find("programs"); programs != nullptr) {
          for (const Attribute* row : programs->elements) ASSAY_RETURN_IF_ERROR(add_all(*operation, row));
        }
        break;
      case Role::kCustomCall:
        ASSAY_RETURN_IF_ERROR(add_all(*operation, operation->Find("called_computations")));
        break;
      default:
        break;
    }
    for (const Region& nested : operation->regions) ASSAY_RETURN_IF_ERROR(Callees(nested, callees));
  }
  return absl::OkStatus();
}

// The functions that the entry reaches, callees before callers; without recursion, since a chain of calls may
// be as long as the file.
absl::StatusOr<std::vector<int32_t>> Importer::CallOrder(int32_t entry) {
  struct Open {
    int32_t function;
    size_t first, next;  // of its callees
  };
  std::vector<int32_t> order, callees;  // callees: of all open functions, the last one's at the end
  order.reserve(functions_.size());
  std::vector<Open> stack;
  const auto open = [&](int32_t function) {
    FunctionState& state = functions_[static_cast<size_t>(function)];
    state.visit = FunctionState::Visit::kOpen;
    stack.push_back({function, callees.size(), callees.size()});
    return Callees(state.operation->regions[0], &callees);
  };
  ASSAY_RETURN_IF_ERROR(open(entry));
  while (!stack.empty()) {
    Open& last = stack.back();
    if (last.next == callees.size()) {
      functions_[static_cast<size_t>(last.function)].visit = FunctionState::Visit::kDone;
      order.push_back(last.function);
      callees.resize(last.first);
      stack.pop_back();
      continue;
    }
    const int32_t callee = callees[last.next++];
    const FunctionState& state = functions_[static_cast<size_t>(callee)];
    if (state.visit == FunctionState::Visit::kNone) {
      ASSAY_RETURN_IF_ERROR(open(callee));
    } else if (state.visit == FunctionState::Visit::kOpen) {
      const Operation& operation = *state.operation;
      return tree_.WithPlace(
          InvalidProgram({}, fmt::format("function @{} calls itself", TextOf(operation, "sym_name"))),
          operation);
    }
  }
  return order;
}

absl::StatusOr<ComputationId> Importer::Function(std::string_view symbol) const {
  const int32_t index = FunctionIndex(symbol);
  if (index >= 0) {
    if (const ComputationId known = functions_[static_cast<size_t>(index)].computation; known.value >= 0)
      return known;
  }
  return InvalidProgram({}, fmt::format("function @{} is not defined", symbol));
}

absl::Status Importer::ImportFunction(FunctionState& state) {
  const Operation& function = *state.operation;
  const std::string_view name = TextOf(function, "sym_name");
  const Region& body = function.regions[0];
  Scope scope = NewScope(function, body, body.arguments.size());
  for (const Value& argument : body.arguments) {
    ASSAY_ASSIGN_OR_RETURN(SharedShape shape, ShapeOf(*argument.type));
    const int32_t parameter = Add(scope, Opcode::kParameter, std::move(shape), {}, {}, function);
    scope.computation.instructions[parameter].parameter_number = argument.index;
    scope.computation.parameters.push_back(parameter);
    Bind(scope, argument, parameter);
  }
  ASSAY_RETURN_IF_ERROR(SetArgumentShardings(scope, function));
  ASSAY_RETURN_IF_ERROR(ImportBody(scope, body));
  const Operation& last = *body.operations.back();
  const std::span<const Type* const> results = FunctionType(function)->results;
  bool same = last.operands.size() == results.size();
  for (size_t i = 0; same && i < results.size(); ++i) same = SameType(*last.operands[i]->type, *results[i]);
  if (!same) {
    return tree_.WithPlace(
        InvalidProgram({}, fmt::format("function @{}: what it returns is not of its type {}", name,
                                       ToString(*FunctionType(function)))),
        last);
  }
  ASSAY_ASSIGN_OR_RETURN(const int32_t root,
                         tree_.has_shardings ? ShardedRoot(scope, function) : Root(scope, body, {}));
  state.computation = Finish(scope, std::string(name), root);
  return absl::OkStatus();
}

// mhlo.num_replicas, mhlo.num_partitions, mhlo.frontend_attributes.
absl::Status Importer::ImportModuleAttributes(const Operation& module) {
  if (const Attribute* frontend = module.Find(Tree::kFrontendAttributes); frontend != nullptr)
    SetModuleFrontend(frontend->fields);
  if (const std::string_view name = TextOf(module, "sym_name"); !name.empty())
    module_.name = std::string(name);
  const auto read = [&](std::string_view name, int64_t* count, bool* is_said) -> absl::Status {
    const Attribute* const attribute = module.Find(name);
    if (attribute == nullptr) return absl::OkStatus();
    if (attribute->kind != Attribute::Kind::kInteger || attribute->integer < 1) {
      return InvalidProgram(
          {}, fmt::format("module: {} is {}, want an integer >= 1", name, ToString(*attribute)));
    }
    *count = attribute->integer;
    *is_said = true;
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(read("mhlo.num_replicas", &module_.replica_count, &said_.replicas));
  return read("mhlo.num_partitions", &module_.num_partitions, &said_.partitions);
}

// Random inputs of the argument keep to the range of its quantized type.
void Importer::SetStorageRange(size_t argument, std::string_view range) {
  Computation& main = module_.computations[static_cast<size_t>(module_.entry.value)];
  if (argument >= main.parameters.size()) return;
  Instruction& parameter = main.instructions[static_cast<size_t>(main.parameters[argument])];
  auto extras = parameter.extras == nullptr ? std::make_shared<InstructionExtras>()
                                            : std::make_shared<InstructionExtras>(*parameter.extras);
  extras->frontend_attributes.emplace_back(std::string(kStorageRange),
                                           StringOrJson{std::string(range), false});
  parameter.extras = std::move(extras);
}

// tf.aliasing_output = k: the argument's buffer may become that of result k. jax.buffer_donor: of any result.
absl::Status Importer::ImportEntryAttributes(const Operation& entry) {
  const Attribute* const arguments = entry.Find("arg_attrs");
  const size_t num_results = FunctionType(entry)->results.size();
  if (arguments == nullptr) return absl::OkStatus();
  for (size_t i = 0; i < arguments->elements.size(); ++i) {
    const std::span<const NamedAttribute> fields = arguments->elements[i]->fields;
    if (const Attribute* output = mlir::Find(fields, "tf.aliasing_output"); output != nullptr) {
      if (output->integer < 0 || output->integer >= static_cast<int64_t>(num_results)) {
        return InvalidProgram({}, fmt::format("argument {}: tf.aliasing_output is {}, the function has {}", i,
                                              output->integer, Counted(num_results, "result")));
      }
      InputOutputAlias alias;
      if (num_results != 1) alias.output_index = {output->integer};
      alias.parameter_number = static_cast<int64_t>(i);
      module_.input_output_alias.push_back(std::move(alias));
    }
    if (const Attribute* range = mlir::Find(fields, kStorageRange); range != nullptr)
      SetStorageRange(i, range->text);
    const Attribute* const donor = mlir::Find(fields, "jax.buffer_donor");
    if (donor != nullptr && donor->integer != 0)
      module_.buffer_donor.push_back({static_cast<int64_t>(i), {}});
  }
  return absl::OkStatus();
}

namespace {

// "{0,1}" for an array of this shape; "default" and "auto" leave it as it is. Tiles are not supported.
absl::Status SetLayoutMode(const NamedAttribute& mode, std::string_view what, Shape& shape) {
  const std::string_view text = mode.value->text;
  if (text == "default" || text == "auto") return absl::OkStatus();
  absl::Status wrong = InvalidProgram(
      {}, fmt::format("{}: mhlo.layout_mode is '{}', want default, auto or the order of {}", what,
                      text.substr(0, 100), Counted(shape.IsArray() ? shape.rank() : 0, "dimension")));
  if (!shape.IsArray() || mode.value->kind != Attribute::Kind::kString || !text.starts_with('{') ||
      !text.ends_with('}'))
    return wrong;
  if (text.find(':') != std::string_view::npos)
    return NotSupported({}, fmt::format("{}: mhlo.layout_mode '{}' has tiles", what, text.substr(0, 100)));
  Layout layout;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at < end) {
    int64_t dimension;
    const auto [behind, error] = std::from_chars(at, end, dimension);
    if (error != std::errc() || (behind < end && *behind != ',')) return wrong;
    layout.minor_to_major.push_back(dimension);
    at = behind + (behind < end ? 1 : 0);
  }
  shape.set_layout(std::move(layout));
  return ValidateLayout(shape).ok() ? absl::OkStatus() : wrong;
}

const NamedAttribute* FieldOf(const Attribute* attributes, size_t i, std::string_view name) {
  if (attributes == nullptr || i >= attributes->elements.size()) return nullptr;
  for (const NamedAttribute& field : attributes->elements[i]->fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

// What the attributes of argument or result i say of its layout. Whether they say something.
absl::StatusOr<bool> SetEntryLayout(const Attribute* attributes, size_t i, std::string_view what,
                                    Shape& shape) {
  // XLA's number for the host's memory, whichever of its kinds it is.
  constexpr int64_t kHostMemorySpace = 5;
  const NamedAttribute* const mode = FieldOf(attributes, i, "mhlo.layout_mode");
  if (mode != nullptr) ASSAY_RETURN_IF_ERROR(SetLayoutMode(*mode, what, shape));
  const NamedAttribute* const memory = FieldOf(attributes, i, "mhlo.memory_kind");
  if (memory == nullptr || !memory->value->text.ends_with("_host") || !shape.IsArray())
    return mode != nullptr;
  Layout layout = shape.layout();
  if (std::ssize(layout.minor_to_major) != shape.rank()) layout = Layout::RowMajor(shape.rank());
  LayoutTail tail = layout.tail == nullptr ? LayoutTail() : *layout.tail;
  tail.memory_space = kHostMemorySpace;
  layout.tail = std::make_shared<const LayoutTail>(std::move(tail));
  shape.set_layout(std::move(layout));
  return true;
}

}  // namespace

// mhlo.layout_mode, mhlo.memory_kind: how arguments and results lie, which changes no value
// (the entry computation's layout).
absl::Status Importer::ImportLayoutModes(const Operation& entry) {
  const Computation& main = module_.computations[static_cast<size_t>(module_.entry.value)];
  const Attribute* const arguments = entry.Find("arg_attrs");
  const Attribute* const results = entry.Find("res_attrs");
  ProgramShape layout;
  bool has_some = false;
  for (size_t i = 0; i < main.parameters.size(); ++i) {
    Shape& shape =
        layout.parameters.emplace_back(*main.instructions[static_cast<size_t>(main.parameters[i])].shape);
    ASSAY_ASSIGN_OR_RETURN(const bool says,
                           SetEntryLayout(arguments, i, fmt::format("argument {}", i), shape));
    has_some |= says;
  }
  layout.result = *main.root_instruction().shape;
  std::vector<Shape> parts;
  if (layout.result.IsTuple()) {
    parts.assign(layout.result.elements().begin(), layout.result.elements().end());
  } else {
    parts.push_back(layout.result);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const bool says,
                           SetEntryLayout(results, i, fmt::format("result {}", i), parts[i]));
    has_some |= says;
  }
  if (!has_some) return absl::OkStatus();
  layout.result = layout.result.IsTuple() ? Shape::Tuple(std::move(parts)) : std::move(parts[0]);
  module_.entry_computation_layout = std::move(layout);
  return absl::OkStatus();
}

}  // namespace assay::mlir
