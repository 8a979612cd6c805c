// Elementwise operations, constants, comparison, choice and conversion: the inverse of import/elementwise.cc,
// and of the functions that import/chlo.cc has.
#include "fmt/format.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/text_writer.h"

namespace assay::mlir {
namespace {

using Types = Syntax::Types;

// result_accuracy = #stablehlo.result_accuracy<atol = .., rtol = .., ulps = .., mode = ..>.
// No result depends on it.
bool SetAccuracy(OpExport& out) {
  const AttrValue* const attribute = out.attributes().Find(Attr::kResultAccuracy);
  if (attribute == nullptr) return false;
  const ResultAccuracy& accuracy = std::get<ResultAccuracy>(*attribute);
  if (accuracy == ResultAccuracy()) return false;  // as in HLO text
  std::string_view mode = "DEFAULT";
  if (accuracy.mode == ResultAccuracy::Mode::kHighest) mode = "HIGHEST";
  if (accuracy.mode == ResultAccuracy::Mode::kTolerance) mode = "TOLERANCE";
  out.Property(
      "result_accuracy",
      fmt::format("#stablehlo.result_accuracy<atol = {}, rtol = {}, ulps = {}, mode = "
                  "#stablehlo.result_accuracy_mode<{}>>",
                  FloatText(accuracy.atol, ElementType::kF64), FloatText(accuracy.rtol, ElementType::kF64),
                  static_cast<int64_t>(accuracy.ulps), mode));
  return true;
}

bool TakesAccuracy(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCbrt:
    case Opcode::kCos:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
      return true;
    default:
      return false;
  }
}

std::string NameOf(const OpExport& out) { return "stablehlo." + std::string(StableHloName(out.hlo.opcode)); }

void ExportSame(OpExport& out) {
  out.UseOperands();
  const bool generic = TakesAccuracy(out.hlo.opcode) && SetAccuracy(out);
  out.Emit(NameOf(out), {generic ? Types::kGeneric : Types::kSame, {}, {}});
}

// A pred has eight bits in HLO and one in StableHLO.
void ExportBitcastConvert(OpExport& out) {
  const ElementType from = out.OperandShape(0).element_type(), to = out.hlo.shape->element_type();
  if (from != to && (from == ElementType::kPred || to == ElementType::kPred)) {
    return out.Refuse(fmt::format("from {} to {}", Name(from), Name(to)));
  }
  out.UseOperands();
  out.Emit(NameOf(out));
}

void ExportChlo(OpExport& out) {
  out.UseOperands();
  out.Emit(StableHloName(out.hlo.opcode));
}

void ExportMulhi(OpExport& out) {
  out.UseOperands();
  out.Emit("chlo.mulhi");
}

NodeId ConstantNode(OpExport& out, const Literal& literal) {
  if (literal.shape().IsTuple()) {
    std::vector<NodeId> elements;
    for (int64_t i = 0; i < literal.tuple_size(); ++i)
      elements.push_back(ConstantNode(out, literal.element(i)));
    return out.exporter.Tuple(literal.shape(), std::move(elements));
  }
  if (literal.shape().IsToken())
    return out.Make("stablehlo.create_token", literal.shape(), {Types::kResult, {}, {}});
  if (literal.shape().HasDynamic()) out.Refuse("a constant of dynamic size");
  Node constant;
  constant.kind = Node::Kind::kConstant;
  constant.shape = &literal.shape();
  constant.literal = &literal;
  constant.origin = &out.hlo;
  return out.exporter.Add(std::move(constant));
}

// Written by whoever uses it.
void ExportConstant(OpExport& out) {
  if (out.hlo.literal == nullptr) return out.Refuse("its value is left out");
  out.Bind(ConstantNode(out, *out.hlo.literal));
}

// The type is always written: HLO's text leaves out the one that follows from the operands,
// its protos do not.
void ExportCompare(OpExport& out) {
  const ElementType element = out.OperandShape(0).element_type();
  const std::string_view absent = IsFloat(element) || IsComplex(element) ? "FLOAT"
                                  : IsSignedIntegral(element)            ? "SIGNED"
                                                                         : "UNSIGNED";
  out.UseOperands();
  out.Emit("stablehlo.compare",
           {Types::kFunction, fmt::format("{}, ", Upper(out.attributes().Text(Attr::kDirection))),
            fmt::format(", {}", Upper(out.attributes().Text(Attr::kType, absent)))});
}

void ExportClamp(OpExport& out) {
  const Shape& shape = out.OperandShape(1);
  // Scalar limits of such a one would be spread when it is read again.
  if (shape.HasDynamic() && !PrintedShape(out.hlo)->HasDynamic())
    return out.Refuse("a clamp of dynamic dimensions that is declared static");
  const NodeId low = out.Spread(0, shape), high = out.Spread(2, shape);
  out.UseLeaves(low);
  out.UseLeaves(out.Operand(1));
  out.UseLeaves(high);
  out.Emit("stablehlo.clamp", {Types::kSame, {}, {}});
}

void ExportSelect(OpExport& out) {
  if (!out.hlo.shape->IsArray()) return out.Refuse("a choice of tuples");
  out.UseLeaves(out.Spread(0, out.OperandShape(1)));
  out.UseLeaves(out.Operand(1));
  out.UseLeaves(out.Operand(2));
  out.Emit("stablehlo.select", {Types::kSelect, {}, {}});
}

void ExportReducePrecision(OpExport& out) {
  out.UseOperands();
  out.Emit("stablehlo.reduce_precision",
           {Types::kSame,
            {},
            fmt::format(", format = e{}m{}", out.attributes().Int(Attr::kExponentBits),
                        out.attributes().Int(Attr::kMantissaBits))});
}

constexpr ExportRow kElementwiseExports[] = {
    {Opcode::kAbs, ExportSame},
    {Opcode::kAcos, ExportChlo},
    {Opcode::kAcosh, ExportChlo},
    {Opcode::kAsin, ExportChlo},
    {Opcode::kAsinh, ExportChlo},
    {Opcode::kAtanh, ExportChlo},
    {Opcode::kCbrt, ExportSame},
    {Opcode::kCeil, ExportSame},
    {Opcode::kClz, ExportSame},
    {Opcode::kCos, ExportSame},
    {Opcode::kCosh, ExportChlo},
    {Opcode::kErf, ExportChlo},
    {Opcode::kExp, ExportSame},
    {Opcode::kExpm1, ExportSame},
    {Opcode::kFloor, ExportSame},
    {Opcode::kImag, ExportSame},
    {Opcode::kIsFinite, ExportSame},
    {Opcode::kLog, ExportSame},
    {Opcode::kLog1p, ExportSame},
    {Opcode::kLogistic, ExportSame},
    {Opcode::kNegate, ExportSame},
    {Opcode::kNot, ExportSame},
    {Opcode::kPopulationCount, ExportSame},
    {Opcode::kReal, ExportSame},
    {Opcode::kRoundNearestAfz, ExportSame},
    {Opcode::kRoundNearestEven, ExportSame},
    {Opcode::kRsqrt, ExportSame},
    {Opcode::kSign, ExportSame},
    {Opcode::kSin, ExportSame},
    {Opcode::kSinh, ExportChlo},
    {Opcode::kSqrt, ExportSame},
    {Opcode::kTan, ExportSame},
    {Opcode::kTanh, ExportSame},

    {Opcode::kAdd, ExportSame},
    {Opcode::kAnd, ExportSame},
    {Opcode::kAtan2, ExportSame},
    {Opcode::kComplex, ExportSame},
    {Opcode::kDivide, ExportSame},
    {Opcode::kMaximum, ExportSame},
    {Opcode::kMinimum, ExportSame},
    {Opcode::kMulhi, ExportMulhi},
    {Opcode::kMultiply, ExportSame},
    {Opcode::kOr, ExportSame},
    {Opcode::kPower, ExportSame},
    {Opcode::kRemainder, ExportSame},
    {Opcode::kShiftLeft, ExportSame},
    {Opcode::kShiftRightArithmetic, ExportSame},
    {Opcode::kShiftRightLogical, ExportSame},
    {Opcode::kSubtract, ExportSame},
    {Opcode::kXor, ExportSame},

    {Opcode::kClamp, ExportClamp},
    {Opcode::kCompare, ExportCompare},
    {Opcode::kSelect, ExportSelect},
    {Opcode::kBitcastConvert, ExportBitcastConvert},
    {Opcode::kConvert, ExportSame},
    {Opcode::kReducePrecision, ExportReducePrecision},
    {Opcode::kConstant, ExportConstant},
};

}  // namespace

std::span<const ExportRow> ElementwiseExports() { return kElementwiseExports; }

}  // namespace assay::mlir
