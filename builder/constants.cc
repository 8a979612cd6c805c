// Parameters, constants and iota (docs/spec/operations-shape.md Constant, Iota;
// docs/spec/operations-control.md Parameter).
#include <cstring>

#include "base/checked.h"
#include "base/counted.h"
#include "builder/internal.h"

namespace assay::builder {
namespace {

// The element type of a C++ type.
template <typename T>
constexpr ElementType TypeOf();
#define TYPE(cpp, id)                   \
  template <>                           \
  constexpr ElementType TypeOf<cpp>() { \
    return ElementType::id;             \
  }
#include "builder/constant_types.def"
#undef TYPE

// C++ and literals store these types alike: row-major, one element in sizeof(T) bytes.
absl::StatusOr<XlaOp> AddConstant(XlaBuilder* builder, ElementType type, Int64s sizes, size_t count,
                                  const void* values, size_t bytes) {
  const auto wanted = CheckedProduct(AsSpan(sizes));
  if (!wanted.has_value() || *wanted != static_cast<int64_t>(count)) {
    return InvalidProgram({}, fmt::format("constant: {} for sizes [{}]", Counted(count, "value"),
                                          fmt::join(sizes.begin(), sizes.end(), ",")));
  }
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, Shape::Array(type, AsSpan(sizes)));
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  if (bytes > 0) std::memcpy(literal.MutableBytes().data(), values, bytes);
  return builder->Add({.opcode = Opcode::kConstant,
                       .shape = Shared(shape),
                       .literal = std::make_shared<const Literal>(std::move(literal))});
}

XlaOp ScalarInt(XlaBuilder* builder, ElementType type, int64_t value) {
  if (IsIntegral(type) || type == ElementType::kPred) {
    return ConstantLiteral(builder, Literal::ScalarInt(type, value));
  }
  return ConstantR0WithType(builder, type, static_cast<double>(value));
}

}  // namespace

XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape, const std::string& name) {
  return Emit(
      builder,
      {.opcode = Opcode::kParameter, .shape = Shared(shape), .parameter_number = number, .name = name});
}

XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal) {
  return Emit(builder, {.opcode = Opcode::kConstant,
                        .shape = literal.shared_shape(),
                        .literal = std::make_shared<const Literal>(literal)});
}

template <typename T>
XlaOp ConstantFromArray(XlaBuilder* builder, Int64s sizes, absl::Span<const T> values) {
  return RunIn(builder, [&] {
    return AddConstant(builder, TypeOf<T>(), sizes, values.size(), values.data(), values.size() * sizeof(T));
  });
}

template <typename T>
XlaOp ConstantR0(XlaBuilder* builder, T value) {
  return ConstantFromArray<T>(builder, {}, absl::Span<const T>(&value, 1));
}

template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, absl::Span<const T> values) {
  return ConstantFromArray<T>(builder, {static_cast<int64_t>(values.size())}, values);
}

template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, std::initializer_list<T> values) {
  return ConstantR1<T>(builder, absl::Span<const T>(values.begin(), values.size()));
}

template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, int64_t length, T value) {
  return Broadcast(ConstantR0<T>(builder, value), {length});
}

template <typename T>
XlaOp ConstantR2(XlaBuilder* builder, std::initializer_list<std::initializer_list<T>> values) {
  const size_t columns = values.size() == 0 ? 0 : values.begin()->size();
  std::unique_ptr<T[]> flat = std::make_unique<T[]>(values.size() * columns);
  size_t n = 0;
  for (const auto& row : values) {
    if (row.size() != columns) {
      return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
        return InvalidProgram(
            {}, fmt::format("constant: rows of {} and {}", columns, Counted(row.size(), "value")));
      });
    }
    for (const T value : row) flat[n++] = value;
  }
  return ConstantFromArray<T>(builder, {static_cast<int64_t>(values.size()), static_cast<int64_t>(columns)},
                              absl::Span<const T>(flat.get(), n));
}

#define TYPE(T, id)                                                                           \
  template XlaOp ConstantR0<T>(XlaBuilder*, T);                                               \
  template XlaOp ConstantR1<T>(XlaBuilder*, absl::Span<const T>);                             \
  template XlaOp ConstantR1<T>(XlaBuilder*, std::initializer_list<T>);                        \
  template XlaOp ConstantR1<T>(XlaBuilder*, int64_t, T);                                      \
  template XlaOp ConstantR2<T>(XlaBuilder*, std::initializer_list<std::initializer_list<T>>); \
  template XlaOp ConstantFromArray<T>(XlaBuilder*, Int64s, absl::Span<const T>);
#include "builder/constant_types.def"
#undef TYPE

XlaOp ConstantR0WithType(XlaBuilder* builder, ElementType type, double value) {
  if (IsComplex(type)) {
    if (type == ElementType::kC64) return ConstantR0<std::complex<float>>(builder, static_cast<float>(value));
    return ConstantR0<std::complex<double>>(builder, value);
  }
  if (IsFloat(type)) return ConstantLiteral(builder, Literal::ScalarDouble(type, value));
  if (!(value >= -0x1p63 && value < 0x1p63)) {
    return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
      return InvalidProgram({}, fmt::format("constant: {} is not a value of {}", value, assay::Name(type)));
    });
  }
  return ConstantLiteral(builder, Literal::ScalarInt(type, static_cast<int64_t>(value)));
}

XlaOp Zero(XlaBuilder* builder, ElementType type) { return ScalarInt(builder, type, 0); }
XlaOp One(XlaBuilder* builder, ElementType type) { return ScalarInt(builder, type, 1); }

XlaOp Zeros(XlaBuilder* builder, const Shape& shape) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    if (!shape.IsArray()) {
      return InvalidProgram({}, fmt::format("zeros: shape must be an array, is {}", shape.ToString()));
    }
    return Broadcast(Zero(builder, shape.element_type()), Int64s(shape.sizes().data(), shape.sizes().size()));
  });
}

XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension) {
  return Emit(builder,
              {Opcode::kIota, {}, Attributes({{Attr::kIotaDimension, iota_dimension}}), Shared(shape)});
}

XlaOp Iota(XlaBuilder* builder, ElementType type, int64_t size) {
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, Shape::Array(type, std::span<const int64_t>(&size, 1)));
    return Iota(builder, shape, 0);
  });
}

}  // namespace assay::builder
