// Matrices of complex doubles and plain loops over them: what the tests of LAPACK's calls check results with.
#ifndef ASSAY_TESTS_CUSTOM_LAPACK_MATRICES_H_
#define ASSAY_TESTS_CUSTOM_LAPACK_MATRICES_H_

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "literal/element_io.h"
#include "run/program.h"

namespace assay::testing {

using Number = std::complex<double>;

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<Number> values;  // row-major
  Matrix(int64_t m, int64_t n) : rows(m), columns(n), values(m * n) {}
  Number& operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  const Number& operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

inline Matrix Identity(int64_t n) {
  Matrix result(n, n);
  for (int64_t i = 0; i < n; ++i) result(i, i) = 1;
  return result;
}
inline Matrix operator*(const Matrix& a, const Matrix& b) {
  REQUIRE(a.columns == b.rows);
  Matrix result(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      for (int64_t j = 0; j < b.columns; ++j) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}
inline Matrix operator-(const Matrix& a, const Matrix& b) {
  REQUIRE((a.rows == b.rows && a.columns == b.columns));
  Matrix result = a;
  for (size_t i = 0; i < b.values.size(); ++i) result.values[i] -= b.values[i];
  return result;
}
inline Matrix Adjoint(const Matrix& a) {
  Matrix result(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) result(j, i) = std::conj(a(i, j));
  }
  return result;
}
inline double Norm(const Matrix& a) {
  double sum = 0;
  for (const Number& value : a.values) sum += std::norm(value);
  return std::sqrt(sum);
}
// Rows 0 … m - 1 and columns 0 … n - 1.
inline Matrix Corner(const Matrix& a, int64_t m, int64_t n) {
  Matrix result(m, n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) result(i, j) = a(i, j);
  }
  return result;
}
// The elements with j - i >= first, the others 0.
inline Matrix UpperPart(const Matrix& a, int64_t first = 0) {
  Matrix result(a.rows, a.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = std::max<int64_t>(i + first, 0); j < a.columns; ++j) result(i, j) = a(i, j);
  }
  return result;
}
inline Matrix Diagonal(const std::vector<Number>& values) {
  Matrix result(static_cast<int64_t>(values.size()), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) result(i, i) = values[i];
  return result;
}

// One of LAPACK's four types: its letter, and HLO's names of it, of its real and of its complex type.
struct LapackType {
  char letter;
  std::string name, real, complex;
  ElementType type;
  bool is_complex() const { return IsComplex(type); }
  double epsilon() const {
    return real == "f32" ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  }
};
inline const std::vector<LapackType>& LapackTypes() {
  static const std::vector<LapackType> types = {{'s', "f32", "f32", "c64", ElementType::kF32},
                                                {'d', "f64", "f64", "c128", ElementType::kF64},
                                                {'c', "c64", "f32", "c64", ElementType::kC64},
                                                {'z', "c128", "f64", "c128", ElementType::kC128}};
  return types;
}

#define CHECK_BELOW(residual, bound)                      \
  do {                                                    \
    const double found_ = Norm(residual);                 \
    const double wanted_ = bound;                         \
    INFO("residual " << found_ << ", bound " << wanted_); \
    CHECK(found_ <= wanted_);                             \
  } while (false)
// docs/linear_algebra.md: the residual of results that LAPACK gives, or that each step of has been rounded,
// is within 32 n eps of the size of what it is the residual of.
#define CHECK_WITHIN(residual, size, n, lapack_type) \
  CHECK_BELOW(residual, 32 * static_cast<double>(std::max<int64_t>(n, 1)) * (lapack_type).epsilon() * (size))
// That of exact results rounded once: 2 sqrt(n) eps.
#define CHECK_ROUNDED(residual, size, n, lapack_type)                                 \
  CHECK_BELOW(residual, 2 * std::sqrt(static_cast<double>(std::max<int64_t>(n, 1))) * \
                            (lapack_type).epsilon() * (size))

// Q* Q = 1, to a unit of each element.
inline void CheckUnitary(const Matrix& q, const LapackType& type) {
  CHECK_BELOW(Adjoint(q) * q - Identity(q.columns),
              2 * std::sqrt(static_cast<double>(q.columns)) * type.epsilon());
}

inline Literal LiteralOf(const LapackType& type, const std::vector<int64_t>& sizes,
                         const std::vector<Number>& values) {
  Literal literal = *Literal::Make(Shape::ArrayOrDie(type.type, sizes));
  for (size_t i = 0; i < values.size(); ++i) {
    ScalarValue value;
    value.kind = type.is_complex() ? ComputeKind::kComplex : ComputeKind::kReal;
    value.r = values[i].real();
    value.c = values[i];
    StoreElement(type.type, value, literal.MutableBytes().data() + i * Bytes(type.type));
  }
  return literal;
}
// Numbers of a normal distribution.
inline Literal Draw(const LapackType& type, const std::vector<int64_t>& sizes, int seed = 1) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  std::vector<Number> values(count);
  for (Number& value : values) value = {normal(generator), type.is_complex() ? normal(generator) : 0};
  return LiteralOf(type, sizes, values);
}

inline Number NumberAt(const Literal& literal, int64_t position) {
  const ElementType type = literal.shape().element_type();
  const ScalarValue value = LoadElement(type, literal.data() + position * Bytes(type));
  return IsComplex(type)             ? value.c
         : type == ElementType::kS32 ? Number(static_cast<double>(value.i))
                                     : value.r;
}
// Matrix number `index` of a batch.
inline Matrix MatrixAt(const Literal& literal, int64_t index = 0) {
  const Shape& shape = literal.shape();
  Matrix result(shape.size(shape.rank() - 2), shape.size(shape.rank() - 1));
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = NumberAt(literal, index * static_cast<int64_t>(result.values.size()) + i);
  return result;
}
inline std::vector<Number> VectorAt(const Literal& literal, int64_t index = 0) {
  std::vector<Number> result(literal.shape().sizes().back());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = NumberAt(literal, index * static_cast<int64_t>(result.size()) + i);
  return result;
}
inline Matrix ColumnAt(const Literal& literal, int64_t index = 0) {
  const std::vector<Number> values = VectorAt(literal, index);
  Matrix result(static_cast<int64_t>(values.size()), 1);
  result.values = values;
  return result;
}
inline int64_t IntAt(const Literal& literal, int64_t position = 0) {
  return static_cast<int64_t>(NumberAt(literal, position).real());
}
inline bool AllNan(const Literal& literal) {
  for (int64_t i = 0; i < literal.shape().num_elements(); ++i) {
    if (!std::isnan(NumberAt(literal, i).real())) return false;
  }
  return true;
}
inline bool AllZero(const Literal& literal) {
  for (int64_t i = 0; i < literal.shape().num_elements(); ++i) {
    if (NumberAt(literal, i) != Number(0)) return false;
  }
  return true;
}

// The program of one call, as JAX writes it.
inline std::string CallProgram(const std::string& target, const std::vector<std::string>& operands,
                               const std::string& result, const std::string& config = "") {
  std::string program = "HloModule m\n\nENTRY e {\n", names;
  for (size_t i = 0; i < operands.size(); ++i) {
    program += fmt::format("  p{0} = {1} parameter({0})\n", i, operands[i]);
    names += fmt::format("{}p{}", i > 0 ? ", " : "", i);
  }
  return program + fmt::format(
                       "  ROOT r = {} custom-call({}), custom_call_target=\"{}\", "
                       "api_version=API_VERSION_TYPED_FFI, backend_config={{{}}}\n}}\n",
                       result, names, target, config);
}

// Runs a call by the engines, each step again by the reference: the same bits.
inline std::vector<Literal> RunCall(const std::string& target, const std::vector<Literal>& operands,
                                    const std::string& result, const std::string& config = "",
                                    std::shared_ptr<const CustomOps> ops = nullptr) {
  std::vector<std::string> shapes;
  for (const Literal& operand : operands) shapes.push_back(operand.shape().ToString());
  const std::string text = CallProgram(target, shapes, result, config);
  INFO(text);
  const absl::StatusOr<Program> program = Program::Load("program.hlo", text, {.custom_ops = std::move(ops)});
  INFO(program.status());
  REQUIRE(program.ok());
  RunOptions options;
  options.crosscheck = Crosscheck::kFull;
  absl::StatusOr<Literal> value = program->Run(operands, options);
  INFO(value.status());
  REQUIRE(value.ok());
  if (!value->shape().IsTuple()) return {*value};
  return std::move(*value).TakeElements();
}

// The error of a call that is refused, "" where it is not.
inline std::string CallRefusal(const std::string& target, const std::vector<std::string>& operands,
                               const std::string& result, const std::string& config = "") {
  const absl::StatusOr<Program> program =
      Program::Load("program.hlo", CallProgram(target, operands, result, config));
  return program.ok() ? "" : std::string(program.status().message());
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_CUSTOM_LAPACK_MATRICES_H_
