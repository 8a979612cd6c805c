// cholesky and triangular-solve (docs/spec/operations-linalg.md, "Solvers"): inner sums are exact, every RN
// of the formulas is one rounding to the element type (complex: a component at a time).

#include <complex>
#include <vector>

#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/elements.h"
#include "evaluator/meter.h"
#include "evaluator/op.h"
#include "evaluator/open_sizes.h"
#include "evaluator/runtime_sizes.h"
#include "evaluator/scalar/complex.h"
#include "evaluator/scalar/exact_sum.h"
#include "evaluator/scalar/real.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

absl::Status InvalidLinalg(const InferContext& context, std::string_view message) {
  return InvalidProgram(context.instruction.position, message);
}

// b - sum of a * x, each component exact and rounded once.
class InnerSum {
 public:
  explicit InnerSum(ElementType type) : format_(*Info(type).format), complex_(IsComplex(type)) {}

  void Start(Complex b) {
    real_.Clear();
    imaginary_.Clear();
    real_.Add(b.real());
    imaginary_.Add(b.imag());
  }
  void Subtract(Complex a, Complex x) {
    real_.SubtractProduct(a.real(), x.real());
    if (!complex_) return;
    real_.AddProduct(a.imag(), x.imag());
    imaginary_.SubtractProduct(a.real(), x.imag());
    imaginary_.SubtractProduct(a.imag(), x.real());
  }
  Complex Round() const { return {real_.Round(format_), complex_ ? imaginary_.Round(format_) : 0}; }

 private:
  const FloatFormat& format_;
  const bool complex_;
  ExactSum real_, imaginary_;
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

// The sizes of all but the last two dimensions.
DimVector BatchSizes(const Literal& a) {
  const DimVector sizes = a.runtime_sizes();
  return DimVector(sizes.begin(), sizes.end() - 2);
}

// (batch, i, j)
DimVector At(Index batch, int64_t i, int64_t j) {
  DimVector index(batch.begin(), batch.end());
  index.push_back(i);
  index.push_back(j);
  return index;
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
    return InvalidLinalg(
        context,
        fmt::format("Cholesky-C1: the operand is {}, wanted floating or complex elements", a.ToString()));
  }
  if (a.rank() < 2)
    return InvalidLinalg(context,
                         fmt::format("Cholesky-C2: the operand has rank {}, wanted at least 2", a.rank()));
  if (a.size(a.rank() - 2) != a.size(a.rank() - 1)) {
    return InvalidLinalg(context,
                         fmt::format("Cholesky-C3: the operand is {}, wanted square matrices", a.ToString()));
  }
  return a;
}

// L of one matrix, of which only i >= j counts.
class CholeskyFactor {
 public:
  CholeskyFactor(int64_t n, ElementType type)
      : format_(*Info(type).format), complex_(IsComplex(type)), n_(n), l_(n * n), sum_(type) {}

  Complex at(int64_t i, int64_t j) const { return l_[i * n_ + j]; }

  // a(i, j) gives a_ij for i >= j. False: the matrix fails.
  template <typename Element>
  absl::StatusOr<bool> Factor(Element a, Meter& meter) {
    for (int64_t j = 0; j < n_; ++j) {
      ASSAY_ASSIGN_OR_RETURN(const Complex s, Rest(a(j, j).real(), j, j, meter));
      if (!(s.real() >= 0)) return false;
      const double pivot = RealSqrt(s.real(), format_);
      l_[j * n_ + j] = pivot;
      for (int64_t i = j + 1; i < n_; ++i) {
        ASSAY_ASSIGN_OR_RETURN(const Complex t, Rest(a(i, j), i, j, meter));
        l_[i * n_ + j] = {RealDivide(t.real(), pivot, format_),
                          complex_ ? RealDivide(t.imag(), pivot, format_) : 0};
      }
    }
    return true;
  }

 private:
  // RN(b - sum over k < j of L_ik conj(L_jk))
  absl::StatusOr<Complex> Rest(Complex b, int64_t i, int64_t j, Meter& meter) {
    sum_.Start(b);
    for (int64_t k = 0; k < j; ++k) sum_.Subtract(at(i, k), std::conj(at(j, k)));
    ASSAY_RETURN_IF_ERROR(meter.Add(j + 1));
    return sum_.Round();
  }

  const FloatFormat& format_;
  const bool complex_;
  const int64_t n_;
  std::vector<Complex> l_;
  InnerSum sum_;
};

absl::StatusOr<Literal> EvalCholesky(EvalContext& context, std::span<Literal> operands) {
  const Literal& a = operands[0];
  const ElementType type = a.shape().element_type();
  const int64_t rank = a.shape().rank(), n = a.dynamic_size(rank - 1);
  const bool lower = context.attributes().Bool(Attr::kLower);
  if (a.dynamic_size(rank - 2) != n) {
    return EvalError(
        context.instruction().position,
        fmt::format("DYN-3: cholesky: matrices of run-time size {}x{}", a.dynamic_size(rank - 2), n));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult(true));
  const double nan = CanonicalNaN(*Info(type).format);
  const ArrayView matrices(a);
  const MutableArrayView out(result);
  Meter meter(context);
  for (IndexWalk batch(BatchSizes(a)); result.shape().num_elements() > 0 && !batch.done(); batch.Next()) {
    ASSAY_ASSIGN_OR_RETURN(const Literal scratch, ReserveScratch(context, n * n, sizeof(Complex)));
    CholeskyFactor factor(n, type);
    const auto element = [&](int64_t i, int64_t j) {
      if (lower) return LoadComplex(type, matrices.At(At(batch.index(), i, j)));
      return std::conj(LoadComplex(type, matrices.At(At(batch.index(), j, i))));
    };
    ASSAY_ASSIGN_OR_RETURN(const bool ok, factor.Factor(element, meter));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        if (ok && (lower ? i < j : i > j)) continue;
        Complex value(nan, nan);
        if (ok) value = lower || i == j ? factor.at(i, j) : std::conj(factor.at(j, i));
        StoreComplex(type, value, out.At(At(batch.index(), i, j)));
      }
      ASSAY_RETURN_IF_ERROR(meter.Add(n));
    }
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
    return InvalidLinalg(
        context, fmt::format("TriangularSolve-C1: operands are {} and {}, wanted one floating or complex "
                             "element type",
                             a.ToString(), b.ToString()));
  }
  if (a.rank() < 2 || b.rank() != a.rank()) {
    return InvalidLinalg(
        context, fmt::format("TriangularSolve-C2: operands have ranks {} and {}, wanted the same, at least 2",
                             a.rank(), b.rank()));
  }
  const int64_t r = a.rank(), n = a.size(r - 1);
  if (a.size(r - 2) != n) {
    return InvalidLinalg(context,
                         fmt::format("TriangularSolve-C3: a is {}, wanted square matrices", a.ToString()));
  }
  const bool left = context.attributes().Bool(Attr::kLeftSide);
  if (b.size(left ? r - 2 : r - 1) != n) {
    return InvalidLinalg(context, fmt::format("TriangularSolve-C4: a is {}, b is {}, left_side is {}",
                                              a.ToString(), b.ToString(), left));
  }
  for (int64_t d = 0; d + 2 < r; ++d) {
    if (a.size(d) == b.size(d)) continue;
    return InvalidLinalg(context, fmt::format("TriangularSolve-C5: dimension {} has size {} in a and {} in b",
                                              d, a.size(d), b.size(d)));
  }
  const std::string_view op = context.attributes().Text(Attr::kTransposeA, "TRANSPOSE_INVALID");
  if (op != "NO_TRANSPOSE" && op != "TRANSPOSE" && op != "ADJOINT") {
    return InvalidLinalg(
        context, fmt::format("TriangularSolve-C6: transpose_a is {}, wanted NO_TRANSPOSE, TRANSPOSE or "
                             "ADJOINT",
                             op));
  }
  return b;
}

struct SolveOptions {
  bool left, lower, unit, transpose, conjugate;
};

// The system as a left-sided one, M X = b: M is op(a), or its transpose for the right side.
class TriangularSystem {
 public:
  TriangularSystem(const Literal& a, Index batch, const SolveOptions& options)
      : type_(a.shape().element_type()),
        format_(*Info(type_).format),
        a_(a),
        batch_(batch),
        options_(options),
        transposed_(options.transpose != !options.left),
        forward_(options.lower != transposed_),
        n_(a.dynamic_size(a.shape().rank() - 1)),
        x_(n_),
        sum_(type_) {}

  // x_i of one right-hand side: b(i) gives b_i, x(i, value) takes x_i.
  template <typename Load, typename Store>
  absl::Status Solve(Load b, Store x, Meter& meter) {
    for (int64_t step = 0; step < n_; ++step) {
      const int64_t i = forward_ ? step : n_ - 1 - step;
      sum_.Start(b(i));
      for (int64_t j = forward_ ? 0 : i + 1; j < (forward_ ? i : n_); ++j) sum_.Subtract(M(i, j), x_[j]);
      x_[i] = options_.unit ? sum_.Round() : Divide(sum_.Round(), M(i, i));
      x(i, x_[i]);
      ASSAY_RETURN_IF_ERROR(meter.Add(step + 1));
    }
    return absl::OkStatus();
  }

 private:
  Complex M(int64_t i, int64_t j) const {
    const Complex value = LoadComplex(type_, a_.At(transposed_ ? At(batch_, j, i) : At(batch_, i, j)));
    return options_.conjugate ? std::conj(value) : value;
  }
  Complex Divide(Complex a, Complex b) const {
    if (IsComplex(type_)) return ComplexDivide(a, b, format_);
    return RealDivide(a.real(), b.real(), format_);
  }

  const ElementType type_;
  const FloatFormat& format_;
  const ArrayView a_;
  const Index batch_;
  const SolveOptions options_;
  const bool transposed_, forward_;
  const int64_t n_;
  std::vector<Complex> x_;
  InnerSum sum_;
};

absl::StatusOr<Literal> EvalTriangularSolve(EvalContext& context, std::span<Literal> operands) {
  const Literal& a = operands[0];
  const Literal& b = operands[1];
  const ElementType type = a.shape().element_type();
  const int64_t r = a.shape().rank();
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
  const int64_t sides = b.dynamic_size(options.left ? r - 1 : r - 2);
  const ArrayView right(b);
  const MutableArrayView out(result);
  Meter meter(context);
  for (IndexWalk batch(BatchSizes(a)); result.shape().num_elements() > 0 && !batch.done(); batch.Next()) {
    TriangularSystem system(a, batch.index(), options);
    for (int64_t side = 0; side < sides; ++side) {
      const auto at = [&](int64_t i) {
        return options.left ? At(batch.index(), i, side) : At(batch.index(), side, i);
      };
      const auto load = [&](int64_t i) { return LoadComplex(type, right.At(at(i))); };
      const auto store = [&](int64_t i, Complex value) { StoreComplex(type, value, out.At(at(i))); };
      ASSAY_RETURN_IF_ERROR(system.Solve(load, store, meter));
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

// n^3 / 3 operations and n^3 looks for a matrix of n rows.
Work WorkOfCholesky(const InstructionView& view) {
  Work work = work::Move(view);
  const double n = work::Size(view.operand(0), view.operand(0).rank() - 1);
  work.elements = work::Elements(view.result()) * n;
  work.flops = work::Elements(view.operand(0)) * n / 3;
  return work;
}

// A product and its sum for each pair of an element of b and an unknown.
Work WorkOfTriangularSolve(const InstructionView& view) {
  Work work = work::Move(view);
  const double n = work::Size(view.operand(0), view.operand(0).rank() - 1);
  work.elements = work::Elements(view.result()) * n;
  work.flops = 2 * work::Elements(view.operand(1)) * n;
  return work;
}

absl::Status OpenSizesOfCholesky(OpenSizes& sizes) {
  const int64_t rank = sizes.shape(0).rank();
  for (int64_t d = 0; d < rank; ++d) {
    if (d >= rank - 2) ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    if (sizes.IsOpen(0, d)) sizes.Open(d);
  }
  return absl::OkStatus();
}

// The right-hand sides may be open in number.
absl::Status OpenSizesOfTriangularSolve(OpenSizes& sizes) {
  const int64_t rank = sizes.shape(0).rank();
  const int64_t sides = sizes.context().attributes().Bool(Attr::kLeftSide) ? rank - 1 : rank - 2;
  for (int64_t d = 0; d < rank; ++d) {
    if (d < rank - 2) {
      if (sizes.Meet({{0, d}, {1, d}})) sizes.Open(d);
      continue;
    }
    ASSAY_RETURN_IF_ERROR(sizes.Needs(0, d));
    if (d != sides) ASSAY_RETURN_IF_ERROR(sizes.Needs(1, d));
    if (sizes.IsOpen(1, d)) sizes.Open(d);
  }
  return absl::OkStatus();
}

}  // namespace

constinit const OpDef ops::Cholesky = {
    .operands = Exactly(1),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kCholeskyAttributes,
    .infer = InferCholesky,
    .eval = EvalCholesky,
    .work = WorkOfCholesky,
    .bound = bound::Cholesky,
    .audit = audit::Cholesky,
    .demands = demand::Matrices,
    .open_sizes = OpenSizesOfCholesky,
};

constinit const OpDef ops::TriangularSolve = {
    .operands = Exactly(2),
    .types = kFloatTypes | kComplexTypes,
    .attributes = kTriangularSolveAttributes,
    .infer = InferTriangularSolve,
    .eval = EvalTriangularSolve,
    .work = WorkOfTriangularSolve,
    .bound = bound::TriangularSolve,
    .audit = audit::TriangularSolve,
    .demands = demand::Matrices,
    .open_sizes = OpenSizesOfTriangularSolve,
};

}  // namespace assay
