#include "hlo/proto/attribute_reader.h"

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/float_attribute.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/values.h"
#include "hlo/text/common_attributes.h"
#include "hlo/text/token_reader.h"

namespace assay::proto {
namespace {

template <typename List>
Ints IntsFrom(const List& list) {
  return Ints(list.begin(), list.end());
}

absl::Status Missing(std::string_view field) {
  return InvalidProgram({}, fmt::format("{} is missing", field));
}

void SetIfAny(Attr attr, Ints values, AttributeMap* attributes) {
  if (!values.empty()) attributes->Set(attr, std::move(values));
}
void SetIfTrue(Attr attr, bool value, AttributeMap* attributes) {
  if (value) attributes->Set(attr, true);
}

absl::Status ReadWindow(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  Window window;
  for (const pb::WindowDimensionProto& d : m.window().dimensions()) {
    for (const int64_t value : {d.size(), d.stride(), d.base_dilation(), d.window_dilation()}) {
      if (value >= 0) continue;
      return InvalidProgram({},
                            fmt::format("window: a size, stride or dilation is {}, want at least 0", value));
    }
    WindowDimension& added = window.emplace_back();
    added.size = d.size();
    added.stride = d.stride();
    added.padding_low = d.padding_low();
    added.padding_high = d.padding_high();
    added.window_dilation = d.window_dilation();
    added.base_dilation = d.base_dilation();
    added.reversal = d.window_reversal();
  }
  if (!window.empty()) attributes->Set(Attr::kWindow, std::move(window));
  return absl::OkStatus();
}

// Each role has a place of its own.
absl::Status CheckPlaces(std::string_view part, int64_t first, int64_t second, const Ints& spatial) {
  std::vector<bool> seen(kMaxRank);
  const auto check = [&](int64_t place) -> absl::Status {
    if (place >= 0 && place < kMaxRank && !seen[place]) {
      seen[place] = true;
      return absl::OkStatus();
    }
    return InvalidProgram({},
                          fmt::format("convolution_dimension_numbers: {} dimension {} stands twice or is not "
                                      "within 0 to {}",
                                      part, place, kMaxRank - 1));
  };
  ASSAY_RETURN_IF_ERROR(check(first));
  ASSAY_RETURN_IF_ERROR(check(second));
  for (const int64_t place : spatial) ASSAY_RETURN_IF_ERROR(check(place));
  return absl::OkStatus();
}

absl::Status ReadDimLabels(const pb::ConvolutionDimensionNumbers& m, AttributeMap* attributes) {
  auto numbers = std::make_shared<ConvDimensionNumbers>();
  numbers->input_batch = m.input_batch_dimension();
  numbers->input_feature = m.input_feature_dimension();
  numbers->input_spatial = IntsFrom(m.input_spatial_dimensions());
  numbers->kernel_output_feature = m.kernel_output_feature_dimension();
  numbers->kernel_input_feature = m.kernel_input_feature_dimension();
  numbers->kernel_spatial = IntsFrom(m.kernel_spatial_dimensions());
  numbers->output_batch = m.output_batch_dimension();
  numbers->output_feature = m.output_feature_dimension();
  numbers->output_spatial = IntsFrom(m.output_spatial_dimensions());
  if (numbers->input_spatial.size() != numbers->kernel_spatial.size() ||
      numbers->input_spatial.size() != numbers->output_spatial.size()) {
    return InvalidProgram(
        {}, fmt::format("convolution_dimension_numbers: {} spatial dimensions in the input, {} in "
                        "the kernel and {} in the output, want as many in each",
                        numbers->input_spatial.size(), numbers->kernel_spatial.size(),
                        numbers->output_spatial.size()));
  }
  ASSAY_RETURN_IF_ERROR(
      CheckPlaces("input", numbers->input_batch, numbers->input_feature, numbers->input_spatial));
  ASSAY_RETURN_IF_ERROR(CheckPlaces("kernel", numbers->kernel_output_feature, numbers->kernel_input_feature,
                                    numbers->kernel_spatial));
  ASSAY_RETURN_IF_ERROR(
      CheckPlaces("output", numbers->output_batch, numbers->output_feature, numbers->output_spatial));
  attributes->Set(Attr::kDimLabels, std::shared_ptr<const ConvDimensionNumbers>(std::move(numbers)));
  return absl::OkStatus();
}

// Operands that the list does not reach have the default.
absl::Status ReadPrecision(const pb::PrecisionConfig& m, size_t operands, AttributeMap* attributes) {
  std::vector<Word> words;
  for (const int32_t precision : m.operand_precision()) {
    ASSAY_ASSIGN_OR_RETURN(const std::string_view word, WordOf(kPrecisions, precision));
    words.push_back({std::string(word)});
  }
  if (!words.empty()) words.resize(std::max(words.size(), operands), {std::string(kPrecisions.words[0])});
  if (!words.empty()) attributes->Set(Attr::kOperandPrecision, std::move(words));
  return SetWord(kDotAlgorithms, m.algorithm(), 0, Attr::kAlgorithm, attributes);
}

void ReadDotDimensions(const pb::DotDimensionNumbers& m, AttributeMap* attributes) {
  attributes->Set(Attr::kLhsContractingDims, IntsFrom(m.lhs_contracting_dimensions()));
  attributes->Set(Attr::kRhsContractingDims, IntsFrom(m.rhs_contracting_dimensions()));
  SetIfAny(Attr::kLhsBatchDims, IntsFrom(m.lhs_batch_dimensions()), attributes);
  SetIfAny(Attr::kRhsBatchDims, IntsFrom(m.rhs_batch_dimensions()), attributes);
}

absl::Status ReadDot(const pb::HloInstructionProto& m, Opcode opcode, AttributeMap* attributes) {
  if (opcode == Opcode::kRaggedDot) {
    if (!m.has_ragged_dot_dimension_numbers()) return Missing("ragged_dot_dimension_numbers");
    const pb::RaggedDotDimensionNumbers& ragged = m.ragged_dot_dimension_numbers();
    ReadDotDimensions(ragged.dot_dimension_numbers(), attributes);
    SetIfAny(Attr::kLhsRaggedDims, IntsFrom(ragged.lhs_ragged_dimensions()), attributes);
    SetIfAny(Attr::kRhsGroupDims, IntsFrom(ragged.rhs_group_dimensions()), attributes);
  } else {
    if (!m.has_dot_dimension_numbers()) return Missing("dot_dimension_numbers");
    ReadDotDimensions(m.dot_dimension_numbers(), attributes);
  }
  return ReadPrecision(m.precision_config(), /*operands=*/2, attributes);
}

absl::Status ReadGather(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  if (!m.has_gather_dimension_numbers()) return Missing("gather_dimension_numbers");
  const pb::GatherDimensionNumbers& dims = m.gather_dimension_numbers();
  attributes->Set(Attr::kOffsetDims, IntsFrom(dims.offset_dims()));
  attributes->Set(Attr::kCollapsedSliceDims, IntsFrom(dims.collapsed_slice_dims()));
  attributes->Set(Attr::kStartIndexMap, IntsFrom(dims.start_index_map()));
  attributes->Set(Attr::kIndexVectorDim, dims.index_vector_dim());
  SetIfAny(Attr::kOperandBatchingDims, IntsFrom(dims.operand_batching_dims()), attributes);
  SetIfAny(Attr::kStartIndicesBatchingDims, IntsFrom(dims.start_indices_batching_dims()), attributes);
  attributes->Set(Attr::kSliceSizes, IntsFrom(m.gather_slice_sizes()));
  SetIfTrue(Attr::kIndicesAreSorted, m.indices_are_sorted(), attributes);
  return absl::OkStatus();
}

absl::Status ReadScatter(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  if (!m.has_scatter_dimension_numbers()) return Missing("scatter_dimension_numbers");
  const pb::ScatterDimensionNumbers& dims = m.scatter_dimension_numbers();
  attributes->Set(Attr::kUpdateWindowDims, IntsFrom(dims.update_window_dims()));
  attributes->Set(Attr::kInsertedWindowDims, IntsFrom(dims.inserted_window_dims()));
  attributes->Set(Attr::kScatterDimsToOperandDims, IntsFrom(dims.scatter_dims_to_operand_dims()));
  attributes->Set(Attr::kIndexVectorDim, dims.index_vector_dim());
  SetIfAny(Attr::kInputBatchingDims, IntsFrom(dims.input_batching_dims()), attributes);
  SetIfAny(Attr::kScatterIndicesBatchingDims, IntsFrom(dims.scatter_indices_batching_dims()), attributes);
  SetIfTrue(Attr::kIndicesAreSorted, m.indices_are_sorted(), attributes);
  SetIfTrue(Attr::kUniqueIndices, m.unique_indices(), attributes);
  return absl::OkStatus();
}

absl::Status ReadPad(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  if (!m.has_padding_config()) return Missing("padding_config");
  PaddingConfig config;
  for (const pb::PaddingDimensionProto& d : m.padding_config().dimensions()) {
    config.push_back({d.edge_padding_low(), d.edge_padding_high(), d.interior_padding()});
    if (d.interior_padding() < 0) {
      return InvalidProgram(
          {}, fmt::format("Pad-C4: padding: interior is {}, want at least 0", d.interior_padding()));
    }
  }
  attributes->Set(Attr::kPadding, std::move(config));
  return absl::OkStatus();
}

// dimensions[0], of ops that have exactly one.
absl::Status ReadOneDimension(const InstructionHead& head, Attr attr, AttributeMap* attributes) {
  if (head.dimensions.size() != 1) {
    return InvalidProgram({},
                          fmt::format("dimensions has {}, want 1", Counted(head.dimensions.size(), "entry")));
  }
  attributes->Set(attr, head.dimensions[0]);
  return absl::OkStatus();
}

void ReadSlice(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  SliceConfig config;
  for (const pb::SliceDimensions& d : m.slice_dimensions())
    config.push_back({d.start(), d.limit(), d.stride()});
  attributes->Set(Attr::kSlice, std::move(config));
}

absl::Status ReadTriangularSolve(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  const pb::TriangularSolveOptions& options = m.triangular_solve_options();
  attributes->Set(Attr::kLeftSide, options.left_side());
  attributes->Set(Attr::kLower, options.lower());
  attributes->Set(Attr::kUnitDiagonal, options.unit_diagonal());
  return SetWord(kTransposes, options.transpose_a(), 0, Attr::kTransposeA, attributes);
}

absl::Status ReadScan(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  attributes->Set(Attr::kNumCarries, m.num_carries());
  SetIfTrue(Attr::kIsReverse, m.is_reverse(), attributes);
  if (m.is_associative() < 0 || m.is_associative() > 2) {
    return InvalidProgram({}, fmt::format("is_associative is {}, want 0 to 2", m.is_associative()));
  }
  if (m.is_associative() != 0) attributes->Set(Attr::kIsAssociative, m.is_associative() == 1);
  return absl::OkStatus();
}

absl::Status ReadOutfeed(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  if (!m.outfeed_config().empty()) attributes->Set(Attr::kOutfeedConfig, m.outfeed_config());
  if (!m.has_outfeed_shape()) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(Shape shape, ShapeFrom(m.outfeed_shape()));
  attributes->Set(Attr::kOutfeedShape, std::make_shared<const Shape>(std::move(shape)));
  return absl::OkStatus();
}

absl::Status ReadTopK(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  attributes->Set(Attr::kK, m.k());
  attributes->Set(Attr::kLargest, m.largest());
  SetIfTrue(Attr::kIsStable, m.is_stable(), attributes);
  return absl::OkStatus();
}

absl::Status ReadFusion(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  ASSAY_RETURN_IF_ERROR(CheckWord("fusion_kind", kFusionKinds, m.fusion_kind()));
  attributes->Set(Attr::kKind, Word{m.fusion_kind()});
  ReadAliasing(m, attributes);
  return absl::OkStatus();
}

void ReadCopyStart(const pb::HloInstructionProto& m, AttributeMap* attributes) {
  if (m.has_cross_program_prefetch_index()) {
    attributes->Set(Attr::kCrossProgramPrefetchIndex, int64_t{m.cross_program_prefetch_index()});
  } else if (m.is_cross_program_prefetch()) {
    attributes->Set(Attr::kCrossProgramPrefetchIndex, int64_t{0});
  }
}

}  // namespace

absl::Status SetWord(const WordTable& table, int32_t number, int32_t unsaid, Attr attr,
                     AttributeMap* attributes) {
  if (number == unsaid) return absl::OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const std::string_view word, WordOf(table, number));
  attributes->Set(attr, Word{std::string(word)});
  return absl::OkStatus();
}

void ReadAliasing(const pb::HloInstructionProto& message, AttributeMap* attributes) {
  Aliasing aliasing;
  for (const pb::OperandAliasing& m : message.output_operand_aliasing()) {
    aliasing.push_back(
        {IntsFrom(m.output_shape_index()), m.operand_index(), IntsFrom(m.operand_shape_index())});
  }
  if (!aliasing.empty()) attributes->Set(Attr::kOutputToOperandAliasing, std::move(aliasing));
}

absl::Status ReadAccuracy(const pb::HloInstructionProto& message, AttributeMap* attributes) {
  if (!message.has_result_accuracy()) return absl::OkStatus();
  const pb::ResultAccuracyProto& m = message.result_accuracy();
  ResultAccuracy accuracy;
  if (m.has_tolerance()) {
    accuracy.mode = ResultAccuracy::Mode::kTolerance;
    accuracy.atol = m.tolerance().atol();
    accuracy.rtol = m.tolerance().rtol();
    accuracy.ulps = static_cast<double>(m.tolerance().ulps());
  } else if (m.mode() == 1) {
    accuracy.mode = ResultAccuracy::Mode::kHighest;
  } else if (m.mode() == 0) {
    return absl::OkStatus();
  } else {
    return InvalidProgram({}, fmt::format("result_accuracy: mode is {}, want 0 or 1", m.mode()));
  }
  attributes->Set(Attr::kResultAccuracy, accuracy);
  return absl::OkStatus();
}

absl::Status ReadConvolution(const pb::HloInstructionProto& m, bool required, AttributeMap* attributes) {
  ASSAY_RETURN_IF_ERROR(ReadWindow(m, attributes));
  // A custom call keeps a window without dimensions; to a convolution it says nothing.
  if (!required && m.has_window() && !attributes->Has(Attr::kWindow))
    attributes->Set(Attr::kWindow, Window());
  if (m.has_convolution_dimension_numbers()) {
    ASSAY_RETURN_IF_ERROR(ReadDimLabels(m.convolution_dimension_numbers(), attributes));
  } else if (required) {
    return Missing("convolution_dimension_numbers");
  }
  const auto set_count = [&](Attr attr, int64_t count) {
    if (count != 0 && count != 1) attributes->Set(attr, count);
  };
  set_count(Attr::kFeatureGroupCount, m.feature_group_count());
  set_count(Attr::kBatchGroupCount, m.batch_group_count());
  return ReadPrecision(m.precision_config(), required ? 2 : 0, attributes);
}

absl::Status ReadCompare(const InstructionHead& head, std::string_view old_direction,
                         AttributeMap* attributes) {
  const std::string_view direction = old_direction.empty() ? head.comparison_direction : old_direction;
  ASSAY_RETURN_IF_ERROR(CheckWord("comparison_direction", kDirections, direction));
  attributes->Set(Attr::kDirection, Word{std::string(direction)});
  if (head.comparison_type.empty()) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(CheckWord("comparison_type", kComparisonTypes, head.comparison_type));
  attributes->Set(Attr::kType, Word{std::string(head.comparison_type)});
  return absl::OkStatus();
}

absl::Status ReadCollectivePermute(const pb::HloInstructionProto& m, const Shape* operand,
                                   AttributeMap* attributes) {
  if (m.channel_id() > 0) attributes->Set(Attr::kChannelId, m.channel_id());
  IntLists pairs;
  for (const pb::SourceTarget& pair : m.source_target_pairs())
    pairs.push_back({pair.source(), pair.target()});
  attributes->Set(Attr::kSourceTargetPairs, std::move(pairs));
  if (m.dynamic_slice_sizes().empty()) return absl::OkStatus();
  const Shape* array = operand;
  if (array != nullptr && array->IsTuple() && !array->elements().empty()) array = &array->element(0);
  const int64_t rank = array != nullptr && array->IsArray() ? array->rank() : 0;
  if (rank == 0 || m.dynamic_slice_sizes_size() % rank != 0) {
    return InvalidProgram({}, fmt::format("dynamic_slice_sizes has {}, want a multiple of the operand's rank",
                                          Counted(m.dynamic_slice_sizes_size(), "entry")));
  }
  IntLists lists;
  for (auto at = m.dynamic_slice_sizes().begin(); at != m.dynamic_slice_sizes().end(); at += rank) {
    lists.emplace_back(at, at + rank);
  }
  attributes->Set(Attr::kSliceSizes, std::move(lists));
  return absl::OkStatus();
}

absl::Status SetConstant(Literal literal, Instruction* constant) {
  if (!Shape::Compatible(literal.shape(), *constant->shape)) {
    return InvalidProgram({}, fmt::format("Constant-C1: literal is {}, but the constant's shape is {}",
                                          literal.shape().ToString(), constant->shape->ToString()));
  }
  if (constant->shape->IsArray() && constant->shape->HasDynamic()) {
    if (!literal.IsFullSize()) return NotSupported({}, "a constant that is smaller than its bounds");
    Shape fixed = *constant->shape;  // "<=n" in a constant's shape is a static n
    for (int64_t d = 0; d < fixed.rank(); ++d) fixed.set_dynamic(d, false);
    constant->shape = std::make_shared<const Shape>(std::move(fixed));
  }
  if (literal.shape().IsArray()) literal = literal.WithShape(constant->shape);
  constant->literal = std::make_shared<const Literal>(std::move(literal));
  return absl::OkStatus();
}

absl::Status OriginFrom(const std::string& text, std::string* origin) {
  TokenReader in(text);
  InstructionExtras extras;
  const absl::Status status = ReadCommonAttribute(in, CommonAttr::kOrigin, &extras);
  if (!status.ok()) return InvalidProgram({}, "extras: origin is not what HLO text has for it");
  *origin = std::move(extras.origin);
  return absl::OkStatus();
}

absl::Status ReadOwnAttributes(const InstructionHead& head, const pb::HloInstructionProto& m, Opcode opcode,
                               AttributeMap* attributes) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kGetDimensionSize:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReverse:
    case Opcode::kSetDimensionSize:
    case Opcode::kTranspose:
      attributes->Set(Attr::kDimensions, IntsFrom(head.dimensions));
      return absl::OkStatus();
    case Opcode::kSort:
      attributes->Set(Attr::kDimensions, IntsFrom(head.dimensions));
      SetIfTrue(Attr::kIsStable, m.is_stable(), attributes);
      return absl::OkStatus();
    case Opcode::kScan:
      attributes->Set(Attr::kDimensions, IntsFrom(head.dimensions));
      return ReadScan(m, attributes);
    case Opcode::kIota:
      return ReadOneDimension(head, Attr::kIotaDimension, attributes);
    case Opcode::kReshape:
      return head.dimensions.empty() ? absl::OkStatus()
                                     : ReadOneDimension(head, Attr::kInferredDimension, attributes);
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      return ReadWindow(m, attributes);
    case Opcode::kConvolution:
      if (!m.sparsity_config().empty()) return NotSupported({}, "sparsity_config of a convolution");
      ASSAY_RETURN_IF_ERROR(SetWord(kConvolutionKinds, m.conv_kind(), 0, Attr::kConvolutionKind, attributes));
      return ReadConvolution(m, /*required=*/true, attributes);
    case Opcode::kSlice:
      ReadSlice(m, attributes);
      return absl::OkStatus();
    case Opcode::kReducePrecision:
      attributes->Set(Attr::kExponentBits, int64_t{m.exponent_bits()});
      attributes->Set(Attr::kMantissaBits, int64_t{m.mantissa_bits()});
      return absl::OkStatus();
    case Opcode::kDynamicSlice:
      attributes->Set(Attr::kDynamicSliceSizes, IntsFrom(m.dynamic_slice_sizes()));
      return absl::OkStatus();
    case Opcode::kPad:
      return ReadPad(m, attributes);
    case Opcode::kOutfeed:
      return ReadOutfeed(m, attributes);
    case Opcode::kInfeed:
      if (!m.infeed_config().empty()) attributes->Set(Attr::kInfeedConfig, m.infeed_config());
      return absl::OkStatus();
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
      if (m.channel_id() > 0) attributes->Set(Attr::kChannelId, m.channel_id());
      SetIfTrue(Attr::kIsHostTransfer, m.is_host_transfer(), attributes);
      return absl::OkStatus();
    case Opcode::kRng:
      return SetWord(kDistributions, m.distribution(), -1, Attr::kDistribution, attributes);
    case Opcode::kRngBitGenerator:
      return SetWord(kRngAlgorithms, m.rng_algorithm(), -1, Attr::kAlgorithm, attributes);
    case Opcode::kRngGetAndUpdateState:
      attributes->Set(Attr::kDelta, m.delta());
      return absl::OkStatus();
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      attributes->Set(Attr::kEpsilon, ShortestDouble(m.epsilon()));
      attributes->Set(Attr::kFeatureIndex, m.feature_index());
      return absl::OkStatus();
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      return ReadDot(m, opcode, attributes);
    case Opcode::kFft:
      attributes->Set(Attr::kFftLength, IntsFrom(m.fft_length()));
      return SetWord(kFftTypes, m.fft_type(), -1, Attr::kFftType, attributes);
    case Opcode::kGather:
      return ReadGather(m, attributes);
    case Opcode::kScatter:
      return ReadScatter(m, attributes);
    case Opcode::kTriangularSolve:
      return ReadTriangularSolve(m, attributes);
    case Opcode::kCholesky:
      attributes->Set(Attr::kLower, m.cholesky_options().lower());
      return absl::OkStatus();
    case Opcode::kTopK:
      return ReadTopK(m, attributes);
    case Opcode::kFusion:
      return ReadFusion(m, attributes);
    case Opcode::kCopyStart:
      ReadCopyStart(m, attributes);
      return absl::OkStatus();
    case Opcode::kAsyncStart:
      ReadAliasing(m, attributes);
      return absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

}  // namespace assay::proto
