// Contractions, convolution, transforms, solvers, normalisation (docs/spec/operations-linalg.md) and random
// numbers (docs/spec/operations-rng.md).
#include "builder/internal.h"

namespace assay::builder {
namespace {

AttributeMap DotAttributes(const DotDimensionNumbers& d, const PrecisionConfig* precision) {
  AttributeMap attributes = Attributes({{Attr::kLhsContractingDims, d.lhs_contracting_dimensions},
                                        {Attr::kRhsContractingDims, d.rhs_contracting_dimensions}});
  if (!d.lhs_batch_dimensions.empty()) attributes.Set(Attr::kLhsBatchDims, d.lhs_batch_dimensions);
  if (!d.rhs_batch_dimensions.empty()) attributes.Set(Attr::kRhsBatchDims, d.rhs_batch_dimensions);
  SetPrecision(precision, attributes);
  return attributes;
}

// What the five convolution calls have in common.
struct ConvArguments {
  XlaOp lhs, rhs;
  Int64s window_strides;
  Int64s lhs_dilation, rhs_dilation;
  const ConvDimensionNumbers* dimension_numbers;
  int64_t feature_group_count, batch_group_count;
  const PrecisionConfig* precision_config;
  std::optional<ElementType> preferred_element_type;
};

// The sizes of the shape at the given dimensions; each must be one of the shape's.
absl::StatusOr<Ints> SizesAt(const Shape& shape, const Ints& dimensions) {
  Ints sizes;
  for (const int64_t d : dimensions) {
    if (d < 0 || d >= shape.rank()) {
      return InvalidProgram({}, fmt::format("Conv-C2: spatial dimension {} of {}", d, shape.ToString()));
    }
    sizes.push_back(shape.size(d));
  }
  return sizes;
}

absl::StatusOr<XlaOp> AddConvolution(XlaBuilder* builder, const ConvArguments& a,
                                     absl::Span<const PaddingPair> padding,
                                     const std::vector<bool>& reversal) {
  ASSAY_ASSIGN_OR_RETURN(const Shape* rhs, ArrayShape(builder, a.rhs, "Conv-C1"));
  ASSAY_ASSIGN_OR_RETURN(const Ints sizes, SizesAt(*rhs, a.dimension_numbers->kernel_spatial));
  ASSAY_ASSIGN_OR_RETURN(Window window, MakeWindow(sizes, a.window_strides, padding, a.lhs_dilation,
                                                   a.rhs_dilation, reversal, "Conv-C3"));
  AttributeMap attributes =
      Attributes({{Attr::kDimLabels, std::make_shared<const ConvDimensionNumbers>(*a.dimension_numbers)}});
  if (!window.empty()) attributes.Set(Attr::kWindow, std::move(window));
  if (a.feature_group_count != 1) attributes.Set(Attr::kFeatureGroupCount, a.feature_group_count);
  if (a.batch_group_count != 1) attributes.Set(Attr::kBatchGroupCount, a.batch_group_count);
  SetPrecision(a.precision_config, attributes);
  return AddWithElementType(builder, {Opcode::kConvolution, {a.lhs, a.rhs}, std::move(attributes)},
                            a.preferred_element_type);
}

// Padding from the spatial sizes of lhs and the kernel.
absl::StatusOr<XlaOp> AddConvolution(XlaBuilder* builder, const ConvArguments& a, Padding padding) {
  ASSAY_ASSIGN_OR_RETURN(const Shape* lhs, ArrayShape(builder, a.lhs, "Conv-C1"));
  ASSAY_ASSIGN_OR_RETURN(const Shape* rhs, ArrayShape(builder, a.rhs, "Conv-C1"));
  ASSAY_ASSIGN_OR_RETURN(const Ints base, SizesAt(*lhs, a.dimension_numbers->input_spatial));
  ASSAY_ASSIGN_OR_RETURN(const Ints kernel, SizesAt(*rhs, a.dimension_numbers->kernel_spatial));
  ASSAY_ASSIGN_OR_RETURN(const auto pairs, MakePadding(base, kernel, a.window_strides, padding));
  return AddConvolution(builder, a, pairs, {});
}

// Spatial dimensions by the number of strides, or of lhs dimensions.
absl::StatusOr<ConvDimensionNumbers> DefaultNumbers(XlaBuilder* builder, XlaOp lhs) {
  ASSAY_ASSIGN_OR_RETURN(const Shape* shape, ArrayShape(builder, lhs, "Conv-C1"));
  if (shape->rank() < 2) {
    return InvalidProgram({}, fmt::format("Conv-C1: lhs is {}, wanted rank 2 or more", shape->ToString()));
  }
  return CreateDefaultConvDimensionNumbers(shape->rank() - 2);
}

XlaOp BatchNorm(Opcode opcode, std::initializer_list<XlaOp> operands, float epsilon, int64_t feature_index) {
  return Emit(
      BuilderOf(operands),
      {opcode, operands,
       Attributes({{Attr::kEpsilon, static_cast<double>(epsilon)}, {Attr::kFeatureIndex, feature_index}})});
}

XlaOp Rng(XlaOp a, XlaOp b, const Shape& shape, std::string_view distribution) {
  return Emit(BuilderOf({a, b}), {Opcode::kRng,
                                  {a, b},
                                  Attributes({{Attr::kDistribution, Word{std::string(distribution)}}}),
                                  Shared(shape)});
}

}  // namespace

// Contracts the last dimension of lhs (at most rank 2) with the first of rhs.
XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig* precision_config,
          std::optional<ElementType> preferred_element_type) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* l, ArrayShape(builder, lhs, "Dot-C1"));
    ASSAY_ASSIGN_OR_RETURN(const Shape* r, ArrayShape(builder, rhs, "Dot-C1"));
    if (l->rank() < 1 || l->rank() > 2 || r->rank() < 1 || r->rank() > 2) {
      return InvalidProgram({}, fmt::format("Dot-C1: ranks must be 1 or 2, operands are {} and {}",
                                            l->ToString(), r->ToString()));
    }
    DotDimensionNumbers numbers;
    numbers.lhs_contracting_dimensions = {l->rank() - 1};
    numbers.rhs_contracting_dimensions = {0};
    return DotGeneral(lhs, rhs, numbers, precision_config, preferred_element_type);
  });
}

XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& dimension_numbers,
                 const PrecisionConfig* precision_config, std::optional<ElementType> preferred_element_type) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs});
  return RunIn(builder, [&] {
    return AddWithElementType(builder,
                              {Opcode::kDot, {lhs, rhs}, DotAttributes(dimension_numbers, precision_config)},
                              preferred_element_type);
  });
}

XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config, std::optional<ElementType> preferred_element_type) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs, group_sizes});
  return RunIn(builder, [&] {
    AttributeMap attributes = DotAttributes(dimension_numbers.dot_dimension_numbers, precision_config);
    attributes.Set(Attr::kLhsRaggedDims, dimension_numbers.lhs_ragged_dimensions);
    if (!dimension_numbers.rhs_group_dimensions.empty()) {
      attributes.Set(Attr::kRhsGroupDims, dimension_numbers.rhs_group_dimensions);
    }
    return AddWithElementType(builder, {Opcode::kRaggedDot, {lhs, rhs, group_sizes}, std::move(attributes)},
                              preferred_element_type);
  });
}

XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale,
                const DotDimensionNumbers& dimension_numbers, const PrecisionConfig* precision_config,
                std::optional<ElementType> preferred_element_type) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs, lhs_scale, rhs_scale});
  return RunIn(builder, [&] {
    return AddWithElementType(builder,
                              {Opcode::kScaledDot,
                               {lhs, rhs, lhs_scale, rhs_scale},
                               DotAttributes(dimension_numbers, precision_config)},
                              preferred_element_type);
  });
}

// bf01_oi01->bf01 for two spatial dimensions.
ConvDimensionNumbers CreateDefaultConvDimensionNumbers(int64_t num_spatial_dimensions) {
  ConvDimensionNumbers numbers;
  for (int64_t i = 0; i < num_spatial_dimensions; ++i) {
    numbers.input_spatial.push_back(i + 2);
    numbers.kernel_spatial.push_back(i + 2);
    numbers.output_spatial.push_back(i + 2);
  }
  return numbers;
}

XlaOp Conv(XlaOp lhs, XlaOp rhs, Int64s window_strides, Padding padding, int64_t feature_group_count,
           int64_t batch_group_count, const PrecisionConfig* precision_config,
           std::optional<ElementType> preferred_element_type) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ConvDimensionNumbers numbers, DefaultNumbers(builder, lhs));
    return ConvWithGeneralDimensions(lhs, rhs, window_strides, padding, numbers, feature_group_count,
                                     batch_group_count, precision_config, preferred_element_type);
  });
}

XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, Int64s window_strides,
                             absl::Span<const PaddingPair> padding, int64_t feature_group_count,
                             int64_t batch_group_count, const PrecisionConfig* precision_config,
                             std::optional<ElementType> preferred_element_type) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs});
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const ConvDimensionNumbers numbers, DefaultNumbers(builder, lhs));
    return ConvGeneral(lhs, rhs, window_strides, padding, numbers, feature_group_count, batch_group_count,
                       precision_config, preferred_element_type);
  });
}

XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, Int64s window_strides, Padding padding,
                                const ConvDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                                int64_t batch_group_count, const PrecisionConfig* precision_config,
                                std::optional<ElementType> preferred_element_type) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs});
  return RunIn(builder, [&] {
    const ConvArguments arguments{lhs,
                                  rhs,
                                  window_strides,
                                  {},
                                  {},
                                  &dimension_numbers,
                                  feature_group_count,
                                  batch_group_count,
                                  precision_config,
                                  preferred_element_type};
    return AddConvolution(builder, arguments, padding);
  });
}

XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, Int64s window_strides, absl::Span<const PaddingPair> padding,
                  const ConvDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                  int64_t batch_group_count, const PrecisionConfig* precision_config,
                  std::optional<ElementType> preferred_element_type) {
  return ConvGeneralDilated(lhs, rhs, window_strides, padding, {}, {}, dimension_numbers, feature_group_count,
                            batch_group_count, precision_config, preferred_element_type);
}

XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, Int64s window_strides, absl::Span<const PaddingPair> padding,
                         Int64s lhs_dilation, Int64s rhs_dilation,
                         const ConvDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                         int64_t batch_group_count, const PrecisionConfig* precision_config,
                         std::optional<ElementType> preferred_element_type,
                         const std::vector<bool>& window_reversal) {
  XlaBuilder* const builder = BuilderOf({lhs, rhs});
  return RunIn(builder, [&] {
    const ConvArguments arguments{lhs,
                                  rhs,
                                  window_strides,
                                  lhs_dilation,
                                  rhs_dilation,
                                  &dimension_numbers,
                                  feature_group_count,
                                  batch_group_count,
                                  precision_config,
                                  preferred_element_type};
    return AddConvolution(builder, arguments, padding, window_reversal);
  });
}

XlaOp Fft(XlaOp operand, FftType fft_type, Int64s fft_length) {
  static constexpr std::string_view kNames[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  return Emit(operand.builder(),
              {Opcode::kFft,
               {operand},
               Attributes({{Attr::kFftType, Word{std::string(kNames[static_cast<int>(fft_type)])}},
                           {Attr::kFftLength, ToInts(fft_length)}})});
}

XlaOp Cholesky(XlaOp a, bool lower) {
  return Emit(a.builder(), {Opcode::kCholesky, {a}, Attributes({{Attr::kLower, lower}})});
}

XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularSolveTranspose transpose_a) {
  static constexpr std::string_view kNames[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  return Emit(BuilderOf({a, b}),
              {Opcode::kTriangularSolve,
               {a, b},
               Attributes({{Attr::kLeftSide, left_side},
                           {Attr::kLower, lower},
                           {Attr::kUnitDiagonal, unit_diagonal},
                           {Attr::kTransposeA, Word{std::string(kNames[static_cast<int>(transpose_a)])}}})});
}

XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon, int64_t feature_index) {
  return BatchNorm(Opcode::kBatchNormTraining, {operand, scale, offset}, epsilon, feature_index);
}

XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance, float epsilon,
                         int64_t feature_index) {
  return BatchNorm(Opcode::kBatchNormInference, {operand, scale, offset, mean, variance}, epsilon,
                   feature_index);
}

XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var, XlaOp grad_output,
                    float epsilon, int64_t feature_index) {
  return BatchNorm(Opcode::kBatchNormGrad, {operand, scale, batch_mean, batch_var, grad_output}, epsilon,
                   feature_index);
}

XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape) { return Rng(mu, sigma, shape, "rng_normal"); }
XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape) { return Rng(a, b, shape, "rng_uniform"); }

// The bits have the unsigned type of the requested type's width.
XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape& shape) {
  static constexpr std::string_view kNames[] = {"rng_default", "rng_three_fry", "rng_philox"};
  XlaBuilder* const builder = initial_state.builder();
  return RunIn(builder, [&]() -> absl::StatusOr<XlaOp> {
    ASSAY_ASSIGN_OR_RETURN(const Shape* state, ArrayShape(builder, initial_state, "RngBitGenerator-C1"));
    if (!shape.IsArray()) {
      return InvalidProgram(
          {}, fmt::format("RngBitGenerator-C3: wanted an array of bits, not {}", shape.ToString()));
    }
    const ElementType type = shape.element_type();
    const auto bits_type = type == ElementType::kPred ? std::nullopt : UnsignedOfWidth(Bits(type));
    if (!bits_type.has_value() || IsComplex(type)) {
      return InvalidProgram({},
                            fmt::format("RngBitGenerator-C3: bits of element type {}", assay::Name(type)));
    }
    ASSAY_ASSIGN_OR_RETURN(Shape bits, Shape::Array(*bits_type, shape.sizes()));
    return builder->Add(
        {Opcode::kRngBitGenerator,
         {initial_state},
         Attributes({{Attr::kAlgorithm, Word{std::string(kNames[static_cast<int>(algorithm)])}}}),
         Shared(Shape::Tuple({*state, std::move(bits)}))});
  });
}

XlaOp RngGetAndUpdateState(XlaBuilder* builder, int64_t delta) {
  static constexpr int64_t kSizes[] = {2};
  return Emit(builder, {Opcode::kRngGetAndUpdateState,
                        {},
                        Attributes({{Attr::kDelta, delta}}),
                        Shared(Shape::ArrayOrDie(ElementType::kU64, kSizes))});
}

}  // namespace assay::builder
