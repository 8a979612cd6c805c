// Elementwise operations, constants, comparison, choice and conversion (docs/spec/stablehlo-text.md section
// 6).
#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"

namespace assay::mlir {
namespace {

// The opcodes whose StableHLO form is the same: operands, and a result_accuracy where HLO has one.
constexpr Opcode kSame[] = {Opcode::kAbs,
                            Opcode::kCbrt,
                            Opcode::kCeil,
                            Opcode::kClz,
                            Opcode::kCos,
                            Opcode::kExp,
                            Opcode::kExpm1,
                            Opcode::kFloor,
                            Opcode::kImag,
                            Opcode::kIsFinite,
                            Opcode::kLog,
                            Opcode::kLog1p,
                            Opcode::kLogistic,
                            Opcode::kNegate,
                            Opcode::kNot,
                            Opcode::kReal,
                            Opcode::kPopulationCount,
                            Opcode::kRoundNearestAfz,
                            Opcode::kRsqrt,
                            Opcode::kRoundNearestEven,
                            Opcode::kSign,
                            Opcode::kSin,
                            Opcode::kSqrt,
                            Opcode::kTan,
                            Opcode::kTanh,
                            Opcode::kAdd,
                            Opcode::kAnd,
                            Opcode::kAtan2,
                            Opcode::kComplex,
                            Opcode::kDivide,
                            Opcode::kMaximum,
                            Opcode::kMinimum,
                            Opcode::kMultiply,
                            Opcode::kOr,
                            Opcode::kPower,
                            Opcode::kRemainder,
                            Opcode::kShiftLeft,
                            Opcode::kShiftRightArithmetic,
                            Opcode::kShiftRightLogical,
                            Opcode::kSubtract,
                            Opcode::kXor,
                            Opcode::kBitcastConvert,
                            Opcode::kConvert};

// result_accuracy = #stablehlo.result_accuracy<atol = .., rtol = .., ulps = .., mode = ..>
AttributeMap AccuracyOf(OpImport& in) {
  const Attribute* const accuracy = in.Find("result_accuracy");
  if (accuracy == nullptr) return {};
  ResultAccuracy value;
  const auto number = [&](std::string_view name) {
    const Attribute* const field = mlir::Find(accuracy->fields, name);
    if (field == nullptr) return 0.0;
    return field->kind == Attribute::Kind::kInteger ? static_cast<double>(field->integer) : field->real;
  };
  const Attribute* const mode = mlir::Find(accuracy->fields, "mode");
  const std::string_view word = mode == nullptr ? "DEFAULT" : mode->text;
  if (word == "HIGHEST") {
    value.mode = ResultAccuracy::Mode::kHighest;
  } else if (word == "TOLERANCE") {
    value.mode = ResultAccuracy::Mode::kTolerance;
  } else if (word != "DEFAULT") {
    in.Invalid(fmt::format("the mode of result_accuracy is '{}', want DEFAULT, HIGHEST or TOLERANCE", word));
  }
  value.atol = number("atol");
  value.rtol = number("rtol");
  value.ulps = number("ulps");
  return value == ResultAccuracy() ? AttributeMap() : in.Map({{Attr::kResultAccuracy, value}});
}

template <Opcode opcode>
void ImportSame(OpImport& in) {
  if (in.op.attributes.empty()) return in.Emit(opcode, in.operands);
  in.Emit(opcode, in.operands, in.Attributes([&] { return AccuracyOf(in); }));
}

// constant: a splat of several elements becomes a broadcast scalar, however large it is.
void ImportConstant(OpImport& in) {
  const Attribute* const value = in.Require("value");
  const SharedShape& shape = in.ResultShape();
  if (!in.ok()) return;
  if (value->kind != Attribute::Kind::kDense) return in.Invalid("value is not dense<...>");
  if (!SameType(*value->type, *in.op.results[0].type)) {
    return in.Invalid(fmt::format("Constant-C1: value has type {}, the result {}", ToString(*value->type),
                                  ToString(*in.op.results[0].type)));
  }
  const int32_t constant = in.DenseConstant(*value, shape);
  if (in.ok()) in.BindResult(0, constant);
}

void ImportCompare(OpImport& in) {
  if (!in.Arity(2)) return;
  in.Emit(Opcode::kCompare, in.operands, in.Attributes([&] { return CompareAttributes(in); }));
}

// A scalar where the operation wants an array of `shape`. The size of a dynamic array is not known here;
// HLO's select and clamp take the scalar too.
int32_t SpreadScalar(OpImport& in, size_t i, const Shape& shape) {
  if (!in.OperandShape(i).IsScalar() || shape.IsScalar() || shape.HasDynamic()) return in.operands[i];
  absl::StatusOr<Shape> spread = Shape::Array(in.OperandShape(i).element_type(), shape.sizes());
  if (!spread.ok()) {
    in.Fail(spread.status());
    return in.operands[i];
  }
  return in.Broadcast(in.operands[i], std::make_shared<const Shape>(*std::move(spread)));
}

void ImportClamp(OpImport& in) {
  if (!in.Arity(3)) return;
  const SharedShape& shape = in.ResultShape();
  if (!shape->IsArray()) return in.Invalid("the result is not an array");
  const int32_t low = SpreadScalar(in, 0, *shape), high = SpreadScalar(in, 2, *shape);
  in.Emit(Opcode::kClamp, {low, in.operands[1], high});
}

void ImportSelect(OpImport& in) {
  if (!in.Arity(3)) return;
  const SharedShape& shape = in.ResultShape();
  if (!shape->IsArray()) return in.Emit(Opcode::kSelect, in.operands);
  const int32_t pred = SpreadScalar(in, 0, *shape);
  in.Emit(Opcode::kSelect, {pred, in.operands[1], in.operands[2]});
}

void ImportReducePrecision(OpImport& in) {
  if (!in.Arity(1)) return;
  const int64_t exponent = in.Int("exponent_bits"), mantissa = in.Int("mantissa_bits");
  in.Emit(Opcode::kReducePrecision, in.operands,
          in.Map({{Attr::kExponentBits, exponent}, {Attr::kMantissaBits, mantissa}}));
}

template <size_t... i>
void AddSame(std::vector<ImportRow>* rows, std::vector<std::string>* names, std::index_sequence<i...>) {
  (names->push_back("stablehlo." + std::string(StableHloName(kSame[i]))), ...);
  (rows->push_back({(*names)[i], ImportSame<kSame[i]>}), ...);
}

}  // namespace

AttributeMap CompareAttributes(OpImport& in) {
  constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  constexpr std::string_view kTypes[] = {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  const std::string_view direction = in.EnumWord("comparison_direction", "", kDirections);
  const std::string_view type = in.EnumWord("compare_type", "NOTYPE", kTypes);
  assay::Word word{std::string(direction)};
  if (type == "NOTYPE") return in.Map({{Attr::kDirection, std::move(word)}});
  return in.Map({{Attr::kDirection, std::move(word)}, {Attr::kType, assay::Word{std::string(type)}}});
}

std::span<const ImportRow> ElementwiseRows() {
  static const auto* const kRows = [] {
    auto* rows = new std::vector<ImportRow>{{"stablehlo.constant", ImportConstant},
                                            {"sdy.constant", ImportConstant},
                                            {"chlo.constant", ImportConstant},
                                            {"stablehlo.compare", ImportCompare},
                                            {"stablehlo.clamp", ImportClamp},
                                            {"stablehlo.select", ImportSelect},
                                            {"stablehlo.reduce_precision", ImportReducePrecision}};
    static auto* const names = new std::vector<std::string>();  // rows hold views of them
    names->reserve(std::size(kSame));
    AddSame(rows, names, std::make_index_sequence<std::size(kSame)>());
    return rows;
  }();
  return *kRows;
}

}  // namespace assay::mlir
