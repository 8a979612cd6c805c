// Sums of squared deviations, of which variances are made. Below, d_i = x_i - m along a line, in Assay's
// numbers; Dx_i and Dm are the distances of a backend's x_i and m, at most r_i and r_m.
//
//   sum (d_i + Dx_i - Dm)^2 - sum d_i^2 = 2 sum d_i Dx_i - 2 Dm sum d_i + sum (Dx_i - Dm)^2,
//
// and where m is near the mean sum d_i is next to zero: what m is off by counts in second order only. The
// rules of subtract, multiply and reduce one after the other have 2 sum |d_i| (r_i + r_m).
#include <algorithm>
#include <optional>

#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"
#include "literal/literal.h"

namespace assay::bound {
namespace {

struct Deviations {
  int32_t squares, deviations, x, m;  // d^2, d = x - m or m - x
};

// The array is a sum, or one that is multiplied with or divided by what is exact, and moved: one rounding.
bool IsOfSum(BoundContext& c, int32_t array) {
  bool has_rounding = false;
  for (int32_t k = array;;) {
    const Instruction& instruction = c.view().computation.instructions[static_cast<size_t>(k)];
    switch (instruction.opcode) {
      case Opcode::kReduce:
        return instruction.operands.size() == 2;
      case Opcode::kDivide:
      case Opcode::kMultiply:
        if (has_rounding || c.RadiusAt(instruction.operands[1])) return false;
        has_rounding = true;
        break;
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kCopy:
        break;
      default:
        return false;
    }
    k = instruction.operands[0];
  }
}

// The operand of the reduce at hand as squares of differences from what is constant along its dimensions.
std::optional<Deviations> DeviationsOf(BoundContext& c) {
  const InstructionView& view = c.view();
  const auto at = [&](int32_t k) -> const Instruction& {
    return view.computation.instructions[static_cast<size_t>(k)];
  };
  const auto reduced = c.attributes().List(Attr::kDimensions);
  const auto is_constant_along = [&](const Instruction& instruction) {
    if (instruction.opcode != Opcode::kBroadcast) return false;
    const auto kept = instruction.attributes.List(Attr::kDimensions);
    return std::none_of(reduced.begin(), reduced.end(),
                        [&](int64_t d) { return std::find(kept.begin(), kept.end(), d) != kept.end(); });
  };
  const Instruction& start = at(view.instruction.operands[1]);
  if (start.opcode != Opcode::kConstant || start.literal == nullptr || start.literal->GetDouble(0) != 0)
    return std::nullopt;
  const int32_t squares = view.instruction.operands[0];
  const Instruction& square = at(squares);
  if (square.opcode != Opcode::kMultiply || square.operands[0] != square.operands[1]) return std::nullopt;
  const Instruction& difference = at(square.operands[0]);
  if (difference.opcode != Opcode::kSubtract) return std::nullopt;
  for (const size_t m : {1, 0}) {
    if (is_constant_along(at(difference.operands[m])) && IsOfSum(c, difference.operands[m]))
      return Deviations{squares, square.operands[0], difference.operands[1 - m], difference.operands[m]};
  }
  return std::nullopt;
}

// What a result is off by at least, that is no share of it: numbers that are flushed.
double AbsoluteOf(BoundContext& c, Opcode op) {
  const Allowance allowed = c.AllowedFor(op, c.result_type());
  const double smallest = RadiusType(c.result_type()) == ElementType::kF64 ? 0x1p-1074 : 0x1p-149;
  return allowed.absolute + (allowed.ulps + 8) * smallest;
}

}  // namespace

// `gamma`: (1 + u)^n - 1 of the sum. An element of m may be computed anew for each x_i, but for the sums that
// it is made of: two roundings of a quotient are part of r_i, as is Assay's rounding of d_i.
//   M = 2 sum |d_i| r_i + 2 r_m |sum d_i| + sum (r_i + r_m)^2,
//   r = M + (sum d_i^2 + M) g' + u sum d_i^2, with g' = (1 + a)^2 (1 + b)(1 + g) - 1 of the backend's
// subtraction, multiplication and sum.
void SharpenSquaredDeviations(BoundContext& c, double gamma) {
  const ElementType type = c.result_type();
  if (c.view().instruction.opcode != Opcode::kReduce || !IsFloat(type) || RadiusType(type) != type ||
      !c.ResultRadius())
    return;
  const std::optional<Deviations> found = DeviationsOf(c);
  if (!found) return;
  const Node d = c.ValueAt(found->deviations), m = c.ValueAt(found->m);
  if (!d || !m) return;
  const Node rx = c.RadiusAt(found->x), rm = c.RadiusAt(found->m);
  if (!rm) return;
  const auto dimensions = c.attributes().List(Attr::kDimensions);
  const double ulp = UlpOf(type);
  const auto share = [&](Opcode op) {
    const Allowance allowed = c.AllowedFor(op, type);
    return allowed.ulps * ulp + allowed.relative;
  };
  const double rounding = (1 + share(Opcode::kSubtract)) * (1 + share(Opcode::kSubtract)) *
                              (1 + share(Opcode::kMultiply)) * (1 + gamma) -
                          1;
  const Node size = c.Magnitude(d);
  const Node own =
      c.Plus(c.Times(size, ulp / 2),
             c.Times(c.Magnitude(m), 2 * std::max(share(Opcode::kDivide), share(Opcode::kMultiply))));
  const Node radius = c.Plus(c.Plus(rx, own), AbsoluteOf(c, Opcode::kSubtract));
  const Node both = c.Plus(radius, rm);
  const Node moved =
      c.Reduced(Opcode::kAdd, c.Plus(c.Times(c.Times(size, radius), 2.0), c.Times(both, both)), dimensions);
  // m's radius is the same along a line, as m is.
  const Node of_m = c.Times(c.Reduced(Opcode::kMaximum, rm, dimensions), 2.0);
  const Node off_mean = Larger(c, c.Write(Opcode::kAbs, {c.Reduced(Opcode::kAdd, d, dimensions)}));
  const Node spread = Larger(c, c.Plus(moved, c.Times(of_m, off_mean)));
  const Node squares = c.Reduced(Opcode::kAdd, c.ValueAt(found->squares), dimensions);
  Node whole = c.Plus(spread, c.Times(c.Plus(squares, spread), rounding));
  whole = c.Plus(whole, c.Times(squares, ulp / 2));
  double terms = 1;
  for (const int64_t k : dimensions) terms *= static_cast<double>(c.view().operand(0).size(k));
  const Node before = c.ResultRadius();
  SetRoundedRadius(c, Larger(c, c.Plus(whole, (terms + 8) * AbsoluteOf(c, Opcode::kMultiply))),
                   c.AllowedForSum(type));
  c.SetRadius(c.Choose(c.Compare("LT", c.ResultRadius(), before), c.ResultRadius(), before));
}

}  // namespace assay::bound
