// CHLO functions that HLO has not: a composite call named after the operation, of a decomposition into operations
// that HLO has. It computes in f64 and rounds to the operand's type at the end, so that for f32 and narrower types
// the result is the function's value but for the rarest ties.
#include <cmath>
#include <numbers>

#include "fmt/format.h"
#include "hlo/mlir/importer.h"

namespace assay::mlir {
namespace {

// Expressions over arrays of one shape in f64.
class Expressions {
 public:
  Expressions(OpImport& in, Scope& scope, SharedShape shape)
      : in_(in), scope_(scope), shape_(std::move(shape)) {}

  int32_t Apply(Opcode opcode, absl::Span<const int32_t> operands) {
    return in_.importer.Add(scope_, opcode, shape_, operands, {}, in_.op);
  }
  int32_t Add(int32_t a, int32_t b) { return Apply(Opcode::kAdd, {a, b}); }
  int32_t Sub(int32_t a, int32_t b) { return Apply(Opcode::kSubtract, {a, b}); }
  int32_t Mul(int32_t a, int32_t b) { return Apply(Opcode::kMultiply, {a, b}); }
  int32_t Div(int32_t a, int32_t b) { return Apply(Opcode::kDivide, {a, b}); }
  int32_t Neg(int32_t a) { return Apply(Opcode::kNegate, {a}); }

  int32_t Constant(double value) {
    const int32_t constant =
        in_.importer.Add(scope_, Opcode::kConstant, in_.importer.Scalar(ElementType::kF64), {}, {}, in_.op);
    scope_.computation.instructions[constant].literal =
        std::make_shared<const Literal>(Literal::ScalarDouble(ElementType::kF64, value));
    if (shape_->IsScalar()) return constant;
    return in_.importer.Add(scope_, Opcode::kBroadcast, shape_, {&constant, 1},
                            in_.Map({{Attr::kDimensions, Ints()}}), in_.op);
  }
  int32_t Compare(int32_t a, int32_t b, std::string_view direction) {
    auto pred = std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kPred, shape_->sizes()));
    const int32_t operands[] = {a, b};
    return in_.importer.Add(scope_, Opcode::kCompare, std::move(pred), operands,
                            in_.Map({{Attr::kDirection, assay::Word{std::string(direction)}}}), in_.op);
  }
  int32_t Select(int32_t pred, int32_t yes, int32_t no) { return Apply(Opcode::kSelect, {pred, yes, no}); }
  // Horner's rule, the highest coefficient first.
  int32_t Polynomial(int32_t x, std::span<const double> coefficients) {
    int32_t value = Constant(coefficients[0]);
    for (double coefficient : coefficients.subspan(1)) value = Add(Mul(value, x), Constant(coefficient));
    return value;
  }

 private:
  OpImport& in_;
  Scope& scope_;
  SharedShape shape_;
};

using Decomposition = int32_t (*)(Expressions&, int32_t x);

// The computation of `function` on arrays of `shape`; once for each shape.
ComputationId Decomposed(OpImport& in, const SharedShape& shape, Decomposition function) {
  const std::string key = fmt::format("{} {}", in.op.name, shape->ToString());
  const auto known = in.importer.made().find(key);
  if (known != in.importer.made().end()) return known->second;
  Scope scope = in.importer.NewScope(in.op);
  const int32_t parameter = in.importer.Add(scope, Opcode::kParameter, shape, {}, {}, in.op);
  scope.computation.parameters.push_back(parameter);
  const auto wide = std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kF64, shape->sizes()));
  Expressions e(in, scope, wide);
  const int32_t value = function(e, e.Apply(Opcode::kConvert, {parameter}));
  const int32_t root = in.importer.Add(scope, Opcode::kConvert, shape, {&value, 1}, {}, in.op);
  std::string name(in.op.name);
  name[name.find('.')] = '_';
  const ComputationId id = in.importer.Finish(scope, std::move(name), root);
  in.importer.made().emplace(key, id);
  return id;
}

void EmitComposite(OpImport& in, Decomposition function) {
  const SharedShape shape = in.scope.computation.instructions[in.operands[0]].shape;
  const ComputationId id = Decomposed(in, shape, function);
  const int32_t call =
      in.Add(Opcode::kCall, shape, in.operands, in.Map({{Attr::kToApply, id}, {Attr::kIsComposite, true}}));
  in.OwnExtras(call).frontend_attributes = {{"composite.attributes", {"{}", true}},
                                            {"composite.name", {std::string(in.op.name), false}},
                                            {"composite.version", {"1", false}}};
  in.BindResult(0, call);
}

// y0 = p(w) x, w = -log(1 - x^2), by the polynomials of M. Giles, "Approximating the erfinv function" (2010), which
// are good to single precision; then Halley's step for erf(y) = x: y - d / (erf'(y) + y d), d = erf(y) - x.
int32_t ErfInv(Expressions& e, int32_t x) {
  static constexpr double kCentral[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                        -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                        -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                     -0.00367342844,  0.00573950773,  -0.0076224613,
                                     0.00943887047,   1.00167406,     2.83297682};
  const int32_t w = e.Neg(e.Apply(Opcode::kLog1p, {e.Neg(e.Mul(x, x))}));
  const int32_t central = e.Polynomial(e.Sub(w, e.Constant(2.5)), kCentral);
  const int32_t tail = e.Polynomial(e.Sub(e.Apply(Opcode::kSqrt, {w}), e.Constant(3)), kTail);
  const int32_t y = e.Mul(e.Select(e.Compare(w, e.Constant(5), "LT"), central, tail), x);
  const int32_t d = e.Sub(e.Apply(Opcode::kErf, {y}), x);
  const int32_t slope =
      e.Mul(e.Constant(2 * std::numbers::inv_sqrtpi), e.Apply(Opcode::kExp, {e.Neg(e.Mul(y, y))}));
  const int32_t refined = e.Sub(y, e.Div(d, e.Add(slope, e.Mul(y, d))));
  const int32_t is_end = e.Compare(e.Apply(Opcode::kAbs, {x}), e.Constant(1), "EQ");
  return e.Select(is_end, e.Mul(x, e.Constant(HUGE_VAL)), refined);
}

}  // namespace

void ImportErfInv(OpImport& in) {
  if (!in.Arity(1)) return;
  const Shape& shape = in.OperandShape(0);
  if (!shape.IsArray() || !IsFloat(shape.element_type())) {
    return in.Invalid(fmt::format("the operand is {}, want floating-point numbers", shape.ToString()));
  }
  // Near 1 the difference erf(y) - x has nothing left of an f64.
  if (shape.element_type() == ElementType::kF64) return in.Unsupported("operands of f64");
  if (shape.HasDynamic()) return in.Unsupported("operands of dynamic shape");
  if (const auto wide = Shape::Array(ElementType::kF64, shape.sizes()); !wide.ok())
    return in.Fail(wide.status());
  EmitComposite(in, ErfInv);
}

}  // namespace assay::mlir
