#include "hlo/mlir/refine/refine.h"

#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/quantization.h"
#include "hlo/mlir/refine/refiner.h"
#include "hlo/mlir/refine/size_attributes.h"

namespace assay::mlir {
namespace {

bool NeedsRefinement(const Region& region) {
  const auto is_free = [](const Value& value) { return HasFreeSize(*value.type); };
  if (std::ranges::any_of(region.arguments, is_free)) return true;
  for (const Operation* operation : region.operations) {
    if (IsSizeOperation(operation->name) || std::ranges::any_of(operation->results, is_free) ||
        std::ranges::any_of(operation->regions, [](const Region& nested) { return NeedsRefinement(nested); }))
      return true;
  }
  return false;
}

absl::StatusOr<Shape> DeclaredShape(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kToken:
      return Shape::Token();
    case Type::Kind::kTuple: {
      std::vector<Shape> parts;
      for (const Type* part : type.inputs) {
        ASSAY_ASSIGN_OR_RETURN(parts.emplace_back(), DeclaredShape(*part));
      }
      return Shape::Tuple(std::move(parts));
    }
    case Type::Kind::kTensor:
      break;
    default:
      return InvalidProgram(
          {}, fmt::format("found an argument or a result of type {}, want a tensor", ToString(type)));
  }
  const Type& element = *type.element_type;
  ElementType stored = ElementType::kS64;
  if (element.kind == Type::Kind::kElement) {
    stored = element.element;
  } else if (element.kind == Type::Kind::kQuantized) {
    stored = element.quantization->storage;
  } else if (element.kind != Type::Kind::kIndex) {
    return NotSupported({}, fmt::format("type {}", ToString(type)));
  }
  DimVector sizes(type.sizes.begin(), type.sizes.end());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != kDynamicSize) continue;
    sizes[d] = type.bounds.empty() || type.bounds[d] == kDynamicSize ? kUnboundedSize : type.bounds[d];
  }
  ASSAY_ASSIGN_OR_RETURN(Shape shape, Shape::Array(stored, sizes));
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (type.sizes[d] == kDynamicSize && sizes[d] != kUnboundedSize)
      shape.set_dynamic(static_cast<int64_t>(d), true);
  }
  return shape;
}

}  // namespace

bool HasFreeSize(const Type& type) {
  for (size_t d = 0; d < type.sizes.size(); ++d) {
    if (type.sizes[d] == kDynamicSize && (type.bounds.empty() || type.bounds[d] == kDynamicSize)) return true;
  }
  return std::ranges::any_of(type.inputs, [](const Type* part) { return HasFreeSize(*part); });
}

const Type* TypeOfFunction(const Operation& function) {
  const Attribute* const type = function.Find("function_type");
  if (type == nullptr || type->type == nullptr || type->type->kind != Type::Kind::kFunction) return nullptr;
  return type->type;
}

const Operation* EntryFunction(const Tree& tree) {
  if (tree.top == nullptr || tree.top->operations.empty()) return nullptr;
  const Region* region = tree.top;
  if (region->operations.size() == 1 && region->operations[0]->name == "builtin.module") {
    if (region->operations[0]->regions.size() != 1) return nullptr;
    region = &region->operations[0]->regions[0];
  }
  const Operation* only = nullptr;
  size_t public_functions = 0;
  for (const Operation* operation : region->operations) {
    if (operation->name != "func.func" || operation->regions.size() != 1 ||
        operation->regions[0].operations.empty() || TypeOfFunction(*operation) == nullptr)
      continue;
    if (TextOfField(*operation, "sym_name") == "main") return operation;
    const std::string_view visibility = TextOfField(*operation, "sym_visibility");
    if (visibility == "private" || visibility == "nested") continue;
    only = operation;
    ++public_functions;
  }
  return public_functions == 1 ? only : nullptr;
}

std::string_view DimensionVariable(const Operation& function, size_t argument) {
  const Attribute* const attributes = function.Find("arg_attrs");
  if (attributes == nullptr || argument >= attributes->elements.size()) return {};
  const Attribute* const name = Find(attributes->elements[argument]->fields, "jax.global_constant");
  const Type& type = *function.regions[0].arguments[argument].type;
  // The platform's number chooses among branches; no size depends on it.
  if (name == nullptr || name->text == "_platform_index" || type.kind != Type::Kind::kTensor ||
      !type.sizes.empty() || !IntegerElement(*type.element_type))
    return {};
  return name->text.empty() ? std::string_view("?") : name->text;
}

bool NeedsRefinement(const Tree& tree) {
  return (tree.has_free_sizes || tree.has_size_operations) && tree.top != nullptr &&
         NeedsRefinement(*tree.top);
}

absl::StatusOr<bool> HasFreeArguments(const Tree& tree) {
  const Operation* const entry = EntryFunction(tree);
  if (entry == nullptr) return false;  // the importer says what is wrong
  for (const Value& argument : entry->regions[0].arguments) {
    if (HasFreeSize(*argument.type)) return true;
    if (!DimensionVariable(*entry, static_cast<size_t>(argument.index)).empty()) return true;
  }
  return false;
}

absl::Status RefineSizes(Tree& tree, std::span<const KnownArgument> arguments) {
  return Refiner(tree, /*checking=*/false).Run(arguments);
}

absl::Status CheckSizes(Tree& tree) { return Refiner(tree, /*checking=*/true).Run({}); }

absl::StatusOr<Module> SignatureOf(const Tree& tree) {
  const Operation* const entry = EntryFunction(tree);
  if (entry == nullptr) return InvalidProgram({}, "found no entry function");
  Module module;
  module.name = "main";
  if (const Operation& top = *tree.top->operations[0]; top.name == "builtin.module") {
    if (const std::string_view name = TextOfField(top, "sym_name"); !name.empty())
      module.name = std::string(name);
    module.replica_count = IntOfField(top, "mhlo.num_replicas").value_or(1);
    module.num_partitions = IntOfField(top, "mhlo.num_partitions").value_or(1);
  }
  Computation computation;
  computation.name = "main";
  std::vector<int32_t> operands;
  for (const Value& argument : entry->regions[0].arguments) {
    ASSAY_ASSIGN_OR_RETURN(Shape shape, DeclaredShape(*argument.type));
    Instruction& parameter = computation.instructions.emplace_back();
    parameter.opcode = Opcode::kParameter;
    parameter.name = fmt::format("arg{}", argument.index);
    parameter.shape = std::make_shared<const Shape>(std::move(shape));
    parameter.parameter_number = argument.index;
    if (const std::string_view name = DimensionVariable(*entry, static_cast<size_t>(argument.index));
        !name.empty()) {
      auto extras = std::make_shared<InstructionExtras>();
      extras->frontend_attributes.emplace_back(std::string(kDimensionVariable),
                                               StringOrJson{std::string(name), false});
      parameter.extras = std::move(extras);
    }
    operands.push_back(argument.index);
    computation.parameters.push_back(argument.index);
  }
  std::vector<Shape> results;
  for (const Type* type : TypeOfFunction(*entry)->results) {
    ASSAY_ASSIGN_OR_RETURN(results.emplace_back(), DeclaredShape(*type));
  }
  Instruction& call = computation.instructions.emplace_back();
  call.opcode = Opcode::kCustomCall;
  call.name = "program";
  call.shape = std::make_shared<const Shape>(results.size() == 1 ? std::move(results[0])
                                                                 : Shape::Tuple(std::move(results)));
  call.operands.assign(operands.begin(), operands.end());
  call.attributes.Set(Attr::kCustomCallTarget, std::string(kFreeProgram));
  computation.root = static_cast<int32_t>(computation.instructions.size()) - 1;
  module.computations.push_back(std::move(computation));
  module.entry = ComputationId{0};
  return module;
}

}  // namespace assay::mlir
