// batch-norm: the radii of its formulas as a backend writes them out, in any order of the factors: y = (x -
// m) r scale + offset, or x a + (offset - m a) with a = scale r. A basic operation is off by e of its
// result: the profile's ulps of the least exact one, and half an ulp for Assay's own. Radii of steps hold
// theirs and Assay's own errors together, so that the last one is that around Assay's result.
#include <algorithm>
#include <cmath>

#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"
#include "literal/float_format.h"

namespace assay::bound {
namespace {

double GammaOf(double steps, double unit) { return std::expm1(steps * std::log1p(unit)); }

// Magnitudes or values with their radii, in radius type.
struct Quantity {
  Node value;   // signed
  Node size;    // its magnitude
  Node radius;  // none: exact
};

class Normalization {
 public:
  explicit Normalization(BoundContext& c)
      : c_(c),
        element_(c.operand_type(0)),
        type_(RadiusType(element_)),
        feature_(c.attributes().Int(Attr::kFeatureIndex)) {
    const Shape& x = c.view().operand(0);
    for (int64_t d = 0; d < x.rank(); ++d) {
      if (d != feature_) others_.push_back(d);
    }
    n_ = 1;
    for (const int64_t d : others_) n_ *= static_cast<double>(x.size(d));
    const double ulp = UlpOf(element_);
    const auto ulps = [&](Opcode op) { return c.AllowedFor(op, element_).ulps * ulp; };
    e_ = std::max(
             {ulps(Opcode::kAdd), ulps(Opcode::kSubtract), ulps(Opcode::kMultiply), ulps(Opcode::kDivide)}) +
         ulp / 2;
    root_ = std::max(ulps(Opcode::kRsqrt), ulps(Opcode::kSqrt) + ulps(Opcode::kDivide)) + ulp;
    sum_ = GammaOf(n_ + 1, c.SumUnit(element_));
    smallest_ = 8 * std::max(Info(element_).format->min_subnormal,
                             type_ == ElementType::kF64 ? 0x1p-1074 : 0x1p-149) +
                4 * c.AllowedFor(Opcode::kMultiply, element_).absolute;
    epsilon_ =
        RoundToFormat(static_cast<float>(c.attributes().Float(Attr::kEpsilon)), *Info(element_).format);
  }

  bool is_empty() const { return c_.view().operand(0).num_elements() == 0; }
  Quantity Operand(size_t k) {
    return {c_.ConvertTo(c_.Value(k), type_), c_.ConvertTo(c_.Magnitude(c_.Value(k)), type_),
            c_.ConvertTo(c_.Radius(k), type_)};
  }
  Quantity Leaf(size_t k, Node radius) {
    return {c_.ConvertTo(c_.Result(k), type_), c_.ConvertTo(c_.Magnitude(c_.Result(k)), type_), radius};
  }
  Node Size(const Quantity& a) { return c_.Plus(a.size, a.radius); }
  Quantity Spread(const Quantity& a) { return {Spread(a.value), Spread(a.size), Spread(a.radius)}; }
  // A feature's number for each of its elements.
  Node Spread(Node a) {
    return a ? c_.SpreadAlong(a, {&feature_, 1}, c_.ConvertTo(c_.Magnitude(c_.Value(0)), type_)) : a;
  }
  Node Sum(Node a) { return a ? c_.Reduced(Opcode::kAdd, a, others_) : a; }
  Node Mean(Node a) { return c_.Times(Sum(a), 1 / n_); }

  // Nothing is known where numbers on the way may exceed the largest one of the type.
  Node UnlessOverflow(Node radius, Node reach) {
    const double largest = Info(element_).format->max_finite;
    return c_.Choose(c_.Compare("LE", reach, largest), radius, c_.Constant(kUnbounded, radius));
  }

  // a - b, and what is off: e |a - b| and the operands' radii.
  Quantity Difference(const Quantity& a, const Quantity& b) {
    Quantity d;
    d.value = c_.Minus(a.value, b.value);
    d.size = c_.Magnitude(d.value);
    const Node moved = c_.Plus(a.radius, b.radius);
    d.radius = c_.Plus(c_.Times(c_.Plus(d.size, moved), 2 * e_), moved);
    return d;
  }
  // |a' b' - a b| <= |a| rb + ra (|b| + rb), and e of the product `rounds` times.
  Node RadiusOfProduct(const Quantity& a, const Quantity& b, double rounds) {
    const Node moved = c_.Plus(c_.Times(a.size, b.radius), c_.Times(a.radius, Size(b)));
    return c_.Plus(moved, c_.Times(c_.Times(Size(a), Size(b)), GammaOf(rounds, e_)));
  }
  // m = mean x: sum r / n, and g and a division of mean (|x| + r). The number of elements may be rounded too.
  Quantity MeanOf(const Quantity& x, size_t leaf) {
    const double share = (1 + sum_) * (1 + GammaOf(3, e_)) - 1;
    const Node radius = c_.Plus(Mean(c_.Plus(x.radius, c_.Times(Size(x), share))), smallest_);
    return Leaf(leaf, UnlessOverflow(radius, Sum(Size(x))));
  }
  // mean x^2 - (mean x)^2, or the mean of squared differences: each is off by at most K mean (|x| + r)^2,
  // and the operand's radii move the variance by 2 mean |x - m| r + mean r^2.
  Quantity VarianceOf(const Quantity& x, const Quantity& mean, size_t leaf) {
    const double of_mean = (1 + sum_) * (1 + GammaOf(3, e_)) - 1;
    const double of_squares = (1 + sum_) * (1 + GammaOf(4, e_)) - 1;
    const double share = (1 + e_) * (of_squares + (1 + of_mean) * (1 + of_mean) * (1 + e_) - 1) + 2 * e_;
    const Node reach = Size(x);
    const Node squares = Sum(c_.Write(Opcode::kMultiply, {reach, reach}));
    Node radius = c_.Times(c_.Times(squares, 1 / n_), share);
    if (x.radius) {
      Quantity exact_mean = Spread(mean);
      exact_mean.radius = Node();
      const Quantity d = Difference({x.value, x.size, Node()}, exact_mean);
      const Node from_mean = c_.Plus(Size(d), c_.Times(exact_mean.size, e_));
      radius = c_.Plus(radius, Mean(c_.Times(c_.Plus(c_.Times(from_mean, 2.0), x.radius), x.radius)));
    }
    return Leaf(leaf, UnlessOverflow(c_.Plus(radius, smallest_), squares));
  }
  // variance + epsilon, and the inverse of its root: r q / (2 (1 - q)^2) for q = radius / value < 1.
  Quantity Shifted(const Quantity& variance) {
    Quantity s;
    s.value = c_.Plus(variance.value, epsilon_);
    s.size = c_.Magnitude(s.value);
    s.radius =
        c_.Plus(c_.Plus(variance.radius, c_.Times(c_.Plus(Size(variance), epsilon_), 2 * e_)), smallest_);
    return s;
  }
  Quantity InverseRoot(const Quantity& s) {
    Quantity r;
    r.value = r.size = c_.Write(Opcode::kRsqrt, {s.value});
    const Node q = Larger(c_, c_.Over(s.radius, s.size)), rest = OneMinus(c_, q);
    const Node moved = Larger(c_, c_.Over(c_.Over(c_.Times(q, 0.5), rest), rest));
    const Node share = c_.Plus(c_.Times(moved, 1 + root_), root_);
    r.radius = c_.Choose(c_.Compare("LT", q, 0.9), c_.Times(r.size, share), c_.Constant(kUnbounded, r.size));
    return r;
  }
  Quantity Product(const Quantity& a, const Quantity& b, double rounds) {
    const Node value = c_.Write(Opcode::kMultiply, {a.value, b.value});
    return {value, c_.Magnitude(value), RadiusOfProduct(a, b, rounds)};
  }
  // y of all features: a (x - m) + offset with a = scale r.
  Node RadiusOfNormal(const Quantity& x, const Quantity& mean, const Quantity& r, const Quantity& scale,
                      const Quantity& offset) {
    const Quantity a = Spread(Product(scale, r, 1)), m = Spread(mean), b = Spread(offset);
    const Quantity d = Difference(x, m);
    // x - m is exact but for this; the roundings are those of x a, m a and their sums.
    const Node moved = c_.Plus(x.radius, m.radius);
    Node radius =
        c_.Plus(c_.Times(a.radius, c_.Plus(Size(d), c_.Times(m.size, e_))), c_.Times(a.size, moved));
    radius = c_.Plus(radius, b.radius);
    const Node terms = c_.Plus(c_.Times(Size(a), c_.Plus(Size(x), Size(m))), Size(b));
    radius = c_.Plus(radius, c_.Times(terms, GammaOf(5, e_)));
    radius = c_.Plus(radius, c_.Times(c_.Plus(Size(a), 1), smallest_));
    // x - m may be multiplied by the scale first.
    const Node scaled = c_.Times(c_.Plus(Size(x), Size(m)), Size(Spread(scale)));
    return UnlessOverflow(radius, c_.Plus(terms, scaled));
  }
  void Give(Node radius, size_t leaf) {
    const double slack = Slack(type_);
    const Node within = Within(c_, c_.Times(radius, slack * slack * slack), c_.Result(leaf), element_);
    c_.SetRadius(c_.Choose(c_.Compare("EQ", within, within), within, c_.Constant(kUnbounded, within)), leaf);
  }

  void Training() {
    const Quantity x = Operand(0), mean = MeanOf(x, 1), variance = VarianceOf(x, mean, 2);
    Give(RadiusOfNormal(x, mean, InverseRoot(Shifted(variance)), Operand(1), Operand(2)), 0);
    Give(mean.radius, 1);
    Give(variance.radius, 2);
  }
  void Inference() {
    Give(RadiusOfNormal(Operand(0), Operand(3), InverseRoot(Shifted(Operand(4))), Operand(1), Operand(2)), 0);
  }
  void Gradient();

 private:
  BoundContext& c_;
  const ElementType element_, type_;
  const int64_t feature_;
  DimVector others_;
  double n_, e_, root_, sum_, smallest_, epsilon_;
};

// d = x - mean, S = sum g d, q = S / (n s), m = sum g / n: scale r (g - m - q d), or scale r / n times n of
// that.
void Normalization::Gradient() {
  const Quantity g = Operand(4), d = Difference(Operand(0), Spread(Operand(2)));
  const Quantity s = Shifted(Operand(3)), r = InverseRoot(s);
  const Quantity of_offset =
      Leaf(2, c_.Plus(Sum(c_.Plus(g.radius, c_.Times(Size(g), (1 + sum_) * (1 + e_) - 1))), n_ * smallest_));
  Quantity product;
  const Quantity terms = Product(g, d, 1);
  product.value = Sum(terms.value);
  product.size = c_.Magnitude(product.value);
  product.radius =
      c_.Plus(c_.Times(Sum(terms.radius), 1 + sum_), c_.Times(Sum(Size(terms)), (1 + sum_) * (1 + e_) - 1));
  product.radius = c_.Plus(product.radius, n_ * smallest_);
  Give(c_.Plus(RadiusOfProduct(product, r, 2), smallest_), 1);
  Give(of_offset.radius, 2);

  Quantity q, m;
  q.value = c_.Over(c_.Times(product.value, 1 / n_), s.value);
  q.size = c_.Magnitude(q.value);
  const Node least = c_.Minus(s.size, Larger(c_, s.radius));  // where r is known it is positive
  const Node moved = c_.Over(c_.Plus(c_.Times(product.radius, 1 / n_), c_.Times(q.size, s.radius)), least);
  q.radius = c_.Plus(Larger(c_, moved), c_.Times(c_.Plus(q.size, moved), GammaOf(5, e_)));
  m.value = c_.Times(of_offset.value, 1 / n_);
  m.size = c_.Magnitude(m.value);
  m.radius = c_.Plus(c_.Times(of_offset.radius, 1 / n_), c_.Times(Size(of_offset), GammaOf(4, e_) / n_));
  const Quantity all_m = Spread(m), all_q = Spread(q), part = Product(all_q, d, 1);
  Quantity rest;
  rest.value = c_.Minus(c_.Minus(g.value, all_m.value), part.value);
  rest.size = c_.Magnitude(rest.value);
  const Node whole = c_.Plus(c_.Plus(Size(g), Size(all_m)), Size(part));
  rest.radius =
      c_.Plus(c_.Plus(c_.Plus(g.radius, all_m.radius), part.radius), c_.Times(whole, GammaOf(7, e_)));
  const Quantity factor = Spread(Product(Operand(1), r, 1));
  const Node radius = RadiusOfProduct(factor, rest, 5);
  Give(c_.Plus(radius, c_.Times(c_.Plus(Size(factor), 1), smallest_)), 0);
}

}  // namespace

void BatchNormTraining(BoundContext& c) {
  Normalization normalization(c);
  if (!normalization.is_empty() && !c.SamplesMoveOperands()) normalization.Training();
}
void BatchNormInference(BoundContext& c) {
  Normalization normalization(c);
  if (!normalization.is_empty() && !c.SamplesMoveOperands()) normalization.Inference();
}
void BatchNormGrad(BoundContext& c) {
  Normalization normalization(c);
  if (!normalization.is_empty() && !c.SamplesMoveOperands()) normalization.Gradient();
}

}  // namespace assay::bound
