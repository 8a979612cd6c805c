// The rules of first-order forms. Below, a and b are operands with distances da and db, radii ra and rb (no
// |da| is more than ra) and forms with rests ea and eb and totals ta and tb; v is the result, r its radius.
// An operand without a form has the rest ra and no terms.
//
// How a form is rounded: a slope is made of at most four roundings, and is off by at most 2^-21 of the sum of
// the magnitudes that it is made of, which times the sources' radii is a share of the total, and grows behind
// as the total does: of n steps n 2^-21 of the last total. Where it underflows it is off by less than 2^-148,
// and radii of sources are at most 2^20: 2^-126 for each step. Rest and total are sums of positive terms, of
// less than 16 roundings a step: SmallerRadius makes up for them.
#include "evaluator/bounds/linear_forms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

struct Operand {
  Node value, size, radius, rest, total;
  const LinearForm* form;
};

Operand OperandOf(BoundContext& c, size_t k, const LinearForm& form) {
  Operand operand{c.Value(k), c.Magnitude(c.Value(k)), c.Radius(k), form.rest, form.total, &form};
  if (!form) operand.rest = operand.radius;
  return operand;
}

double Underflow(ElementType type) { return type == ElementType::kF64 ? 0x1p-1022 : 0x1p-126; }
constexpr double kLargestRadius = 0x1p20;
// Of what a slope is rounded by.
double RoundingOfSlopes(ElementType type) { return type == ElementType::kF64 ? 0x1p-50 : 0x1p-21; }

// The slope of a term, as an array.
Node SlopeOf(BoundContext& c, const LinearForm::Term& term) {
  return term.slope ? term.slope : c.Constant(1, term.source.radius);
}

// factor_a A + factor_b B of the terms of two forms; a factor of none is 1, `minus` changes the sign of the
// second.
std::vector<LinearForm::Term> Combined(BoundContext& c, const LinearForm& a, Node factor_a,
                                       const LinearForm& b, Node factor_b, bool minus) {
  std::vector<LinearForm::Term> terms;
  const auto scaled = [&](const LinearForm::Term& term, Node factor) {
    return !factor ? term.slope : !term.slope ? factor : c.Times(term.slope, factor);
  };
  const auto in_b = [&](int32_t id) {
    return std::find_if(b.terms.begin(), b.terms.end(), [id](const auto& t) { return t.source.id == id; });
  };
  for (const LinearForm::Term& term : a.terms) {
    const Node first = scaled(term, factor_a);
    const auto other = in_b(term.source.id);
    if (other == b.terms.end()) {
      terms.push_back({term.source, first});
      continue;
    }
    const Node x = SlopeOf(c, {term.source, first}), y = SlopeOf(c, {term.source, scaled(*other, factor_b)});
    terms.push_back({term.source, minus ? c.Minus(x, y) : c.Plus(x, y)});
  }
  for (const LinearForm::Term& term : b.terms) {
    const bool known = std::any_of(a.terms.begin(), a.terms.end(),
                                   [&](const auto& t) { return t.source.id == term.source.id; });
    if (known) continue;
    const Node slope = scaled(term, factor_b);
    terms.push_back(
        {term.source, minus ? c.Write(Opcode::kNegate, {SlopeOf(c, {term.source, slope})}) : slope});
  }
  return terms;
}

// The form with these terms: `rest` of the operands and of second order, `total` of the operands. What the
// instruction itself is off by, of the function of the operands that the backend had, its rule has said.
LinearForm RoundedForm(BoundContext& c, std::vector<LinearForm::Term> terms, Node rest, Node total,
                       int steps) {
  const Node own = c.ResultRounding();
  if (!own) return {};
  return {std::move(terms), c.Plus(rest, c.Plus(own, Underflow(c.result_type()))), total, steps + 1};
}

int StepsOf(const Operand& a, const Operand& b) { return std::max(a.form->steps, b.form->steps); }

LinearForm FormOfSum(BoundContext& c, const Operand& a, const Operand& b, bool minus) {
  return RoundedForm(c, Combined(c, *a.form, Node(), *b.form, Node(), minus), c.Plus(a.rest, b.rest),
                     c.Plus(a.total, b.total), StepsOf(a, b));
}

// a'b' - ab = a db + b da + da db.
LinearForm FormOfProduct(BoundContext& c, const Operand& a, const Operand& b) {
  const Node rest =
      c.Plus(c.Plus(c.Times(a.size, b.rest), c.Times(b.size, a.rest)), c.Times(a.radius, b.radius));
  const Node total = c.Plus(c.Times(a.size, b.total), c.Times(b.size, a.total));
  return RoundedForm(c, Combined(c, *a.form, b.value, *b.form, a.value, false), rest, total, StepsOf(a, b));
}

// a'/b' - a/b = (da - (a/b) db) / b / (1 + db/b): with q = rb / |b| < 1 the rest is at most
// (ea + |v| eb) / |b| + (ra + |v| rb) / |b| q / (1 - q). That v is rounded is a share of the total.
LinearForm FormOfQuotient(BoundContext& c, const Operand& a, const Operand& b) {
  const Node v = c.Result(), size = Upper(c);
  Node rest = c.Over(c.Plus(a.rest, c.Times(size, b.rest)), b.size);
  const Node total = c.Over(c.Plus(a.total, c.Times(size, b.total)), b.size);
  if (b.radius) {
    const Node q = Larger(c, c.Over(b.radius, b.size));
    const Node moved = c.Over(c.Plus(a.radius, c.Times(size, b.radius)), b.size);
    const Node second = c.Over(c.Times(moved, q), OneMinus(c, q));
    rest = c.Choose(c.Compare("LT", q, 0.5), c.Plus(rest, Larger(c, second)), c.Constant(kInfinity, q));
  }
  std::vector<LinearForm::Term> terms = Combined(c, *a.form, Node(), *b.form, v, true);
  for (LinearForm::Term& term : terms) term.slope = c.Over(SlopeOf(c, term), b.value);
  return RoundedForm(c, std::move(terms), rest, total, StepsOf(a, b));
}

// f(a') - f(a) = f'(a) da + at most `second`. The slope is computed with an error of at most `error`.
LinearForm FormOfFunction(BoundContext& c, const Operand& a, Node slope, Node second, double error) {
  const Node size = c.Write(Opcode::kAbs, {slope});
  const Node rest = c.Plus(c.Plus(c.Times(size, a.rest), second), c.Times(a.total, error));
  return RoundedForm(c, Combined(c, *a.form, slope, LinearForm(), Node(), false), rest,
                     c.Times(size, a.total), a.form->steps);
}

Node Square(BoundContext& c, Node a) { return c.Times(a, a); }
// Where the predicate holds; elsewhere nothing is known.
Node OrUnbounded(BoundContext& c, Node predicate, Node a) {
  return c.Choose(predicate, a, c.Constant(kInfinity, a));
}
// q = ra / |a|, and `share` |v| q^2 where q <= 1/2.
Node OfRatio(BoundContext& c, const Operand& a, Node size, double share) {
  const Node q = Larger(c, c.Over(a.radius, a.size));
  const Node second = c.Times(Square(c, q), share);
  return OrUnbounded(c, c.Compare("LE", q, 0.5), size ? c.Times(second, size) : second);
}

// With the slopes at a, and half the largest |f''| that there is, or near a:
//   tanh: 1 - v^2, |f''| <= 0.77; logistic: v (1 - v), 0.0963; erf: 2/sqrt(pi) e^(-a^2), 0.968; sin, cos: 1;
//   exp: v, v (e^r - 1 - r) <= 0.72 v r^2 for r <= 1;
//   log, of q = r / |a| <= 1/2: -log(1 - q) - q <= q^2; rsqrt: (1 - q)^(-1/2) - 1 - q/2 <= 0.66 q^2;
//   sqrt: 1 - q/2 - sqrt(1 - q) <= 0.18 q^2.
LinearForm FormOfUnary(BoundContext& c, const Operand& a) {
  const Node v = c.Result(), size = Upper(c), r = a.radius;
  const double ulp = UlpOf(c.result_type());
  switch (c.view().instruction.opcode) {
    case Opcode::kTanh:
      return FormOfFunction(c, a, OneMinus(c, Square(c, v)), c.Times(Square(c, r), 0.386), 4 * ulp);
    case Opcode::kLogistic:
      return FormOfFunction(c, a, c.Times(v, OneMinus(c, v)), c.Times(Square(c, r), 0.0483), 4 * ulp);
    case Opcode::kErf: {
      // e^(-a^2) is off by no more than a^2 e^(-a^2) <= 0.37 ulps and its own.
      const Node power = c.Write(Opcode::kExp, {c.Write(Opcode::kNegate, {Square(c, a.value)})});
      return FormOfFunction(c, a, c.Times(power, 2 / std::sqrt(std::acos(-1.0))),
                            c.Times(Square(c, r), 0.485), 4 * ulp);
    }
    case Opcode::kSin:
      return FormOfFunction(c, a, c.Write(Opcode::kCos, {a.value}), c.Times(Square(c, r), 0.501), 2 * ulp);
    case Opcode::kCos:
      return FormOfFunction(c, a, c.Write(Opcode::kNegate, {c.Write(Opcode::kSin, {a.value})}),
                            c.Times(Square(c, r), 0.501), 2 * ulp);
    case Opcode::kExp: {
      const Node second = c.Times(c.Times(Square(c, r), size), 0.72);
      return FormOfFunction(c, a, v, OrUnbounded(c, c.Compare("LE", r, 1), second), 0);
    }
    case Opcode::kLog:
      return FormOfFunction(c, a, c.Over(c.Constant(1, v), a.value), OfRatio(c, a, Node(), 1), 0);
    case Opcode::kRsqrt:
      return FormOfFunction(c, a, c.Over(c.Times(v, -0.5), a.value), OfRatio(c, a, size, 0.66), 0);
    default:  // sqrt
      return FormOfFunction(c, a, c.Over(c.Constant(0.5, v), v), OfRatio(c, a, size, 0.18), 0);
  }
}

// The side that is chosen, where the predicate is decided.
LinearForm FormOfSelect(BoundContext& c, const Operand& a, const Operand& b) {
  const auto chosen = [&](Node x, Node y) { return !x && !y ? Node() : c.Choose(c.Value(0), x, y); };
  LinearForm form;
  const auto add = [&](const LinearForm::Term& term) {
    const auto slope = [&](const LinearForm& side) {
      for (const LinearForm::Term& t : side.terms) {
        if (t.source.id == term.source.id) return SlopeOf(c, t);
      }
      return Node();
    };
    form.terms.push_back({term.source, chosen(slope(*a.form), slope(*b.form))});
  };
  for (const LinearForm::Term& term : a.form->terms) add(term);
  for (const LinearForm::Term& term : b.form->terms) {
    const bool known = std::any_of(a.form->terms.begin(), a.form->terms.end(),
                                   [&](const auto& t) { return t.source.id == term.source.id; });
    if (!known) add(term);
  }
  form.rest = chosen(a.rest, b.rest);
  form.total = chosen(a.total, b.total);
  form.steps = StepsOf(a, b) + 1;
  return form;
}

Node PartOf(BoundContext& c, const LinearForm::Term& term) {
  return term.slope ? c.Times(c.Write(Opcode::kAbs, {term.slope}), term.source.radius) : term.source.radius;
}

}  // namespace

LinearForm FormOfSource(BoundContext& c, const FormSource& source) {
  const Node small = c.Compare("LE", source.radius, kLargestRadius);
  const Node rest =
      c.Choose(small, c.Constant(source.rest, source.radius), c.Constant(kInfinity, source.radius));
  return {{{source, Node()}}, rest, source.radius, 0};
}

LinearForm Kept(BoundContext& c, const LinearForm& form, std::span<const int32_t> wanted) {
  LinearForm kept{{}, form.rest, form.total, form.steps};
  for (const LinearForm::Term& term : form.terms) {
    if (std::find(wanted.begin(), wanted.end(), term.source.id) != wanted.end())
      kept.terms.push_back(term);
    else
      kept.rest = c.Plus(kept.rest, PartOf(c, term));
  }
  return kept;
}

bool CarriesForms(const InstructionView& view) {
  const Shape& result = view.result();
  if (!result.IsArray() || !IsFloat(result.element_type()) ||
      RadiusType(result.element_type()) != result.element_type())
    return false;
  const Opcode op = view.instruction.opcode;
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kNegate:
    case Opcode::kTanh:
    case Opcode::kLogistic:
    case Opcode::kErf:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kExp:
    case Opcode::kLog:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
    case Opcode::kSelect:
      break;
    default:
      return false;
  }
  for (size_t k = 0; k < view.num_operands(); ++k) {
    if (!std::ranges::equal(view.operand(k).sizes(), result.sizes())) return false;
  }
  return true;
}

LinearForm FormOfResult(BoundContext& c, std::span<const LinearForm> operands) {
  const auto operand = [&](size_t k) { return OperandOf(c, k, operands[k]); };
  if (!c.ResultRadius()) return {};
  switch (c.view().instruction.opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
      return FormOfSum(c, operand(0), operand(1), c.view().instruction.opcode == Opcode::kSubtract);
    case Opcode::kMultiply:
      return FormOfProduct(c, operand(0), operand(1));
    case Opcode::kDivide:
      return FormOfQuotient(c, operand(0), operand(1));
    case Opcode::kNegate: {
      LinearForm form = operands[0];
      for (LinearForm::Term& term : form.terms) term.slope = c.Write(Opcode::kNegate, {SlopeOf(c, term)});
      return form;
    }
    case Opcode::kSelect:
      return c.Radius(0) ? LinearForm() : FormOfSelect(c, operand(1), operand(2));
    default:
      return FormOfUnary(c, operand(0));
  }
}

Node SmallerRadius(BoundContext& c, const LinearForm& form, Node radius) {
  const ElementType type = c.ShapeOf(radius).element_type();
  Node sum = c.Plus(form.rest, c.Times(form.total, (form.steps + 1) * RoundingOfSlopes(type)));
  for (const LinearForm::Term& term : form.terms) sum = c.Plus(sum, PartOf(c, term));
  sum = c.Times(sum, 1 + (form.steps + 1) * (Slack(type) - 1));
  return c.Choose(c.Compare("LT", sum, radius), sum, radius);
}

}  // namespace assay::bound
