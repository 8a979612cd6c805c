#include "hlo/mlir/quantized/lowering.h"

#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/quantized/ops.h"
#include "hlo/mlir/quantized/rules.h"
#include "hlo/storage_range.h"

namespace assay::mlir {
namespace {

class QuantizedLowering {
 public:
  explicit QuantizedLowering(Tree& tree) : tree_(tree), writer_(tree) {}
  absl::Status Run();

 private:
  void FindFunctionTypes(const Region& region);
  absl::Status LowerRegion(Region& region);
  absl::Status LowerOperation(const Operation& operation, QuantizedWriter::Place* place);
  absl::Status CheckFunction(const Operation& function);
  const Type* Lowered(const Type* type);
  void AddStorageRanges(const Operation& function, std::vector<NamedAttribute>* attributes);
  void LowerTypes(Region& region);

  Tree& tree_;
  QuantizedWriter writer_;
  FunctionTypes functions_;
  std::vector<const Type*> lowered_;  // by type id
};

absl::Status QuantizedLowering::Run() {
  FindFunctionTypes(*tree_.top);
  ASSAY_RETURN_IF_ERROR(LowerRegion(*tree_.top));
  LowerTypes(*tree_.top);
  FillCaptures(tree_, *tree_.top);
  return absl::OkStatus();
}

void QuantizedLowering::FindFunctionTypes(const Region& region) {
  for (const Operation* operation : region.operations) {
    if (operation->name == "builtin.module" && operation->regions.size() == 1)
      FindFunctionTypes(operation->regions[0]);
    const Attribute* const type = operation->Find("function_type");
    if (operation->name != "func.func" || type == nullptr || type->type == nullptr) continue;
    const std::string_view name = TextOfAttribute(*operation, "sym_name");
    functions_.emplace(absl::string_view(name.data(), name.size()), type->type);
  }
}

// What a function takes and gives is what its type says.
absl::Status QuantizedLowering::CheckFunction(const Operation& function) {
  const Attribute* const attribute = function.Find("function_type");
  if (attribute == nullptr || attribute->type == nullptr || function.regions.size() != 1)
    return absl::OkStatus();
  const Type& type = *attribute->type;
  ASSAY_RETURN_IF_ERROR(CheckPlaceOf(type));
  const Region& body = function.regions[0];
  for (size_t i = 0; i < std::min(body.arguments.size(), type.inputs.size()); ++i)
    ASSAY_RETURN_IF_ERROR(CheckSame(function, *body.arguments[i].type, *type.inputs[i]));
  if (body.operations.empty()) return absl::OkStatus();
  const Operation& last = *body.operations.back();
  for (size_t i = 0; i < std::min(last.operands.size(), type.results.size()); ++i)
    ASSAY_RETURN_IF_ERROR(
        tree_.WithPlace(CheckSame(function, *last.operands[i]->type, *type.results[i]), last));
  return absl::OkStatus();
}

absl::Status QuantizedLowering::LowerRegion(Region& region) {
  QuantizedWriter::Place place;
  place.depth = region.depth;
  for (Operation* operation : region.operations) {
    for (Region& nested : operation->regions) ASSAY_RETURN_IF_ERROR(LowerRegion(nested));
    writer_.Begin(&place, *operation);
    absl::Status status = LowerOperation(*operation, &place);
    if (status.ok()) status = writer_.status();
    if (!status.ok()) return tree_.WithPlace(status, *operation);
  }
  region.operations = tree_.arena().Copy(place.operations);
  return absl::OkStatus();
}

absl::Status QuantizedLowering::LowerOperation(const Operation& operation, QuantizedWriter::Place* place) {
  if (operation.name == "func.func") ASSAY_RETURN_IF_ERROR(CheckFunction(operation));
  bool touches = false;
  const auto see = [&](const Type& type) {
    touches = touches || HasQuantized(type);
    return CheckPlaceOf(type);
  };
  for (const Value* operand : operation.operands) ASSAY_RETURN_IF_ERROR(see(*operand->type));
  for (const Value& result : operation.results) ASSAY_RETURN_IF_ERROR(see(*result.type));
  for (const Region& region : operation.regions) {
    for (const Value& argument : region.arguments) ASSAY_RETURN_IF_ERROR(see(*argument.type));
  }
  if (operation.name.starts_with("quant."))
    return NotSupported({}, fmt::format("QUANT-9: operation '{}'", operation.name));
  if (!touches) {
    place->operations.push_back(const_cast<Operation*>(&operation));
    return absl::OkStatus();
  }
  const LowerRow* const row = FindLowerRow(operation.name);
  if (row == nullptr) {
    if (!operation.name.starts_with("stablehlo."))
      return NotSupported({}, fmt::format("{} with quantized types", operation.name));
    return BrokenRule("QUANT-21", operation, "the operation takes and gives no quantized types");
  }
  if (!row->per_axis) ASSAY_RETURN_IF_ERROR(CheckPerTensor(operation));
  QuantizedSite site{writer_, operation, functions_, row->data};
  return row->lower(site);
}

const Type* QuantizedLowering::Lowered(const Type* type) {
  if (type->kind == Type::Kind::kTensor) {
    const Quantization* const quantization = QuantizationOf(*type);
    if (quantization == nullptr) return type;
    const auto id = static_cast<size_t>(type->id);
    if (lowered_.size() <= id) lowered_.resize(id + 1);
    if (lowered_[id] == nullptr) lowered_[id] = writer_.TensorOf(quantization->storage, *type);
    return lowered_[id];
  }
  if (type->inputs.empty() && type->results.empty()) return type;
  std::vector<const Type*> inputs, results;
  for (const Type* part : type->inputs) inputs.push_back(Lowered(part));
  for (const Type* part : type->results) results.push_back(Lowered(part));
  if (std::ranges::equal(inputs, type->inputs) && std::ranges::equal(results, type->results)) return type;
  Type* const made = tree_.NewType(type->kind);
  made->inputs = tree_.arena().Copy(inputs);
  made->results = tree_.arena().Copy(results);
  made->weight = type->weight;
  return made;
}

// QUANT-13: the ranges of arguments that are smaller than their storage types,
// as attributes of the arguments.
void QuantizedLowering::AddStorageRanges(const Operation& function, std::vector<NamedAttribute>* attributes) {
  if (function.regions.size() != 1) return;
  const std::span<const Value> arguments = function.regions[0].arguments;
  const Attribute* const known = function.Find("arg_attrs");
  std::vector<const Attribute*> elements;
  bool any = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    Attribute* const dictionary = tree_.NewAttribute(Attribute::Kind::kDictionary);
    if (known != nullptr && i < known->elements.size()) *dictionary = *known->elements[i];
    elements.push_back(dictionary);
    const Quantization* const type = QuantizationOf(*arguments[i].type);
    if (type == nullptr || type->has_whole_range()) continue;
    any = true;
    Attribute* const range = tree_.NewAttribute(Attribute::Kind::kString);
    range->text = tree_.arena().Copy(StorageRangeText(type->storage_min, type->storage_max));
    std::vector<NamedAttribute> fields(dictionary->fields.begin(), dictionary->fields.end());
    fields.push_back({kStorageRange, range});
    dictionary->fields = tree_.arena().Copy(fields);
  }
  if (!any) return;
  Attribute* const array = tree_.NewAttribute(Attribute::Kind::kArray);
  array->elements = tree_.arena().Copy(elements);
  std::erase_if(*attributes, [](const NamedAttribute& attribute) { return attribute.name == "arg_attrs"; });
  attributes->push_back({"arg_attrs", array});
}

// Storage types for all values, and in the types of functions.
void QuantizedLowering::LowerTypes(Region& region) {
  for (Value& argument : region.arguments) argument.type = Lowered(argument.type);
  for (Operation* operation : region.operations) {
    for (Value& result : operation->results) result.type = Lowered(result.type);
    std::vector<NamedAttribute> attributes(operation->attributes.begin(), operation->attributes.end());
    if (operation->name == "func.func") AddStorageRanges(*operation, &attributes);
    for (Region& nested : operation->regions) LowerTypes(nested);
    if (operation->name != "func.func") continue;
    for (NamedAttribute& attribute : attributes) {
      if (attribute.name != "function_type" || attribute.value->type == nullptr) continue;
      Attribute* const made = tree_.NewAttribute(Attribute::Kind::kType);
      made->type = Lowered(attribute.value->type);
      attribute.value = made;
    }
    operation->attributes = tree_.arena().Copy(attributes);
  }
}

}  // namespace

absl::Status LowerQuantizedTypes(Tree& tree) {
  return tree.has_quantized ? QuantizedLowering(tree).Run() : absl::OkStatus();
}

}  // namespace assay::mlir
