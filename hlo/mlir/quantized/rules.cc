#include "hlo/mlir/quantized/rules.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/quantization.h"

namespace assay::mlir {
namespace {

using Span = std::span<const int64_t>;

const Quantization& ParametersOf(const Type& type) { return *type.element_type->quantization; }

// The integers of an attribute of the operation or of one of its structs.
Ints IntegersOfField(const Operation& operation, std::string_view name) {
  const Attribute* attribute = operation.Find(name);
  for (const NamedAttribute& field : operation.attributes) {
    if (attribute == nullptr && field.value->kind == Attribute::Kind::kStruct)
      attribute = Find(field.value->fields, name);
  }
  Ints values;
  if (attribute == nullptr) return values;
  if (attribute->kind == Attribute::Kind::kInteger) return {attribute->integer};
  IntegersOf(*attribute, &values);  // anything else is refused where it is imported
  return values;
}

int64_t IntegerOfField(const Operation& operation, std::string_view name) {
  const Ints values = IntegersOfField(operation, name);
  return values.size() == 1 ? values[0] : 0;
}

ElementType PlainElement(const Type& type) {
  const bool is_plain = type.kind == Type::Kind::kTensor && type.element_type->kind == Type::Kind::kElement;
  return is_plain ? type.element_type->element : ElementType::kPred;
}

std::string TypesText(const Operation& operation) {
  std::string operands, results;
  for (const Value* operand : operation.operands)
    operands += (operands.empty() ? "" : ", ") + ToString(*operand->type);
  for (const Value& result : operation.results)
    results += (results.empty() ? "" : ", ") + ToString(*result.type);
  return fmt::format("({}) -> {}", operands, results);
}

absl::Status BrokenTypes(std::string_view label, const Operation& operation, std::string_view wanted) {
  return BrokenRule(label, operation, fmt::format("found types {}, want {}", TypesText(operation), wanted));
}

absl::Status SameSizes(const Operation& operation) {
  if (std::ranges::equal(operation.operands[0]->type->sizes, operation.results[0].type->sizes))
    return absl::OkStatus();
  return BrokenRule("QUANT-20", operation,
                    fmt::format("found types {}, want equal shapes", TypesText(operation)));
}

// Wraps: what is compared here is compared exactly where shapes are.
uint64_t ProductOf(Span sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), uint64_t{1}, [](uint64_t product, int64_t size) {
    return product * static_cast<uint64_t>(size);
  });
}

// The same but for the axis.
bool SameButAxis(const Quantization& a, Quantization b) {
  b.axis = a.axis;
  return SameQuantization(a, b);
}

}  // namespace

absl::Status BrokenRule(std::string_view label, const Operation& operation, std::string_view message) {
  return InvalidProgram({}, fmt::format("{}: {}: {}", label, operation.name, message));
}

bool IsQuantized(const Type& type) {
  return type.kind == Type::Kind::kTensor && type.element_type->kind == Type::Kind::kQuantized;
}

bool HasQuantized(const Type& type) {
  if (type.kind != Type::Kind::kTuple) return IsQuantized(type);
  return std::ranges::any_of(type.inputs, [](const Type* element) { return HasQuantized(*element); });
}

bool SameElements(const Type& a, const Type& b) {
  if (a.kind == Type::Kind::kTuple && b.kind == Type::Kind::kTuple) {
    return std::ranges::equal(a.inputs, b.inputs,
                              [](const Type* x, const Type* y) { return SameElements(*x, *y); });
  }
  if (!IsQuantized(a) || !IsQuantized(b)) return HasQuantized(a) == HasQuantized(b);
  return SameQuantization(ParametersOf(a), ParametersOf(b));
}

absl::Status CheckPlaceOf(const Type& type) {
  if (type.kind == Type::Kind::kQuantized) {
    return InvalidProgram(
        {}, fmt::format("QUANT-1: found a value of type {}, want it as the element type of a tensor",
                        ToString(type)));
  }
  for (const Type* part : type.inputs) ASSAY_RETURN_IF_ERROR(CheckPlaceOf(*part));
  for (const Type* part : type.results) ASSAY_RETURN_IF_ERROR(CheckPlaceOf(*part));
  return absl::OkStatus();
}

absl::Status CheckCounts(const Operation& operation, size_t operands, size_t results) {
  if (operation.operands.size() == operands && operation.results.size() == results) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("{}: found {} and {}, want {} and {}", operation.name,
                                        Counted(operation.operands.size(), "operand"),
                                        Counted(operation.results.size(), "result"), operands, results));
}

absl::Status CheckSame(const Operation& operation, const Type& found, const Type& wanted) {
  if (SameElements(found, wanted)) return absl::OkStatus();
  return BrokenRule("QUANT-10", operation,
                    fmt::format("found {}, want {}", ToString(found), ToString(wanted)));
}

std::string_view TextOfAttribute(const Operation& operation, std::string_view name) {
  const Attribute* const attribute = operation.Find(name);
  return attribute == nullptr ? std::string_view() : attribute->text;
}

absl::Status CheckPerTensor(const Operation& operation) {
  const auto check = [&](const Type& type) {
    if (!IsQuantized(type) || !ParametersOf(type).is_per_axis()) return absl::OkStatus();
    return BrokenRule("QUANT-21", operation, fmt::format("found {}, want no axis", ToString(type)));
  };
  for (const Value* operand : operation.operands) ASSAY_RETURN_IF_ERROR(check(*operand->type));
  for (const Value& result : operation.results) ASSAY_RETURN_IF_ERROR(check(*result.type));
  return absl::OkStatus();
}

absl::Status CheckOperand(const Operation& operation, size_t i, bool quantized) {
  if (i < operation.operands.size() && IsQuantized(*operation.operands[i]->type) == quantized)
    return absl::OkStatus();
  return BrokenRule("QUANT-21", operation,
                    fmt::format("found types {}, want operand {} {}quantized", TypesText(operation), i,
                                quantized ? "" : "not "));
}

absl::Status CheckResult(const Operation& operation, size_t i, bool quantized) {
  if (i < operation.results.size() && IsQuantized(*operation.results[i].type) == quantized)
    return absl::OkStatus();
  return BrokenRule("QUANT-21", operation,
                    fmt::format("found types {}, want result {} {}quantized", TypesText(operation), i,
                                quantized ? "" : "not "));
}

absl::Status CheckData(const Operation& operation, size_t data) {
  if (data == 0) data = operation.operands.size();
  for (size_t i = 0; i < std::max(data, operation.operands.size()); ++i)
    ASSAY_RETURN_IF_ERROR(CheckOperand(operation, i, i < data));
  for (size_t i = 0; i < operation.results.size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckResult(operation, i, true));
  return absl::OkStatus();
}

absl::Status CheckBaselines(const Operation& operation) {
  const Type* first = nullptr;
  const auto check = [&](const Type& type) {
    if (!IsQuantized(type)) return absl::OkStatus();
    if (first == nullptr) first = &type;
    if (SameBaseline(ParametersOf(*first), ParametersOf(type))) return absl::OkStatus();
    return BrokenRule("QUANT-22", operation,
                      fmt::format("found {} and {}, want types that differ in scale and zero point alone",
                                  ToString(*first), ToString(type)));
  };
  for (const Value* operand : operation.operands) ASSAY_RETURN_IF_ERROR(check(*operand->type));
  for (const Value& result : operation.results) ASSAY_RETURN_IF_ERROR(check(*result.type));
  return absl::OkStatus();
}

absl::Status CheckUniformQuantize(const Operation& operation) {
  ASSAY_RETURN_IF_ERROR(CheckCounts(operation, 1, 1));
  const Type& from = *operation.operands[0]->type;
  const Type& to = *operation.results[0].type;
  if (!IsQuantized(to) || from.kind != Type::Kind::kTensor) {
    return BrokenRule("QUANT-20", operation,
                      fmt::format("found types {}, want a quantized result", TypesText(operation)));
  }
  const ElementType expressed = IsQuantized(from) ? ParametersOf(from).expressed : PlainElement(from);
  if (expressed != ParametersOf(to).expressed) {
    return BrokenRule("QUANT-20", operation,
                      fmt::format("found types {}, want one expressed type", TypesText(operation)));
  }
  return SameSizes(operation);
}

absl::Status CheckUniformDequantize(const Operation& operation) {
  ASSAY_RETURN_IF_ERROR(CheckCounts(operation, 1, 1));
  const Type& from = *operation.operands[0]->type;
  const Type& to = *operation.results[0].type;
  if (!IsQuantized(from) || to.kind != Type::Kind::kTensor ||
      PlainElement(to) != ParametersOf(from).expressed) {
    return BrokenRule(
        "QUANT-20", operation,
        fmt::format("found types {}, want a quantized operand and its expressed type", TypesText(operation)));
  }
  return SameSizes(operation);
}

absl::Status CheckAdd(const Operation& operation) {
  ASSAY_RETURN_IF_ERROR(CheckCounts(operation, 2, 1));
  const auto broken = [&](std::string_view wanted) {
    return BrokenRule("QUANT-23", operation,
                      fmt::format("found types {}, want {}", TypesText(operation), wanted));
  };
  const Type* const types[] = {operation.operands[0]->type, operation.operands[1]->type,
                               operation.results[0].type};
  for (const Type* type : types) {
    if (!IsQuantized(*type)) return broken("all of them quantized");
  }
  const Quantization& result = ParametersOf(*types[2]);
  bool per_axis = false;
  for (const Type* type : types) {
    const Quantization& own = ParametersOf(*type);
    if (own.storage != result.storage) return broken("one storage type");
    if (own.expressed != result.expressed) return broken("one expressed type");
    if (type != types[2]) per_axis |= own.is_per_axis();
  }
  if (per_axis != result.is_per_axis()) return broken("an axis of the result where an operand has one");
  for (const Type* type : types) {
    const Quantization& own = ParametersOf(*type);
    if (own.is_per_axis() && own.axis != result.axis) return broken("one axis");
  }
  return absl::OkStatus();
}

absl::Status CheckContraction(const Operation& operation) {
  const bool is_dot_general = operation.name == "stablehlo.dot_general";
  const bool is_convolution = !is_dot_general && operation.name != "stablehlo.dot";
  if (operation.operands.size() < 2 || operation.results.size() != 1) return CheckCounts(operation, 2, 1);
  const Type& lhs = *operation.operands[0]->type;
  const Type& rhs = *operation.operands[1]->type;
  const Type& result = *operation.results[0].type;
  if (!IsQuantized(rhs)) return BrokenTypes("QUANT-24", operation, "a quantized rhs");
  if (IsQuantized(lhs) != IsQuantized(result))
    return BrokenTypes("QUANT-24", operation, "both or none of lhs and result quantized");
  const Quantization& kernel = ParametersOf(rhs);
  if (IsQuantized(lhs)) {
    const Quantization &from = ParametersOf(lhs), &to = ParametersOf(result);
    if (from.is_per_axis()) return BrokenTypes("QUANT-21", operation, "no axis of lhs");
    if (from.storage != kernel.storage)
      return BrokenTypes("QUANT-25", operation, "one storage type of lhs and rhs");
    if (from.expressed != kernel.expressed || to.expressed != kernel.expressed)
      return BrokenTypes("QUANT-25", operation, "one expressed type");
    if (to.is_per_axis() && !kernel.is_per_axis())
      return BrokenTypes("QUANT-25", operation, "no axis of the result: rhs has none");
    if (is_convolution && to.is_per_axis() &&
        to.axis != IntegerOfField(operation, "output_feature_dimension"))
      return BrokenTypes("QUANT-28", operation, "output_feature_dimension as the axis of the result");
  } else if (PlainElement(lhs) != kernel.expressed || PlainElement(result) != kernel.expressed) {
    return BrokenTypes("QUANT-26", operation, "lhs and result of the expressed type of rhs");
  }
  if (is_dot_general && kernel.has_zero_points())
    return BrokenTypes("QUANT-27", operation, "zero points 0 of rhs");
  if (!kernel.is_per_axis()) return absl::OkStatus();
  if (is_dot_general) {
    const Ints contracting = IntegersOfField(operation, "rhs_contracting_dimensions");
    if (std::find(contracting.begin(), contracting.end(), kernel.axis) != contracting.end())
      return BrokenTypes("QUANT-28", operation, "an axis of rhs that is not contracted");
  }
  if (is_convolution && kernel.axis != IntegerOfField(operation, "kernel_output_feature_dimension"))
    return BrokenTypes("QUANT-28", operation, "kernel_output_feature_dimension as the axis of rhs");
  return absl::OkStatus();
}

absl::Status CheckConstant(const Operation& operation) {
  const Attribute* const value = operation.Find("value");
  if (operation.results.size() != 1 || value == nullptr || value->kind != Attribute::Kind::kDense)
    return BrokenRule("QUANT-12", operation, "want a value dense<...> and one result");
  const Type& result = *operation.results[0].type;
  const Type& given = *value->type;
  const auto fits = [&] {
    if (!IsQuantized(result) || given.kind != Type::Kind::kTensor ||
        !std::ranges::equal(given.sizes, result.sizes))
      return false;
    if (IsQuantized(given)) return SameQuantization(ParametersOf(given), ParametersOf(result));
    // Signless integers stand for unsigned ones too.
    const ElementType storage = ParametersOf(result).storage, element = PlainElement(given);
    return element == storage ||
           (IsSignedIntegral(element) && IsUnsignedIntegral(storage) && Bits(element) == Bits(storage));
  };
  if (fits()) return absl::OkStatus();
  return BrokenRule("QUANT-12", operation,
                    fmt::format("value has type {}, the result {}", ToString(given), ToString(result)));
}

absl::Status CheckMove(const Operation& operation, size_t data) {
  ASSAY_RETURN_IF_ERROR(CheckData(operation, data));
  if (operation.results.size() != 1) return CheckCounts(operation, operation.operands.size(), 1);
  if (data == 0) data = operation.operands.size();
  for (size_t i = 0; i < data; ++i) {
    if (SameElements(*operation.operands[i]->type, *operation.results[0].type)) continue;
    return BrokenRule("QUANT-29", operation,
                      fmt::format("found types {}, want one element type", TypesText(operation)));
  }
  return absl::OkStatus();
}

absl::Status CheckPairs(const Operation& operation) {
  bool same = operation.operands.size() == operation.results.size();
  for (size_t i = 0; same && i < operation.results.size(); ++i)
    same = SameElements(*operation.operands[i]->type, *operation.results[i].type);
  if (same) return absl::OkStatus();
  return BrokenRule(
      "QUANT-29", operation,
      fmt::format("found types {}, want results of the operands' element types", TypesText(operation)));
}

absl::Status CheckBroadcast(const Operation& operation) {
  ASSAY_RETURN_IF_ERROR(CheckData(operation, 1));
  const Type &from = *operation.operands[0]->type, &to = *operation.results[0].type;
  const Quantization &a = ParametersOf(from), &b = ParametersOf(to);
  if (!a.is_per_axis() || !b.is_per_axis()) {
    return SameQuantization(a, b) ? absl::OkStatus() : BrokenTypes("QUANT-29", operation, "one element type");
  }
  Quantization moved = b;
  moved.axis = a.axis;
  if (!SameBaseline(a, moved))
    return BrokenTypes("QUANT-29", operation, "one storage type, range and expressed type");
  const Ints dimensions = IntegersOfField(operation, "broadcast_dimensions");
  if (a.axis >= static_cast<int64_t>(dimensions.size()) || dimensions[static_cast<size_t>(a.axis)] != b.axis)
    return BrokenTypes("QUANT-30", operation,
                       "the result's axis where broadcast_dimensions puts the operand's");
  if (a.scales.size() != 1) return absl::OkStatus();
  for (size_t i = 0; i < b.scales.size(); ++i) {
    if (b.scales[i] != a.scales[0] || b.zero_points[i] != a.zero_points[0])
      return BrokenTypes("QUANT-30", operation,
                         "the operand's scale and zero point at every index of the result");
  }
  return absl::OkStatus();
}

absl::Status CheckReshape(const Operation& operation) {
  ASSAY_RETURN_IF_ERROR(CheckData(operation, 1));
  const Type &from = *operation.operands[0]->type, &to = *operation.results[0].type;
  const Quantization &a = ParametersOf(from), &b = ParametersOf(to);
  if (!SameButAxis(a, b) || a.is_per_axis() != b.is_per_axis())
    return BrokenTypes("QUANT-29", operation, "element types that differ in the axis alone");
  if (!a.is_per_axis()) return absl::OkStatus();
  const auto x = static_cast<size_t>(a.axis), y = static_cast<size_t>(b.axis);
  const Span before = from.sizes.first(x), after = from.sizes.subspan(x + 1);
  if (ProductOf(before) != ProductOf(to.sizes.first(y)) || from.sizes[x] != to.sizes[y] ||
      ProductOf(after) != ProductOf(to.sizes.subspan(y + 1)))
    return BrokenTypes("QUANT-30", operation, "as many elements before, in and behind the axis");
  return absl::OkStatus();
}

absl::Status CheckTranspose(const Operation& operation) {
  ASSAY_RETURN_IF_ERROR(CheckData(operation, 1));
  const Type &from = *operation.operands[0]->type, &to = *operation.results[0].type;
  const Quantization &a = ParametersOf(from), &b = ParametersOf(to);
  if (!SameButAxis(a, b) || a.is_per_axis() != b.is_per_axis())
    return BrokenTypes("QUANT-29", operation, "element types that differ in the axis alone");
  const Ints permutation = IntegersOfField(operation, "permutation");
  if (a.is_per_axis() && (b.axis >= static_cast<int64_t>(permutation.size()) ||
                          permutation[static_cast<size_t>(b.axis)] != a.axis))
    return BrokenTypes("QUANT-30", operation, "the result's axis where permutation puts the operand's");
  return absl::OkStatus();
}

absl::Status CheckArgument(const Operation& operation, size_t region, size_t i, const Type& wanted) {
  if (region >= operation.regions.size() || i >= operation.regions[region].arguments.size())
    return absl::OkStatus();  // refused where the operation is imported or verified
  const Type& found = *operation.regions[region].arguments[i].type;
  if (SameElements(found, wanted)) return absl::OkStatus();
  return BrokenRule("QUANT-31", operation,
                    fmt::format("argument {} of the region has type {}, want the element type of {}", i,
                                ToString(found), ToString(wanted)));
}

absl::Status CheckReturned(const Operation& operation, size_t region, size_t i, const Type& wanted) {
  if (region >= operation.regions.size() || operation.regions[region].operations.empty())
    return absl::OkStatus();
  const Operation& last = *operation.regions[region].operations.back();
  if (i >= last.operands.size() || SameElements(*last.operands[i]->type, wanted)) return absl::OkStatus();
  return BrokenRule("QUANT-31", operation,
                    fmt::format("the region returns {}, want the element type of {}",
                                ToString(*last.operands[i]->type), ToString(wanted)));
}

absl::Status CheckPromotion(const Operation& operation, const Type& operand, const Type& argument) {
  if (IsQuantized(operand) && IsQuantized(argument)) {
    const Quantization &from = ParametersOf(operand), &to = ParametersOf(argument);
    if (from.expressed == to.expressed && Bits(from.storage) <= Bits(to.storage) && !to.is_per_axis())
      return absl::OkStatus();
  }
  return BrokenRule(
      "QUANT-31", operation,
      fmt::format("found an operand {} and a region that takes {}, want the same expressed type and a "
                  "storage type of at least its width",
                  ToString(operand), ToString(argument)));
}

}  // namespace assay::mlir
