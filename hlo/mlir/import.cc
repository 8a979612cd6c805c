// Modules and functions: which functions the entry reaches, in which order, and what module and argument
// attributes become (spec/stablehlo-text.md sections 2, 8 and 9).
#include "hlo/mlir/import.h"

#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/bytecode_reader.h"
#include "hlo/mlir/importer.h"
#include "hlo/mlir/text_parser.h"

namespace assay {

absl::StatusOr<Module> ParseStableHloText(std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, mlir::ParseMlirText(text));
  return mlir::ImportModule(*tree);
}

absl::StatusOr<Module> ParseStableHloBytecode(std::string_view bytes) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, mlir::ReadMlirBytecode(bytes));
  return mlir::ImportModule(*tree);
}

namespace mlir {
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

bool IsIgnored(std::string_view name) { return name.substr(0, 4) == "sdy." || name == "stablehlo.mesh"; }

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
      shape_pool_(static_cast<size_t>(tree.num_types())) {}

absl::StatusOr<Module> Importer::Run() {
  ASSAY_RETURN_IF_ERROR(FindFunctions(*tree_.top));
  ASSAY_ASSIGN_OR_RETURN(const Operation* const entry, Entry());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<const Operation*> order, CallOrder(*entry));
  computations_.reserve(order.size());
  module_.computations.reserve(2 * order.size());  // with those of regions
  for (const Operation* function : order) {
    ASSAY_RETURN_IF_ERROR(tree_.WithPlace(ImportFunction(*function), *function));
  }
  module_.entry = computations_.at(
      absl::string_view(TextOf(*entry, "sym_name").data(), TextOf(*entry, "sym_name").size()));
  ASSAY_RETURN_IF_ERROR(tree_.WithPlace(ImportEntryAttributes(*entry), *entry));
  return std::move(module_);
}

// The functions of the file, which are those of its module or stand at the top.
absl::Status Importer::FindFunctions(const Region& top) {
  const Region* region = &top;
  module_.name = "main";
  if (top.operations.size() == 1 && top.operations[0]->name == "builtin.module") {
    const Operation& module = *top.operations[0];
    if (module.regions.size() != 1) {
      return tree_.WithPlace(
          InvalidProgram({}, fmt::format("module: found {} regions, want 1", module.regions.size())), module);
    }
    ASSAY_RETURN_IF_ERROR(tree_.WithPlace(ImportModuleAttributes(module), module));
    region = &module.regions[0];
  }
  functions_.reserve(region->operations.size());
  for (const Operation* operation : region->operations) {
    ASSAY_RETURN_IF_ERROR(tree_.WithPlace(CheckTopLevel(*operation), *operation));
  }
  return absl::OkStatus();
}

absl::Status Importer::CheckTopLevel(const Operation& operation) {
  if (operation.name == "builtin.module") return NotSupported({}, "a module inside of a module");
  if (IsIgnored(operation.name)) return absl::OkStatus();
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
  if (!functions_.emplace(absl::string_view(name.data(), name.size()), &operation).second) {
    return InvalidProgram({}, fmt::format("function @{} is defined twice", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<const Operation*> Importer::Entry() const {
  const Operation* entry = nullptr;
  const Operation& first = *tree_.top->operations[0];
  const auto main = functions_.find("main");
  if (main != functions_.end()) {
    entry = main->second;
  } else {
    for (const auto& [name, function] : functions_) {
      const std::string_view visibility = TextOf(*function, "sym_visibility");
      if (!HasBody(*function) || visibility == "private" || visibility == "nested") continue;
      if (entry != nullptr) {
        return tree_.WithPlace(
            InvalidProgram({},
                           "found several public functions and no @main, want one of them to be the entry"),
            first);
      }
      entry = function;
    }
  }
  if (entry == nullptr) return tree_.WithPlace(InvalidProgram({}, "found no public function"), first);
  if (!HasBody(*entry)) return tree_.WithPlace(InvalidProgram({}, "function @main has no body"), *entry);
  return entry;
}

// The functions that a region calls, directly; regions are nested at most kMaxNesting deep.
absl::Status Importer::Callees(const Region& region, std::vector<const Operation*>* callees) const {
  const auto add = [&](const Operation& operation, std::string_view name) -> absl::Status {
    const auto known = functions_.find(absl::string_view(name.data(), name.size()));
    if (known == functions_.end() || !HasBody(*known->second)) {
      return tree_.WithPlace(
          InvalidProgram({}, fmt::format("{}: function @{} is not defined", operation.name, name)),
          operation);
    }
    callees->push_back(known->second);
    return absl::OkStatus();
  };
  using Role = NameFacts::Role;
  for (const Operation* operation : region.operations) {
    const Role role = Facts(*operation).role;
    if (role == Role::kCall) {
      ASSAY_RETURN_IF_ERROR(add(*operation, TextOf(*operation, "callee")));
    } else if (role == Role::kComposite) {
      if (!OperationOfComposite(TextOf(*operation, "name")).empty()) continue;
      ASSAY_RETURN_IF_ERROR(add(*operation, TextOf(*operation, "decomposition")));
    } else if (const Attribute* programs = role == Role::kRunParallel ? operation->Find("programs") : nullptr;
               programs != nullptr) {
      for (const Attribute* row : programs->elements) {
        for (const Attribute* symbol : row->elements) ASSAY_RETURN_IF_ERROR(add(*operation, symbol->text));
      }
    } else if (const Attribute* called =
                   role == Role::kCustomCall ? operation->Find("called_computations") : nullptr;
               called != nullptr) {
      for (const Attribute* symbol : called->elements) ASSAY_RETURN_IF_ERROR(add(*operation, symbol->text));
    }
    for (const Region& nested : operation->regions) ASSAY_RETURN_IF_ERROR(Callees(nested, callees));
  }
  return absl::OkStatus();
}

// The functions that the entry reaches, callees before callers; without recursion, since a chain of calls may be
// as long as the file.
absl::StatusOr<std::vector<const Operation*>> Importer::CallOrder(const Operation& entry) const {
  struct Visit {
    const Operation* function;
    std::vector<const Operation*> callees;
    size_t next = 0;
  };
  enum class State { kOpen, kDone };
  absl::flat_hash_map<const Operation*, State> states;
  states.reserve(functions_.size());
  std::vector<const Operation*> order;
  order.reserve(functions_.size());
  std::vector<Visit> stack;
  const auto open = [&](const Operation& function) {
    states[&function] = State::kOpen;
    stack.push_back({&function, {}, 0});
    return Callees(function.regions[0], &stack.back().callees);
  };
  ASSAY_RETURN_IF_ERROR(open(entry));
  while (!stack.empty()) {
    Visit& visit = stack.back();
    if (visit.next == visit.callees.size()) {
      states[visit.function] = State::kDone;
      order.push_back(visit.function);
      stack.pop_back();
      continue;
    }
    const Operation* const callee = visit.callees[visit.next++];
    const auto known = states.find(callee);
    if (known == states.end()) {
      ASSAY_RETURN_IF_ERROR(open(*callee));
    } else if (known->second == State::kOpen) {
      return tree_.WithPlace(
          InvalidProgram({}, fmt::format("function @{} calls itself", TextOf(*callee, "sym_name"))), *callee);
    }
  }
  return order;
}

absl::StatusOr<ComputationId> Importer::Function(std::string_view symbol) const {
  const auto known = computations_.find(absl::string_view(symbol.data(), symbol.size()));
  if (known != computations_.end()) return known->second;
  return InvalidProgram({}, fmt::format("function @{} is not defined", symbol));
}

absl::Status Importer::ImportFunction(const Operation& function) {
  const std::string_view name = TextOf(function, "sym_name");
  const Region& body = function.regions[0];
  Scope scope = NewScope(function, body, body.arguments.size());
  for (const Value& argument : body.arguments) {
    ASSAY_ASSIGN_OR_RETURN(SharedShape shape, ShapeOf(*argument.type));
    const int32_t parameter = Add(scope, Opcode::kParameter, std::move(shape), {}, {}, function);
    scope.computation.instructions[parameter].parameter_number = argument.index;
    scope.parameters.push_back(parameter);
    Bind(scope, argument, parameter);
  }
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
  ASSAY_ASSIGN_OR_RETURN(const int32_t root, Root(scope, body, {}));
  computations_[absl::string_view(name.data(), name.size())] = Finish(scope, std::string(name), root);
  return absl::OkStatus();
}

// mhlo.num_replicas, mhlo.num_partitions.
absl::Status Importer::ImportModuleAttributes(const Operation& module) {
  if (const std::string_view name = TextOf(module, "sym_name"); !name.empty())
    module_.name = std::string(name);
  const auto read = [&](std::string_view name, int64_t* count) -> absl::Status {
    const Attribute* const attribute = module.Find(name);
    if (attribute == nullptr) return absl::OkStatus();
    if (attribute->kind != Attribute::Kind::kInteger || attribute->integer < 1) {
      return InvalidProgram(
          {}, fmt::format("module: {} is {}, want an integer >= 1", name, ToString(*attribute)));
    }
    *count = attribute->integer;
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(read("mhlo.num_replicas", &module_.replica_count));
  return read("mhlo.num_partitions", &module_.num_partitions);
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
        return InvalidProgram(
            {}, fmt::format("argument {}: tf.aliasing_output is {}, the function has {} results", i,
                            output->integer, num_results));
      }
      InputOutputAlias alias;
      if (num_results != 1) alias.output_index = {output->integer};
      alias.parameter_number = static_cast<int64_t>(i);
      module_.input_output_alias.push_back(std::move(alias));
    }
    const Attribute* const donor = mlir::Find(fields, "jax.buffer_donor");
    if (donor != nullptr && donor->integer != 0)
      module_.buffer_donor.push_back({static_cast<int64_t>(i), {}});
  }
  return absl::OkStatus();
}

}  // namespace mlir
}  // namespace assay
