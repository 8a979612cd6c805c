// One switch says which field an attribute stands in; what XLA's reader wants although the program may leave
// it out is added by AddDefaults.
#include "hlo/proto/instruction_writer.h"

#include <utility>

#include "fmt/format.h"
#include "hlo/compare_type.h"
#include "hlo/float_attribute.h"
#include "hlo/proto/devices.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/values.h"
#include "hlo/proto/words.h"
#include "hlo/text/common_attributes.h"
#include "hlo/text/token_reader.h"

namespace assay::proto {
namespace {

using Int64s = google::protobuf::RepeatedField<int64_t>;

void Add(const Ints& values, Int64s* list) { list->Add(values.begin(), values.end()); }

void WriteWindow(const Window& window, pb::WindowProto* message) {
  for (const WindowDimension& d : window) {
    pb::WindowDimensionProto* const added = message->add_dimensions();
    added->set_size(d.size);
    added->set_stride(d.stride);
    added->set_padding_low(d.padding_low);
    added->set_padding_high(d.padding_high);
    added->set_window_dilation(d.window_dilation);
    added->set_base_dilation(d.base_dilation);
    added->set_window_reversal(d.reversal);
  }
}

void WriteDimLabels(const ConvDimensionNumbers& numbers, pb::ConvolutionDimensionNumbers* message) {
  message->set_input_batch_dimension(numbers.input_batch);
  message->set_input_feature_dimension(numbers.input_feature);
  Add(numbers.input_spatial, message->mutable_input_spatial_dimensions());
  message->set_kernel_output_feature_dimension(numbers.kernel_output_feature);
  message->set_kernel_input_feature_dimension(numbers.kernel_input_feature);
  Add(numbers.kernel_spatial, message->mutable_kernel_spatial_dimensions());
  message->set_output_batch_dimension(numbers.output_batch);
  message->set_output_feature_dimension(numbers.output_feature);
  Add(numbers.output_spatial, message->mutable_output_spatial_dimensions());
}

void WritePadding(const PaddingConfig& padding, pb::PaddingConfigProto* message) {
  for (const PaddingDimension& d : padding) {
    pb::PaddingDimensionProto* const added = message->add_dimensions();
    added->set_edge_padding_low(d.low);
    added->set_edge_padding_high(d.high);
    added->set_interior_padding(d.interior);
  }
}

void WriteSlices(const SliceConfig& slices, pb::HloInstructionProto* message) {
  for (const SliceDimension& d : slices) {
    pb::SliceDimensions* const added = message->add_slice_dimensions();
    added->set_start(d.start);
    added->set_limit(d.limit);
    added->set_stride(d.stride);
  }
}

void WriteAliasing(const Aliasing& aliasing, pb::HloInstructionProto* message) {
  for (const OutputOperandAlias& alias : aliasing) {
    pb::OperandAliasing* const added = message->add_output_operand_aliasing();
    Add(alias.output_index, added->mutable_output_shape_index());
    added->set_operand_index(alias.operand);
    Add(alias.operand_index, added->mutable_operand_shape_index());
  }
}

absl::Status WritePrecisions(const std::vector<Word>& words, pb::PrecisionConfig* message) {
  for (const Word& word : words) {
    ASSAY_ASSIGN_OR_RETURN(const int32_t number, NumberOf(kPrecisions, word.text));
    message->add_operand_precision(number);
  }
  return absl::OkStatus();
}

void WriteAccuracy(const ResultAccuracy& accuracy, pb::ResultAccuracyProto* message) {
  if (accuracy.mode != ResultAccuracy::Mode::kTolerance) {
    message->set_mode(accuracy.mode == ResultAccuracy::Mode::kHighest ? 1 : 0);
    return;
  }
  message->mutable_tolerance()->set_atol(accuracy.atol);
  message->mutable_tolerance()->set_rtol(accuracy.rtol);
  message->mutable_tolerance()->set_ulps(static_cast<int64_t>(accuracy.ulps));
}

pb::DotDimensionNumbers* DotDimensions(Opcode opcode, pb::HloInstructionProto* message) {
  return opcode == Opcode::kRaggedDot
             ? message->mutable_ragged_dot_dimension_numbers()->mutable_dot_dimension_numbers()
             : message->mutable_dot_dimension_numbers();
}

// An attribute of an op, and the message that it goes to.
struct Writer {
  Opcode opcode;
  Attr attr;
  const AttrValue& value;
  pb::HloInstructionProto* m;

  bool Bool() const { return std::get<bool>(value); }
  int64_t Int() const { return std::get<int64_t>(value); }
  const std::string& Text() const { return std::get<std::string>(value); }
  const Ints& List() const { return std::get<Ints>(value); }
  const std::string& WordText() const { return std::get<Word>(value).text; }

  template <typename Set>
  absl::Status Number(const WordTable& table, Set set) const {
    ASSAY_ASSIGN_OR_RETURN(const int32_t number, NumberOf(table, WordText()));
    set(number);
    return absl::OkStatus();
  }

  // True if the attribute is of that form and was written.
  absl::Status CheckRoom() const;
  bool WriteBool() const;
  bool WriteInt() const;
  bool WriteText() const;
  bool WriteList() const;
  absl::Status WriteWord() const;
  absl::Status WriteOther() const;
};

// What a field would not give back as it is: the reader takes a channel below 1 as none, and a group count of
// 0 as 1. Channel 0 of a collective is none in a program too (Decision: collective-channel-0);
// of a transfer it is a channel.
absl::Status Writer::CheckRoom() const {
  const auto refused = [this](std::string_view what) {
    return NotSupported({}, fmt::format("writing {}: {}", Name(attr), what));
  };
  const bool is_transfer = opcode == Opcode::kSend || opcode == Opcode::kSendDone ||
                           opcode == Opcode::kRecv || opcode == Opcode::kRecvDone;
  if (attr == Attr::kChannelId && Int() < (is_transfer ? 1 : 0))
    return refused(fmt::format("{} stands for no channel in a proto", Int()));
  if ((attr == Attr::kFeatureGroupCount || attr == Attr::kBatchGroupCount) && Int() == 0)
    return refused("0 stands for 1 in a proto");
  if (attr == Attr::kEpsilon && !IsShortestOfFloat(std::get<double>(value)))
    return refused(fmt::format("{} is not a float", std::get<double>(value)));
  const bool is_narrow =
      attr == Attr::kCrossProgramPrefetchIndex || attr == Attr::kExponentBits || attr == Attr::kMantissaBits;
  if (is_narrow && Int() != static_cast<int32_t>(Int()))
    return refused(fmt::format("{} has more than 32 bits", Int()));
  return absl::OkStatus();
}

bool Writer::WriteBool() const {
  switch (attr) {
    case Attr::kConstrainLayout:
      return m->set_constrain_layout(Bool()), true;
    case Attr::kCustomCallHasSideEffect:
      return m->set_custom_call_has_side_effect(Bool()), true;
    case Attr::kHasDynamicRoot:
      return m->set_has_dynamic_root(Bool()), true;
    case Attr::kIndicesAreSorted:
      return m->set_indices_are_sorted(Bool()), true;
    case Attr::kIsAssociative:
      return m->set_is_associative(Bool() ? 1 : 2), true;
    case Attr::kIsComposite:
      return m->set_is_composite(Bool()), true;
    case Attr::kIsHostTransfer:
      return m->set_is_host_transfer(Bool()), true;
    case Attr::kIsReverse:
      return m->set_is_reverse(Bool()), true;
    case Attr::kIsStable:
      return m->set_is_stable(Bool()), true;
    case Attr::kLargest:
      return m->set_largest(Bool()), true;
    case Attr::kLeftSide:
      return m->mutable_triangular_solve_options()->set_left_side(Bool()), true;
    case Attr::kLower:
      if (opcode == Opcode::kCholesky) return m->mutable_cholesky_options()->set_lower(Bool()), true;
      return m->mutable_triangular_solve_options()->set_lower(Bool()), true;
    case Attr::kUniqueIndices:
      return m->set_unique_indices(Bool()), true;
    case Attr::kUnitDiagonal:
      return m->mutable_triangular_solve_options()->set_unit_diagonal(Bool()), true;
    case Attr::kUseGlobalDeviceIds:
      return m->set_use_global_device_ids(Bool()), true;
    default:
      return false;
  }
}

bool Writer::WriteInt() const {
  switch (attr) {
    case Attr::kBatchGroupCount:
      return m->set_batch_group_count(Int()), true;
    case Attr::kChannelId:
      return m->set_channel_id(Int()), true;
    case Attr::kCrossProgramPrefetchIndex:
      return m->set_cross_program_prefetch_index(static_cast<int32_t>(Int())), true;
    case Attr::kDelta:
      return m->set_delta(Int()), true;
    case Attr::kExponentBits:
      return m->set_exponent_bits(static_cast<int32_t>(Int())), true;
    case Attr::kFeatureGroupCount:
      return m->set_feature_group_count(Int()), true;
    case Attr::kFeatureIndex:
      return m->set_feature_index(Int()), true;
    case Attr::kIndex:
      return m->set_tuple_index(Int()), true;
    case Attr::kIndexVectorDim:
      if (opcode == Opcode::kGather)
        return m->mutable_gather_dimension_numbers()->set_index_vector_dim(Int()), true;
      return m->mutable_scatter_dimension_numbers()->set_index_vector_dim(Int()), true;
    case Attr::kInferredDimension:
      if (Int() >= 0) m->add_dimensions(Int());
      return true;
    case Attr::kIotaDimension:
      return m->add_dimensions(Int()), true;
    case Attr::kK:
      return m->set_k(Int()), true;
    case Attr::kMantissaBits:
      return m->set_mantissa_bits(static_cast<int32_t>(Int())), true;
    case Attr::kNumCarries:
      return m->set_num_carries(Int()), true;
    default:
      return false;
  }
}

bool Writer::WriteText() const {
  switch (attr) {
    case Attr::kAsyncExecutionThread:
      // As text has it: the start says it for its update and done, and "main" goes without saying.
      if (opcode == Opcode::kAsyncStart && Text() != "main") m->set_async_execution_thread(Text());
      return true;
    case Attr::kCustomCallTarget:
      return m->set_custom_call_target(Text()), true;
    case Attr::kInfeedConfig:
      return m->set_infeed_config(Text()), true;
    case Attr::kOutfeedConfig:
      return m->set_outfeed_config(Text()), true;
    case Attr::kEpsilon:
      return m->set_epsilon(static_cast<float>(std::get<double>(value))), true;
    default:
      return false;
  }
}

bool Writer::WriteList() const {
  const auto gather = [this] { return m->mutable_gather_dimension_numbers(); };
  const auto scatter = [this] { return m->mutable_scatter_dimension_numbers(); };
  const auto ragged = [this] { return m->mutable_ragged_dot_dimension_numbers(); };
  switch (attr) {
    case Attr::kCollapsedSliceDims:
      return Add(List(), gather()->mutable_collapsed_slice_dims()), true;
    case Attr::kDimensions:
      return Add(List(), m->mutable_dimensions()), true;
    case Attr::kDynamicSliceSizes:
      return Add(List(), m->mutable_dynamic_slice_sizes()), true;
    case Attr::kFftLength:
      return Add(List(), m->mutable_fft_length()), true;
    case Attr::kInputBatchingDims:
      return Add(List(), scatter()->mutable_input_batching_dims()), true;
    case Attr::kInsertedWindowDims:
      return Add(List(), scatter()->mutable_inserted_window_dims()), true;
    case Attr::kLhsBatchDims:
      return Add(List(), DotDimensions(opcode, m)->mutable_lhs_batch_dimensions()), true;
    case Attr::kLhsContractingDims:
      return Add(List(), DotDimensions(opcode, m)->mutable_lhs_contracting_dimensions()), true;
    case Attr::kLhsRaggedDims:
      return Add(List(), ragged()->mutable_lhs_ragged_dimensions()), true;
    case Attr::kOffsetDims:
      return Add(List(), gather()->mutable_offset_dims()), true;
    case Attr::kOperandBatchingDims:
      return Add(List(), gather()->mutable_operand_batching_dims()), true;
    case Attr::kRhsBatchDims:
      return Add(List(), DotDimensions(opcode, m)->mutable_rhs_batch_dimensions()), true;
    case Attr::kRhsContractingDims:
      return Add(List(), DotDimensions(opcode, m)->mutable_rhs_contracting_dimensions()), true;
    case Attr::kRhsGroupDims:
      return Add(List(), ragged()->mutable_rhs_group_dimensions()), true;
    case Attr::kScatterDimsToOperandDims:
      return Add(List(), scatter()->mutable_scatter_dims_to_operand_dims()), true;
    case Attr::kScatterIndicesBatchingDims:
      return Add(List(), scatter()->mutable_scatter_indices_batching_dims()), true;
    case Attr::kStartIndexMap:
      return Add(List(), gather()->mutable_start_index_map()), true;
    case Attr::kStartIndicesBatchingDims:
      return Add(List(), gather()->mutable_start_indices_batching_dims()), true;
    case Attr::kUpdateWindowDims:
      return Add(List(), scatter()->mutable_update_window_dims()), true;
    default:
      return false;
  }
}

absl::Status Writer::WriteWord() const {
  switch (attr) {
    case Attr::kAlgorithm:
      if (opcode == Opcode::kRngBitGenerator) {
        return Number(kRngAlgorithms, [this](int32_t n) { m->set_rng_algorithm(n); });
      }
      return Number(kDotAlgorithms, [this](int32_t n) { m->mutable_precision_config()->set_algorithm(n); });
    case Attr::kApiVersion:
      return Number(kApiVersions, [this](int32_t n) { m->set_custom_call_api_version(n); });
    case Attr::kConvolutionKind:
      return Number(kConvolutionKinds, [this](int32_t n) { m->set_conv_kind(n); });
    case Attr::kDirection:
      m->set_comparison_direction(WordText());
      return absl::OkStatus();
    case Attr::kDistribution:
      return Number(kDistributions, [this](int32_t n) { m->set_distribution(n); });
    case Attr::kFftType:
      return Number(kFftTypes, [this](int32_t n) { m->set_fft_type(n); });
    case Attr::kKind:
      m->set_fusion_kind(WordText());
      return absl::OkStatus();
    case Attr::kPaddingType:
      return Number(kPaddingTypes, [this](int32_t n) { m->set_padding_type(n); });
    case Attr::kSchedule:
      return Number(kSchedules, [this](int32_t n) { m->set_custom_call_schedule(n); });
    case Attr::kTransposeA:
      return Number(kTransposes,
                    [this](int32_t n) { m->mutable_triangular_solve_options()->set_transpose_a(n); });
    case Attr::kType:
      m->set_comparison_type(WordText());
      return absl::OkStatus();
    case Attr::kMode:
      return absl::OkStatus();  // says nothing that another field does not
    default:
      return NotSupported({}, fmt::format("writing {}", Name(attr)));
  }
}

absl::Status Writer::WriteOther() const {
  switch (attr) {
    case Attr::kDimLabels:
      WriteDimLabels(*std::get<std::shared_ptr<const ConvDimensionNumbers>>(value),
                     m->mutable_convolution_dimension_numbers());
      return absl::OkStatus();
    case Attr::kDomain:
      return WriteDomain(std::get<RawText>(value).text, m);
    case Attr::kLiteralValue: {
      const auto& literal = std::get<LiteralPtr>(value);
      return literal == nullptr ? absl::OkStatus() : WriteLiteral(*literal, m->mutable_literal());
    }
    case Attr::kOperandLayoutConstraints:
      m->set_constrain_layout(true);
      for (const Shape& shape : std::get<ShapeList>(value)) {
        ASSAY_RETURN_IF_ERROR(WriteShape(shape, m->add_operand_shapes_with_layout()));
      }
      return absl::OkStatus();
    case Attr::kOperandPrecision:
      return WritePrecisions(std::get<std::vector<Word>>(value), m->mutable_precision_config());
    case Attr::kOutfeedShape:
      return WriteShape(*std::get<std::shared_ptr<const Shape>>(value), m->mutable_outfeed_shape());
    case Attr::kOutputToOperandAliasing:
      WriteAliasing(std::get<Aliasing>(value), m);
      return absl::OkStatus();
    case Attr::kPadding:
      WritePadding(std::get<PaddingConfig>(value), m->mutable_padding_config());
      return absl::OkStatus();
    case Attr::kReplicaGroups:
      return WriteReplicaGroups(*std::get<std::shared_ptr<const ReplicaGroups>>(value), m);
    case Attr::kResultAccuracy:
      if (std::get<ResultAccuracy>(value) == ResultAccuracy()) return absl::OkStatus();  // as in text
      WriteAccuracy(std::get<ResultAccuracy>(value), m->mutable_result_accuracy());
      return absl::OkStatus();
    case Attr::kSlice:
      WriteSlices(std::get<SliceConfig>(value), m);
      return absl::OkStatus();
    case Attr::kSliceSizes:
      if (const auto* sizes = std::get_if<Ints>(&value)) {
        Add(*sizes, m->mutable_gather_slice_sizes());
      } else {
        for (const Ints& one : std::get<IntLists>(value)) Add(one, m->mutable_dynamic_slice_sizes());
      }
      return absl::OkStatus();
    case Attr::kSourceTargetPairs:
      for (const Ints& pair : std::get<IntLists>(value)) {
        pb::SourceTarget* const added = m->add_source_target_pairs();
        if (pair.size() != 2) return InvalidProgram({}, "source_target_pairs: want two devices in each");
        added->set_source(pair[0]);
        added->set_target(pair[1]);
      }
      return absl::OkStatus();
    case Attr::kSparsityConfig:
      return NotSupported({}, "writing sparsity_config");
    case Attr::kWindow:
      WriteWindow(std::get<Window>(value), m->mutable_window());
      return absl::OkStatus();
    default:
      return WriteWord();
  }
}

std::string_view ComparisonTypeOf(const Computation& computation, const Instruction& compare) {
  if (compare.operands.empty()) return {};
  const auto& shape = computation.instructions[compare.operands[0]].shape;
  if (shape == nullptr || !shape->IsArray()) return {};
  return DefaultComparisonType(shape->element_type());
}

void AddDefaultPrecision(pb::HloInstructionProto* m) {
  pb::PrecisionConfig* const config = m->mutable_precision_config();
  while (config->operand_precision_size() < 2) config->add_operand_precision(0);
}

absl::Status AddDefaults(const Computation& computation, const Instruction& instruction,
                         pb::HloInstructionProto* m) {
  switch (instruction.opcode) {
    case Opcode::kCompare:
      if (m->comparison_type().empty())
        m->set_comparison_type(std::string(ComparisonTypeOf(computation, instruction)));
      return absl::OkStatus();
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      DotDimensions(instruction.opcode, m);
      AddDefaultPrecision(m);
      return absl::OkStatus();
    case Opcode::kConvolution:
      m->mutable_window();
      if (m->feature_group_count() == 0) m->set_feature_group_count(1);
      if (m->batch_group_count() == 0) m->set_batch_group_count(1);
      AddDefaultPrecision(m);
      return absl::OkStatus();
    case Opcode::kCustomCall:
      if (m->custom_call_api_version() == 0) m->set_custom_call_api_version(1);
      return absl::OkStatus();
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      m->mutable_window();
      return absl::OkStatus();
    case Opcode::kTriangularSolve:
      m->mutable_triangular_solve_options();
      return absl::OkStatus();
    case Opcode::kCholesky:
      m->mutable_cholesky_options();
      return absl::OkStatus();
    case Opcode::kTopK:
      if (!instruction.attributes.Has(Attr::kLargest)) m->set_largest(true);
      return absl::OkStatus();
    case Opcode::kScan:
      if (m->is_associative() == 0) m->set_is_associative(2);
      return absl::OkStatus();
    case Opcode::kMap:
      if (instruction.attributes.Has(Attr::kDimensions) || !instruction.shape->IsArray())
        return absl::OkStatus();
      for (int64_t d = 0; d < instruction.shape->rank(); ++d) m->add_dimensions(d);
      return absl::OkStatus();
    case Opcode::kOutfeed:
      if (m->has_outfeed_shape() || instruction.operands.empty()) return absl::OkStatus();
      return WriteShape(*computation.instructions[instruction.operands[0]].shape, m->mutable_outfeed_shape());
    default:
      return absl::OkStatus();
  }
}

// "{visualizing_index=1,name=2.5}"
absl::Status WriteStatistics(const std::string& text, pb::StatisticsViz* message) {
  TokenReader in(text);
  bool first = true;
  return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
    const std::string name(in.token().text);
    in.Next();
    if (std::exchange(first, false)) {
      int64_t index;
      ASSAY_RETURN_IF_ERROR(in.ReadInt(&index));
      message->set_stat_index_to_visualize(index);
      return absl::OkStatus();
    }
    double value;
    ASSAY_RETURN_IF_ERROR(in.ReadFloat(&value));
    pb::Statistic* const added = message->add_statistics();
    added->set_stat_name(name);
    added->set_stat_val(value);
    return absl::OkStatus();
  });
}

absl::Status WriteExtras(const InstructionExtras& extras, pb::HloInstructionProto* m) {
  pb::OpMetadata metadata;
  WriteMetadata(extras.metadata, &metadata);
  m->set_metadata(metadata.SerializeAsString());
  pb::FrontendAttributes attributes;
  WriteFrontendAttributes(extras.frontend_attributes, &attributes);
  m->set_frontend_attributes(attributes.SerializeAsString());
  if (!extras.sharding.empty()) ASSAY_RETURN_IF_ERROR(WriteSharding(extras.sharding, m->mutable_sharding()));
  if (!extras.statistics.empty()) {
    pb::StatisticsViz statistics;
    ASSAY_RETURN_IF_ERROR(WriteStatistics(extras.statistics, &statistics));
    m->set_statistics_viz(statistics.SerializeAsString());
  }
  if (!extras.origin.empty()) m->mutable_extras()->set_origin(extras.origin);
  m->set_backend_config(extras.backend_config.text);
  for (const bool replicated : extras.parameter_replication) {
    m->mutable_parameter_replication()->add_replicated_at_leaf_buffers(replicated);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteInstruction(const Computation& computation, const Instruction& instruction,
                              pb::HloInstructionProto* message) {
  message->set_parameter_number(instruction.parameter_number);
  if (instruction.opcode == Opcode::kConstant && instruction.literal != nullptr) {
    ASSAY_RETURN_IF_ERROR(WriteLiteral(*instruction.literal, message->mutable_literal()));
  }
  for (const AttributeMap::Entry& entry : instruction.attributes.entries()) {
    const AttrForm form = FormOf(entry.attr);
    if (form == AttrForm::kComputation || form == AttrForm::kComputations) continue;
    const Writer writer{instruction.opcode, entry.attr, entry.value, message};
    ASSAY_RETURN_IF_ERROR(writer.CheckRoom());
    if (writer.WriteBool() || writer.WriteInt() || writer.WriteText() || writer.WriteList()) continue;
    ASSAY_RETURN_IF_ERROR(writer.WriteOther());
  }
  ASSAY_RETURN_IF_ERROR(AddDefaults(computation, instruction, message));
  return instruction.extras == nullptr ? absl::OkStatus() : WriteExtras(*instruction.extras, message);
}

}  // namespace assay::proto
