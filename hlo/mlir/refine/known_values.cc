#include "hlo/mlir/refine/known_values.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/counted.h"
#include "base/hash_map.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/refine/size_arithmetic.h"
#include "hlo/mlir/refine/size_attributes.h"
#include "literal/element_io.h"

namespace assay::mlir {
namespace {

using Values = std::vector<int64_t>;
using Operands = absl::Span<const SizedValue>;

const Type& ElementOf(const Type& type) {
  return type.kind == Type::Kind::kTensor ? *type.element_type : type;
}

// Of operand i; shapes and sizes of the dialect shape count as s64.
ElementType ElementOr64(const Type& type) {
  return IntegerElement(ElementOf(type)).value_or(ElementType::kS64);
}

std::vector<int64_t> StridesOf(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  return strides;
}

// result[i] = operand[place(i)] for every index i of the result, in order.
template <typename Place>
Known Moved(const Type& type, const Values& from, Place&& place) {
  const std::vector<int64_t> strides = StridesOf(type.sizes);
  const int64_t count =
      std::accumulate(type.sizes.begin(), type.sizes.end(), int64_t{1}, std::multiplies<>());
  Values values;
  std::vector<int64_t> index(type.sizes.size());
  for (int64_t i = 0; i < count; ++i) {
    for (size_t d = 0; d < index.size(); ++d) index[d] = i / strides[d] % type.sizes[d];
    const int64_t at = place(index);
    if (at < 0 || at >= static_cast<int64_t>(from.size())) return nullptr;
    values.push_back(from[static_cast<size_t>(at)]);
  }
  return MakeKnown(std::move(values));
}

bool Compared(std::string_view direction, bool is_unsigned, int64_t a, int64_t b) {
  const bool less = is_unsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  if (direction == "EQ" || direction == "eq") return a == b;
  if (direction == "NE" || direction == "ne") return a != b;
  if (direction == "LT" || direction == "slt" || direction == "ult") return less;
  if (direction == "LE" || direction == "sle" || direction == "ule") return less || a == b;
  if (direction == "GT" || direction == "sgt" || direction == "ugt") return !less && a != b;
  return !less;  // GE
}

// The name of a predicate of arith.cmpi: a word, or its number.
std::string_view PredicateOf(const Operation& operation) {
  static constexpr std::string_view kNames[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                                "sge", "ult", "ule", "ugt", "uge"};
  const Attribute* const predicate = operation.Find("predicate");
  if (predicate == nullptr) return "";
  if (predicate->kind != Attribute::Kind::kInteger) return predicate->text;
  const int64_t number = predicate->integer;
  return number >= 0 && number < std::ssize(kNames) ? kNames[number] : "";
}

Known KnownComparison(const Operation& operation, Operands operands) {
  const Values &a = *operands[0].known, &b = *operands[1].known;
  if (a.size() != b.size()) return nullptr;
  const bool is_cmpi = operation.name != "stablehlo.compare";
  const std::string_view direction =
      is_cmpi ? PredicateOf(operation) : TextOfField(operation, "comparison_direction");
  if (direction.empty()) return nullptr;
  const bool is_unsigned = is_cmpi ? direction[0] == 'u' : !IsSignedIntegral(ElementOr64(*operands[0].type));
  Values values(a.size());
  for (size_t i = 0; i < a.size(); ++i) values[i] = Compared(direction, is_unsigned, a[i], b[i]) ? 1 : 0;
  return MakeKnown(std::move(values));
}

Known KnownSelect(Operands operands) {
  const Values &which = *operands[0].known, &a = *operands[1].known, &b = *operands[2].known;
  if (a.size() != b.size() || (which.size() != 1 && which.size() != a.size())) return nullptr;
  Values values(a.size());
  for (size_t i = 0; i < a.size(); ++i) values[i] = which[which.size() == 1 ? 0 : i] != 0 ? a[i] : b[i];
  return MakeKnown(std::move(values));
}

Known KnownClamp(Operands operands, ElementType type) {
  const Values &low = *operands[0].known, &x = *operands[1].known, &high = *operands[2].known;
  if ((low.size() != 1 && low.size() != x.size()) || (high.size() != 1 && high.size() != x.size()))
    return nullptr;
  Values values(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t at_least = *ApplyBinary(Binary::kMaximum, type, x[i], low[low.size() == 1 ? 0 : i]);
    values[i] = *ApplyBinary(Binary::kMinimum, type, at_least, high[high.size() == 1 ? 0 : i]);
  }
  return MakeKnown(std::move(values));
}

// The values of a dense attribute or of a number.
Known KnownConstant(const Operation& operation, const Type& type) {
  const Attribute* const value = operation.Find("value");
  if (value == nullptr) return nullptr;
  if (value->kind == Attribute::Kind::kInteger || value->kind == Attribute::Kind::kBool)
    return MakeKnown({value->integer});
  const std::optional<ElementType> element = IntegerElement(ElementOf(type));
  if (value->kind != Attribute::Kind::kDense || !element || value->type == nullptr) return nullptr;
  const int64_t count =
      std::accumulate(type.sizes.begin(), type.sizes.end(), int64_t{1}, std::multiplies<>());
  const auto bytes = static_cast<size_t>(Bytes(*element));
  if (value->data.size() != bytes * (value->is_splat ? 1 : static_cast<size_t>(count))) return nullptr;
  Values values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    const ScalarValue scalar = LoadElement(*element, value->data.data() + (value->is_splat ? 0 : i * bytes));
    values[i] = scalar.kind == ComputeKind::kBool    ? scalar.b
                : scalar.kind == ComputeKind::kInt64 ? scalar.i
                                                     : static_cast<int64_t>(scalar.u);
  }
  return MakeKnown(std::move(values));
}

Known KnownMove(const Operation& operation, Operands operands, const Type& type) {
  const std::string_view name = operation.name;
  if (name == "stablehlo.iota") {
    const std::optional<int64_t> dimension = IntOfField(operation, "iota_dimension");
    if (!dimension || *dimension < 0 || *dimension >= std::ssize(type.sizes)) return nullptr;
    Values numbers(static_cast<size_t>(type.sizes[static_cast<size_t>(*dimension)]));
    std::iota(numbers.begin(), numbers.end(), 0);
    return Moved(type, numbers, [&](const auto& index) { return index[static_cast<size_t>(*dimension)]; });
  }
  const Values& from = *operands[0].known;
  const std::span<const int64_t> sizes = operands[0].type->sizes;
  const std::vector<int64_t> strides = StridesOf(sizes);
  if (name == "stablehlo.broadcast_in_dim" || name == "stablehlo.dynamic_broadcast_in_dim") {
    const Ints dimensions = IntsOfField(operation, "broadcast_dimensions");
    if (dimensions.size() != sizes.size()) return nullptr;
    return Moved(type, from, [&](const std::vector<int64_t>& index) {
      int64_t at = 0;
      for (size_t d = 0; d < sizes.size(); ++d) {
        const auto target = static_cast<size_t>(dimensions[d]);
        if (target >= index.size()) return int64_t{-1};
        at += (sizes[d] == 1 ? 0 : index[target]) * strides[d];
      }
      return at;
    });
  }
  if (name == "stablehlo.transpose") {
    const Ints permutation = IntsOfField(operation, "permutation");
    if (permutation.size() != sizes.size()) return nullptr;
    return Moved(type, from, [&](const std::vector<int64_t>& index) {
      int64_t at = 0;
      for (size_t d = 0; d < sizes.size(); ++d) {
        const auto source = static_cast<size_t>(permutation[d]);
        if (source >= sizes.size()) return int64_t{-1};
        at += index[d] * strides[source];
      }
      return at;
    });
  }
  if (name == "stablehlo.slice") {
    const Ints starts = IntsOfField(operation, "start_indices");
    Ints steps = IntsOfField(operation, "strides");
    if (steps.empty()) steps.resize(starts.size(), 1);
    if (starts.size() != sizes.size() || steps.size() != sizes.size()) return nullptr;
    return Moved(type, from, [&](const std::vector<int64_t>& index) {
      int64_t at = 0;
      for (size_t d = 0; d < sizes.size(); ++d) {
        const int64_t i = starts[d] + index[d] * steps[d];
        if (i < 0 || i >= sizes[d]) return int64_t{-1};
        at += i * strides[d];
      }
      return at;
    });
  }
  return nullptr;
}

// Operands behind each other along the first dimension; of a matrix also along the second.
Known KnownConcatenation(const Operation& operation, Operands operands, const Type& type) {
  const int64_t dimension = IntOfField(operation, "dimension").value_or(0);
  if (type.kind != Type::Kind::kTensor || dimension < 0 ||
      dimension >= std::max<int64_t>(1, std::ssize(type.sizes)))
    return nullptr;
  int64_t outer = 1;
  for (int64_t d = 0; d < dimension; ++d) outer *= type.sizes[static_cast<size_t>(d)];
  if (outer == 0) return MakeKnown({});
  Values values;
  for (int64_t i = 0; i < outer; ++i) {
    for (const SizedValue& operand : operands) {
      const auto count = static_cast<int64_t>(operand.known->size()) / outer;
      const auto begin = operand.known->begin() + i * count;
      values.insert(values.end(), begin, begin + count);
    }
  }
  return MakeKnown(std::move(values));
}

// Sizes that two shapes have in common when numpy broadcasts them.
absl::StatusOr<Known> KnownBroadcast(Operands operands) {
  Values result;
  for (const SizedValue& operand : operands) {
    Values shape = *operand.known;
    if (shape.size() < result.size()) shape.insert(shape.begin(), result.size() - shape.size(), 1);
    if (result.size() < shape.size()) result.insert(result.begin(), shape.size() - result.size(), 1);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1 || shape[d] == result[d]) continue;
      if (result[d] != 1) {
        return EvalError({}, fmt::format("shapes [{}] and [{}] do not broadcast", fmt::join(result, ","),
                                         fmt::join(*operand.known, ",")));
      }
      result[d] = shape[d];
    }
  }
  return MakeKnown(std::move(result));
}

absl::StatusOr<Known> Extent(const Values& sizes, int64_t at) {
  if (at < 0 || at >= static_cast<int64_t>(sizes.size()))
    return EvalError({}, fmt::format("found dimension {} of a shape of rank {}", at, sizes.size()));
  return MakeKnown({sizes[static_cast<size_t>(at)]});
}

// What is read of an operand's type: the size of one dimension, all of them, the rank.
absl::StatusOr<std::optional<Known>> KnownOfType(const Operation& operation, Operands operands) {
  const std::string_view name = operation.name;
  if (operands.empty() || operands[0].type->kind != Type::Kind::kTensor) return std::nullopt;
  const Type& type = *operands[0].type;
  const Values sizes(type.sizes.begin(), type.sizes.end());
  if (name == "shape.shape_of") return IsStatic(type) ? MakeKnown(sizes) : Known();
  if (name == "tensor.rank") return MakeKnown({static_cast<int64_t>(sizes.size())});
  std::optional<int64_t> dimension;
  if (name == "stablehlo.get_dimension_size") {
    dimension = IntOfField(operation, "dimension");
    if (!dimension) return Known();
  } else if (name == "tensor.dim" || name == "shape.dim") {
    if (operands.size() != 2 || operands[1].known == nullptr || operands[1].known->size() != 1)
      return Known();
    dimension = (*operands[1].known)[0];
  } else {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(Known size, Extent(sizes, *dimension));
  return (*size)[0] == kDynamicSize ? Known() : size;
}

// reshape to [2, -1] of so many elements: at most one size is -1, and stands for the one with which the
// number is right. Where none is, the sizes are the result, and `is_checked` says whether their number of
// elements matters.
absl::StatusOr<Known> KnownReshape(Operands operands, bool is_checked) {
  if (operands.size() != 2 || operands[0].known->size() != 1) return Known();
  const int64_t elements = (*operands[0].known)[0];
  Values sizes = *operands[1].known;
  const auto wrong = [&](std::string_view why) {
    return EvalError({}, fmt::format("[{}] is not a shape of {}{}", fmt::join(*operands[1].known, ","),
                                     Counted(elements, "element"), why));
  };
  int64_t others = 1, open = 0;
  for (const int64_t size : sizes) {
    if (size < -1) return wrong(": a size is negative");
    if (size == -1) {
      ++open;
    } else if (__builtin_mul_overflow(others, size, &others)) {
      return wrong(": it has more than 2^63");
    }
  }
  if (open > 1) return wrong(": several sizes are -1");
  if (open == 0) {
    if (is_checked && others != elements) return wrong(fmt::format(": it has {}", others));
    return MakeKnown(std::move(sizes));
  }
  if (others == 0 || elements < 0 || elements % others != 0)
    return wrong(fmt::format(": its other sizes have {}", others));
  *std::ranges::find(sizes, -1) = elements / others;
  return MakeKnown(std::move(sizes));
}

absl::StatusOr<Known> KnownOfShapes(const Operation& operation, Operands operands) {
  const std::string_view name = operation.name;
  const Values& first = *operands[0].known;
  if (name == "shape.broadcast") return KnownBroadcast(operands);
  if (name == "shape.cstr_broadcastable") {
    ASSAY_RETURN_IF_ERROR(KnownBroadcast(operands).status());
    return MakeKnown({1});
  }
  if (name == "shape.is_broadcastable") return MakeKnown({KnownBroadcast(operands).ok() ? 1 : 0});
  if (name == "shape.shape_eq" || name == "shape.cstr_eq") {
    const auto same = [&](const SizedValue& other) { return *other.known == first; };
    const bool equal = std::all_of(operands.begin(), operands.end(), same);
    if (name == "shape.cstr_eq" && !equal) {
      return EvalError({}, fmt::format("shapes [{}] and [{}] differ", fmt::join(first, ","),
                                       fmt::join(*operands.back().known, ",")));
    }
    return MakeKnown({equal ? 1 : 0});
  }
  if (name == "shape.cstr_require") {
    if (first.empty() || first[0] == 0)
      return EvalError({}, fmt::format("shape.cstr_require: {}", TextOfField(operation, "msg")));
    return operands[0].known;
  }
  if (name == "shape.compute_reshape_shape") return KnownReshape(operands, /*is_checked=*/false);
  if (name == "shape.cstr_reshapable") {
    ASSAY_RETURN_IF_ERROR(KnownReshape(operands, /*is_checked=*/true).status());
    return MakeKnown({1});
  }
  if (name == "shape.assuming_all") return MakeKnown({1});
  if (name == "shape.any") return operands[0].known;
  if (name == "shape.get_extent" || name == "tensor.extract") {
    if (operands.size() == 1) return Extent(first, 0);
    if (operands.size() != 2 || operands[1].known->size() != 1) return Known();
    return Extent(first, (*operands[1].known)[0]);
  }
  if (name == "shape.rank") return MakeKnown({static_cast<int64_t>(first.size())});
  if (name == "shape.num_elements") {
    int64_t count = 1;
    for (const int64_t size : first) {
      if (__builtin_mul_overflow(count, size, &count))
        return EvalError(
            {}, fmt::format("the number of elements of [{}] does not fit in 64 bits", fmt::join(first, ",")));
    }
    return MakeKnown({count});
  }
  if (name == "shape.concat") return KnownConcatenation(operation, operands, *operands[0].type);
  return Known();
}

// Names that give what they take, or all operands behind each other.
bool IsCopy(std::string_view name) {
  static constexpr std::string_view kNames[] = {"stablehlo.reshape",      "stablehlo.dynamic_reshape",
                                                "shape.to_extent_tensor", "shape.from_extent_tensor",
                                                "shape.size_to_index",    "shape.index_to_size",
                                                "shape.value_as_shape",   "tensor.cast",
                                                "tensor.from_elements",   "shape.from_extents",
                                                "tensor.reshape",         "tensor.splat"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

bool IsConversion(std::string_view name) {
  static constexpr std::string_view kNames[] = {"stablehlo.convert", "arith.index_cast", "arith.index_castui",
                                                "arith.extsi",       "arith.extui",      "arith.trunci",
                                                "index.casts",       "index.castu",      "arith.bitcast"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// A pred becomes 0 or 1 (but for arith.extsi and index.casts: 0 or -1), an integer keeps its low bits, and
// what is not zero becomes true.
Known Converted(const Operation& operation, const SizedValue& operand, ElementType to) {
  const ElementType from = ElementOr64(*operand.type);
  const std::string_view name = operation.name;
  const bool sign = name == "arith.extsi" || name == "arith.index_cast" || name == "index.casts";
  const bool zero = name == "arith.extui" || name == "arith.index_castui" || name == "index.castu";
  Values values = *operand.known;
  for (int64_t& value : values) {
    if (from == ElementType::kPred && sign) value = -value;
    if (zero) value = static_cast<int64_t>(WrapUnsigned(static_cast<uint64_t>(value), Bits(from)));
    if (to == ElementType::kPred && name == "stablehlo.convert") value = value != 0 ? 1 : 0;
    value = Wrapped(to, value);
  }
  return MakeKnown(std::move(values));
}

absl::StatusOr<Known> KnownUnary(const Operation& operation, const SizedValue& operand, ElementType type) {
  Values values = *operand.known;
  const bool is_unsigned = !IsSignedIntegral(type);
  for (int64_t& value : values) {
    if (operation.name == "stablehlo.negate") {
      value = Wrapped(type, static_cast<int64_t>(-static_cast<uint64_t>(value)));
    } else if (operation.name == "stablehlo.not") {
      value = Wrapped(type, ~value);
    } else if (operation.name == "stablehlo.abs") {
      if (!is_unsigned && value < 0)
        value = Wrapped(type, static_cast<int64_t>(-static_cast<uint64_t>(value)));
    } else {  // sign
      value = value == 0 ? 0 : is_unsigned || value > 0 ? 1 : -1;
    }
  }
  return MakeKnown(std::move(values));
}

bool IsUnary(std::string_view name) {
  return name == "stablehlo.negate" || name == "stablehlo.not" || name == "stablehlo.abs" ||
         name == "stablehlo.sign";
}

absl::StatusOr<Known> KnownBinary(Binary operation, Operands operands, ElementType type) {
  const Values &a = *operands[0].known, &b = *operands[1].known;
  if (a.size() != b.size()) return Known();
  Values values(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int64_t value, ApplyBinary(operation, type, a[i], b[i]));
    values[i] = Wrapped(type, value);
  }
  return MakeKnown(std::move(values));
}

// Of an operation whose operands are all known, and whose result has a static type of integers, or one of the
// dialect shape.
absl::StatusOr<Known> KnownOfOperands(const Operation& operation, Operands operands, const Type& type) {
  const std::string_view name = operation.name;
  const ElementType element = ElementOr64(type);
  if (name == "stablehlo.constant" || name == "arith.constant" || name == "index.constant" ||
      name == "chlo.constant" || name == "shape.const_size")
    return KnownConstant(operation, type);
  if (name == "shape.const_shape") {
    const Ints sizes = IntsOfField(operation, "shape");
    return MakeKnown(Values(sizes.begin(), sizes.end()));
  }
  if (name == "shape.const_witness") return MakeKnown({IntOfField(operation, "passing").value_or(0)});
  if (name == "stablehlo.iota" || name == "stablehlo.dynamic_iota")
    return KnownMove(operation, operands, type);
  if (operands.empty()) return name == "tensor.from_elements" ? MakeKnown({}) : Known();
  if (IsCopy(name)) {
    Values values;
    for (const SizedValue& operand : operands) {
      values.insert(values.end(), operand.known->begin(), operand.known->end());
      if (name.ends_with("reshape")) break;
    }
    return MakeKnown(std::move(values));
  }
  if (operands.size() == 1 && IsConversion(name)) return Converted(operation, operands[0], element);
  if (operands.size() == 1 && IsUnary(name)) return KnownUnary(operation, operands[0], element);
  if (const std::optional<Binary> binary = FindBinary(name); binary && operands.size() == 2)
    return KnownBinary(*binary, operands, element);
  if (operands.size() == 2 && (name == "stablehlo.compare" || name == "arith.cmpi"))
    return KnownComparison(operation, operands);
  if (operands.size() == 3 && (name == "stablehlo.select" || name == "arith.select"))
    return KnownSelect(operands);
  if (operands.size() == 3 && name == "stablehlo.clamp") return KnownClamp(operands, element);
  if (name == "stablehlo.concatenate") return KnownConcatenation(operation, operands, type);
  if (name.starts_with("shape.") || name == "tensor.extract") return KnownOfShapes(operation, operands);
  return KnownMove(operation, operands, type);
}

}  // namespace

Known MakeKnown(std::vector<int64_t> values) {
  return std::make_shared<const std::vector<int64_t>>(std::move(values));
}

bool IsStatic(const Type& type) {
  if (type.kind == Type::Kind::kTuple)
    return std::ranges::all_of(type.inputs, [](const Type* part) { return IsStatic(*part); });
  return std::ranges::find(type.sizes, kDynamicSize) == type.sizes.end();
}

bool IsSizeDialect(std::string_view name) {
  return name.starts_with("arith.") || name.starts_with("tensor.") || name.starts_with("shape.") ||
         name.starts_with("index.");
}

std::optional<ElementType> IntegerElement(const Type& type) {
  if (type.kind == Type::Kind::kIndex) return ElementType::kS64;
  if (type.kind != Type::Kind::kElement) return std::nullopt;
  if (type.element == ElementType::kPred || IsIntegral(type.element)) return type.element;
  return std::nullopt;
}

absl::StatusOr<Known> KnownResult(const Operation& operation, absl::Span<const SizedValue> operands,
                                  const Type& type) {
  ASSAY_ASSIGN_OR_RETURN(const std::optional<Known> of_type, KnownOfType(operation, operands));
  Known known;
  if (of_type) {
    known = *of_type;
  } else {
    for (const SizedValue& operand : operands) {
      if (operand.known == nullptr) return Known();
    }
    if (type.kind == Type::Kind::kTensor) {
      int64_t count = 1;
      if (!IsStatic(type) || !IntegerElement(*type.element_type)) return Known();
      for (const int64_t size : type.sizes) {
        if (size > kMaxKnownElements || (count *= size) > kMaxKnownElements) return Known();
      }
    } else if (!IntegerElement(type) && type.kind != Type::Kind::kUnsupported) {
      return Known();
    }
    ASSAY_ASSIGN_OR_RETURN(known, KnownOfOperands(operation, operands, type));
  }
  if (known == nullptr || static_cast<int64_t>(known->size()) > kMaxKnownElements) return Known();
  // What does not have as many elements as the type says is wrong elsewhere.
  if (type.kind == Type::Kind::kTensor && IsStatic(type)) {
    int64_t count = 1;
    for (const int64_t size : type.sizes) count *= size;
    if (count != static_cast<int64_t>(known->size())) return Known();
  } else if (type.kind == Type::Kind::kElement || type.kind == Type::Kind::kIndex) {
    if (known->size() != 1) return Known();
  }
  return known;
}

}  // namespace assay::mlir
