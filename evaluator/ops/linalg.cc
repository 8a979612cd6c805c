// cholesky and triangular-solve (spec/operations-linalg.md, "Solvers"): inner sums are exact, every RN of the
// formulas is one rounding to the element type (complex: a component at a time).

#include <algorithm>
#include <complex>
#include <vector>

#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/ops/loops.h"
#include "evaluator/scalar/complex.h"
#include "evaluator/scalar/exact_sum.h"
#include "evaluator/scalar/real.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

absl::Status Invalid(const InferContext& context, std::string_view message) {
  return InvalidProgram(context.instruction.position, message);
}

// A real or complex matrix of doubles, row-major, its parts in planes.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns, bool complex)
      : columns_(columns), real_(rows * columns), imaginary_(complex ? rows * columns : 0) {}
  bool complex() const { return !imaginary_.empty(); }
  int64_t columns() const { return columns_; }
  Complex at(int64_t i, int64_t j) const {
    const int64_t p = i * columns_ + j;
    return {real_[p], complex() ? imaginary_[p] : 0};
  }
  void Set(int64_t i, int64_t j, Complex value) {
    const int64_t p = i * columns_ + j;
    real_[p] = value.real();
    if (complex()) imaginary_[p] = value.imag();
  }
  const double* real(int64_t i) const { return real_.data() + i * columns_; }
  const double* imaginary(int64_t i) const { return imaginary_.data() + i * columns_; }

 private:
  int64_t columns_;
  std::vector<double> real_, imaginary_;
};

// b - sum over k < n of a[i, k] * x[j, k] (x conjugated or not), each component exact and rounded once.
// `minus_a` holds -a.
class InnerSum {
 public:
  explicit InnerSum(const FloatFormat& format) : format_(format) {}

  Complex Subtract(Complex b, const Matrix& minus_a, int64_t i, const Matrix& x, int64_t j, int64_t n,
                   bool conjugate) {
    real_.Clear();
    real_.Add(b.real());
    real_.AddProducts(minus_a.real(i), 1, x.real(j), 1, n);
    if (!minus_a.complex()) return real_.Round(format_);
    imaginary_.Clear();
    imaginary_.Add(b.imag());
    imaginary_.AddProducts(minus_a.imaginary(i), 1, x.real(j), 1, n);
    negated_.resize(n);
    for (int64_t k = 0; k < n; ++k) negated_[k] = -x.imaginary(j)[k];
    const double* const plus = x.imaginary(j);
    real_.AddProducts(minus_a.imaginary(i), 1, conjugate ? plus : negated_.data(), 1, n);
    imaginary_.AddProducts(minus_a.real(i), 1, conjugate ? negated_.data() : plus, 1, n);
    return {real_.Round(format_), imaginary_.Round(format_)};
  }

 private:
  const FloatFormat& format_;
  ExactSum real_, imaginary_;
  std::vector<double> negated_;
};

Complex LoadComplex(ElementType type, const std::byte* src) {
  double parts[2] = {0, 0};
  LoadStrip(type, src, 0, 1, parts);
  return {parts[0], parts[1]};
}
void StoreComplex(ElementType type, Complex value, std::byte* dst) {
  const double parts[2] = {value.real(), value.imag()};
  StoreStrip(type, parts, 1, dst, 0);
}

// The loops over all but the last two dimensions.
LoopDims BatchLoops(const Literal& a, const DimVector& a_strides, const DimVector& b_strides) {
  LoopDims loops;
  for (int64_t d = 0; d + 2 < a.shape().rank(); ++d)
    loops.push_back({a.dynamic_size(d), {a_strides[d], b_strides[d]}});
  return MergeLoops(loops);
}

// Where the result has no element a size may be anything, and nothing is computed.
int64_t MatrixElements(const Literal& result, int64_t n) {
  return result.shape().num_elements() == 0 ? 0 : n * n;
}

// ---- cholesky --------------------------------------------------------------------------------------------
//
// lower: a = L L^H from the lower triangle of a; for j, then i > j:
//   s = RN(a_jj - sum over k < j of |L_jk|^2); s < 0 or NaN: the matrix fails;  L_jj = RN(sqrt s)
//   L_ij = RN(RN(a_ij - sum over k < j of L_ik conj(L_jk)) / L_jj)
// upper: a = U^H U from the upper triangle; U = L^H where L is computed from conj(a_ji). The other triangle
// is zero; a failed matrix is all NaN.

absl::StatusOr<Shape> InferCholesky(const InferContext& context) {
  const Shape& a = context.operand(0);
  if (!a.IsArray() || !(kFloatTypes | kComplexTypes).Has(a.element_type())) {
    return Invalid(context, fmt::format("Cholesky-C1: the operand is {}, wanted floating or complex elements",
                                        a.ToString()));
  }
  if (a.rank() < 2)
    return Invalid(context, fmt::format("Cholesky-C2: the operand has rank {}, wanted at least 2", a.rank()));
  if (a.size(a.rank() - 2) != a.size(a.rank() - 1)) {
    return Invalid(context,
                   fmt::format("Cholesky-C3: the operand is {}, wanted square matrices", a.ToString()));
  }
  return a;
}

// One matrix. `a` gives a_ij for i >= j, as the lower form reads it. False: it fails.
class CholeskyFactor {
 public:
  CholeskyFactor(int64_t n, ElementType type)
      : format_(*Info(type).format),
        n_(n),
        l_(n, n, IsComplex(type)),
        minus_l_(n, n, IsComplex(type)),
        sum_(format_) {}

  template <typename Element>
  absl::StatusOr<bool> Factor(Element a, Meter& meter) {
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        const Complex s = sum_.Subtract(a(i, j), minus_l_, i, l_, j, j, /*conjugate=*/true);
        const double pivot = l_.at(j, j).real();
        Put(i, j,
            {RealDivide(s.real(), pivot, format_), l_.complex() ? RealDivide(s.imag(), pivot, format_) : 0});
        ASSAY_RETURN_IF_ERROR(meter.Add(j + 1));
      }
      const Complex s = sum_.Subtract(a(i, i).real(), minus_l_, i, l_, i, i, /*conjugate=*/true);
      if (!(s.real() >= 0)) return false;
      Put(i, i, RealSqrt(s.real(), format_));
    }
    return true;
  }
  const Matrix& l() const { return l_; }

 private:
  void Put(int64_t i, int64_t j, Complex value) {
    l_.Set(i, j, value);
    minus_l_.Set(i, j, -value);
  }

  const FloatFormat& format_;
  const int64_t n_;
  Matrix l_, minus_l_;
  InnerSum sum_;
};

absl::StatusOr<Literal> EvalCholesky(EvalContext& context, std::span<Literal> operands) {
  const Literal& a = operands[0];
  const ElementType type = a.shape().element_type();
  const int64_t rank = a.shape().rank(), bytes = Bytes(type);
  const bool lower = context.attributes().Bool(Attr::kLower);
  const DimVector strides = StridesOf(a);
  const int64_t n = a.dynamic_size(rank - 1);
  if (a.dynamic_size(rank - 2) != n) {
    return EvalError(
        context.instruction().position,
        fmt::format("DYN-3: cholesky: matrices of run-time size {}x{}", a.dynamic_size(rank - 2), n));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(true));
  std::byte* const dst = result.MutableBytes().data();
  const int64_t row = strides[rank - 2];
  const double nan = CanonicalNaN(*Info(type).format);
  Meter meter(context);
  ASSAY_ASSIGN_OR_RETURN(const Literal scratch, ReserveScratch(context, MatrixElements(result, n), 32));
  const LoopDims loops = BatchLoops(a, strides, strides);
  for (Loop batch(loops); result.shape().num_elements() > 0 && !batch.done(); batch.Next()) {
    const std::byte* const src = a.data() + batch.offset(0) * bytes;
    CholeskyFactor factor(n, type);
    const auto element = [&](int64_t i, int64_t j) {
      if (lower) return LoadComplex(type, src + (i * row + j) * bytes);
      return std::conj(LoadComplex(type, src + (j * row + i) * bytes));
    };
    ASSAY_ASSIGN_OR_RETURN(const bool ok, factor.Factor(element, meter));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (ok && j > i) break;
        Complex value = ok ? factor.l().at(i, j) : Complex(nan, nan);
        if (ok && !lower && i != j) value = std::conj(value);
        StoreComplex(type, value, dst + (batch.offset(0) + (lower ? i * row + j : j * row + i)) * bytes);
      }
    }
    ASSAY_RETURN_IF_ERROR(meter.Add(n * n));
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, a.runtime_sizes());
  return result;
}

// ---- triangular-solve ------------------------------------------------------------------------------------
//
// op(a) X = b (left) or X op(a) = b, op = identity, transpose or conjugate transpose; only the lower or upper
// triangle of a is read, its diagonal taken as 1 if unit_diagonal. Unknowns in dependency order:
//   x_i = RN(RN(b_i - sum over known j of op(a)_ij x_j) / op(a)_ii), no division for unit_diagonal
// The right side is the left side on the transposed system.

absl::StatusOr<Shape> InferTriangularSolve(const InferContext& context) {
  const Shape& a = context.operand(0);
  const Shape& b = context.operand(1);
  if (!a.IsArray() || !b.IsArray() || a.element_type() != b.element_type() ||
      !(kFloatTypes | kComplexTypes).Has(a.element_type())) {
    return Invalid(context,
                   fmt::format("TriangularSolve-C1: operands are {} and {}, wanted one floating or complex "
                               "element type",
                               a.ToString(), b.ToString()));
  }
  if (a.rank() < 2 || b.rank() != a.rank()) {
    return Invalid(
        context, fmt::format("TriangularSolve-C2: operands have ranks {} and {}, wanted the same, at least 2",
                             a.rank(), b.rank()));
  }
  const int64_t r = a.rank(), n = a.size(r - 1);
  if (a.size(r - 2) != n) {
    return Invalid(context, fmt::format("TriangularSolve-C3: a is {}, wanted square matrices", a.ToString()));
  }
  const bool left = context.attributes().Bool(Attr::kLeftSide);
  if (b.size(left ? r - 2 : r - 1) != n) {
    return Invalid(context, fmt::format("TriangularSolve-C4: a is {}, b is {}, left_side is {}", a.ToString(),
                                        b.ToString(), left));
  }
  for (int64_t d = 0; d + 2 < r; ++d) {
    if (a.size(d) == b.size(d)) continue;
    return Invalid(context, fmt::format("TriangularSolve-C5: dimension {} has size {} in a and {} in b", d,
                                        a.size(d), b.size(d)));
  }
  const std::string_view op = context.attributes().Text(Attr::kTransposeA, "TRANSPOSE_INVALID");
  if (op != "NO_TRANSPOSE" && op != "TRANSPOSE" && op != "ADJOINT") {
    return Invalid(context,
                   fmt::format("TriangularSolve-C6: transpose_a is {}, wanted NO_TRANSPOSE, TRANSPOSE or "
                               "ADJOINT",
                               op));
  }
  return b;
}

struct SolveOptions {
  bool left, lower, unit, transpose, conjugate;
};

// One system: x_i for all right-hand sides.
class TriangularSystem {
 public:
  TriangularSystem(int64_t n, ElementType type, const SolveOptions& options)
      : type_(type),
        format_(*Info(type).format),
        n_(n),
        options_(options),
        // As a left-sided system: transposed once for op and once for the right side.
        transposed_(options.transpose != !options.left),
        forward_(options.lower != transposed_),
        minus_a_(n, n, IsComplex(type)),
        x_(1, n, IsComplex(type)),
        sum_(format_) {}

  void LoadA(const std::byte* a, int64_t row_stride) {
    const int64_t bytes = Bytes(type_);
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j < n_; ++j) {
        if (options_.lower ? j > i : j < i) continue;
        if (options_.unit && i == j) continue;
        Complex value = LoadComplex(type_, a + (i * row_stride + j) * bytes);
        if (options_.conjugate) value = std::conj(value);
        // The unknowns in the order in which they are solved, so that the known ones come first.
        minus_a_.Set(Order(transposed_ ? j : i), Order(transposed_ ? i : j), -value);
      }
    }
  }

  // b and x: n elements `stride` elements apart.
  absl::Status Solve(const std::byte* b, std::byte* x, int64_t stride, Meter& meter) {
    const int64_t bytes = Bytes(type_);
    for (int64_t i = 0; i < n_; ++i) {
      const int64_t at = Order(i) * stride * bytes;
      Complex value = sum_.Subtract(LoadComplex(type_, b + at), minus_a_, i, x_, 0, i, /*conjugate=*/false);
      if (!options_.unit) value = Divide(value, -minus_a_.at(i, i));
      x_.Set(0, i, value);
      StoreComplex(type_, value, x + at);
      ASSAY_RETURN_IF_ERROR(meter.Add(i + 1));
    }
    return absl::OkStatus();
  }

 private:
  int64_t Order(int64_t i) const { return forward_ ? i : n_ - 1 - i; }
  Complex Divide(Complex a, Complex b) const {
    if (IsComplex(type_)) return ComplexDivide(a, b, format_);
    return RealDivide(a.real(), b.real(), format_);
  }

  const ElementType type_;
  const FloatFormat& format_;
  const int64_t n_;
  const SolveOptions options_;
  const bool transposed_, forward_;
  Matrix minus_a_, x_;
  InnerSum sum_;
};

absl::StatusOr<Literal> EvalTriangularSolve(EvalContext& context, std::span<Literal> operands) {
  const Literal& a = operands[0];
  const Literal& b = operands[1];
  const ElementType type = a.shape().element_type();
  const int64_t r = a.shape().rank(), bytes = Bytes(type);
  const std::string_view op = context.attributes().Text(Attr::kTransposeA);
  const SolveOptions options = {
      context.attributes().Bool(Attr::kLeftSide), context.attributes().Bool(Attr::kLower),
      context.attributes().Bool(Attr::kUnitDiagonal), op != "NO_TRANSPOSE", op == "ADJOINT"};
  const int64_t n = a.dynamic_size(r - 1);
  bool fits = a.dynamic_size(r - 2) == n && b.dynamic_size(options.left ? r - 2 : r - 1) == n;
  for (int64_t d = 0; d + 2 < r; ++d) fits = fits && a.dynamic_size(d) == b.dynamic_size(d);
  if (!fits) {
    return EvalError(context.instruction().position,
                     fmt::format("DYN-3: triangular-solve: run-time sizes of a [{}] and b [{}] do not fit",
                                 fmt::join(a.runtime_sizes(), ","), fmt::join(b.runtime_sizes(), ",")));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(HasDynamicDimension(context.result_shape())));
  const DimVector a_strides = StridesOf(a), b_strides = StridesOf(b);
  const int64_t sides = b.dynamic_size(options.left ? r - 1 : r - 2);
  const int64_t side_stride = options.left ? 1 : b_strides[r - 2];
  const int64_t stride = options.left ? b_strides[r - 2] : 1;
  std::byte* const dst = result.MutableBytes().data();
  Meter meter(context);
  ASSAY_ASSIGN_OR_RETURN(const Literal scratch, ReserveScratch(context, MatrixElements(result, n), 16));
  const LoopDims loops = BatchLoops(a, a_strides, b_strides);
  for (Loop batch(loops); result.shape().num_elements() > 0 && !batch.done(); batch.Next()) {
    TriangularSystem system(n, type, options);
    system.LoadA(a.data() + batch.offset(0) * bytes, a_strides[r - 2]);
    ASSAY_RETURN_IF_ERROR(meter.Add(n * n));
    for (int64_t side = 0; side < sides; ++side) {
      const int64_t at = (batch.offset(1) + side * side_stride) * bytes;
      ASSAY_RETURN_IF_ERROR(system.Solve(b.data() + at, dst + at, stride, meter));
    }
  }
  ASSAY_RETURN_IF_ERROR(meter.Flush());
  SetRuntimeSizes(result, b.runtime_sizes());
  return result;
}

constexpr AttrSpec kCholeskyAttributes[] = {Optional(Attr::kLower)};
constexpr AttrSpec kTriangularSolveAttributes[] = {Optional(Attr::kLeftSide), Optional(Attr::kLower),
                                                   Optional(Attr::kUnitDiagonal),
                                                   Optional(Attr::kTransposeA)};

}  // namespace

constinit const OpDef ops::Cholesky = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kCholeskyAttributes,
    .infer = InferCholesky,
    .eval = EvalCholesky,
};

constinit const OpDef ops::TriangularSolve = {
    .operands = Exactly(2),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kTriangularSolveAttributes,
    .infer = InferTriangularSolve,
    .eval = EvalTriangularSolve,
};

}  // namespace assay
