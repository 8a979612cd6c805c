// The rules of OpDef::bound. Each writes the radius of its instruction's result; the formulas stand above the
// definitions: rules.cc has those that many ops share, arithmetic.cc, functions.cc,
// sums.cc and order.cc those of single ones.
//
// How a radius is rounded: every number of the derived program is the exact result rounded once, so each step
// of a formula is off by at most 2^-24 of its own value in f32 (2^-53 in f64), and all terms are positive.
// GiveRounded multiplies the sum with 1 + 2^-20 (1 + 2^-48), which covers 16 roundings one after the other,
// and adds a few of the smallest subnormal numbers for steps that underflow.
#ifndef ASSAY_EVALUATOR_BOUNDS_RULES_H_
#define ASSAY_EVALUATOR_BOUNDS_RULES_H_

#include <initializer_list>
#include <optional>
#include <span>

#include "evaluator/bound.h"

namespace assay::bound {

// The result is exact whatever the operands' radii: it depends on no float operand.
void Exact(BoundContext& c);
// Nobody has written a rule: nothing is known of the result.
void NoRule(BoundContext& c);
// Calls, loops, tuples.
void Structure(BoundContext& c);
// async-start, -update and -done: what they wrap.
void Asynchronous(BoundContext& c);
// map: the bounds of what is mapped.
void Mapped(BoundContext& c);
// The end of a pair whose start gives (operands, results, …): the results.
void EndOfPair(BoundContext& c);
// all-gather-start and collective-permute-start, whose results are their operand and what `moves` makes of
// it.
void AllGatherStart(BoundContext& c);
void CollectivePermuteStart(BoundContext& c);
// What the host sends is exact; of what another device sends nothing is known.
void Received(BoundContext& c);
// An exact operation on one operand that keeps distances, or shrinks them.
void Passed(BoundContext& c);
// An exact elementwise operation of which nothing is known where an operand is not exact.
void Undecided(BoundContext& c);
// A monotone step function whose steps are at most as far from each other as their arguments, and 1.
void Stepwise(BoundContext& c);
// Radii move as the values do (OpDef::moves), unless what they are moved by is not exact.
void Moved(BoundContext& c);

void Abs(BoundContext& c);
void Add(BoundContext& c);
void Multiply(BoundContext& c);
void Subtract(BoundContext& c);
void Divide(BoundContext& c);
void Remainder(BoundContext& c);
void Complex(BoundContext& c);
void Maximum(BoundContext& c);
void Minimum(BoundContext& c);
void Clamp(BoundContext& c);
void Compare(BoundContext& c);
void Select(BoundContext& c);
void IsFinite(BoundContext& c);
void Convert(BoundContext& c);
void BitcastConvert(BoundContext& c);
void ReducePrecision(BoundContext& c);
void StochasticConvert(BoundContext& c);

void Acos(BoundContext& c);
void Acosh(BoundContext& c);
void Asin(BoundContext& c);
void Asinh(BoundContext& c);
void Atan2(BoundContext& c);
void Atanh(BoundContext& c);
void Cbrt(BoundContext& c);
void Cos(BoundContext& c);
void Cosh(BoundContext& c);
void Erf(BoundContext& c);
void Exp(BoundContext& c);
void Expm1(BoundContext& c);
void Log(BoundContext& c);
void Log1p(BoundContext& c);
void Logistic(BoundContext& c);
void Power(BoundContext& c);
void Rsqrt(BoundContext& c);
void Sin(BoundContext& c);
void Sinh(BoundContext& c);
void Sqrt(BoundContext& c);
void Tan(BoundContext& c);
void Tanh(BoundContext& c);

void BatchNormGrad(BoundContext& c);
void BatchNormInference(BoundContext& c);
void BatchNormTraining(BoundContext& c);

void Cholesky(BoundContext& c);
void Potrf(BoundContext& c, bool lower);
void TriangularSolve(BoundContext& c);
// The same by these attributes instead of the instruction's.
void TriangularSolveOf(BoundContext& c, const AttributeMap& attributes);

// Eigenvalues of a Hermitian matrix, of which a triangle is read, or singular values, in ascending or
// descending order: where they stand among the results.
struct SpectrumResults {
  size_t values, info;
  std::optional<bool> lower;  // of a Hermitian matrix
};
void Spectrum(BoundContext& c, const SpectrumResults& results);

// A sum of squares of differences from something near their mean, which was given a radius: a smaller one.
void SharpenSquaredDeviations(BoundContext& c, double gamma);

void AllReduce(BoundContext& c);
void Convolution(BoundContext& c);
void Dot(BoundContext& c);
void Fft(BoundContext& c);
void RaggedDot(BoundContext& c);
void Reduce(BoundContext& c);
void ReduceScatter(BoundContext& c);
void ReduceWindow(BoundContext& c);
void ScaledDot(BoundContext& c);
void Scatter(BoundContext& c);
void SelectAndScatter(BoundContext& c);

void RngBitGenerator(BoundContext& c);
void Sort(BoundContext& c);
void TopK(BoundContext& c);

// The interval of this instruction's result, which was given a radius (ends.cc).
Ends EndsByRule(BoundContext& c);
// [x - r, x + r] with room for its rounding; NaN where the radius is no number. An array of this type.
Ends EndsOfBall(BoundContext& c, Node value, Node radius, ElementType type);
// Ops whose results are an interval's image, such as steps: their ends are sharper than their radius.
bool IsStep(Opcode op);
// Ops that hand the ends of their operand 0 on.
bool PassesEnds(Opcode op);
// The farther of two ends, where they are known: 0 where they are equal, else max(v - low, high - v);
// +inf where they are not.
Node FartherEnd(BoundContext& c, const Ends& ends, Node value);
// The radius where it is a number, elsewhere what the ends of the result say.
Node OrByEnds(BoundContext& c, Node radius);

// --- What rules are made of
// ---------------------------------------------------------------------------------------

// Gives the radius of a result that real numbers make and a backend rounds: `spread` is how far the operands'
// radii move the function, as large as that may be. Of integers the spread alone, where it can't carry them
// past an end of their type.
void SetRoundedRadius(BoundContext& c, Node spread);
// `certain` says where the result is that of an infinite operand, and no rounding reaches it; none: nowhere.
void SetRoundedRadius(BoundContext& c, Node spread, const Allowance& allowed, Node certain = Node());
// |v| and the smallest subnormal number, which is not less than the function before it was
// rounded (but for half an ulp).
Node Upper(BoundContext& c);
// An ulp of 1.
double UlpOf(ElementType type);
// Gives an exact operation's.
void GiveUnrounded(BoundContext& c, Node spread);
// The radius with +inf where the value may leave its type.
Node Within(BoundContext& c, Node radius, Node value, ElementType type);
// The larger or smaller of two numbers with radii, in radius type, and its radius.
struct Ball {
  Node value, radius;
};
Ball Extreme(BoundContext& c, Opcode op, const Ball& a, const Ball& b);
// A little above r, for ends x - w and x + w that are rounded, in r's type.
Node WidthOfEnds(BoundContext& c, Node radius);
// Which of (a, i) and (c, j) a computation of two such pairs gives, wherever a and c are two numbers: the
// pair with the larger or the smaller one; none where it is not found to give either.
std::optional<Opcode> ArgExtremeOf(const Module& module, ComputationId id);
// The operation that a computation of two scalars applies to its parameters;
// none where it does anything else.
std::optional<Opcode> OperationOf(const Module& module, ComputationId id);
// The computation gives its parameter number 1.
bool Replaces(const Module& module, ComputationId id);

// The same of a function of complex operands that are not exact: false where they are exact, or real.
bool GaveComplex(BoundContext& c);
// The sign of a complex number, which is one of modulus 1 and rounded.
void ComplexSign(BoundContext& c);

// With a margin for a step that the formula behind it blows up.
Node Larger(BoundContext& c, Node a);
// 1 - a
Node OneMinus(BoundContext& c, Node a);
// A margin above the rounding of the formulas.
double Slack(ElementType radius_type);

}  // namespace assay::bound

#endif  // ASSAY_EVALUATOR_BOUNDS_RULES_H_
