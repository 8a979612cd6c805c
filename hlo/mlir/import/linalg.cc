// Reductions, windows, contractions, transforms, solvers, normalisation, random numbers
// (docs/spec/stablehlo-text.md section 6).
#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/float_attribute.h"
#include "hlo/mlir/import/einsum.h"
#include "hlo/mlir/import/importer.h"

namespace assay::mlir {
namespace {

constexpr std::string_view kDotNumbers = "dot_dimension_numbers";
constexpr std::string_view kConvNumbers = "dimension_numbers";

std::string Lower(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower;
}

void ImportReduce(OpImport& in) {
  const std::optional<ComputationId> body = in.Body();
  if (!body) return;
  in.Emit(Opcode::kReduce, in.operands,
          in.Map({{Attr::kDimensions, in.RequiredInts("dimensions")}, {Attr::kToApply, *body}}));
}

void ImportMap(OpImport& in) {
  const std::optional<ComputationId> body = in.Body();
  if (!body) return;
  in.Emit(Opcode::kMap, in.operands,
          in.Map({{Attr::kDimensions, in.RequiredInts("dimensions")}, {Attr::kToApply, *body}}));
}

// The window of `sizes`; padding is a matrix of low and high, an attribute where it is not known.
Window ReadWindow(OpImport& in, const Ints& sizes, std::string_view base_name, std::string_view window_name,
                  bool has_reversal, const Ints* known_padding = nullptr) {
  const size_t rank = sizes.size();
  const Ints strides = in.IntsOr("window_strides", rank, 1);
  const Ints base = in.IntsOr(base_name, rank, 1), dilations = in.IntsOr(window_name, rank, 1);
  Ints padding = known_padding != nullptr ? *known_padding : in.IntsOr("padding", 2 * rank, 0);
  if (padding.size() != 2 * rank) {
    in.Invalid(fmt::format("found {} of padding, want {}", Counted(padding.size(), "number"), 2 * rank));
    padding.assign(2 * rank, 0);
  }
  const Ints reversal = has_reversal ? in.IntsOr("window_reversal", rank, 0) : Ints(rank, 0);
  Window window(rank);
  for (size_t d = 0; d < rank; ++d) {
    window[d] = {.size = sizes[d],
                 .stride = strides[d],
                 .padding_low = padding[2 * d],
                 .padding_high = padding[2 * d + 1],
                 .base_dilation = base[d],
                 .window_dilation = dilations[d],
                 .reversal = reversal[d] != 0};
  }
  return window;
}

void ImportReduceWindow(OpImport& in) {
  const std::optional<ComputationId> body = in.Body();
  if (!body) return;
  Window window =
      ReadWindow(in, in.RequiredInts("window_dimensions"), "base_dilations", "window_dilations", false);
  in.Emit(Opcode::kReduceWindow, in.operands,
          in.Map({{Attr::kWindow, std::move(window)}, {Attr::kToApply, *body}}));
}

void ImportSelectAndScatter(OpImport& in) {
  if (!in.Arity(3) || !in.Regions(2)) return;
  const std::optional<ComputationId> select = in.Body(0);
  const std::optional<ComputationId> scatter = in.Body(1);
  if (!select || !scatter) return;
  const Shape& operand = in.OperandShape(0);
  const size_t rank = operand.IsArray() ? static_cast<size_t>(operand.rank()) : 0;
  Window window = ReadWindow(in, in.IntsOr("window_dimensions", rank, 1), "", "", false);
  in.Emit(Opcode::kSelectAndScatter, in.operands,
          in.Map({{Attr::kWindow, std::move(window)}, {Attr::kSelect, *select}, {Attr::kScatter, *scatter}}));
}

// precision_config = [DEFAULT, HIGHEST]; all defaults mean absent.
void ReadPrecision(OpImport& in, AttributeMap* attributes) {
  const Attribute* const config = in.Find("precision_config");
  if (config == nullptr) return;
  bool any = false;
  for (const Attribute* element : config->elements) {
    if (element->text != "DEFAULT" && element->text != "HIGH" && element->text != "HIGHEST") {
      return in.Invalid(
          fmt::format("precision_config has {}, want DEFAULT, HIGH or HIGHEST", ToString(*element)));
    }
    any |= element->text != "DEFAULT";
  }
  if (!any) return;
  std::vector<assay::Word> words;
  for (const Attribute* element : config->elements) words.push_back({Lower(element->text)});
  attributes->Set(Attr::kOperandPrecision, std::move(words));
}

// The named algorithm of (lhs, rhs and accumulation types, component counts, operations, imprecise).
std::string AlgorithmName(OpImport& in) {
  constexpr std::string_view kGroup = "algorithm";
  const std::span<const NamedAttribute> fields = in.Fields(kGroup);
  const auto type = [&](std::string_view name) -> const Type* {
    const Attribute* const attribute = mlir::Find(fields, name);
    const bool any = attribute != nullptr && attribute->type != nullptr;
    return any && attribute->type->kind != Type::Kind::kNone ? attribute->type : nullptr;
  };
  const Type* const types[] = {type("lhs_precision_type"), type("rhs_precision_type"),
                               type("accumulation_type")};
  if (types[0] == nullptr && types[1] == nullptr && types[2] == nullptr) return {};
  const auto word = [](const Type* of) { return of == nullptr ? "none" : Lower(ToString(*of)); };
  const std::string lhs = word(types[0]), rhs = word(types[1]), sum = word(types[2]);
  const Attribute* const imprecise = in.Find("allow_imprecise_accumulation", kGroup);
  const bool fast = imprecise != nullptr && imprecise->integer != 0;
  const int64_t operations = in.Int("num_primitive_operations", 1, kGroup);
  const bool one_each = in.Int("lhs_component_count", 1, kGroup) == in.Int("rhs_component_count", 1, kGroup);
  if (lhs.starts_with("f8") && rhs.starts_with("f8") && sum == "f32" && operations == 1) {
    return fast ? "dot_any_f8_any_f8_f32_fast_accum" : "dot_any_f8_any_f8_f32";
  }
  if (fast || lhs != rhs || !one_each) return "?";
  std::string name = fmt::format("dot_{}_{}_{}", lhs, rhs, sum);
  if (operations != 1) name += fmt::format("_x{}", operations);
  static constexpr std::string_view kNames[] = {
      "dot_f16_f16_f16",      "dot_f16_f16_f32",      "dot_bf16_bf16_bf16",   "dot_bf16_bf16_f32",
      "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_bf16_bf16_f32_x9", "dot_tf32_tf32_f32",
      "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32",      "dot_f64_f64_f64"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ? name : "?";
}

// The dimensions that an operation's struct `group` names, those that are not empty.
AttributeMap ReadDotDimensions(OpImport& in, std::string_view group) {
  static constexpr std::pair<std::string_view, Attr> kDimensions[] = {
      {"lhs_batching_dimensions", Attr::kLhsBatchDims},
      {"rhs_batching_dimensions", Attr::kRhsBatchDims},
      {"lhs_contracting_dimensions", Attr::kLhsContractingDims},
      {"rhs_contracting_dimensions", Attr::kRhsContractingDims},
      {"lhs_ragged_dimensions", Attr::kLhsRaggedDims},
      {"rhs_group_dimensions", Attr::kRhsGroupDims}};
  const std::span<const NamedAttribute> fields = in.Fields(group);
  AttributeMap::Entry entries[std::size(kDimensions)];
  size_t count = 0;
  for (const auto& [name, attr] : kDimensions) {
    Ints dims = in.IntsOf(mlir::Find(fields, name), name);
    if (!dims.empty()) entries[count++] = {attr, std::move(dims)};
  }
  return in.importer.MapOf(std::span(entries, count));
}

// ragged_dot: the same as HLO's.
void ImportRaggedDot(OpImport& in) {
  if (!in.Arity(3)) return;
  AttributeMap attributes = ReadDotDimensions(in, "ragged_dot_dimension_numbers");
  ReadPrecision(in, &attributes);
  in.Emit(Opcode::kRaggedDot, in.operands, std::move(attributes));
}

AttributeMap DotAttributes(OpImport& in) {
  AttributeMap attributes = ReadDotDimensions(in, kDotNumbers);
  ReadPrecision(in, &attributes);
  const std::string algorithm = AlgorithmName(in);
  if (algorithm == "?") in.Unsupported("this dot algorithm");
  if (!algorithm.empty()) attributes.Set(Attr::kAlgorithm, assay::Word{algorithm});
  return attributes;
}

void ImportDotGeneral(OpImport& in) {
  if (in.Arity(2)) in.Emit(Opcode::kDot, in.operands, in.Attributes([&] { return DotAttributes(in); }));
}

// dot: the last dimension of lhs with the first of rhs.
void ImportDot(OpImport& in) {
  if (!in.Arity(2)) return;
  const Shape& lhs = in.OperandShape(0);
  if (!lhs.IsArray() || lhs.rank() == 0) return in.Invalid("want vectors or matrices");
  AttributeMap attributes =
      in.Map({{Attr::kLhsContractingDims, Ints{lhs.rank() - 1}}, {Attr::kRhsContractingDims, Ints{0}}});
  ReadPrecision(in, &attributes);
  in.Emit(Opcode::kDot, in.operands, std::move(attributes));
}

// einsum: a dot, and a transpose where the result has its dimensions in another order. unary_einsum: a
// transpose.
template <size_t operands>
void ImportEinsum(OpImport& in) {
  if (!in.Arity(operands)) return;
  const std::string_view config = in.Text("einsum_config");
  const std::optional<Einsum> einsum = ParseEinsum(config, operands);
  if (!einsum) return in.Unsupported(NoProductText(config));
  const Shape& lhs = in.OperandShape(0);
  const Shape& rhs = in.OperandShape(operands - 1);
  const SharedShape& result = in.ResultShape();
  if (!in.ok()) return;
  const auto fits = [](const Shape& shape, std::string_view letters) {
    return shape.IsArray() && shape.rank() == std::ssize(letters) && !shape.HasDynamic();
  };
  if (!fits(lhs, einsum->lhs) || (operands == 2 && !fits(rhs, einsum->rhs)) || !fits(*result, einsum->result))
    return in.Invalid(fmt::format("einsum_config \"{}\" does not fit the ranks of {}, {} and {}", config,
                                  lhs.ToString(), rhs.ToString(), result->ToString()));
  AttributeMap permutation = in.Map({{Attr::kDimensions, Ints(einsum->permutation)}});
  if (operands == 1) return in.Emit(Opcode::kTranspose, in.operands, std::move(permutation));
  AttributeMap attributes = in.Map({{Attr::kLhsBatchDims, Ints(einsum->lhs_batch)},
                                    {Attr::kRhsBatchDims, Ints(einsum->rhs_batch)},
                                    {Attr::kLhsContractingDims, Ints(einsum->lhs_contracting)},
                                    {Attr::kRhsContractingDims, Ints(einsum->rhs_contracting)}});
  ReadPrecision(in, &attributes);
  if (std::ranges::is_sorted(einsum->permutation))
    return in.Emit(Opcode::kDot, in.operands, std::move(attributes));
  DimVector sizes(einsum->permutation.size());
  for (size_t d = 0; d < sizes.size(); ++d)
    sizes[static_cast<size_t>(einsum->permutation[d])] = result->size(static_cast<int64_t>(d));
  absl::StatusOr<Shape> product = Shape::Array(result->element_type(), sizes);
  if (!product.ok()) return in.Fail(product.status());
  const int32_t dot =
      in.Add(Opcode::kDot, in.importer.Share(*std::move(product)), in.operands, std::move(attributes));
  in.Emit(Opcode::kTranspose, {dot}, std::move(permutation));
}

void ImportConvolution(OpImport& in) {
  if (in.Arity(2)) EmitConvolution(in, nullptr);
}

void ImportFft(OpImport& in) {
  constexpr std::string_view kTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  if (!in.Arity(1)) return;
  in.Emit(Opcode::kFft, in.operands,
          in.Map({{Attr::kFftType, assay::Word{std::string(in.EnumWord("fft_type", "", kTypes))}},
                  {Attr::kFftLength, in.RequiredInts("fft_length")}}));
}

void ImportCholesky(OpImport& in) {
  if (!in.Arity(1)) return;
  AttributeMap attributes;
  if (in.Bool("lower")) attributes.Set(Attr::kLower, true);
  in.Emit(Opcode::kCholesky, in.operands, std::move(attributes));
}

void ImportTriangularSolve(OpImport& in) {
  constexpr std::string_view kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  if (!in.Arity(2)) return;
  const std::string_view transpose = in.EnumWord("transpose_a", "", kTransposes);
  AttributeMap attributes = in.Map({{Attr::kTransposeA, assay::Word{std::string(transpose)}}});
  if (in.Bool("left_side")) attributes.Set(Attr::kLeftSide, true);
  if (in.Bool("lower")) attributes.Set(Attr::kLower, true);
  if (in.Bool("unit_diagonal")) attributes.Set(Attr::kUnitDiagonal, true);
  in.Emit(Opcode::kTriangularSolve, in.operands, std::move(attributes));
}

template <Opcode opcode, size_t operands, size_t results>
void ImportBatchNorm(OpImport& in) {
  if (!in.Arity(operands, results)) return;
  in.Emit(opcode, in.operands,
          in.Map({{Attr::kEpsilon, ShortestDouble(static_cast<float>(in.Float("epsilon")))},
                  {Attr::kFeatureIndex, in.Int("feature_index")}}));
}

// rng: the third operand is the shape, which the result's type says too.
void ImportRng(OpImport& in) {
  constexpr std::string_view kDistributions[] = {"UNIFORM", "NORMAL"};
  if (in.num_operands() != 2 && !in.Arity(3)) return;
  const std::string_view word = in.EnumWord("rng_distribution", "", kDistributions);
  in.Emit(Opcode::kRng, {in.operands[0], in.operands[1]},
          in.Map({{Attr::kDistribution, assay::Word{"rng_" + Lower(word)}}}));
}

void ImportRngBitGenerator(OpImport& in) {
  constexpr std::string_view kAlgorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  if (!in.Arity(1, 2)) return;
  const std::string_view word = in.EnumWord("rng_algorithm", "", kAlgorithms);
  in.Emit(Opcode::kRngBitGenerator, in.operands,
          in.Map({{Attr::kAlgorithm, assay::Word{"rng_" + Lower(word)}}}));
}

constexpr ImportRow kLinalgRows[] = {
    {"stablehlo.reduce", ImportReduce},
    {"stablehlo.map", ImportMap},
    {"stablehlo.reduce_window", ImportReduceWindow},
    {"stablehlo.select_and_scatter", ImportSelectAndScatter},
    {"stablehlo.dot_general", ImportDotGeneral},
    {"stablehlo.dot", ImportDot},
    {"chlo.ragged_dot", ImportRaggedDot},
    {"stablehlo.einsum", ImportEinsum<2>},
    {"stablehlo.unary_einsum", ImportEinsum<1>},
    {"stablehlo.convolution", ImportConvolution},
    {"stablehlo.fft", ImportFft},
    {"stablehlo.cholesky", ImportCholesky},
    {"stablehlo.triangular_solve", ImportTriangularSolve},
    {"stablehlo.batch_norm_training", ImportBatchNorm<Opcode::kBatchNormTraining, 3, 3>},
    {"stablehlo.batch_norm_inference", ImportBatchNorm<Opcode::kBatchNormInference, 5, 1>},
    {"stablehlo.batch_norm_grad", ImportBatchNorm<Opcode::kBatchNormGrad, 5, 3>},
    {"stablehlo.rng", ImportRng},
    {"stablehlo.rng_bit_generator", ImportRngBitGenerator},
};

}  // namespace

std::span<const ImportRow> LinalgRows() { return kLinalgRows; }

void EmitConvolution(OpImport& in, const Ints* padding) {
  auto labels = std::make_shared<ConvDimensionNumbers>();
  const auto dim = [&](std::string_view name) { return in.Int(name, 0, kConvNumbers); };
  labels->input_batch = dim("input_batch_dimension");
  labels->input_feature = dim("input_feature_dimension");
  labels->input_spatial = in.IntList("input_spatial_dimensions", kConvNumbers);
  labels->kernel_input_feature = dim("kernel_input_feature_dimension");
  labels->kernel_output_feature = dim("kernel_output_feature_dimension");
  labels->kernel_spatial = in.IntList("kernel_spatial_dimensions", kConvNumbers);
  labels->output_batch = dim("output_batch_dimension");
  labels->output_feature = dim("output_feature_dimension");
  labels->output_spatial = in.IntList("output_spatial_dimensions", kConvNumbers);
  const Shape& kernel = in.OperandShape(1);
  Ints sizes;
  for (int64_t d : labels->kernel_spatial) {
    if (!kernel.IsArray() || d < 0 || d >= kernel.rank()) {
      return in.Invalid(
          fmt::format("kernel_spatial_dimensions has {}, the kernel is {}", d, kernel.ToString()));
    }
    sizes.push_back(kernel.size(d));
  }
  Window window = ReadWindow(in, sizes, "lhs_dilation", "rhs_dilation", true, padding);
  AttributeMap attributes =
      in.Map({{Attr::kWindow, std::move(window)},
              {Attr::kDimLabels, std::shared_ptr<const ConvDimensionNumbers>(std::move(labels))}});
  const int64_t features = in.Int("feature_group_count", 1), batches = in.Int("batch_group_count", 1);
  if (features != 1) attributes.Set(Attr::kFeatureGroupCount, features);
  if (batches != 1) attributes.Set(Attr::kBatchGroupCount, batches);
  ReadPrecision(in, &attributes);
  in.Emit(Opcode::kConvolution, {in.operands[0], in.operands[1]}, std::move(attributes));
}

}  // namespace assay::mlir
