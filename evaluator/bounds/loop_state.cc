#include "evaluator/bounds/loop_state.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "evaluator/bounds/loop_forms.h"
#include "evaluator/bounds/numbers.h"
#include "evaluator/bounds/rules.h"

namespace assay::bound {
namespace {

Node Reshaped(BoundContext& c, Node a, const DimVector& sizes) {
  const std::span<const int64_t> own = c.ShapeOf(a).sizes();
  if (std::equal(own.begin(), own.end(), sizes.begin(), sizes.end())) return a;
  Instruction reshape(Opcode::kReshape);
  reshape.shape = std::make_shared<const Shape>(Shape::ArrayOrDie(c.ShapeOf(a).element_type(), sizes));
  reshape.operands = {a.id};
  return c.Write(std::move(reshape));
}

Node Flat(BoundContext& c, Node a) { return Reshaped(c, a, {c.ShapeOf(a).num_elements()}); }

Node Joined(BoundContext& c, const std::vector<Node>& parts, int64_t dimension) {
  if (parts.size() == 1) return parts[0];
  Instruction concatenate(Opcode::kConcatenate);
  concatenate.attributes.Set(Attr::kDimensions, Ints{dimension});
  for (const Node part : parts) concatenate.operands.push_back(part.id);
  return c.Write(std::move(concatenate));
}

Node Zeros(BoundContext& c, Node like, const DimVector& sizes) {
  Instruction zeros(Opcode::kBroadcast);
  const ElementType type = c.ShapeOf(like).element_type();
  zeros.attributes.Set(Attr::kDimensions, Ints{});
  zeros.shape = std::make_shared<const Shape>(Shape::ArrayOrDie(type, sizes));
  zeros.operands = {c.Scalar(type, 0).id};
  return c.Write(std::move(zeros));
}

// A square of zeros with these numbers along its diagonal.
Node Diagonal(BoundContext& c, Node numbers) {
  const int64_t n = c.ShapeOf(numbers).size(0);
  const DimVector sizes = {n, n};
  const auto indices = std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kS32, sizes));
  Instruction spread(Opcode::kBroadcast), row(Opcode::kIota), column(Opcode::kIota);
  spread.attributes.Set(Attr::kDimensions, Ints{1});
  spread.shape = std::make_shared<const Shape>(Shape::ArrayOrDie(c.ShapeOf(numbers).element_type(), sizes));
  spread.operands = {numbers.id};
  row.attributes.Set(Attr::kIotaDimension, int64_t{0});
  column.attributes.Set(Attr::kIotaDimension, int64_t{1});
  row.shape = column.shape = indices;
  const Node here = c.Compare("EQ", c.Write(std::move(row)), c.Write(std::move(column)));
  return c.Choose(here, c.Write(std::move(spread)), Node());
}

// T (A / c): shares of tangents are of n by n numbers, those of T would be of m by n.
Node Contracted(BoundContext& c, const LoopState& state, Node tangents) {
  const int64_t rows[] = {0};
  const auto along_rows = [&](Node of) { return c.SpreadAlong(of, rows, tangents); };
  const Node shares = c.Over(tangents, along_rows(state.sizes));
  Instruction dot(Opcode::kDot);
  dot.attributes.Set(Attr::kLhsContractingDims, Ints{1});
  dot.attributes.Set(Attr::kRhsContractingDims, Ints{0});
  dot.operands = {state.matrix.id, c.Choose(along_rows(c.Compare("EQ", state.sizes, 0)), Node(), shares).id};
  return c.Write(std::move(dot));
}

// Elements [first, end) along a dimension.
Node Elements(BoundContext& c, Node a, int64_t dimension, int64_t first, int64_t end) {
  return first == 0 && end == c.ShapeOf(a).size(dimension) ? a : c.Sliced(a, dimension, first, end);
}

// The arrays as one, along one dimension for each kind.
struct Together {
  Node tangents, rest, total, value, radius;
};

Together AllOf(BoundContext& c, int64_t symbols, const std::vector<StateArray>& arrays) {
  std::vector<Node> tangents, rests, totals, values, radii;
  for (const StateArray& array : arrays) {
    const int64_t n = c.ShapeOf(array.value).num_elements();
    const Node radius = Flat(c, array.radius);
    radii.push_back(radius);
    values.push_back(Flat(c, array.value));
    const LoopForm form = array.form ? Settled(c, array.form) : LoopForm();
    tangents.push_back(form ? Reshaped(c, form.tangents, {symbols, n}) : Zeros(c, radius, {symbols, n}));
    rests.push_back(form ? Flat(c, form.rest) : radius);
    totals.push_back(form ? Flat(c, form.total) : c.Constant(0, radius));
  }
  return {Joined(c, tangents, 1), Joined(c, rests, 0), Joined(c, totals, 0), Joined(c, values, 0),
          Joined(c, radii, 0)};
}

}  // namespace

LoopState StartOfLoop(BoundContext& c, const std::vector<Node>& radii, int64_t rows) {
  std::vector<Node> flat;
  flat.reserve(radii.size());
  for (const Node radius : radii) flat.push_back(Flat(c, radius));
  const Node rest = Joined(c, flat, 0);
  return {Zeros(c, rest, {rows, c.ShapeOf(rest).size(0)}), rest, c.Constant(0, rest)};
}

std::vector<LoopForm> FormsOfState(BoundContext& c, const LoopState& state, std::span<const Shape> shapes) {
  const Node all = Diagonal(c, state.sizes);
  const int64_t n = c.ShapeOf(state.sizes).size(0);
  std::vector<LoopForm> forms;
  int64_t first = 0;
  for (const Shape& shape : shapes) {
    const int64_t end = first + shape.num_elements();
    const DimVector sizes(shape.sizes().begin(), shape.sizes().end());
    DimVector wide = {n};
    wide.insert(wide.end(), sizes.begin(), sizes.end());
    const auto part = [&](Node of) { return Reshaped(c, Elements(c, of, 0, first, end), sizes); };
    forms.push_back(
        {Reshaped(c, Elements(c, all, 1, first, end), wide), part(state.rest), part(state.sizes)});
    first = end;
  }
  return forms;
}

LoopState NextState(BoundContext& c, const LoopState& state, std::vector<StateArray>& arrays,
                    const BetweenReaders& between) {
  const int64_t rows = c.ShapeOf(state.matrix).size(0), n = c.ShapeOf(state.matrix).size(1);
  const ElementType type = c.ShapeOf(state.matrix).element_type();
  const Together all = AllOf(c, n, arrays);
  const auto reach = [&](Node size, Node rest) {
    return Within(c, c.Times(c.Plus(size, rest), Slack(type)), all.value, type);
  };
  // An array that may be infinite is not where its form puts it.
  const Node known = c.Compare("LT", reach(c.Times(all.total, Slack(type)), all.rest), kInfinity);
  const Node tangents = c.Choose(OverSymbols(c, known, all.tangents), all.tangents, Node());
  const Node made = Contracted(c, state, tangents);
  // A / c and the products are rounded once each, which a margin of the total is above. Numbers that
  // underflow are one for each row and each column.
  const double lost =
      std::ldexp(static_cast<double>(rows * n + rows + n), type == ElementType::kF64 ? -1074 : -149);
  const double margin = Slack(type) - 1;
  const Node rest = c.Plus(c.Plus(all.rest, c.Times(all.total, margin)), lost);
  const Node size = SumOverSymbols(c, made),
             dropped = SumOverSymbols(c, Elements(c, made, 0, rows - n, rows));
  const Node by_form = reach(size, rest);
  const Node is_sharper = c.Write(Opcode::kAnd, {known, c.Compare("LT", by_form, all.radius)});
  const Node radius = c.Choose(is_sharper, by_form, all.radius);
  // T is finite: what is not known at all has no symbol, and an infinite rest.
  Node box = c.Choose(known, c.Times(c.Plus(dropped, rest), Slack(type)), radius);
  const Node is_finite = c.Compare("LT", box, kInfinity);
  box = c.Choose(is_finite, box, Node());
  const Node fresh = Diagonal(c, box);
  // size - dropped, both rounded once, is off by less than 16 units of size.
  const Node kept = c.Plus(c.Minus(size, dropped), c.Times(size, margin));
  LoopState next{Joined(c, {fresh, c.Sliced(made, 0, 0, rows - n)}, 0), c.Constant(between.flushed, radius),
                 c.Times(c.Plus(kept, box), Slack(type))};
  if (between.unrounded) {
    // Half an ulp, and as much of what is below all ulps.
    const Node most = c.Plus(Absolute(c, all.value), radius);
    next.rest = c.Plus(next.rest, c.Plus(c.Times(most, UlpOf(type)), 2 * Info(type).format->min_subnormal));
  }
  next.rest = KnownWhere(c, is_finite, next.rest);
  int64_t first = 0;
  for (StateArray& array : arrays) {
    const Shape shape = c.ShapeOf(array.value);
    const int64_t end = first + shape.num_elements();
    array.radius = Reshaped(c, Elements(c, radius, 0, first, end),
                            DimVector(shape.sizes().begin(), shape.sizes().end()));
    first = end;
  }
  return next;
}

}  // namespace assay::bound
