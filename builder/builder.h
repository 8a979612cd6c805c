// The operations of the builder, by the names and in the argument order of the XLA operation document
// (docs/spec/operations.md section 5 lists them; the family pages define each and what it emits).
//
//   assay::builder::XlaBuilder b("axpy");
//   auto x = Parameter(&b, 0, shape, "x");
//   auto y = Add(Mul(ConstantR0<float>(&b, 2), x), ConstantR1<float>(&b, {1, 2, 3}), {1});
//   absl::StatusOr<XlaComputation> axpy = b.Build(y);
//
// Binary operations broadcast as docs/spec/broadcasting.md says, by explicit reshape and broadcast
// instructions. Lists are absl::Span, because a braced list must convert to the argument.
#ifndef ASSAY_BUILDER_BUILDER_H_
#define ASSAY_BUILDER_BUILDER_H_

#include <complex>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "builder/types.h"
#include "builder/xla_builder.h"
#include "shape/shape_util.h"

namespace assay::builder {

using Int64s = absl::Span<const int64_t>;
using Ops = absl::Span<const XlaOp>;

// Inputs and constants (constants.cc). The templates are instantiated for bool, the integers of 8 to 64 bits,
// float, double and their complex types.
XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape, const std::string& name);
XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal);
template <typename T>
XlaOp ConstantR0(XlaBuilder* builder, T value);
template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, absl::Span<const T> values);
template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, std::initializer_list<T> values);
template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, int64_t length, T value);
template <typename T>
XlaOp ConstantR2(XlaBuilder* builder, std::initializer_list<std::initializer_list<T>> values);
// Row-major values of the given sizes.
template <typename T>
XlaOp ConstantFromArray(XlaBuilder* builder, Int64s sizes, absl::Span<const T> values);
// Scalars of any element type, the value rounded or wrapped to it.
XlaOp ConstantR0WithType(XlaBuilder* builder, ElementType type, double value);
XlaOp Zero(XlaBuilder* builder, ElementType type);
XlaOp One(XlaBuilder* builder, ElementType type);
XlaOp Zeros(XlaBuilder* builder, const Shape& shape);
XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension);
XlaOp Iota(XlaBuilder* builder, ElementType type, int64_t size);

// Elementwise, one operand (elementwise.cc).
using Accuracy = std::optional<ResultAccuracy>;
XlaOp Abs(XlaOp operand);
XlaOp Acos(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Acosh(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Asin(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Asinh(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Atanh(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Cbrt(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Ceil(XlaOp operand);
XlaOp Clz(XlaOp operand);
XlaOp Conj(XlaOp operand);
XlaOp Cos(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Cosh(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Erf(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Exp(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Expm1(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Floor(XlaOp operand);
XlaOp Imag(XlaOp operand);
XlaOp IsFinite(XlaOp operand);
XlaOp Log(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Log1p(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Logistic(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Neg(XlaOp operand);
XlaOp Not(XlaOp operand);
XlaOp PopulationCount(XlaOp operand);
XlaOp Real(XlaOp operand);
XlaOp Round(XlaOp operand);
XlaOp RoundNearestAfz(XlaOp operand);
XlaOp RoundNearestEven(XlaOp operand);
XlaOp Rsqrt(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Sign(XlaOp operand);
XlaOp Sin(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Sinh(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Sqrt(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Tan(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);
XlaOp Tanh(XlaOp operand, const Accuracy& result_accuracy = std::nullopt);

// Elementwise, two operands.
XlaOp Add(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp And(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Atan2(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Complex(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Div(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Max(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Min(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Mul(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Mulhi(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Or(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Pow(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Rem(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp ShiftLeft(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp ShiftRightArithmetic(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp ShiftRightLogical(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Sub(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Xor(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
// Right folds: And(a, And(b, c)). No operands is an error, one is itself.
XlaOp AndAll(Ops operands);
XlaOp OrAll(Ops operands);
template <typename... Rest>
XlaOp And(XlaOp a, XlaOp b, XlaOp c, Rest... rest) {
  return AndAll({a, b, c, rest...});
}
template <typename... Rest>
XlaOp Or(XlaOp a, XlaOp b, XlaOp c, Rest... rest) {
  return OrAll({a, b, c, rest...});
}

// Comparison, choice, conversion.
XlaOp Compare(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions, ComparisonDirection direction,
              ComparisonType type = ComparisonType::kDefault);
XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction);
XlaOp Eq(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Ne(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Ge(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Gt(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Le(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Lt(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp EqTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp NeTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp GeTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp GtTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp LeTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp LtTotalOrder(XlaOp lhs, XlaOp rhs, Int64s broadcast_dimensions = {});
XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max);
// Tuples give a conditional of identities (the predicate must then be a scalar).
XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false);
XlaOp ConvertElementType(XlaOp operand, ElementType new_element_type);
XlaOp BitcastConvertType(XlaOp operand, ElementType new_element_type);
XlaOp StochasticConvertType(XlaOp operand, XlaOp random, ElementType new_element_type);
XlaOp ReducePrecision(XlaOp operand, int64_t exponent_bits, int64_t mantissa_bits);

// Shape and data movement (shape_ops.cc).
XlaOp Broadcast(XlaOp operand, Int64s broadcast_sizes);
XlaOp BroadcastInDim(XlaOp operand, Int64s out_dim_size, Int64s broadcast_dimensions);
XlaOp Collapse(XlaOp operand, Int64s dimensions);
XlaOp Concatenate(Ops operands, int64_t dimension);
XlaOp ConcatInDim(XlaBuilder* builder, Ops operands, int64_t dimension);
XlaOp Copy(XlaOp operand);
XlaOp DynamicReshape(XlaOp operand, Ops dim_sizes, Int64s new_size_bounds,
                     const std::vector<bool>& dims_are_dynamic);
XlaOp DynamicSlice(XlaOp operand, Ops start_indices, Int64s slice_sizes);
XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, Ops start_indices);
XlaOp Gather(XlaOp operand, XlaOp start_indices, const GatherDimensionNumbers& dimension_numbers,
             Int64s slice_sizes, bool indices_are_sorted = false);
XlaOp GetDimensionSize(XlaOp operand, int64_t dimension);
XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig& padding_config);
XlaOp PadInDim(XlaOp operand, XlaOp padding_value, int64_t dimno, int64_t pad_lo, int64_t pad_hi);
XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension);
XlaOp Reshape(XlaOp operand, Int64s dimensions);
XlaOp Reshape(const Shape& shape, XlaOp operand);
XlaOp ReshapeWithInferredDimension(XlaOp operand, Int64s new_sizes, int64_t inferred_dimension);
XlaOp Rev(XlaOp operand, Int64s dimensions);
XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates, const XlaComputation& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted = false,
              bool unique_indices = false);
XlaOp Scatter(Ops operands, XlaOp scatter_indices, Ops updates, const XlaComputation& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted = false,
              bool unique_indices = false);
XlaOp SetDimensionSize(XlaOp operand, XlaOp val, int64_t dimension);
XlaOp Slice(XlaOp operand, Int64s start_indices, Int64s limit_indices, Int64s strides);
XlaOp SliceInDim(XlaOp operand, int64_t start_index, int64_t limit_index, int64_t stride, int64_t dimno);
XlaOp Sort(Ops operands, const XlaComputation& comparator, int64_t dimension = -1, bool is_stable = false);
XlaOp TopK(XlaOp operand, int64_t k, bool largest = true);
XlaOp Transpose(XlaOp operand, Int64s permutation);

// Reductions, windows, contractions, transforms, solvers, normalisation (reduce.cc, linalg.cc).
XlaOp Map(XlaBuilder* builder, Ops operands, const XlaComputation& computation, Int64s dimensions,
          Ops static_operands = {});
XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation& computation, Int64s dimensions_to_reduce);
XlaOp Reduce(XlaBuilder* builder, Ops operands, Ops init_values, const XlaComputation& computation,
             Int64s dimensions_to_reduce);
XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputation& computation);
XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                   Int64s window_dimensions, Int64s window_strides, Padding padding);
XlaOp ReduceWindow(Ops operands, Ops init_values, const XlaComputation& computation, Int64s window_dimensions,
                   Int64s window_strides, Padding padding);
XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                                     Int64s window_dimensions, Int64s window_strides, Int64s base_dilations,
                                     Int64s window_dilations, absl::Span<const PaddingPair> padding);
XlaOp ReduceWindowWithGeneralPadding(Ops operands, Ops init_values, const XlaComputation& computation,
                                     Int64s window_dimensions, Int64s window_strides, Int64s base_dilations,
                                     Int64s window_dilations, absl::Span<const PaddingPair> padding);
XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select, Int64s window_dimensions,
                       Int64s window_strides, Padding padding, XlaOp source, XlaOp init_value,
                       const XlaComputation& scatter);
XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputation& select,
                                         Int64s window_dimensions, Int64s window_strides,
                                         absl::Span<const PaddingPair> padding, XlaOp source,
                                         XlaOp init_value, const XlaComputation& scatter);
// The body takes slices of the inputs, then the carries, and returns outputs, then carries.
XlaOp Scan(XlaBuilder* builder, Ops inputs, Ops inits, const XlaComputation& computation,
           int64_t scan_dimension, bool is_reverse = false, bool is_associative = false);
// (low, high) for each dimension: as many window positions as ceil(size / stride), or none added.
absl::StatusOr<std::vector<PaddingPair>> MakePadding(Int64s input_dimensions, Int64s window_dimensions,
                                                     Int64s window_strides, Padding padding);

XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig* precision_config = nullptr,
          std::optional<ElementType> preferred_element_type = std::nullopt);
XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& dimension_numbers,
                 const PrecisionConfig* precision_config = nullptr,
                 std::optional<ElementType> preferred_element_type = std::nullopt);
XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config = nullptr,
                std::optional<ElementType> preferred_element_type = std::nullopt);
XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale,
                const DotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config = nullptr,
                std::optional<ElementType> preferred_element_type = std::nullopt);
ConvDimensionNumbers CreateDefaultConvDimensionNumbers(int64_t num_spatial_dimensions = 2);
XlaOp Conv(XlaOp lhs, XlaOp rhs, Int64s window_strides, Padding padding, int64_t feature_group_count = 1,
           int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
           std::optional<ElementType> preferred_element_type = std::nullopt);
XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, Int64s window_strides,
                             absl::Span<const PaddingPair> padding, int64_t feature_group_count = 1,
                             int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                             std::optional<ElementType> preferred_element_type = std::nullopt);
XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, Int64s window_strides, Padding padding,
                                const ConvDimensionNumbers& dimension_numbers,
                                int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                                const PrecisionConfig* precision_config = nullptr,
                                std::optional<ElementType> preferred_element_type = std::nullopt);
XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, Int64s window_strides, absl::Span<const PaddingPair> padding,
                  const ConvDimensionNumbers& dimension_numbers, int64_t feature_group_count = 1,
                  int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                  std::optional<ElementType> preferred_element_type = std::nullopt);
XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, Int64s window_strides, absl::Span<const PaddingPair> padding,
                         Int64s lhs_dilation, Int64s rhs_dilation,
                         const ConvDimensionNumbers& dimension_numbers, int64_t feature_group_count = 1,
                         int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                         std::optional<ElementType> preferred_element_type = std::nullopt,
                         const std::vector<bool>& window_reversal = {});
XlaOp Fft(XlaOp operand, FftType fft_type, Int64s fft_length);
XlaOp Cholesky(XlaOp a, bool lower);
XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularSolveTranspose transpose_a);
XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon, int64_t feature_index);
XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance, float epsilon,
                         int64_t feature_index);
XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var, XlaOp grad_output,
                    float epsilon, int64_t feature_index);

// Random numbers.
XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape);
XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape);
XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape& shape);
XlaOp RngGetAndUpdateState(XlaBuilder* builder, int64_t delta);

// Structure and control flow (control.cc, custom_call.cc, async.cc).
XlaOp AddDependency(XlaOp operand, XlaOp token);
XlaOp AfterAll(XlaBuilder* builder, Ops tokens);
XlaOp CreateToken(XlaBuilder* builder);
XlaOp Call(XlaBuilder* builder, const XlaComputation& computation, Ops operands);
XlaOp CompositeCall(XlaBuilder* builder, const XlaComputation& computation, Ops operands,
                    const std::string& name, const std::optional<std::string>& attributes = std::nullopt,
                    std::optional<int64_t> version = std::nullopt);
XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation,
                  XlaOp false_operand, const XlaComputation& false_computation);
XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branch_computations,
                  Ops branch_operands);
XlaOp Domain(XlaOp operand, const std::string& entry_sharding, const std::string& exit_sharding);
XlaOp Fusion(XlaBuilder* builder, FusionKind kind, const XlaComputation& computation, Ops operands);
XlaOp GetTupleElement(XlaOp tuple_data, int64_t index);
XlaOp OptimizationBarrier(XlaOp operand);
XlaOp Tuple(XlaBuilder* builder, Ops elements);
XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init);

using OutputOperandAliasing = absl::Span<const OutputOperandAlias>;
XlaOp CustomCall(XlaBuilder* builder, const std::string& call_target_name, Ops operands, const Shape& shape,
                 const std::string& opaque = "", bool has_side_effect = false,
                 OutputOperandAliasing output_operand_aliasing = {}, const Literal* literal = nullptr,
                 CustomCallSchedule schedule = CustomCallSchedule::kNone,
                 CustomCallApiVersion api_version = CustomCallApiVersion::kOriginal);
XlaOp CustomCallWithComputation(XlaBuilder* builder, const std::string& call_target_name, Ops operands,
                                const XlaComputation& computation, const Shape& shape,
                                const std::string& opaque = "", bool has_side_effect = false);
XlaOp CustomCallWithComputations(XlaBuilder* builder, const std::string& call_target_name, Ops operands,
                                 absl::Span<const XlaComputation* const> computations, const Shape& shape,
                                 const std::string& opaque = "", bool has_side_effect = false);
XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& call_target_name, Ops operands,
                           const Shape& shape_with_layout, absl::Span<const Shape> operand_shapes_with_layout,
                           const std::string& opaque = "", bool has_side_effect = false);
XlaOp CustomCallWithConvDnums(XlaBuilder* builder, const std::string& call_target_name, Ops operands,
                              const Shape& shape, const std::string& opaque, const Window& window,
                              const ConvDimensionNumbers& dimension_numbers, bool has_side_effect = false);

// A start's tuple is ((operands), result, u32[]).
XlaOp AsyncStart(XlaBuilder* builder, Ops operands, const XlaComputation& computation,
                 const std::string& execution_thread = "main");
XlaOp AsyncUpdate(XlaOp async);
XlaOp AsyncDone(XlaOp async);
XlaOp CopyStart(XlaOp operand);
XlaOp CopyDone(XlaOp start);

// Streams and channels. Calls without a token come after the call of the same kind before them.
XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config = "");
XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config = "");
XlaOp Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& outfeed_config = "");
XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout,
                       const std::string& outfeed_config = "");
XlaOp Send(XlaOp operand, const ChannelHandle& handle);
XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle& handle);
XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const ChannelHandle& handle);
XlaOp Recv(XlaBuilder* builder, const Shape& shape, const ChannelHandle& handle);
XlaOp RecvWithToken(XlaOp token, const Shape& shape, const ChannelHandle& handle);
XlaOp RecvFromHost(XlaOp token, const Shape& shape, const ChannelHandle& handle);

// Replicas, partitions, collectives (collective.cc).
using Groups = absl::Span<const ReplicaGroup>;
using Channel = std::optional<ChannelHandle>;
using OptionalLayout = std::optional<Layout>;
XlaOp AllGather(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count, Groups replica_groups = {},
                const Channel& channel_id = std::nullopt, const OptionalLayout& layout = std::nullopt,
                std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllGatherTuple(Ops operands, int64_t all_gather_dimension, int64_t shard_count,
                     Groups replica_groups = {}, const Channel& channel_id = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllReduce(XlaOp operand, const XlaComputation& computation, Groups replica_groups = {},
                const Channel& channel_id = std::nullopt,
                const std::optional<Shape>& shape_with_layout = std::nullopt,
                std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllReduceTuple(Ops operands, const XlaComputation& computation, Groups replica_groups = {},
                     const Channel& channel_id = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp CrossReplicaSum(XlaOp operand, Groups replica_groups = {});
XlaOp ReduceScatter(XlaOp operand, const XlaComputation& computation, int64_t scatter_dimension,
                    int64_t shard_count, Groups replica_groups = {}, const Channel& channel_id = std::nullopt,
                    const OptionalLayout& layout = std::nullopt,
                    std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
               Groups replica_groups = {}, const OptionalLayout& layout = std::nullopt,
               const Channel& channel_id = std::nullopt);
XlaOp AllToAllTuple(Ops operands, Groups replica_groups = {}, const Channel& channel_id = std::nullopt);
XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output, XlaOp output_offsets,
                     XlaOp recv_sizes, Groups replica_groups = {}, const Channel& channel_id = std::nullopt);
XlaOp CollectiveBroadcast(XlaOp operand, Groups replica_groups, const Channel& channel_id = std::nullopt);
using SourceTargetPairs = absl::Span<const std::pair<int64_t, int64_t>>;
XlaOp CollectivePermute(XlaOp operand, SourceTargetPairs source_target_pairs,
                        const Channel& channel_id = std::nullopt, bool inplace = false);
XlaOp MultiCollectivePermute(Ops operands, SourceTargetPairs source_target_pairs,
                             const Channel& channel_id = std::nullopt);
XlaOp AllGatherStart(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count,
                     Groups replica_groups = {}, const Channel& channel_id = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllGatherDone(XlaOp start);
XlaOp AllReduceStart(XlaOp operand, const XlaComputation& computation, Groups replica_groups = {},
                     const Channel& channel_id = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllReduceDone(XlaOp start);
XlaOp CollectivePermuteStart(XlaOp operand, SourceTargetPairs source_target_pairs,
                             const Channel& channel_id = std::nullopt);
XlaOp CollectivePermuteDone(XlaOp start);
XlaOp ReplicaId(XlaBuilder* builder);
XlaOp PartitionId(XlaBuilder* builder);
XlaOp BuildPartitionId(XlaBuilder* builder, const Shape& shape);

// Small computations (comparators.cc): f(a, b) = a op b over scalars.
absl::StatusOr<XlaComputation> CreateScalarAddComputation(ElementType type);
absl::StatusOr<XlaComputation> CreateScalarMultiplyComputation(ElementType type);
absl::StatusOr<XlaComputation> CreateScalarMaxComputation(ElementType type);
absl::StatusOr<XlaComputation> CreateScalarMinComputation(ElementType type);
absl::StatusOr<XlaComputation> CreateScalarOrComputation(ElementType type);
absl::StatusOr<XlaComputation> CreateScalarAndComputation(ElementType type);
absl::StatusOr<XlaComputation> CreateScalarGeComputation(ElementType type);
// Comparators for Sort over as many operands as types: the first operand decides, in total order.
absl::StatusOr<XlaComputation> CreateScalarLtComputation(const std::vector<ElementType>& operand_types);
absl::StatusOr<XlaComputation> CreateScalarGtComputation(const std::vector<ElementType>& operand_types);

}  // namespace assay::builder

#endif  // ASSAY_BUILDER_BUILDER_H_
