#include "hlo/mlir/quantized/writer.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "literal/float_format.h"

namespace assay::mlir {
namespace {

ScalarValue RealScalar(double value) {
  ScalarValue scalar;
  scalar.kind = ComputeKind::kReal;
  scalar.r = value;
  return scalar;
}

ScalarValue IntegerScalar(ElementType type, int64_t value) {
  ScalarValue scalar;
  scalar.kind = IsSignedIntegral(type) ? ComputeKind::kInt64 : ComputeKind::kUint64;
  scalar.i = value;
  scalar.u = static_cast<uint64_t>(value);
  return scalar;
}

// RN_E of an integer; past the largest finite value that value, where E has no infinity.
double Bound(int64_t value, const FloatFormat& format) {
  const double rounded = RoundToFormat(static_cast<double>(value), format);
  const bool overflows = !format.has_infinity() && std::fabs(static_cast<double>(value)) > format.max_finite;
  return overflows && !(std::fabs(rounded) <= format.max_finite)
             ? std::copysign(format.max_finite, static_cast<double>(value))
             : rounded;
}

// QUANT-15: the integers in which z is subtracted from q, wide enough for every difference.
ElementType WideOf(const Quantization& type) {
  return Bits(type.storage) <= 16 ? ElementType::kS32 : ElementType::kS64;
}

bool HasDynamicSize(const Type& tensor) {
  return std::ranges::find(tensor.sizes, kDynamicSize) != tensor.sizes.end();
}

}  // namespace

const Quantization* QuantizationOf(const Type& type) {
  if (type.kind != Type::Kind::kTensor || type.element_type->kind != Type::Kind::kQuantized) return nullptr;
  return type.element_type->quantization;
}

int64_t StorageOfZero(const Quantization& type, size_t pair) {
  const FloatFormat& format = *Info(type.expressed).format;
  double value = RoundToFormat(static_cast<double>(type.zero_points[pair]), format);
  if (std::isnan(value)) value = 0;
  value = std::clamp(value, Bound(type.storage_min, format), Bound(type.storage_max, format));
  const auto smallest = static_cast<double>(type.storage_min),
             largest = static_cast<double>(type.storage_max);
  return static_cast<int64_t>(std::clamp(std::nearbyint(value), smallest, largest));
}

QuantizedWriter::QuantizedWriter(Tree& tree) : tree_(tree), elements_(kNumElementTypes) {
  if (tree.top != nullptr) NoteNames(*tree.top);
}

void QuantizedWriter::NoteNames(const Region& region) {
  for (const Operation* operation : region.operations) {
    names_.emplace(absl::string_view(operation->name.data(), operation->name.size()), operation->name_id);
    for (const Region& nested : operation->regions) NoteNames(nested);
  }
}

void QuantizedWriter::Begin(Place* place, const Operation& from) {
  place_ = place;
  from_ = &from;
}

Operation* QuantizedWriter::NewOperation(std::string_view name, absl::Span<Value* const> operands,
                                         absl::Span<const NamedAttribute> attributes) {
  Operation* const operation = tree_.arena().New<Operation>();
  operation->name = name;
  const auto [known, is_new] = names_.try_emplace(absl::string_view(name.data(), name.size()), 0);
  if (is_new) known->second = tree_.NewName();
  operation->name_id = known->second;
  operation->position = from_->position;
  operation->offset = from_->offset;
  operation->location = from_->location;
  operation->operands = tree_.arena().Copy(operands.data(), operands.size());
  operation->attributes = tree_.arena().Copy(attributes.data(), attributes.size());
  Append(operation);
  return operation;
}

Operation* QuantizedWriter::AppendWith(const Operation& operation, absl::Span<Value* const> operands) {
  Operation* const copy = tree_.arena().New<Operation>();
  *copy = operation;
  copy->operands = tree_.arena().Copy(operands.data(), operands.size());
  for (Value& result : copy->results) result.owner = copy;
  Append(copy);
  return copy;
}

Value* QuantizedWriter::Apply(std::string_view name, absl::Span<Value* const> operands, const Type* result,
                              absl::Span<const NamedAttribute> attributes) {
  Operation* const operation = NewOperation(name, operands, attributes);
  operation->results = tree_.NewValues(1, operation, place_->depth);
  operation->results[0].type = result;
  return operation->results.data();
}

void QuantizedWriter::ApplyTo(Value* result, std::string_view name, absl::Span<Value* const> operands,
                              absl::Span<const NamedAttribute> attributes) {
  Operation* const operation = NewOperation(name, operands, attributes);
  operation->results = {result, 1};
  result->owner = operation;
  result->index = 0;
}

const Type* QuantizedWriter::ElementOf(ElementType type) {
  const Type*& known = elements_[static_cast<size_t>(type)];
  if (known == nullptr) {
    Type* const made = tree_.NewType(Type::Kind::kElement);
    made->element = type;
    known = made;
  }
  return known;
}

const Type* QuantizedWriter::TensorOf(const Type& element, const Type& tensor) {
  Type* const made = tree_.NewType(Type::Kind::kTensor);
  made->sizes = tensor.sizes;
  made->bounds = tensor.bounds;
  made->element_type = &element;
  return made;
}

const Type* QuantizedWriter::TensorOf(ElementType element, const Type& tensor) {
  return TensorOf(*ElementOf(element), tensor);
}

NamedAttribute QuantizedWriter::Integer(std::string_view name, int64_t value) {
  Attribute* const attribute = tree_.NewAttribute(Attribute::Kind::kInteger);
  attribute->integer = value;
  return {name, attribute};
}

// dense<...> of one value for all of the tensor, or of one for each element.
const Attribute* QuantizedWriter::Dense(ElementType type, absl::Span<const ScalarValue> values,
                                        const Type* tensor) {
  Attribute* const dense = tree_.NewAttribute(Attribute::Kind::kDense);
  dense->type = tensor;
  dense->is_splat = values.size() == 1;
  const auto bytes = static_cast<size_t>(Bytes(type));
  const std::span<std::byte> data = tree_.arena().Array<std::byte>(values.size() * bytes);
  for (size_t i = 0; i < values.size(); ++i) StoreElement(type, values[i], data.data() + i * bytes);
  dense->data = data;
  return dense;
}

Value* QuantizedWriter::Constant(const Attribute* dense) {
  return Apply("stablehlo.constant", {}, dense->type, {{"value", dense}});
}

Value* QuantizedWriter::Scalar(ElementType type, const ScalarValue& value) {
  static const Type kScalar = [] {
    Type scalar;
    scalar.kind = Type::Kind::kTensor;
    return scalar;
  }();
  return Constant(Dense(type, {value}, TensorOf(type, kScalar)));
}

// An array with the run-time sizes of another: those are set one by one on an array of the bounds' sizes.
Value* QuantizedWriter::WithSizesOf(Value* whole, Value* like) {
  const Type& wanted = *like->type;
  const Type& element = *whole->type->element_type;
  for (size_t d = 0; d < wanted.sizes.size(); ++d) {
    if (wanted.sizes[d] != kDynamicSize) continue;
    const NamedAttribute dimension[] = {Integer("dimension", static_cast<int64_t>(d))};
    const Type* const count = TensorOf(ElementType::kS32, Type{.kind = Type::Kind::kTensor});
    Value* const size = Apply("stablehlo.get_dimension_size", {like}, count, dimension);
    Type* const type = tree_.NewType(Type::Kind::kTensor);
    const std::span<int64_t> sizes = tree_.arena().Copy(whole->type->sizes.data(), wanted.sizes.size());
    const std::span<int64_t> bounds = tree_.arena().Array<int64_t>(wanted.sizes.size());
    for (size_t i = 0; i < bounds.size(); ++i) {
      if (i <= d && wanted.sizes[i] == kDynamicSize) sizes[i] = kDynamicSize;
      bounds[i] = sizes[i] == kDynamicSize ? wanted.bounds[i] : kDynamicSize;
    }
    type->sizes = sizes;
    type->bounds = bounds;
    type->element_type = &element;
    whole = Apply("stablehlo.set_dimension_size", {whole, size}, type, dimension);
  }
  return whole;
}

// The type of a constant like `like`, of which dynamic dimensions have the size of their bounds. Null:
// one has none.
const Type* QuantizedWriter::WholeType(ElementType type, const Type& like) {
  if (!HasDynamicSize(like)) return TensorOf(type, like);
  Type* const whole = tree_.NewType(Type::Kind::kTensor);
  const std::span<int64_t> sizes = tree_.arena().Copy(like.sizes.data(), like.sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != kDynamicSize) continue;
    sizes[d] = like.bounds.empty() ? kDynamicSize : like.bounds[d];
    if (sizes[d] != kDynamicSize) continue;
    status_ = NotSupported({}, fmt::format("{}: arithmetic with quantized numbers in {}, a dimension of "
                                           "which has no bound",
                                           from_->name, ToString(like)));
    return nullptr;
  }
  whole->sizes = sizes;
  whole->element_type = ElementOf(type);
  return whole;
}

Value* QuantizedWriter::Integers(ElementType type, int64_t number, Value* like) {
  const Type* const whole = WholeType(type, *like->type);
  if (whole == nullptr) return like;
  return WithSizesOf(Constant(Dense(type, {IntegerScalar(type, number)}, whole)), like);
}

// One number for each pair of scale and zero point. Scales are rounded to f64 when they are read,
// and to E here.
std::vector<ScalarValue> QuantizedWriter::Numbers(Parameter parameter, const Quantization& type) const {
  const FloatFormat& format = *Info(type.expressed).format;
  std::vector<ScalarValue> numbers;
  for (size_t i = 0; i < type.scales.size(); ++i) {
    switch (parameter) {
      case Parameter::kScale:
        numbers.push_back(RealScalar(RoundToFormat(type.scales[i], format)));
        break;
      case Parameter::kZeroPoint:
        numbers.push_back(IntegerScalar(WideOf(type), type.zero_points[i]));
        break;
      case Parameter::kExpressedZeroPoint:
        numbers.push_back(RealScalar(RoundToFormat(static_cast<double>(type.zero_points[i]), format)));
        break;
    }
  }
  return numbers;
}

// Many pairs are written once, however many operations use them.
Value* QuantizedWriter::Spread(Parameter parameter, const Quantization& type, Value* like) {
  const ElementType element = parameter == Parameter::kZeroPoint ? WideOf(type) : type.expressed;
  const Type* const whole = WholeType(element, *like->type);
  if (whole == nullptr) return like;
  if (type.scales.size() == 1)
    return WithSizesOf(Constant(Dense(element, Numbers(parameter, type), whole)), like);
  const Attribute*& row = rows_[{&type, parameter}];
  if (row == nullptr) {
    Type* const tensor = tree_.NewType(Type::Kind::kTensor);
    const auto count = static_cast<int64_t>(type.scales.size());
    tensor->sizes = tree_.arena().Copy(&count, 1);
    tensor->element_type = ElementOf(element);
    row = Dense(element, Numbers(parameter, type), tensor);
  }
  Attribute* const dimensions = tree_.NewAttribute(Attribute::Kind::kIntegers);
  dimensions->integers = tree_.arena().Copy(&type.axis, 1);
  Value* const spread =
      Apply("stablehlo.broadcast_in_dim", {Constant(row)}, whole, {{"broadcast_dimensions", dimensions}});
  return WithSizesOf(spread, like);
}

// D1 = RN_E(q - z). A subtraction of zeros is left out. QUANT-11: q may be outside of the type's range.
Value* QuantizedWriter::Difference(Value* quantized) {
  const Quantization& type = *QuantizationOf(*quantized->type);
  Value* value = quantized;
  if (type.has_zero_points()) {
    value = Apply("stablehlo.convert", {value}, TensorOf(WideOf(type), *quantized->type));
    value = Apply("stablehlo.subtract", {value, Spread(Parameter::kZeroPoint, type, quantized)}, value->type);
  }
  return Apply("stablehlo.convert", {value}, TensorOf(type.expressed, *quantized->type));
}

// D2 = RN_E(D1 * s_E).
Value* QuantizedWriter::Dequantized(Value* quantized) {
  if (const auto known = place_->dequantized.find(quantized); known != place_->dequantized.end()) {
    return known->second;
  }
  const Quantization& type = *QuantizationOf(*quantized->type);
  Value* const difference = Difference(quantized);
  Value* const real =
      Apply("stablehlo.multiply", {difference, Spread(Parameter::kScale, type, quantized)}, difference->type);
  place_->dequantized.emplace(quantized, real);
  return real;
}

void QuantizedWriter::DequantizeTo(Value* result, Value* quantized) {
  Value* const difference = Difference(quantized);
  ApplyTo(result, "stablehlo.multiply",
          {difference, Spread(Parameter::kScale, *QuantizationOf(*quantized->type), quantized)});
  place_->dequantized.emplace(quantized, result);
}

// Q1 = RN_E(x / s_E), Q2 = RN_E(Q1 + z_E), Q3 = clamp(lo_E, Q2, hi_E), Q4 = Q3 to an integral value, ties to
// even, Q5 = clamp(smin, int(Q4), smax). An addition of zeros is left out, and the last clamp where all of S
// is in the range. QUANT-16: z_E is added before the rounding. QUANT-17: convert takes NaN to 0, which the
// last clamp puts into the range.
void QuantizedWriter::QuantizeTo(Value* result, Value* real) {
  const Quantization& type = *QuantizationOf(*result->type);
  const FloatFormat& format = *Info(type.expressed).format;
  const Type* const expressed = TensorOf(type.expressed, *result->type);
  Value* value = Apply("stablehlo.divide", {real, Spread(Parameter::kScale, type, real)}, expressed);
  if (type.has_zero_points()) {
    value = Apply("stablehlo.add", {value, Spread(Parameter::kExpressedZeroPoint, type, real)}, expressed);
  }
  Value* const low = Scalar(type.expressed, RealScalar(Bound(type.storage_min, format)));
  Value* const high = Scalar(type.expressed, RealScalar(Bound(type.storage_max, format)));
  value = Apply("stablehlo.clamp", {low, value, high}, expressed);
  value = Apply("stablehlo.round_nearest_even", {value}, expressed);
  if (type.has_whole_range()) return ApplyTo(result, "stablehlo.convert", {value});
  value = Apply("stablehlo.convert", {value}, TensorOf(type.storage, *result->type));
  Value* const smallest = Scalar(type.storage, IntegerScalar(type.storage, type.storage_min));
  Value* const largest = Scalar(type.storage, IntegerScalar(type.storage, type.storage_max));
  ApplyTo(result, "stablehlo.clamp", {smallest, value, largest});
}

Value* QuantizedWriter::Requantized(Value* quantized, const Type& element) {
  const Quantization* const from = QuantizationOf(*quantized->type);
  if (from == nullptr || SameQuantization(*from, *element.quantization)) return quantized;
  Value* const result = tree_.NewValue(TensorOf(element, *quantized->type), nullptr, place_->depth);
  QuantizeTo(result, Dequantized(quantized));
  return result;
}

void QuantizedWriter::ApplyOnReals(const Operation& operation) {
  std::vector<Value*> operands;
  for (Value* operand : operation.operands)
    operands.push_back(QuantizationOf(*operand->type) == nullptr ? operand : Dequantized(operand));
  const bool quantizes = !operation.results.empty() && QuantizationOf(*operation.results[0].type) != nullptr;
  if (!quantizes) {
    AppendWith(operation, operands);
    return;
  }
  Operation* const real = tree_.arena().New<Operation>();
  *real = operation;
  real->operands = tree_.arena().Copy(operands);
  real->results = tree_.NewValues(operation.results.size(), real, place_->depth);
  for (size_t i = 0; i < real->results.size(); ++i) {
    const Type& type = *operation.results[i].type;
    real->results[i].type = TensorOf(QuantizationOf(type)->expressed, type);
  }
  Append(real);
  for (size_t i = 0; i < real->results.size(); ++i)
    QuantizeTo(operation.results.data() + i, real->results.data() + i);
}

}  // namespace assay::mlir
