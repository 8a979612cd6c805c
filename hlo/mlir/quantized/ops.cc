#include "hlo/mlir/quantized/ops.h"

#include <algorithm>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/quantized/rules.h"
#include "hlo/mlir/quantized/writer.h"

namespace assay::mlir {
namespace {

// Q(f(D(x), ...)).
absl::Status LowerReal(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckData(site.op, 0));
  ASSAY_RETURN_IF_ERROR(CheckBaselines(site.op));
  return site.OnReals();
}

absl::Status LowerAdd(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckAdd(site.op));
  return site.OnReals();
}

// The predicate comes first.
absl::Status LowerSelect(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckCounts(site.op, 3, 1));
  for (size_t i = 0; i < 3; ++i) ASSAY_RETURN_IF_ERROR(CheckOperand(site.op, i, i > 0));
  ASSAY_RETURN_IF_ERROR(CheckResult(site.op, 0, true));
  ASSAY_RETURN_IF_ERROR(CheckBaselines(site.op));
  return site.OnReals();
}

absl::Status LowerCompare(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckCounts(site.op, 2, 1));
  for (size_t i = 0; i < 2; ++i) ASSAY_RETURN_IF_ERROR(CheckOperand(site.op, i, true));
  ASSAY_RETURN_IF_ERROR(CheckResult(site.op, 0, false));
  ASSAY_RETURN_IF_ERROR(CheckBaselines(site.op));
  return site.OnReals();
}

// true, also where D overflows: a storage equals itself.
absl::Status LowerIsFinite(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckCounts(site.op, 1, 1));
  ASSAY_RETURN_IF_ERROR(CheckOperand(site.op, 0, true));
  ASSAY_RETURN_IF_ERROR(CheckResult(site.op, 0, false));
  Attribute* const direction = site.writer.tree().NewAttribute(Attribute::Kind::kWord);
  direction->text = "EQ";
  Value* const x = site.op.operands[0];
  site.writer.ApplyTo(site.op.results.data(), "stablehlo.compare", {x, x},
                      {{"comparison_direction", direction}});
  return absl::OkStatus();
}

// QUANT-18: Q(D(q)) of a quantized operand, also where the types are equal.
absl::Status LowerUniformQuantize(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckUniformQuantize(site.op));
  Value* operand = site.op.operands[0];
  if (IsQuantized(*operand->type)) operand = site.writer.Dequantized(operand);
  site.writer.QuantizeTo(site.op.results.data(), operand);
  return absl::OkStatus();
}

absl::Status LowerUniformDequantize(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckUniformDequantize(site.op));
  site.writer.DequantizeTo(site.op.results.data(), site.op.operands[0]);
  return absl::OkStatus();
}

// QUANT-19: the contraction of D values, whose exact sum is rounded to the expressed type, then Q.
absl::Status LowerContraction(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckContraction(site.op));
  return site.OnReals();
}

// Q(RN_E(index)); an operand says the shape.
absl::Status LowerIota(QuantizedSite& site) {
  for (size_t i = 0; i < site.op.operands.size(); ++i) ASSAY_RETURN_IF_ERROR(CheckOperand(site.op, i, false));
  ASSAY_RETURN_IF_ERROR(CheckResult(site.op, 0, true));
  ASSAY_RETURN_IF_ERROR(CheckCounts(site.op, site.op.operands.size(), 1));
  return site.OnReals();
}

// The elements of a value, as the storage type has them.
const Attribute* StorageOf(QuantizedSite& site, const Attribute& value, const Type& type) {
  Tree& tree = site.writer.tree();
  const ElementType storage = QuantizationOf(type)->storage;
  Attribute* const made = tree.NewAttribute(Attribute::Kind::kDense);
  *made = value;
  made->type = site.writer.TensorOf(storage, type);
  if (Bits(storage) < 8) {
    const std::span<std::byte> data = tree.arena().Copy(value.data.data(), value.data.size());
    NormalizeElements(storage, data);
    made->data = data;
  }
  return made;
}

absl::Status LowerConstant(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckConstant(site.op));
  const Attribute* const value = StorageOf(site, *site.op.Find("value"), *site.op.results[0].type);
  site.writer.ApplyTo(site.op.results.data(), site.op.name, {}, {{"value", value}});
  return absl::OkStatus();
}

absl::Status LowerMove(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckMove(site.op, site.data));
  return site.Keep();
}

absl::Status LowerPairs(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckPairs(site.op));
  return site.Keep();
}

absl::Status LowerBroadcast(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckBroadcast(site.op));
  return site.Keep();
}

absl::Status LowerReshape(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckReshape(site.op));
  return site.Keep();
}

absl::Status LowerTranspose(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckTranspose(site.op));
  return site.Keep();
}

absl::Status LowerKeep(QuantizedSite& site) { return site.Keep(); }

// A process that receives nothing gets zeros, which mean the real 0 only where its storage c is 0: what is
// sent is the storage minus c, and c is added, both modulo 2^w, to what comes.
absl::Status LowerPermute(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckMove(site.op, 1));
  Value* const result = site.op.results.data();
  const Quantization& type = *QuantizationOf(*result->type);
  const int64_t zero = StorageOfZero(type, 0);
  if (zero == 0) return site.Keep();
  QuantizedWriter& writer = site.writer;
  std::vector<Value*> operands(site.op.operands.begin(), site.op.operands.end());
  const Type* const storage = writer.TensorOf(type.storage, *operands[0]->type);
  operands[0] = writer.Apply("stablehlo.subtract",
                             {operands[0], writer.Integers(type.storage, zero, operands[0])}, storage);
  Value* const moved =
      writer.Apply(site.op.name, operands, writer.TensorOf(type.storage, *result->type),
                   absl::MakeConstSpan(site.op.attributes.data(), site.op.attributes.size()));
  writer.ApplyTo(result, "stablehlo.add", {moved, writer.Integers(type.storage, zero, moved)});
  return absl::OkStatus();
}

// The region sees the operands' elements.
absl::Status LowerMap(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckData(site.op, 0));
  for (size_t i = 0; i < site.op.operands.size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckArgument(site.op, 0, i, *site.op.operands[i]->type));
  for (size_t i = 0; i < site.op.results.size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckReturned(site.op, 0, i, *site.op.results[i].type));
  return site.Keep();
}

absl::Status LowerSort(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckPairs(site.op));
  for (size_t i = 0; i < 2 * site.op.operands.size(); ++i)
    ASSAY_RETURN_IF_ERROR(CheckArgument(site.op, 0, i, *site.op.operands[i / 2]->type));
  return site.Keep();
}

// Operands that a region folds become the type that it takes, and so does its result. Operands `first`, first
// + count, ... up to `end` go with arguments i and i + count of the region;
// those between are left as they are.
absl::Status Fold(QuantizedSite& site, size_t region, size_t count, absl::Span<const size_t> folded) {
  const Operation& op = site.op;
  if (region >= op.regions.size() || op.regions[region].arguments.size() != 2 * count) {
    return InvalidProgram({},
                          fmt::format("{}: want a region of {}", op.name, Counted(2 * count, "argument")));
  }
  std::vector<Value*> operands(op.operands.begin(), op.operands.end());
  for (size_t i = 0; i < folded.size(); ++i) {
    const size_t k = i % count;
    const Type& first = *op.operands[folded[k]]->type;
    const Type& own = *op.operands[folded[i]]->type;
    const Type& argument = *op.regions[region].arguments[k].type;
    ASSAY_RETURN_IF_ERROR(CheckArgument(op, region, k + count, argument));
    ASSAY_RETURN_IF_ERROR(CheckReturned(op, region, k, argument));
    if (!SameElements(first, own))
      return BrokenRule(
          "QUANT-31", op,
          fmt::format("found operands {} and {}, want one element type", ToString(first), ToString(own)));
    if (!IsQuantized(own) && !IsQuantized(argument)) continue;
    ASSAY_RETURN_IF_ERROR(CheckPromotion(op, own, argument));
    operands[folded[i]] = site.writer.Requantized(operands[folded[i]], *argument.element_type);
  }
  for (size_t k = 0; k < op.results.size(); ++k) {
    const Type& argument = *op.regions[region].arguments[k % count].type;
    if (SameElements(*op.results[k].type, argument)) continue;
    return BrokenRule("QUANT-31", op,
                      fmt::format("result {} has type {}, want the element type of the region's {}", k,
                                  ToString(*op.results[k].type), ToString(argument)));
  }
  site.writer.AppendWith(op, operands);
  return absl::OkStatus();
}

std::vector<size_t> Numbers(size_t begin, size_t end) {
  std::vector<size_t> numbers;
  for (size_t i = begin; i < end; ++i) numbers.push_back(i);
  return numbers;
}

// Inputs, then as many initial values.
absl::Status LowerReduce(QuantizedSite& site) {
  const size_t count = site.op.operands.size() / 2;
  if (count == 0 || site.op.operands.size() % 2 != 0) return CheckCounts(site.op, 2 * count + 2, count + 1);
  return Fold(site, 0, count, Numbers(0, 2 * count));
}

// Inputs, indices, updates.
absl::Status LowerScatter(QuantizedSite& site) {
  const size_t count = (site.op.operands.size() - std::min<size_t>(site.op.operands.size(), 1)) / 2;
  if (count == 0 || site.op.operands.size() % 2 != 1) return CheckCounts(site.op, 2 * count + 3, count + 1);
  ASSAY_RETURN_IF_ERROR(CheckOperand(site.op, count, false));
  std::vector<size_t> folded = Numbers(0, count);
  for (const size_t i : Numbers(count + 1, 2 * count + 1)) folded.push_back(i);
  return Fold(site, 0, count, folded);
}

// Every operand goes through the one region.
absl::Status LowerAllReduce(QuantizedSite& site) {
  if (site.op.operands.empty()) return CheckCounts(site.op, 1, 1);
  return Fold(site, 0, 1, Numbers(0, site.op.operands.size()));
}

// `select` compares the operand's own elements; `scatter` folds source and init.
absl::Status LowerSelectAndScatter(QuantizedSite& site) {
  const Operation& op = site.op;
  ASSAY_RETURN_IF_ERROR(CheckCounts(op, 3, 1));
  const Type& operand = *op.operands[0]->type;
  for (size_t i = 0; i < 2; ++i) ASSAY_RETURN_IF_ERROR(CheckArgument(op, 0, i, operand));
  if (!SameElements(operand, *op.operands[1]->type))
    return BrokenRule("QUANT-31", op,
                      fmt::format("found operands {} and {}, want one element type", ToString(operand),
                                  ToString(*op.operands[1]->type)));
  if (IsQuantized(operand) && IsQuantized(*op.results[0].type) &&
      QuantizationOf(operand)->storage != QuantizationOf(*op.results[0].type)->storage)
    return NotSupported({}, fmt::format("{}: an operand {} and a result {} of another storage type", op.name,
                                        ToString(operand), ToString(*op.results[0].type)));
  return Fold(site, 1, 1, std::vector<size_t>{1, 2});
}

absl::Status LowerBranches(QuantizedSite& site) {
  for (const Region& region : site.op.regions) {
    if (region.operations.empty()) continue;
    const Operation& last = *region.operations.back();
    for (size_t i = 0; i < std::min(last.operands.size(), site.op.results.size()); ++i)
      ASSAY_RETURN_IF_ERROR(CheckSame(site.op, *last.operands[i]->type, *site.op.results[i].type));
  }
  return site.Keep();
}

absl::Status LowerWhile(QuantizedSite& site) {
  const Operation& op = site.op;
  for (size_t i = 0; i < std::min(op.operands.size(), op.results.size()); ++i) {
    const Type& type = *op.operands[i]->type;
    ASSAY_RETURN_IF_ERROR(CheckSame(op, *op.results[i].type, type));
    for (const Region& region : op.regions) {
      if (i < region.arguments.size()) ASSAY_RETURN_IF_ERROR(CheckSame(op, *region.arguments[i].type, type));
    }
    if (op.regions.size() != 2 || op.regions[1].operations.empty()) continue;
    const Operation& last = *op.regions[1].operations.back();
    if (i < last.operands.size()) ASSAY_RETURN_IF_ERROR(CheckSame(op, *last.operands[i]->type, type));
  }
  return site.Keep();
}

absl::Status CheckCall(QuantizedSite& site, std::string_view callee) {
  const auto known = site.functions.find(absl::string_view(callee.data(), callee.size()));
  if (known == site.functions.end()) return absl::OkStatus();  // refused where it is imported
  const Type& type = *known->second;
  for (size_t i = 0; i < std::min(site.op.operands.size(), type.inputs.size()); ++i)
    ASSAY_RETURN_IF_ERROR(CheckSame(site.op, *site.op.operands[i]->type, *type.inputs[i]));
  for (size_t i = 0; i < std::min(site.op.results.size(), type.results.size()); ++i)
    ASSAY_RETURN_IF_ERROR(CheckSame(site.op, *site.op.results[i].type, *type.results[i]));
  return absl::OkStatus();
}

absl::Status LowerCall(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckCall(site, TextOfAttribute(site.op, "callee")));
  return site.Keep();
}

absl::Status LowerComposite(QuantizedSite& site) {
  if (const std::string_view name = TextOfAttribute(site.op, "name"); !OperationOfComposite(name).empty())
    return NotSupported({}, fmt::format("composite {} with quantized operands", name));
  ASSAY_RETURN_IF_ERROR(CheckCall(site, TextOfAttribute(site.op, "decomposition")));
  return site.Keep();
}

absl::Status LowerTuple(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckCounts(site.op, site.op.operands.size(), 1));
  const Type& tuple = *site.op.results[0].type;
  for (size_t i = 0; i < std::min(site.op.operands.size(), tuple.inputs.size()); ++i)
    ASSAY_RETURN_IF_ERROR(CheckSame(site.op, *tuple.inputs[i], *site.op.operands[i]->type));
  return site.Keep();
}

absl::Status LowerGetTupleElement(QuantizedSite& site) {
  ASSAY_RETURN_IF_ERROR(CheckCounts(site.op, 1, 1));
  const Attribute* const index = site.op.Find("index");
  const Type& tuple = *site.op.operands[0]->type;
  const bool known = index != nullptr && index->integer >= 0 && tuple.kind == Type::Kind::kTuple &&
                     static_cast<size_t>(index->integer) < tuple.inputs.size();
  if (known)
    ASSAY_RETURN_IF_ERROR(
        CheckSame(site.op, *site.op.results[0].type, *tuple.inputs[static_cast<size_t>(index->integer)]));
  return site.Keep();
}

absl::Status LowerCustomCall(QuantizedSite& site) {
  static constexpr std::string_view kIdentities[] = {
      "Sharding",         "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
      "LayoutConstraint", "ShardBarrierFrom",     "ShardBarrierTo"};
  const std::string_view target = TextOfAttribute(site.op, "call_target_name");
  if (std::ranges::find(kIdentities, target) == std::end(kIdentities) && !target.starts_with("xla.sdy."))
    return NotSupported({}, fmt::format("custom_call @{} with quantized types", target));
  return LowerPairs(site);
}

absl::Status LowerCheckEqual(QuantizedSite& site) {
  const Attribute* const value = site.op.Find("value");
  if (value == nullptr) {
    ASSAY_RETURN_IF_ERROR(CheckCounts(site.op, 2, 0));
    ASSAY_RETURN_IF_ERROR(CheckSame(site.op, *site.op.operands[1]->type, *site.op.operands[0]->type));
    return site.Keep();
  }
  ASSAY_RETURN_IF_ERROR(CheckCounts(site.op, 1, 0));
  ASSAY_RETURN_IF_ERROR(CheckOperand(site.op, 0, true));
  if (value->kind != Attribute::Kind::kDense || !SameType(*value->type, *site.op.operands[0]->type))
    return BrokenRule("QUANT-12", site.op,
                      fmt::format("want a value of type {}", ToString(*site.op.operands[0]->type)));
  const NamedAttribute attributes[] = {{"value", StorageOf(site, *value, *value->type)}};
  Operation* const check = site.writer.AppendWith(site.op, {site.op.operands[0]});
  check->attributes = site.writer.tree().arena().Copy(attributes, 1);
  return absl::OkStatus();
}

absl::Status LowerUnsupported(QuantizedSite& site) {
  return NotSupported({}, fmt::format("{} with quantized types", site.op.name));
}

constexpr bool kPerAxis = true;
constexpr LowerRow kLowerRows[] = {
    {"stablehlo.uniform_quantize", LowerUniformQuantize, kPerAxis},
    {"stablehlo.uniform_dequantize", LowerUniformDequantize, kPerAxis},
    {"stablehlo.abs", LowerReal},
    {"stablehlo.cbrt", LowerReal},
    {"stablehlo.ceil", LowerReal},
    {"stablehlo.cosine", LowerReal},
    {"stablehlo.exponential", LowerReal},
    {"stablehlo.exponential_minus_one", LowerReal},
    {"stablehlo.floor", LowerReal},
    {"stablehlo.log", LowerReal},
    {"stablehlo.log_plus_one", LowerReal},
    {"stablehlo.logistic", LowerReal},
    {"stablehlo.negate", LowerReal},
    {"stablehlo.reduce_precision", LowerReal},
    {"stablehlo.round_nearest_afz", LowerReal},
    {"stablehlo.round_nearest_even", LowerReal},
    {"stablehlo.rsqrt", LowerReal},
    {"stablehlo.sign", LowerReal},
    {"stablehlo.sine", LowerReal},
    {"stablehlo.sqrt", LowerReal},
    {"stablehlo.tan", LowerReal},
    {"stablehlo.tanh", LowerReal},
    {"stablehlo.atan2", LowerReal},
    {"stablehlo.divide", LowerReal},
    {"stablehlo.maximum", LowerReal},
    {"stablehlo.minimum", LowerReal},
    {"stablehlo.multiply", LowerReal},
    {"stablehlo.power", LowerReal},
    {"stablehlo.remainder", LowerReal},
    {"stablehlo.subtract", LowerReal},
    {"stablehlo.clamp", LowerReal},
    {"stablehlo.cholesky", LowerReal},
    {"stablehlo.triangular_solve", LowerReal},
    {"stablehlo.batch_norm_grad", LowerReal},
    {"stablehlo.batch_norm_inference", LowerReal},
    {"stablehlo.batch_norm_training", LowerReal},
    {"stablehlo.add", LowerAdd, kPerAxis},
    {"stablehlo.select", LowerSelect},
    {"stablehlo.compare", LowerCompare},
    {"stablehlo.is_finite", LowerIsFinite},
    {"stablehlo.dot_general", LowerContraction, kPerAxis},
    {"stablehlo.dot", LowerContraction, kPerAxis},
    {"stablehlo.convolution", LowerContraction, kPerAxis},
    {"stablehlo.dynamic_conv", LowerContraction, kPerAxis},
    {"stablehlo.broadcast_in_dim", LowerBroadcast, kPerAxis},
    {"stablehlo.dynamic_broadcast_in_dim", LowerBroadcast, kPerAxis},
    {"stablehlo.reshape", LowerReshape, kPerAxis},
    {"stablehlo.dynamic_reshape", LowerReshape, kPerAxis},
    {"stablehlo.transpose", LowerTranspose, kPerAxis},
    // QUANT-32: the widths of storage types decide on the shapes, which the HLO operation has to keep to.
    {"stablehlo.bitcast_convert", LowerKeep, kPerAxis},
    {"stablehlo.slice", LowerMove},
    {"stablehlo.dynamic_slice", LowerMove, false, 1},
    {"stablehlo.dynamic_update_slice", LowerMove, false, 2},
    {"stablehlo.gather", LowerMove, false, 1},
    {"stablehlo.dynamic_gather", LowerMove, false, 1},
    {"stablehlo.torch_index_select", LowerMove, false, 1},
    {"stablehlo.concatenate", LowerMove},
    {"stablehlo.pad", LowerMove},
    {"stablehlo.dynamic_pad", LowerMove, false, 2},
    {"stablehlo.reverse", LowerMove},
    {"stablehlo.broadcast", LowerMove},
    {"stablehlo.set_dimension_size", LowerMove, false, 1},
    {"stablehlo.all_gather", LowerPairs},
    {"stablehlo.all_to_all", LowerPairs},
    {"stablehlo.collective_permute", LowerPermute, false, 1},
    {"stablehlo.collective_broadcast", LowerPermute, false, 1},
    {"stablehlo.optimization_barrier", LowerPairs},
    {"stablehlo.constant", LowerConstant, kPerAxis},
    {"chlo.constant", LowerConstant, kPerAxis},
    {"stablehlo.iota", LowerIota},
    {"stablehlo.dynamic_iota", LowerIota},
    {"stablehlo.map", LowerMap},
    {"stablehlo.sort", LowerSort},
    {"stablehlo.reduce", LowerReduce},
    {"stablehlo.reduce_window", LowerReduce},
    {"stablehlo.scatter", LowerScatter},
    {"stablehlo.select_and_scatter", LowerSelectAndScatter},
    {"stablehlo.all_reduce", LowerAllReduce},
    {"stablehlo.reduce_scatter", LowerAllReduce},
    {"stablehlo.collective_reduce", LowerAllReduce},
    {"stablehlo.if", LowerBranches, kPerAxis},
    {"stablehlo.case", LowerBranches, kPerAxis},
    {"stablehlo.while", LowerWhile, kPerAxis},
    {"func.call", LowerCall, kPerAxis},
    {"stablehlo.composite", LowerComposite, kPerAxis},
    {"stablehlo.tuple", LowerTuple, kPerAxis},
    {"stablehlo.get_tuple_element", LowerGetTupleElement, kPerAxis},
    {"stablehlo.get_dimension_size", LowerKeep, kPerAxis},
    {"stablehlo.infeed", LowerKeep, kPerAxis},
    {"stablehlo.outfeed", LowerKeep, kPerAxis},
    {"stablehlo.send", LowerKeep, kPerAxis},
    {"stablehlo.recv", LowerKeep, kPerAxis},
    {"stablehlo.return", LowerKeep, kPerAxis},
    {"mhlo.return", LowerKeep, kPerAxis},
    {"func.return", LowerKeep, kPerAxis},
    {"sdy.return", LowerKeep, kPerAxis},
    {"func.func", LowerKeep, kPerAxis},
    {"stablehlo.custom_call", LowerCustomCall, kPerAxis},
    {"builtin.unrealized_conversion_cast", LowerPairs, kPerAxis},
    {"sdy.sharding_constraint", LowerPairs, kPerAxis},
    {"sdy.propagation_barrier", LowerPairs, kPerAxis},
    {"sdy.reshard", LowerPairs, kPerAxis},
    {"check.expect_eq", LowerCheckEqual, kPerAxis},
    {"check.expect_eq_const", LowerCheckEqual, kPerAxis},
    {"stablehlo.einsum", LowerUnsupported, kPerAxis},
    {"stablehlo.unary_einsum", LowerUnsupported, kPerAxis},
    {"stablehlo.cross-replica-sum", LowerUnsupported, kPerAxis},
    {"stablehlo.async_start", LowerUnsupported, kPerAxis},
    {"stablehlo.async_done", LowerUnsupported, kPerAxis},
};

}  // namespace

std::span<const LowerRow> LowerRows() { return kLowerRows; }

const LowerRow* FindLowerRow(std::string_view name) {
  static const auto* const kRows = [] {
    auto* rows = new HashMap<absl::string_view, const LowerRow*>();
    for (const LowerRow& row : kLowerRows)
      rows->emplace(absl::string_view(row.name.data(), row.name.size()), &row);
    return rows;
  }();
  const auto known = kRows->find(absl::string_view(name.data(), name.size()));
  return known == kRows->end() ? nullptr : known->second;
}

}  // namespace assay::mlir
