// Approximations of real functions in a thread's registers: a double, or the sum of two
// (engines/native/functions/arithmetic.h, whose error bounds hold here:
// the operations are the same, with FMA).
#ifndef ASSAY_GPU_PTX_PAIRS_H_
#define ASSAY_GPU_PTX_PAIRS_H_

#include <iterator>

#include "engines/native/functions/arithmetic.h"
#include "gpu/ptx/doubles.h"
#include "gpu/ptx/element.h"

namespace assay::gpu {

struct Approximate {
  Register hi, lo;  // `lo` is known of sums of two alone
};

class Pairs : public Doubles {
 public:
  Pairs(PtxWriter& writer, Elements& elements, bool twofold)
      : Doubles(writer), elements_(elements), twofold_(twofold) {}
  bool twofold() const { return twofold_; }

  using Doubles::Choose;
  using Doubles::Negated;
  using Doubles::SignOf;
  // table[index] of words in the module.
  Register LookUp(std::string_view name, std::span<const double> table, Register index) {
    const std::span<const uint64_t> words(reinterpret_cast<const uint64_t*>(table.data()), table.size());
    return elements_.LookUp("b64", 8, w.Table(name, words), w.Low32(index));
  }

  // ---- one or two doubles ----

  Approximate Of(Register x) { return {x, twofold_ ? C(0) : Register{}}; }
  Approximate Of(native::Pair x) { return {C(x.hi), twofold_ ? C(x.lo) : Register{}}; }
  Register Low(Approximate a) { return twofold_ ? a.lo : C(0); }
  Approximate Sum(Register a, Register b) { return twofold_ ? ExactSum(a, b) : Approximate{Plus(a, b), {}}; }
  Approximate Product(Register a, Register b) {
    return twofold_ ? ExactProduct(a, b) : Approximate{Times(a, b), {}};
  }
  Approximate Negated(Approximate a) { return {Negated(a.hi), twofold_ ? Negated(a.lo) : Register{}}; }
  Approximate Choose(Register predicate, Approximate a, Approximate b) {
    return {Choose(predicate, a.hi, b.hi), twofold_ ? Choose(predicate, a.lo, b.lo) : Register{}};
  }
  Approximate SignOf(Register x, Approximate a) {
    return {SignOf(x, a.hi), twofold_ ? SignOf(x, a.lo) : Register{}};
  }
  // By a power of two.
  Approximate Scale(Approximate a, Register power) {
    return {Times(a.hi, power), twofold_ ? Times(a.lo, power) : Register{}};
  }

  Approximate Add(Approximate a, Approximate b) {
    if (!twofold_) return {Plus(a.hi, b.hi), {}};
    const Approximate s = ExactSum(a.hi, b.hi), t = ExactSum(a.lo, b.lo);
    const Approximate v = FastSum(s.hi, Plus(s.lo, t.hi));
    return FastSum(v.hi, Plus(t.lo, v.lo));
  }
  Approximate Add(Approximate a, Register b) {
    if (!twofold_) return {Plus(a.hi, b), {}};
    const Approximate s = ExactSum(a.hi, b);
    return FastSum(s.hi, Plus(a.lo, s.lo));
  }
  Approximate Subtract(Approximate a, Approximate b) { return Add(a, Negated(b)); }
  // |a| >= |b| or a = 0.
  Approximate AddSmaller(Approximate a, Approximate b) {
    if (!twofold_) return {Plus(a.hi, b.hi), {}};
    const Approximate s = FastSum(a.hi, b.hi);
    return FastSum(s.hi, Plus(s.lo, Plus(a.lo, b.lo)));
  }
  Approximate Multiply(Approximate a, Approximate b) {
    if (!twofold_) return {Times(a.hi, b.hi), {}};
    const Approximate p = ExactProduct(a.hi, b.hi);
    const Register cross = Fma(a.hi, b.lo, Times(a.lo, b.hi));
    return FastSum(p.hi, Plus(p.lo, cross));
  }
  Approximate Multiply(Approximate a, Register b) {
    if (!twofold_) return {Times(a.hi, b), {}};
    const Approximate p = ExactProduct(a.hi, b);
    return FastSum(p.hi, Fma(a.lo, b, p.lo));
  }
  Approximate Divide(Approximate a, Approximate b) {
    const Register q = Over(a.hi, b.hi);
    if (!twofold_) return {q, {}};
    const Approximate p = ExactProduct(q, b.hi);
    const Register rest = Plus(Minus(Minus(a.hi, p.hi), p.lo), Fma(Negated(q), b.lo, a.lo));
    return FastSum(q, Over(rest, b.hi));
  }
  Approximate SquareRoot(Approximate a) {
    const Register s = w.SqrtF64(a.hi);
    if (!twofold_) return {s, {}};
    const Approximate p = ExactProduct(s, s);
    const Register rest = Plus(Minus(Minus(a.hi, p.hi), p.lo), a.lo);
    return FastSum(s, Over(rest, Plus(s, s)));
  }

  Approximate ExactSum(Register a, Register b) {
    const Register s = Plus(a, b), t = Minus(s, a);
    return {s, Plus(Minus(a, Minus(s, t)), Minus(b, t))};
  }
  Approximate FastSum(Register a, Register b) {
    const Register s = Plus(a, b);
    return {s, Minus(b, Minus(s, a))};
  }
  Approximate ExactProduct(Register a, Register b) {
    const Register p = Times(a, b);
    return {p, Fma(a, b, Negated(p))};
  }

  Approximate Load(std::string_view name, std::span<const double> hi, std::span<const double> lo,
                   Register index) {
    const std::string high = std::string(name) + "_hi", low = std::string(name) + "_lo";
    return {LookUp(high, hi, index), twofold_ ? LookUp(low, lo, index) : Register{}};
  }

  // native::Polynomial.
  template <class P>
  Approximate Polynomial(Approximate x) {
    if (!twofold_) return {Horner(P::kSingle, x.hi), {}};
    Register tail = C(std::end(P::kDouble)[-1].hi);
    for (int i = static_cast<int>(std::size(P::kDouble)) - 2; i >= P::kHead; --i)
      tail = Fma(tail, x.hi, C(P::kDouble[i].hi));
    Approximate sum = Multiply(x, tail);
    for (int i = P::kHead - 1; i >= 0; --i) {
      sum = AddSmaller(Of(P::kDouble[i]), sum);
      if (i > 0) sum = Multiply(x, sum);
    }
    return sum;
  }
  Register Horner(std::span<const double> coefficients, Register x) {
    Register sum = C(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) sum = Fma(sum, x, C(coefficients[i]));
    return sum;
  }

 private:
  Elements& elements_;
  const bool twofold_;
};

}  // namespace assay::gpu

#endif  // ASSAY_GPU_PTX_PAIRS_H_
