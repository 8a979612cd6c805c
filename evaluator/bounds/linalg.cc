// Solvers: what backward stability allows, pushed through the system by a bound of its inverse. g is (1 +
// u)^(n + 1) (1 + d)^2 - 1 with the unit of roundoff u in which sums are kept (or the type's own, where that
// is larger), d being the profile's ulps of a division, and those of a root besides where there is one; of
// complex numbers it is larger, by the factors of Higham, section 3.6. h is what Assay's own results are off
// by: a rounding of an exact sum and one of a division.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluator/bounds/matrices.h"
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

// What one solve with n unknowns, or n columns of a factor, may be off by.
struct SolverErrors {
  double theirs = 0, own = 0;
  double smallest = 0;  // what may become zero, or is not represented
};

SolverErrors ErrorsOf(BoundContext& c, double n, bool has_root) {
  const ElementType type = c.operand_type(0);
  const double half_ulp = UlpOf(type) / 2, unit = std::max(c.SumUnit(type), half_ulp);
  const double division = c.AllowedFor(Opcode::kDivide, type).ulps * UlpOf(type);
  const double root = has_root ? c.AllowedFor(Opcode::kSqrt, type).ulps * UlpOf(type) : 0;
  const double steps = IsComplex(type) ? 2 * (n + 4) + 2 : n + 1;
  const double sums = (IsComplex(type) ? 1.5 : 1) * std::expm1(steps * std::log1p(unit));
  const double rest = (1 + division) * (1 + division) * (1 + root) * (1 + root);
  const double tiny = RadiusType(type) == ElementType::kF64 ? 0x1p-1074 : 0x1p-149;
  const ElementType component = IsComplex(type) ? ComponentType(type) : type;
  return {(1 + sums) * rest - 1, (IsComplex(type) ? 4 : 2.01) * half_ulp,
          4 * std::max(tiny, Info(component).format->min_subnormal) +
              c.AllowedFor(Opcode::kMultiply, type).absolute};
}

// What a backend's rounding makes infinite is not known; neither is what is infinite here.
void GiveForward(BoundContext& c, Node radius, size_t leaf) {
  const ElementType type = c.ShapeOf(c.Result(leaf)).element_type();
  const Node known = Within(c, c.Times(radius, Slack(RadiusType(type))), c.Result(leaf), type);
  // NaN of a bound of the inverse that is infinite.
  c.SetRadius(c.Choose(c.Compare("EQ", radius, radius), known, c.Constant(kUnbounded, radius)), leaf);
}

double SizeOfLast(const Shape& shape) { return static_cast<double>(shape.size(shape.rank() - 1)); }

Node ColumnSums(BoundContext& c, Node a) {
  const int64_t rank = c.ShapeOf(a).rank();
  const int64_t rows = rank - 2;
  DimVector kept;
  for (int64_t d = 0; d < rank; ++d) {
    if (d != rows) kept.push_back(d);
  }
  return c.SpreadAlong(c.Reduced(Opcode::kAdd, a, {&rows, 1}), kept, a);
}

// A norm of each matrix, from above: |A|_F^2 <= max |a_ij| sum |a_ij|, in two roots, which don't overflow.
// `share`: how often an element of what is read stands in the matrix.
Node NormOf(BoundContext& c, Node a, double share) {
  if (!a) return a;
  const int64_t last = c.ShapeOf(a).rank() - 1;
  const int64_t both[] = {last - 1, last};
  const Node largest = c.Write(Opcode::kSqrt, {c.Reduced(Opcode::kMaximum, a, both)});
  const Node sum = c.Write(Opcode::kSqrt, {c.Times(c.Reduced(Opcode::kAdd, a, both), share)});
  return c.Times(largest, sum);
}

}  // namespace

// Eigenvalues of a Hermitian matrix, or singular values, are no farther apart than the matrices (Weyl): |A'
// - A|_F, of a backend's operand, and what its algorithm amounts to, p(n) u |A|_F. LAPACK Users' Guide,
// section 4.7, has p(n) as a function that grows modestly; LAPACK's own tests of these routines pass where
// the residual is less than 50 n 2 u |A|_1. Here p(n) = 10 max(m, n). Vectors are not unique: nothing is
// known of them.
void Spectrum(BoundContext& c, const SpectrumResults& results) {
  c.MarkUnchecked("only its eigenvalues or singular values have a bound: vectors are not unique");
  const Shape& a = c.view().operand(0);
  if (a.num_elements() == 0 ||
      c.view().result().element(static_cast<int64_t>(results.values)).num_elements() == 0)
    return;
  const ElementType type = RadiusType(c.operand_type(0));
  const auto read = [&](Node of) {
    of = c.ConvertTo(of, type);
    return results.lower ? Triangle(c, of, *results.lower) : of;
  };
  const double share = results.lower ? 2 : 1, half_ulp = UlpOf(c.operand_type(0)) / 2;
  const double most = static_cast<double>(std::max(a.size(a.rank() - 1), a.size(a.rank() - 2)));
  const Node moved = NormOf(c, read(c.Radius(0)), share);
  const Node norm = c.Plus(NormOf(c, read(c.Magnitude(c.Value(0))), share), moved);
  const Node each = c.Plus(moved, c.Times(norm, 10 * most * half_ulp));
  DimVector batch(static_cast<size_t>(a.rank() - 2));
  std::iota(batch.begin(), batch.end(), 0);
  const Node size = c.Magnitude(c.Result(results.values));
  GiveForward(c, c.Plus(c.SpreadAlong(each, batch, size), c.Times(size, half_ulp)), results.values);
  // A backend that conforms converges.
  const Node info = c.ConvertTo(c.Magnitude(c.Result(results.info)), ElementType::kF32);
  c.SetRadius(c.Choose(c.Compare("EQ", info, 0), Node(), c.Constant(kUnbounded, info)), results.info);
}

// The system as one from the left, T x = b: T is op(a), or its transpose where the instruction solves from
// the right. A backend has T' and b', |T' - T| <= R and |b' - b| <= rb, and finds x' with
//   |T' x' - b'| <= 3 g |T'| y,   y = |T'^-1| |b'|
// Substitution does, in any order (Higham, theorem 8.5, has g |T'| |x'|, and |x'| <= y), and so does a
// product with the inverse, if that was made by substitution (theorem 14.1 and what follows it: g |T'|
// |T'^-1| |b'|, and as much again for the product), or with inverses of blocks of the diagonal. Assay's own
// x solves (T + D) x = b, |D| <= h |T|. So
//   |x' - x| <= |T'^-1| (rb + R |x| + h |T| |x| + 3 g (|T| + R) y)
// where |T'^-1| <= Q of InverseBound, with K = R + g (|T| + R), which also covers what such an inverse is
// off by.
void TriangularSolveOf(BoundContext& c, const AttributeMap& attributes) {
  const Shape& a = c.view().operand(0);
  if (c.view().result().num_elements() == 0) return;
  const bool left = attributes.Bool(Attr::kLeftSide), unit = attributes.Bool(Attr::kUnitDiagonal);
  const bool lower = attributes.Bool(Attr::kLower);
  const bool transposes = attributes.Text(Attr::kTransposeA) != "NO_TRANSPOSE";
  const bool flips = transposes == left;  // T has the rows of a for columns
  const bool is_lower = lower != flips;
  const ElementType type = RadiusType(c.operand_type(0));
  const double n = SizeOfLast(a);
  const SolverErrors error = ErrorsOf(c, n, false);
  if (c.SamplesMoveOperands()) return;

  const auto of_system = [&](Node matrix) {
    matrix = Triangle(c, c.ConvertTo(matrix, type), lower);
    return flips ? TransposedMatrix(c, matrix) : matrix;
  };
  const auto of_sides = [&](Node sides) {
    return left ? c.ConvertTo(sides, type) : TransposedMatrix(c, c.ConvertTo(sides, type));
  };
  Node size = of_system(c.Magnitude(c.Value(0))), radius = of_system(c.Radius(0));
  const Node diagonal = WhereRow(c, "EQ", size);
  if (unit) {
    size = c.Choose(diagonal, c.Constant(1, size), size);
    if (radius) radius = c.Choose(diagonal, Node(), radius);
  }
  const Node value = IsComplex(c.operand_type(0)) ? c.Value(0) : c.ConvertTo(c.Value(0), type);
  Instruction inverse(Opcode::kTriangularSolve);
  inverse.attributes.Set(Attr::kLeftSide, true);
  inverse.attributes.Set(Attr::kLower, lower);
  inverse.attributes.Set(Attr::kUnitDiagonal, unit);
  inverse.attributes.Set(Attr::kTransposeA, Word{flips ? "TRANSPOSE" : "NO_TRANSPOSE"});
  inverse.operands = {value.id, IdentityLike(c, value).id};

  const Node largest = c.Plus(size, radius), x = of_sides(c.Magnitude(c.Result()));
  const Node tiny = Triangle(c, c.Times(c.Plus(largest, 1), error.smallest), is_lower);
  const Node reach =
      c.Plus(c.Plus(c.Times(size, error.own + error.theirs), c.Times(radius, 1 + error.theirs)), tiny);
  const InverseBound bound(c, c.Write(std::move(inverse)), reach, is_lower);

  const Node b = of_sides(c.Magnitude(c.Value(1))), rb = of_sides(c.Radius(1));
  const Node y = bound.Times(c.Plus(b, rb));
  Node rest = c.Plus(rb, MatrixProduct(c, radius, x));
  rest = c.Plus(rest, c.Times(MatrixProduct(c, size, x), error.own));
  rest = c.Plus(rest, c.Times(MatrixProduct(c, largest, y), 3 * error.theirs));
  // n products, and unknowns, that are too small.
  rest = c.Plus(rest, c.Times(c.Plus(MatrixProduct(c, largest, c.Constant(1, x)), n), n * error.smallest));
  Node moved = bound.Times(rest);
  moved = c.Plus(moved, c.Times(ColumnSums(c, b), n * error.smallest));  // the inverse's elements that are
  // Nothing is known where terms of a substitution, or elements of an inverse, may exceed the largest number.
  const ElementType solved = c.operand_type(0);
  const double most = Info(IsComplex(solved) ? ComponentType(solved) : solved).format->max_finite;
  const Node terms = ColumnSums(c, c.Plus(MatrixProduct(c, largest, y), bound.Times(c.Constant(1, x))));
  moved = c.Choose(c.Compare("LE", terms, most), moved, c.Constant(kUnbounded, moved));
  GiveForward(c, left ? moved : TransposedMatrix(c, moved), 0);
}

void TriangularSolve(BoundContext& c) { TriangularSolveOf(c, c.attributes()); }

// The exact factor of a matrix near A. A backend's L' satisfies (Higham, theorems 10.3 and 10.5, for any
// order of the sums)
//   |L' L'^H - A'| <= g1 d d^T,   d_i = sqrt(a'_ii),   g1 = 2 g / (1 - g),   |A' - A| <= R
// where the 2 leaves room for panels that are multiplied with the inverses of their diagonal blocks; Assay's
// own L does with 2 h in g1's place. Let L' = L (I + G). Then
//   G + G^H + G G^H = S,   |S| <= Q (R + (g1 + 2 h) d d^T) Q^T = Z,   Q >= |L^-1| by InverseBound
// and G is lower triangular with a real diagonal. Write low(M) for the lower triangle with half the
// diagonal. If B >= 0 is lower triangular, has a diagonal below 1 and satisfies low(Z + B B^T) <= B, then
// the map G -> low(S - G G^H) keeps the matrices with |G| <= B among themselves, and has a fixed point there
// (Brouwer); I + G is then the factor of I + S with a positive diagonal, of which there is one. So |L' - L|
// <= |L| B, and no backend fails. B = 1.05 low(Z + 1.5 low(Z) low(Z)^T) is tried; where it does not satisfy
// this nothing is known of the matrix.
Node CholeskyOf(BoundContext& c, bool lower) {
  const Node factor = c.Result(0);
  const ElementType type = RadiusType(c.operand_type(0));
  const double n = SizeOfLast(c.view().operand(0)), slack = Slack(type);
  const SolverErrors error = ErrorsOf(c, n, true);
  if (error.theirs >= 0.1) return c.Constant(kUnbounded, c.Magnitude(factor));  // too large for its type

  const auto upright = [&](Node a) { return lower ? a : TransposedMatrix(c, a); };
  const Node size = Triangle(c, upright(c.Magnitude(factor)), true);
  const Node value = IsComplex(c.operand_type(0)) ? factor : c.ConvertTo(factor, type);
  Instruction inverse(Opcode::kTriangularSolve);
  inverse.attributes.Set(Attr::kLeftSide, true);
  inverse.attributes.Set(Attr::kLower, lower);
  inverse.attributes.Set(Attr::kUnitDiagonal, false);
  inverse.attributes.Set(Attr::kTransposeA, Word{lower ? "NO_TRANSPOSE" : "ADJOINT"});
  inverse.operands = {value.id, IdentityLike(c, value).id};
  const Node reach = Triangle(c, c.Plus(c.Times(size, error.own), error.smallest), true);
  const InverseBound bound(c, c.Write(std::move(inverse)), reach, true);

  const double share = 2 * error.theirs / (1 - error.theirs) + 2 * error.own;
  const Node radius = Triangle(c, upright(c.ConvertTo(c.Radius(0), type)), true);
  const Node diagonal = WhereRow(c, "EQ", size);
  const Node entries = c.Plus(c.ConvertTo(c.Magnitude(c.Value(0)), type), c.ConvertTo(c.Radius(0), type));
  const int64_t last = c.ShapeOf(size).rank() - 1;
  // sqrt(g1 n e) d_i is more than the n e d_i by which elements of the factor may be too small.
  const double floor = std::sqrt(n * error.smallest / share);
  const Node d = c.Plus(
      c.Write(Opcode::kSqrt, {c.Reduced(Opcode::kAdd, c.Choose(diagonal, entries, Node()), {&last, 1})}),
      floor);
  DimVector rows(static_cast<size_t>(last));
  std::iota(rows.begin(), rows.end(), 0);
  const Node q = bound.Times(c.SpreadAlong(d, rows, c.Sliced(size, last, 0, 1)));
  Node z = c.Times(c.Times(MatrixProduct(c, q, q, true), share), slack);
  if (radius) {
    const Node strict = c.Choose(diagonal, Node(), radius);
    const Node whole = c.Plus(radius, TransposedMatrix(c, strict));
    z = c.Plus(z, bound.Times(TransposedMatrix(c, bound.Times(whole))));
  }
  const auto low = [&](Node a) {
    const Node halved = c.Choose(diagonal, c.Times(a, 0.5), a);
    return c.Times(Triangle(c, halved, true), slack);
  };
  const Node first = low(z);
  const Node tried = c.Times(low(c.Plus(z, c.Times(MatrixProduct(c, first, first, true), 1.5))), 1.05);
  const Node image = low(c.Plus(z, MatrixProduct(c, tried, tried, true)));
  const Node holds = c.Write(Opcode::kAnd, {c.Compare("LE", image, tried), c.Compare("LT", tried, 0.9)});
  const Node fails = c.Choose(holds, Node(), c.Constant(1, tried));
  const int64_t both[] = {last - 1, last};
  rows.pop_back();
  const Node any = c.SpreadAlong(c.Reduced(Opcode::kMaximum, fails, both), rows, tried);
  const Node moved = Triangle(c, MatrixProduct(c, size, tried), true);
  return upright(c.Choose(c.Compare("EQ", any, 0), moved, c.Constant(kUnbounded, moved)));
}

// The other triangle is zero.
void Cholesky(BoundContext& c) {
  if (c.view().result().num_elements() == 0 || c.SamplesMoveOperands()) return;
  const bool lower = c.attributes().Bool(Attr::kLower);
  const Node radius = CholeskyOf(c, lower);
  GiveForward(c, radius, 0);
}

// LAPACK's potrf gives the factor in one triangle, the matrix itself in the other, and whether it failed.
void Potrf(BoundContext& c, bool lower) {
  if (c.view().result().element(0).num_elements() == 0 || c.SamplesMoveOperands()) return;
  const ElementType type = RadiusType(c.operand_type(0));
  Node radius = CholeskyOf(c, lower);
  const Node in_factor = WhereRow(c, lower ? "GE" : "LE", radius);
  radius = c.Choose(in_factor, radius, c.ConvertTo(c.Radius(0), type));
  GiveForward(c, radius, 0);
  const int64_t last = c.view().operand(0).rank() - 1;
  const int64_t both[] = {last - 1, last};
  const Node known = c.Choose(c.Compare("LT", radius, kInfinity), Node(), c.Constant(1, radius));
  const Node decided =
      c.Compare("EQ", c.Reduced(Opcode::kMaximum, c.Choose(in_factor, known, Node()), both), 0);
  const Node like = c.ConvertTo(c.Constant(0, c.Magnitude(c.Result(1))), ElementType::kF32);
  c.SetRadius(c.Choose(decided, Node(), c.Constant(kUnbounded, like)), 1);
}

}  // namespace assay::bound
