// CHLO: operations above StableHLO that JAX leaves in its programs (docs/spec/stablehlo-text.md section 7).
//
// Those that HLO has become that operation, which rounds once. Others are built of exact ones here, or become
// custom calls of their names, which are evaluated as the function, rounded once
// (evaluator/ops/control/function_call.h).
#include <algorithm>
#include <limits>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"

namespace assay::mlir {
namespace {

template <Opcode opcode>
void ImportChlo(OpImport& in) {
  in.Emit(opcode, in.operands);
}

void ImportTopK(OpImport& in) {
  if (!in.Arity(1, 2)) return;
  AttributeMap attributes = in.Map({{Attr::kK, in.Int("k")}, {Attr::kLargest, in.Bool("largest", true)}});
  if (in.Bool("is_stable")) attributes.Set(Attr::kIsStable, true);
  in.Emit(Opcode::kTopK, in.operands, std::move(attributes));
}

// square(x) = x * x
void ImportSquare(OpImport& in) {
  if (in.Arity(1)) in.Emit(Opcode::kMultiply, {in.operands[0], in.operands[0]});
}

// `shape` with other elements.
SharedShape WithType(OpImport& in, const Shape& shape, ElementType type) {
  absl::StatusOr<Shape> changed = Shape::Array(type, shape.sizes());
  if (!changed.ok()) {
    in.Fail(changed.status());
    return std::make_shared<const Shape>();
  }
  for (int64_t d = 0; d < shape.rank(); ++d) changed->set_dynamic(d, shape.is_dynamic(d));
  return std::make_shared<const Shape>(*std::move(changed));
}

// conj(a + bi) = a - bi; the identity on real numbers
void ImportConj(OpImport& in) {
  if (!in.Arity(1)) return;
  const Shape& shape = in.OperandShape(0);
  if (!shape.IsArray() || !IsComplex(shape.element_type())) return in.BindResult(0, in.operands[0]);
  const SharedShape part = WithType(in, shape, ComponentType(shape.element_type()));
  const int32_t real = in.Add(Opcode::kReal, part, in.operands);
  const int32_t imaginary = in.Add(Opcode::kNegate, part, {in.Add(Opcode::kImag, part, in.operands)});
  in.Emit(Opcode::kComplex, {real, imaginary});
}

// A constant of the operand's shape.
int32_t Like(OpImport& in, double value) {
  const SharedShape shape = in.scope.computation.instructions[in.operands[0]].shape;
  return in.Broadcast(in.Constant(shape->element_type(), value), shape);
}

bool WantsFloat(OpImport& in, size_t operands) {
  if (!in.Arity(operands)) return false;
  const Shape& shape = in.OperandShape(0);
  if (!shape.IsArray() || !IsFloat(shape.element_type())) {
    in.Invalid(fmt::format("the operand is {}, want floating-point numbers", shape.ToString()));
  }
  return in.ok();
}

// is_inf(x) = |x| = inf, is_pos_inf(x) = x = inf, is_neg_inf(x) = x = -inf
template <int sign>
void ImportIsInf(OpImport& in) {
  if (!WantsFloat(in, 1)) return;
  const SharedShape shape = in.scope.computation.instructions[in.operands[0]].shape;
  const double infinity = std::numeric_limits<double>::infinity();
  const int32_t x = sign == 0 ? in.Add(Opcode::kAbs, shape, in.operands) : in.operands[0];
  if (!Info(shape->element_type()).format->has_infinity()) {
    return in.Emit(Opcode::kCompare, {x, x}, in.Map({{Attr::kDirection, assay::Word{"LT"}}}));  // never
  }
  in.Emit(Opcode::kCompare, {x, Like(in, sign < 0 ? -infinity : infinity)},
          in.Map({{Attr::kDirection, assay::Word{"EQ"}}}));
}

// The custom call of a function that HLO has no operation for, on these operands; `name` is CHLO's.
void EmitFunction(OpImport& in, std::string_view name, absl::Span<const int32_t> operands) {
  in.Emit(Opcode::kCustomCall, operands, in.Map({{Attr::kCustomCallTarget, std::string(name)}}));
}

// atan(x) = atan2(x, 1) of a real x
void ImportAtan(OpImport& in) {
  if (!in.Arity(1)) return;
  const Shape& shape = in.OperandShape(0);
  if (shape.IsArray() && IsComplex(shape.element_type())) return EmitFunction(in, "chlo.atan", in.operands);
  if (WantsFloat(in, 1)) in.Emit(Opcode::kAtan2, {in.operands[0], Like(in, 1)});
}

// next_after(x, y): x's neighbour toward y, y where they are equal, NaN of a NaN. Bit patterns of one sign
// are in the order of magnitude, so the neighbour is one more or one less; from zero it is 1 with y's sign.
void ImportNextAfter(OpImport& in) {
  if (!WantsFloat(in, 2)) return;
  const SharedShape shape = in.scope.computation.instructions[in.operands[0]].shape;
  const ElementType type = shape->element_type();
  // Not all narrower formats have signs, zeros of both signs and words of their width.
  if (Bits(type) < 16) return EmitFunction(in, "chlo.next_after", in.operands);
  const ElementType word_type = *UnsignedOfWidth(Bits(type));
  const SharedShape word = WithType(in, *shape, word_type), pred = WithType(in, *shape, ElementType::kPred);
  const int32_t x = in.operands[0], y = in.operands[1];
  const auto compare = [&](int32_t a, int32_t b, const char* direction) {
    return in.Add(Opcode::kCompare, pred, {a, b}, in.Map({{Attr::kDirection, assay::Word{direction}}}));
  };
  const auto word_constant = [&](double value) { return in.Broadcast(in.Constant(word_type, value), word); };
  const auto bits = [&](int32_t value) { return in.Add(Opcode::kBitcastConvert, word, {value}); };
  const auto select = [&](int32_t condition, int32_t yes, int32_t no, const SharedShape& result) {
    return in.Add(Opcode::kSelect, result, {condition, yes, no});
  };
  const int32_t zero = Like(in, 0), one = word_constant(1), shift = word_constant(Bits(type) - 1);
  const int32_t toward_zero = in.Add(Opcode::kXor, pred, {compare(x, zero, "GT"), compare(y, x, "GT")});
  const int32_t moved = select(toward_zero, in.Add(Opcode::kSubtract, word, {bits(x), one}),
                               in.Add(Opcode::kAdd, word, {bits(x), one}), word);
  const int32_t sign =
      in.Add(Opcode::kShiftLeft, word, {in.Add(Opcode::kShiftRightLogical, word, {bits(y), shift}), shift});
  const int32_t smallest = in.Add(Opcode::kOr, word, {sign, one});
  const int32_t neighbour = select(compare(x, zero, "EQ"), smallest, moved, word);
  const int32_t value =
      select(compare(x, y, "EQ"), y, in.Add(Opcode::kBitcastConvert, shape, {neighbour}), shape);
  const int32_t is_nan = in.Add(Opcode::kOr, pred, {compare(x, x, "NE"), compare(y, y, "NE")});
  in.Emit(Opcode::kSelect, {is_nan, in.Add(Opcode::kAdd, shape, {x, y}), value});
}

// constant_like(x): the value in x's shape
void ImportConstantLike(OpImport& in) {
  const Attribute* const value = in.Require("value");
  if (!in.ok() || !in.Arity(1)) return;
  const SharedShape& shape = in.ResultShape();
  const bool is_float = value->kind == Attribute::Kind::kFloat;
  if (!shape->IsArray() || (!is_float && value->kind != Attribute::Kind::kInteger)) {
    return in.Unsupported(fmt::format("the value {}", ToString(*value)));
  }
  const ElementType type = shape->element_type();
  if (is_float != IsFloat(type))
    return in.Invalid(fmt::format("the value {} is not of {}", ToString(*value), shape->ToString()));
  int32_t constant = 0;
  if (is_float) {
    constant = in.Constant(type, value->real);
  } else {
    constant = in.Add(Opcode::kConstant, in.importer.Scalar(type), {});
    in.scope.computation.instructions[constant].literal =
        std::make_shared<const Literal>(Literal::ScalarInt(type, value->integer));
  }
  in.BindResult(0, in.Broadcast(constant, shape));
}

// Operand i of a broadcasting operation in the sizes of the result: `dimensions` are where its dimensions go,
// by default the last ones. A size of 1 is repeated.
int32_t SpreadOperand(OpImport& in, size_t i, const Shape& result, const Ints* dimensions) {
  const Shape& from = in.OperandShape(i);
  const auto fail = [&] {
    in.Invalid(fmt::format("operand {} of {} does not fit {}", i, from.ToString(), result.ToString()));
    return in.operands[i];
  };
  if (!from.IsArray() || from.rank() > result.rank() || from.HasDynamic() || result.HasDynamic())
    return fail();
  if (Shape::SameDimensions(from, result)) return in.operands[i];
  if (dimensions != nullptr && static_cast<int64_t>(dimensions->size()) != from.rank()) return fail();
  Ints kept;
  DimVector sizes;
  for (int64_t d = 0; d < from.rank(); ++d) {
    const int64_t target =
        dimensions != nullptr ? (*dimensions)[static_cast<size_t>(d)] : d + result.rank() - from.rank();
    if (target < 0 || target >= result.rank()) return fail();
    if (from.size(d) == 1 && result.size(target) != 1) continue;
    if (from.size(d) != result.size(target)) return fail();
    kept.push_back(target);
    sizes.push_back(from.size(d));
  }
  const ElementType type = from.element_type();
  int32_t operand = in.operands[i];
  if (static_cast<int64_t>(kept.size()) != from.rank()) {
    operand =
        in.Add(Opcode::kReshape, std::make_shared<const Shape>(Shape::ArrayOrDie(type, sizes)), {operand});
  }
  return in.Add(Opcode::kBroadcast, WithType(in, result, type), {operand},
                in.Map({{Attr::kDimensions, std::move(kept)}}));
}

std::vector<int32_t> SpreadAll(OpImport& in) {
  const SharedShape& result = in.ResultShape();
  std::vector<int32_t> spread;
  if (!in.ok() || !result->IsArray()) return spread;
  int64_t highest = 0;
  for (size_t i = 0; i < in.num_operands(); ++i) {
    if (in.OperandShape(i).IsArray()) highest = std::max(highest, in.OperandShape(i).rank());
  }
  const bool has_dimensions = in.Find("broadcast_dimensions") != nullptr;
  const Ints dimensions = in.IntList("broadcast_dimensions");
  for (size_t i = 0; i < in.num_operands(); ++i) {
    // The written dimensions are those of the operand of lower rank.
    const bool lower = in.OperandShape(i).IsArray() && in.OperandShape(i).rank() < highest;
    spread.push_back(SpreadOperand(in, i, *result, has_dimensions && lower ? &dimensions : nullptr));
  }
  return spread;
}

template <Opcode opcode>
void ImportBroadcasting(OpImport& in) {
  if (in.Arity(2)) in.Emit(opcode, SpreadAll(in));
}

void ImportBroadcastSelect(OpImport& in) {
  if (in.Arity(3)) in.Emit(Opcode::kSelect, SpreadAll(in));
}

void ImportBroadcastCompare(OpImport& in) {
  if (!in.Arity(2)) return;
  AttributeMap attributes = CompareAttributes(in);
  in.Emit(Opcode::kCompare, SpreadAll(in), std::move(attributes));
}

void ImportBroadcastNextAfter(OpImport& in) {
  if (!in.Arity(2)) return;
  std::vector<int32_t> spread = SpreadAll(in);
  if (!in.ok() || spread.size() != 2) return in.Invalid("the result is not an array");
  in.operands.assign(spread.begin(), spread.end());
  ImportNextAfter(in);
}

template <size_t operands>
void ImportFunction(OpImport& in) {
  if (WantsFloat(in, operands)) EmitFunction(in, in.op.name, in.operands);
}

// "chlo.broadcast_zeta" and the like
void ImportBroadcastFunction(OpImport& in) {
  constexpr std::string_view kPrefix = "chlo.broadcast_";
  if (WantsFloat(in, 2))
    EmitFunction(in, fmt::format("chlo.{}", in.op.name.substr(kPrefix.size())), SpreadAll(in));
}

// scan: inputs, then carries, as many as operandSegmentSizes says; of the body the same order. It is HLO's.
void ImportScan(OpImport& in) {
  const Ints operands = in.RequiredInts("operandSegmentSizes"),
             results = in.RequiredInts("resultSegmentSizes");
  const int64_t dimension = in.Int("dimension");
  const auto fits = [](const Ints& sizes, size_t count) {
    return sizes.size() == 2 && sizes[0] >= 0 && sizes[1] >= 0 && sizes[0] <= static_cast<int64_t>(count) &&
           sizes[1] == static_cast<int64_t>(count) - sizes[0];
  };
  if (in.ok() && !fits(operands, in.num_operands()))
    return in.Invalid(
        fmt::format("operandSegmentSizes do not add up to {}", Counted(in.num_operands(), "operand")));
  if (in.ok() && (!fits(results, in.num_results()) || results[1] != operands[1])) {
    return in.Invalid(fmt::format("resultSegmentSizes do not add up to {}, {} of them carries",
                                  Counted(in.num_results(), "result"), operands[1]));
  }
  if (!in.ok() || !in.Regions(1)) return;
  const std::optional<ComputationId> body = in.Body();
  if (!body) return;
  AttributeMap attributes = in.Map(
      {{Attr::kDimensions, Ints{dimension}}, {Attr::kNumCarries, operands[1]}, {Attr::kToApply, *body}});
  if (in.Bool("is_reverse")) attributes.Set(Attr::kIsReverse, true);
  if (in.Find("is_associative") != nullptr) attributes.Set(Attr::kIsAssociative, in.Bool("is_associative"));
  in.Emit(Opcode::kScan, in.operands, std::move(attributes));
}

constexpr ImportRow kChloRows[] = {
    {"chlo.acos", ImportChlo<Opcode::kAcos>},
    {"chlo.acosh", ImportChlo<Opcode::kAcosh>},
    {"chlo.asin", ImportChlo<Opcode::kAsin>},
    {"chlo.asinh", ImportChlo<Opcode::kAsinh>},
    {"chlo.atanh", ImportChlo<Opcode::kAtanh>},
    {"chlo.cosh", ImportChlo<Opcode::kCosh>},
    {"chlo.sinh", ImportChlo<Opcode::kSinh>},
    {"chlo.tan", ImportChlo<Opcode::kTan>},
    {"chlo.erf", ImportChlo<Opcode::kErf>},
    {"chlo.mulhi", ImportChlo<Opcode::kMulhi>},
    {"chlo.top_k", ImportTopK},
    {"chlo.square", ImportSquare},
    {"chlo.conj", ImportConj},
    {"chlo.is_inf", ImportIsInf<0>},
    {"chlo.is_pos_inf", ImportIsInf<1>},
    {"chlo.is_neg_inf", ImportIsInf<-1>},
    {"chlo.atan", ImportAtan},
    {"chlo.constant_like", ImportConstantLike},
    {"chlo.bessel_i1e", ImportFunction<1>},
    {"chlo.erf_inv", ImportFunction<1>},
    {"chlo.polygamma", ImportFunction<2>},
    {"chlo.zeta", ImportFunction<2>},
    {"chlo.broadcast_polygamma", ImportBroadcastFunction},
    {"chlo.broadcast_zeta", ImportBroadcastFunction},
    {"chlo.scan", ImportScan},
    {"chlo.next_after", ImportNextAfter},
    {"chlo.broadcast_next_after", ImportBroadcastNextAfter},
    {"chlo.digamma", ImportFunction<1>},
    {"chlo.erfc", ImportFunction<1>},
    {"chlo.lgamma", ImportFunction<1>},
    {"chlo.broadcast_add", ImportBroadcasting<Opcode::kAdd>},
    {"chlo.broadcast_and", ImportBroadcasting<Opcode::kAnd>},
    {"chlo.broadcast_atan2", ImportBroadcasting<Opcode::kAtan2>},
    {"chlo.broadcast_complex", ImportBroadcasting<Opcode::kComplex>},
    {"chlo.broadcast_divide", ImportBroadcasting<Opcode::kDivide>},
    {"chlo.broadcast_maximum", ImportBroadcasting<Opcode::kMaximum>},
    {"chlo.broadcast_minimum", ImportBroadcasting<Opcode::kMinimum>},
    {"chlo.broadcast_multiply", ImportBroadcasting<Opcode::kMultiply>},
    {"chlo.broadcast_or", ImportBroadcasting<Opcode::kOr>},
    {"chlo.broadcast_power", ImportBroadcasting<Opcode::kPower>},
    {"chlo.broadcast_remainder", ImportBroadcasting<Opcode::kRemainder>},
    {"chlo.broadcast_shift_left", ImportBroadcasting<Opcode::kShiftLeft>},
    {"chlo.broadcast_shift_right_arithmetic", ImportBroadcasting<Opcode::kShiftRightArithmetic>},
    {"chlo.broadcast_shift_right_logical", ImportBroadcasting<Opcode::kShiftRightLogical>},
    {"chlo.broadcast_subtract", ImportBroadcasting<Opcode::kSubtract>},
    {"chlo.broadcast_xor", ImportBroadcasting<Opcode::kXor>},
    {"chlo.broadcast_select", ImportBroadcastSelect},
    {"chlo.broadcast_compare", ImportBroadcastCompare},
};

}  // namespace

std::span<const ImportRow> ChloRows() { return kChloRows; }

bool IsChloFunction(std::string_view name, size_t operands) {
  static constexpr std::pair<std::string_view, size_t> kFunctions[] = {
      {"chlo.atan", 1},       {"chlo.bessel_i1e", 1}, {"chlo.digamma", 1},
      {"chlo.erf_inv", 1},    {"chlo.erfc", 1},       {"chlo.lgamma", 1},
      {"chlo.next_after", 2}, {"chlo.polygamma", 2},  {"chlo.zeta", 2}};
  return std::find(std::begin(kFunctions), std::end(kFunctions), std::pair(name, operands)) !=
         std::end(kFunctions);
}

std::string_view OperationOfComposite(std::string_view name) {
  static constexpr std::string_view kNames[] = {"chlo.erf",   "chlo.acos",  "chlo.acosh", "chlo.asin",
                                                "chlo.asinh", "chlo.atanh", "chlo.cosh",  "chlo.sinh",
                                                "chlo.top_k", "chlo.mulhi"};
  const auto known = std::find(std::begin(kNames), std::end(kNames), name);
  return known == std::end(kNames) ? std::string_view() : *known;
}

}  // namespace assay::mlir
