// Reductions, windows, contractions, transforms, solvers, normalisation, random numbers: the inverse of
// import/linalg.cc.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "hlo/float_attribute.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/text_writer.h"

namespace assay::mlir {
namespace {

void ExportReduce(OpExport& out) {
  out.UseOperands();
  out.IntList("dimensions", out.attributes().List(Attr::kDimensions));
  out.Region(*out.attributes().Computation(Attr::kToApply));
  out.Emit("stablehlo.reduce");
}

void ExportMap(OpExport& out) {
  Ints dimensions;
  for (int64_t d = 0; d < out.hlo.shape->rank(); ++d) dimensions.push_back(d);
  out.UseOperands();
  out.IntList("dimensions", dimensions);
  out.Region(*out.attributes().Computation(Attr::kToApply));
  out.Emit("stablehlo.map");
}

struct WindowNames {
  std::string_view sizes, base_dilations, dilations, reversal;  // empty: the operation has no such thing
};

void SetWindow(OpExport& out, const Window& window, const WindowNames& names) {
  Ints sizes, strides, base, dilations;
  IntLists padding;
  std::string reversal;
  bool padded = false, reversed = false;
  for (const WindowDimension& d : window) {
    sizes.push_back(d.size);
    strides.push_back(d.stride);
    base.push_back(d.base_dilation);
    dilations.push_back(d.window_dilation);
    padding.push_back({d.padding_low, d.padding_high});
    padded |= d.padding_low != 0 || d.padding_high != 0;
    reversal += fmt::format("{}{}", reversal.empty() ? "" : ", ", d.reversal);
    reversed |= d.reversal;
  }
  const auto not_one = [](int64_t n) { return n != 1; };
  const auto dilated = [&](const Ints& values) { return std::any_of(values.begin(), values.end(), not_one); };
  if ((names.base_dilations.empty() && dilated(base)) || (names.dilations.empty() && dilated(dilations)) ||
      (names.reversal.empty() && reversed)) {
    return out.Refuse("a dilated or reversed window");
  }
  if (!names.sizes.empty()) out.IntList(names.sizes, sizes);
  out.IntListUnless(1, "window_strides", strides);
  if (!names.base_dilations.empty()) out.IntListUnless(1, names.base_dilations, base);
  if (!names.dilations.empty()) out.IntListUnless(1, names.dilations, dilations);
  if (padded) out.Rows("padding", padding);
  if (reversed) out.Property(names.reversal, fmt::format("array<i1: {}>", reversal));
}

// An absent window is one element.
Window WindowOf(const OpExport& out) {
  Window window = out.attributes().WindowOf();
  if (window.empty()) window.resize(static_cast<size_t>(out.OperandShape(0).rank()));
  return window;
}

// Whether the results have the element types that the reducer gives, as StableHLO infers.
bool HasTypesOf(const Shape& result, const Shape& reduced) {
  if (!result.IsTuple() || !reduced.IsTuple()) return result.element_type() == reduced.element_type();
  return std::equal(result.elements().begin(), result.elements().end(), reduced.elements().begin(),
                    reduced.elements().end(), HasTypesOf);
}

void ExportReduceWindow(OpExport& out) {
  const ComputationId reducer = *out.attributes().Computation(Attr::kToApply);
  if (!HasTypesOf(*out.hlo.shape, *out.exporter.module().computation(reducer).root_instruction().shape))
    return out.Refuse("a result of another type than its reducer's");
  out.UseOperands();
  SetWindow(out, WindowOf(out), {"window_dimensions", "base_dilations", "window_dilations", {}});
  out.Region(*out.attributes().Computation(Attr::kToApply));
  out.Emit("stablehlo.reduce_window");
}

void ExportSelectAndScatter(OpExport& out) {
  out.UseOperands();
  SetWindow(out, WindowOf(out), {"window_dimensions", {}, {}, {}});
  out.Region(*out.attributes().Computation(Attr::kSelect));
  out.Region(*out.attributes().Computation(Attr::kScatter));
  out.Emit("stablehlo.select_and_scatter");
}

// precision_config = [#stablehlo<precision HIGH>, ...]
void SetPrecision(OpExport& out, std::string_view dialect) {
  const AttrValue* const attribute = out.attributes().Find(Attr::kOperandPrecision);
  if (attribute == nullptr) return;
  std::string text;
  bool any = false;
  // Two operands have one in StableHLO; what HLO says of others changes nothing.
  std::vector<Word> words = std::get<std::vector<Word>>(*attribute);
  for (; words.size() > 2; words.pop_back()) {
    if (Upper(words.back().text) != "DEFAULT") return out.Refuse("operand_precision of a third operand");
  }
  for (const Word& word : words) {
    const std::string upper = Upper(word.text);
    if (upper != "DEFAULT" && upper != "HIGH" && upper != "HIGHEST") {
      return out.Refuse(fmt::format("operand_precision {}", word.text));
    }
    any |= upper != "DEFAULT";
    text += fmt::format("{}#{}<precision {}>", text.empty() ? "" : ", ", dialect, upper);
  }
  if (any) out.Property("precision_config", fmt::format("[{}]", text));
}

struct Algorithm {
  std::string_view name;  // of HLO
  std::string_view operand_type, sum_type;
  int operations = 1;
  bool fast = false;
};
constexpr Algorithm kAlgorithms[] = {
    {"dot_f16_f16_f16", "f16", "f16"},
    {"dot_f16_f16_f32", "f16", "f32"},
    {"dot_bf16_bf16_bf16", "bf16", "bf16"},
    {"dot_bf16_bf16_f32", "bf16", "f32"},
    {"dot_bf16_bf16_f32_x3", "bf16", "f32", 3},
    {"dot_bf16_bf16_f32_x6", "bf16", "f32", 6},
    {"dot_bf16_bf16_f32_x9", "bf16", "f32", 9},
    {"dot_tf32_tf32_f32", "tf32", "f32"},
    {"dot_tf32_tf32_f32_x3", "tf32", "f32", 3},
    {"dot_f32_f32_f32", "f32", "f32"},
    {"dot_f64_f64_f64", "f64", "f64"},
    {"dot_any_f8_any_f8_f32", "f8E5M2", "f32"},
    {"dot_any_f8_any_f8_f32_fast_accum", "f8E5M2", "f32", 1, true},
};

// False: there is none, and the precision may be set.
bool SetAlgorithm(OpExport& out) {
  std::string name(out.attributes().Text(Attr::kAlgorithm));
  for (char& c : name) c = absl::ascii_tolower(static_cast<unsigned char>(c));
  if (name.empty() || name == "dot_unset") return false;
  const auto* const known = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                                         [&](const Algorithm& algorithm) { return algorithm.name == name; });
  if (known == std::end(kAlgorithms)) {
    out.Refuse(fmt::format("algorithm {}", name));
    return true;
  }
  out.Property("algorithm",
               fmt::format("#stablehlo.dot_algorithm<lhs_precision_type = {0}, rhs_precision_type = {0}, "
                           "accumulation_type = {1}, lhs_component_count = 1, rhs_component_count = 1, "
                           "num_primitive_operations = {2}, allow_imprecise_accumulation = {3}>",
                           known->operand_type, known->sum_type, known->operations, known->fast));
  return true;
}

// The fields of a struct of dimension numbers, those that are not empty.
std::string DotDimensionsText(const OpExport& out) {
  std::string fields;
  for (const auto& [attr, name] : {std::pair{Attr::kLhsBatchDims, "lhs_batching_dimensions"},
                                   {Attr::kRhsBatchDims, "rhs_batching_dimensions"},
                                   {Attr::kLhsContractingDims, "lhs_contracting_dimensions"},
                                   {Attr::kRhsContractingDims, "rhs_contracting_dimensions"},
                                   {Attr::kLhsRaggedDims, "lhs_ragged_dimensions"},
                                   {Attr::kRhsGroupDims, "rhs_group_dimensions"}}) {
    const std::span<const int64_t> dims = out.attributes().List(attr);
    if (!dims.empty()) fields += fmt::format("{}{} = {}", fields.empty() ? "" : ", ", name, ListText(dims));
  }
  return fields;
}

void ExportDot(OpExport& out) {
  if (out.attributes().Has(Attr::kSparsityConfig)) return out.Refuse("sparse operands");
  out.UseOperands();
  out.Property("dot_dimension_numbers", fmt::format("#stablehlo.dot<{}>", DotDimensionsText(out)));
  if (!SetAlgorithm(out)) SetPrecision(out, "stablehlo");
  out.Emit("stablehlo.dot_general");
}

void ExportRaggedDot(OpExport& out) {
  out.UseOperands();
  SetPrecision(out, "chlo");
  out.Property("ragged_dot_dimension_numbers", fmt::format("#chlo.ragged_dot<{}>", DotDimensionsText(out)));
  out.Emit("chlo.ragged_dot");
}

// [b, 0, 1, f]: the role of each dimension.
std::string Roles(int64_t first, std::string_view first_name, int64_t second, std::string_view second_name,
                  const Ints& spatial) {
  std::vector<std::string> roles(spatial.size() + 2);
  roles[static_cast<size_t>(first)] = first_name;
  roles[static_cast<size_t>(second)] = second_name;
  for (size_t i = 0; i < spatial.size(); ++i) roles[static_cast<size_t>(spatial[i])] = std::to_string(i);
  return fmt::format("[{}]", fmt::join(roles.begin(), roles.end(), ", "));
}

void ExportConvolution(OpExport& out) {
  const AttributeMap& attributes = out.attributes();
  for (const Attr attr : {Attr::kSparsityConfig, Attr::kAlgorithm, Attr::kConvolutionKind}) {
    if (attributes.Has(attr)) return out.Refuse(fmt::format("attribute {}", Name(attr)));
  }
  if (out.OperandShape(0).element_type() != out.OperandShape(1).element_type()) {
    return out.Refuse("operands of two element types");
  }
  const auto& labels =
      *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*attributes.Find(Attr::kDimLabels));
  out.UseOperands();
  out.Int("batch_group_count", attributes.Int(Attr::kBatchGroupCount, 1));
  out.Property(
      "dimension_numbers",
      fmt::format(
          "#stablehlo.conv<{}x{}->{}>",
          Roles(labels.input_batch, "b", labels.input_feature, "f", labels.input_spatial),
          Roles(labels.kernel_input_feature, "i", labels.kernel_output_feature, "o", labels.kernel_spatial),
          Roles(labels.output_batch, "b", labels.output_feature, "f", labels.output_spatial)));
  out.Int("feature_group_count", attributes.Int(Attr::kFeatureGroupCount, 1));
  Window window = attributes.WindowOf();
  if (window.empty()) window.resize(labels.kernel_spatial.size());
  SetWindow(out, window, {{}, "lhs_dilation", "rhs_dilation", "window_reversal"});
  SetPrecision(out, "stablehlo");
  out.Emit("stablehlo.convolution");
}

void ExportFft(OpExport& out) {
  out.UseOperands();
  out.IntList("fft_length", out.attributes().List(Attr::kFftLength));
  out.Enum("fft_type", "fft_type", Upper(out.attributes().Text(Attr::kFftType)));
  out.Emit("stablehlo.fft");
}

void ExportCholesky(OpExport& out) {
  out.UseOperands();
  out.Flag("lower", out.attributes().Bool(Attr::kLower));
  out.Emit("stablehlo.cholesky");
}

void ExportTriangularSolve(OpExport& out) {
  out.UseOperands();
  out.Flag("left_side", out.attributes().Bool(Attr::kLeftSide));
  out.Flag("lower", out.attributes().Bool(Attr::kLower));
  out.Enum("transpose_a", "transpose", Upper(out.attributes().Text(Attr::kTransposeA, "TRANSPOSE_INVALID")));
  out.Flag("unit_diagonal", out.attributes().Bool(Attr::kUnitDiagonal));
  out.Emit("stablehlo.triangular_solve");
}

template <Opcode opcode>
void ExportBatchNorm(OpExport& out) {
  out.UseOperands();
  const double value = out.attributes().Float(Attr::kEpsilon);
  if (!IsShortestOfFloat(value)) return out.Refuse(fmt::format("epsilon={}, which is not a float", value));
  const auto epsilon = static_cast<float>(value);
  out.Property("epsilon", FloatText(epsilon, ElementType::kF32) + " : f32");
  out.Int("feature_index", out.attributes().Int(Attr::kFeatureIndex));
  out.Emit("stablehlo." + std::string(StableHloName(opcode)));
}

// The word behind "rng_".
std::string RngWord(const OpExport& out, Attr attr) {
  const std::string word = Upper(out.attributes().Text(attr));
  return word.starts_with("RNG_") ? word.substr(4) : word;
}

// The third operand says the sizes of the result.
void ExportRng(OpExport& out) {
  const std::span<const int64_t> sizes = out.hlo.shape->sizes();
  const auto rank = static_cast<int64_t>(sizes.size());
  const Literal& values = out.exporter.Keep(Literal::FromInts(ElementType::kS64, {&rank, 1}, sizes));
  Node constant;
  constant.kind = Node::Kind::kConstant;
  constant.shape = &values.shape();
  constant.literal = &values;
  out.UseOperands();
  out.Use(out.exporter.Add(std::move(constant)));
  out.Enum("rng_distribution", "rng_distribution", RngWord(out, Attr::kDistribution));
  out.Emit("stablehlo.rng");
}

void ExportRngBitGenerator(OpExport& out) {
  if (!out.hlo.shape->IsTuple()) return out.Refuse("a result without the new state");
  out.UseOperands();
  out.Enum("rng_algorithm", "rng_algorithm", RngWord(out, Attr::kAlgorithm));
  out.Emit("stablehlo.rng_bit_generator");
}

constexpr ExportRow kLinalgExports[] = {
    {Opcode::kMap, ExportMap},
    {Opcode::kReduce, ExportReduce},
    {Opcode::kReduceWindow, ExportReduceWindow},
    {Opcode::kSelectAndScatter, ExportSelectAndScatter},
    {Opcode::kConvolution, ExportConvolution},
    {Opcode::kDot, ExportDot},
    {Opcode::kRaggedDot, ExportRaggedDot},
    {Opcode::kFft, ExportFft},
    {Opcode::kCholesky, ExportCholesky},
    {Opcode::kTriangularSolve, ExportTriangularSolve},
    {Opcode::kBatchNormGrad, ExportBatchNorm<Opcode::kBatchNormGrad>},
    {Opcode::kBatchNormInference, ExportBatchNorm<Opcode::kBatchNormInference>},
    {Opcode::kBatchNormTraining, ExportBatchNorm<Opcode::kBatchNormTraining>},
    {Opcode::kRng, ExportRng},
    {Opcode::kRngBitGenerator, ExportRngBitGenerator},
};

}  // namespace

std::span<const ExportRow> LinalgExports() { return kLinalgExports; }

}  // namespace assay::mlir
