// What the refinement writes: types, constants, operations.
#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/refine/refiner.h"
#include "literal/element_io.h"

namespace assay::mlir {

const Type* Refiner::WithSizes(const Type& tensor, const Sizes& sizes) {
  const Type*& known = types_[{tensor.element_type, sizes}];
  if (known != nullptr) return known;
  Type* const type = tree_.NewType(Type::Kind::kTensor);
  type->element_type = tensor.element_type;
  type->sizes = tree_.arena().Copy(sizes);
  known = type;
  return known;
}

const Type* Refiner::Static(const Type& type) {
  const bool is_scalar = type.kind == Type::Kind::kElement || type.kind == Type::Kind::kIndex;
  const bool is_indices = type.kind == Type::Kind::kTensor && type.element_type->kind == Type::Kind::kIndex;
  if (!is_scalar && !is_indices) return &type;
  const Type*& known = known_types_[ToString(type)];
  if (known != nullptr) return known;
  Type* const element = tree_.NewType(Type::Kind::kElement);
  element->element = type.kind == Type::Kind::kElement ? type.element : ElementType::kS64;
  Type* const tensor = tree_.NewType(Type::Kind::kTensor);
  tensor->element_type = element;
  tensor->sizes = type.sizes;
  known = tensor;
  return known;
}

Operation* Refiner::NewOperation(std::string_view name, const Operation& from) {
  Operation* const operation = tree_.arena().New<Operation>();
  operation->name = name;
  const auto [known, is_new] = names_.try_emplace(name, 0);
  if (is_new) known->second = tree_.NewName();
  operation->name_id = known->second;
  operation->position = from.position;
  operation->offset = from.offset;
  operation->location = from.location;
  return operation;
}

// A constant in front of what uses it. What is not known (only while sizes are checked) is a zero of its
// type.
Value* Refiner::Use(const SizedValue& value, const Value* original, Place& place) {
  if (value.value != nullptr) return value.value;
  Value*& written = place.constants[original];
  if (written != nullptr) return written;
  Operation from;
  if (original->owner != nullptr) from = *original->owner;
  Operation* const constant = NewOperation("stablehlo.constant", from);
  const Type* const type = Static(*value.type);
  Attribute* const dense = tree_.NewAttribute(Attribute::Kind::kDense);
  dense->type = type;
  const ElementType element = type->kind == Type::Kind::kTensor
                                  ? IntegerElement(*type->element_type).value_or(ElementType::kS64)
                                  : ElementType::kS64;
  const size_t bytes = static_cast<size_t>(Bytes(element));
  const size_t count = value.known == nullptr ? 0 : value.known->size();
  std::vector<std::byte> data(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    ScalarValue scalar;
    scalar.kind = KindOf(element);
    scalar.i = (*value.known)[i];
    scalar.u = static_cast<uint64_t>(scalar.i);
    scalar.b = static_cast<uint8_t>(scalar.i & 1);
    StoreElement(element, scalar, data.data() + i * bytes);
  }
  dense->data = tree_.arena().Copy(data);
  constant->attributes = tree_.arena().Copy(std::vector<NamedAttribute>{{"value", dense}});
  constant->results = tree_.NewValues(1, constant, place.depth);
  constant->results[0].type = type;
  place.operations.push_back(constant);
  written = constant->results.data();
  return written;
}

std::vector<Value*> Refiner::UseAll(Visited& at) {
  std::vector<Value*> operands;
  for (size_t i = 0; i < at.operands.size(); ++i)
    operands.push_back(Use(at.operands[i], at.op.operands[i], at.place));
  return operands;
}

Operation* Refiner::Append(Visited& at, std::string_view name, absl::Span<Value* const> operands,
                           absl::Span<const NamedAttribute> attributes,
                           absl::Span<const Type* const> results) {
  Operation* const operation = NewOperation(name, at.op);
  operation->operands = tree_.arena().Copy(operands.data(), operands.size());
  operation->attributes = tree_.arena().Copy(attributes.data(), attributes.size());
  operation->results = tree_.NewValues(results.size(), operation, at.place.depth);
  for (size_t i = 0; i < results.size(); ++i) {
    operation->results[i].type = Static(*results[i]);
    Bind(at, i, {&operation->results[i], results[i], nullptr});
  }
  at.place.operations.push_back(operation);
  return operation;
}

absl::Status Refiner::AppendCopy(Visited& at, absl::Span<const Type* const> results) {
  const std::vector<Value*> operands = UseAll(at);
  std::vector<Region> regions(at.op.regions.size());
  for (size_t r = 0; r < regions.size(); ++r) {
    std::vector<SizedValue> arguments, returned;
    for (const Value& argument : at.op.regions[r].arguments) {
      if (!checking_ && HasFreeSize(*argument.type)) {
        return NotSupported(
            {}, fmt::format("{}: a region that takes {}, whose sizes do not follow from operands", at.op.name,
                            ToString(*argument.type)));
      }
      arguments.push_back({nullptr, argument.type, nullptr});
    }
    regions[r].depth = at.place.depth + 1;
    ASSAY_RETURN_IF_ERROR(WriteRegion(at.op.regions[r], arguments, at.values, &regions[r], &returned));
  }
  std::vector<NamedAttribute> attributes(at.op.attributes.begin(), at.op.attributes.end());
  for (NamedAttribute& attribute : attributes) {
    if (attribute.name != "called_computations" && attribute.name != "programs") continue;
    ASSAY_ASSIGN_OR_RETURN(attribute.value, WrittenSymbols(*attribute.value));
  }
  Operation* const copy = Append(at, at.op.name, operands, attributes, results);
  copy->regions = tree_.arena().Copy(regions);
  return absl::OkStatus();
}

NamedAttribute Refiner::Integers(std::string_view name, absl::Span<const int64_t> values) {
  Attribute* const list = tree_.NewAttribute(Attribute::Kind::kIntegers);
  list->integers = tree_.arena().Copy(values.data(), values.size());
  return {name, list};
}

NamedAttribute Refiner::Integer(std::string_view name, int64_t value) {
  Attribute* const number = tree_.NewAttribute(Attribute::Kind::kInteger);
  number->integer = value;
  return {name, number};
}

NamedAttribute Refiner::Symbol(std::string_view name, std::string_view symbol) {
  Attribute* const attribute = tree_.NewAttribute(Attribute::Kind::kSymbol);
  attribute->text = symbol;
  return {name, attribute};
}

std::vector<NamedAttribute> Refiner::AttributesWithout(const Operation& op,
                                                       absl::Span<const std::string_view> names) {
  std::vector<NamedAttribute> attributes(op.attributes.begin(), op.attributes.end());
  std::erase_if(attributes, [&](const NamedAttribute& attribute) {
    return std::ranges::find(names, attribute.name) != names.end();
  });
  return attributes;
}

}  // namespace assay::mlir
