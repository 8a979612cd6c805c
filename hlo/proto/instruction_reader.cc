// The parts of an instruction that every op has, and which fields each op reads (docs/spec/hlo-proto.md
// section 3).
#include "hlo/proto/instruction_reader.h"

#include <utility>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/opcode_names.h"
#include "hlo/proto/attribute_reader.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/plain_values.h"
#include "hlo/proto/values.h"
#include "hlo/proto/wire.h"
#include "hlo/proto/words.h"
#include "hlo/text/print_values.h"
#include "hlo/text/sharding_text.h"

namespace assay::proto {

struct InstructionReader::Draft {
  const InstructionHead& head;
  const pb::HloInstructionProto& message;
  const Computation& above;
  Instruction& instruction;
  std::string_view direction;  // of a compare under an old opcode

  AttributeMap& attributes() { return instruction.attributes; }
};

namespace {

constexpr std::pair<std::string_view, std::string_view> kOldCompares[] = {
    {"equal-to", "EQ"},     {"not-equal-to", "NE"},          {"greater-than-or-equal-to", "GE"},
    {"greater-than", "GT"}, {"less-than-or-equal-to", "LE"}, {"less-than", "LT"}};

std::string StatisticsText(const pb::StatisticsViz& message) {
  if (message.statistics().empty()) return {};
  std::string text = fmt::format("{{visualizing_index={}", message.stat_index_to_visualize());
  for (const pb::Statistic& statistic : message.statistics()) {
    text += "," + statistic.stat_name() + "=";
    print::AppendDouble(statistic.stat_val(), text);
  }
  return text + "}";
}

absl::Status CheckStatistics(const pb::StatisticsViz& message) {
  for (const pb::Statistic& statistic : message.statistics()) {
    if (print::IsLegalName(statistic.stat_name())) continue;
    return InvalidProgram(
        {}, fmt::format("statistics_viz: stat_name '{}' is not a name", statistic.stat_name().substr(0, 40)));
  }
  return absl::OkStatus();
}

bool TakesPrecision(Opcode opcode) {
  switch (opcode) {
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
    case Opcode::kConvolution:
    case Opcode::kCustomCall:
      return true;
    default:
      return false;
  }
}

}  // namespace

void InstructionIds::Reset(size_t expected) {
  dense_.assign(2 * expected + 64, -1);
  others_.clear();
}

int32_t InstructionIds::Find(int64_t id) const {
  const auto low = static_cast<uint32_t>(id);
  if (id < 0) return -1;
  if (low < dense_.size()) return dense_[low];
  const auto known = others_.find(low);
  return known == others_.end() ? -1 : known->second;
}

bool InstructionIds::Add(int64_t id, int32_t index) {
  const auto low = static_cast<uint32_t>(id);
  if (low >= dense_.size()) return others_.emplace(low, index).second;
  if (dense_[low] >= 0) return false;
  dense_[low] = index;
  return true;
}

absl::StatusOr<std::shared_ptr<const Shape>> InstructionReader::ReadShape(std::string_view bytes) {
  if (last_shape_ != nullptr && bytes == last_bytes_) return last_shape_;
  std::shared_ptr<const Shape>& known = shapes_[absl::string_view(bytes.data(), bytes.size())];
  if (known == nullptr) {
    std::optional<Shape> shape = PlainShape(bytes);
    if (!shape) {
      pb::ShapeProto message;
      ASSAY_RETURN_IF_ERROR(Decode(bytes, "ShapeProto", &message));
      ASSAY_ASSIGN_OR_RETURN(shape, ShapeFrom(message));
    }
    known = std::make_shared<const Shape>(*std::move(shape));
  }
  last_bytes_ = bytes;
  return last_shape_ = known;
}

absl::StatusOr<Literal> InstructionReader::ReadLiteral(std::string_view bytes) {
  const auto read_shape = [this](std::string_view shape) {
    return ReadShape(shape).value_or(nullptr);  // what is wrong with it is found again below
  };
  if (std::optional<Literal> literal = PlainLiteral(bytes, read_shape)) return *std::move(literal);
  pb::LiteralProto message;
  ASSAY_RETURN_IF_ERROR(Decode(bytes, "LiteralProto", &message));
  return LiteralFrom(message);
}

absl::Status InstructionReader::Read(const InstructionHead& head, const pb::HloInstructionProto& message,
                                     const Computation& above, const InstructionIds& ids,
                                     Instruction* instruction) {
  Draft draft{head, message, above, *instruction, {}};
  if (head.name.empty()) return InvalidProgram({}, "name is missing");
  ASSAY_RETURN_IF_ERROR(ReadOpcode(draft));
  if (head.shape.empty()) return InvalidProgram({}, "shape is missing");
  ASSAY_ASSIGN_OR_RETURN(instruction->shape, ReadShape(head.shape));
  ASSAY_RETURN_IF_ERROR(ReadIds(draft, ids));
  ASSAY_RETURN_IF_ERROR(ReadAttributes(draft));
  return ReadExtras(draft);
}

absl::Status InstructionReader::ReadOpcode(Draft& draft) {
  const std::string_view name = draft.head.opcode;
  if (const auto known = OpcodeFromName(name)) {
    draft.instruction.opcode = *known;
    return absl::OkStatus();
  }
  for (const auto& [old, direction] : kOldCompares) {
    if (name != old) continue;
    draft.instruction.opcode = Opcode::kCompare;
    draft.direction = direction;
    return absl::OkStatus();
  }
  return InvalidProgram({}, UnknownOpcode(name));
}

absl::Status InstructionReader::ReadIds(Draft& draft, const InstructionIds& ids) {
  const auto find = [&](std::string_view field, int64_t id) -> absl::StatusOr<int32_t> {
    const int32_t known = ids.Find(id);
    if (known >= 0) return known;
    return InvalidProgram(
        {}, fmt::format("{} holds {}, which is not an instruction above it in its computation", field, id));
  };
  draft.instruction.operands.reserve(draft.head.operand_ids.size());
  for (const int64_t id : draft.head.operand_ids) {
    ASSAY_ASSIGN_OR_RETURN(const int32_t index, find("operand_ids", id));
    draft.instruction.operands.push_back(index);
  }
  for (const int64_t id : draft.message.control_predecessor_ids()) {
    ASSAY_ASSIGN_OR_RETURN(const int32_t index, find("control_predecessor_ids", id));
    draft.instruction.control_predecessors.push_back(index);
  }
  return absl::OkStatus();
}

absl::Status InstructionReader::ReadExtras(Draft& draft) {
  const pb::HloInstructionProto& m = draft.message;
  const InstructionHead& head = draft.head;
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const InstructionExtras> metadata,
                         metadata_.Read(head.metadata, payloads_));
  const bool more = !head.frontend_attributes.empty() || m.has_sharding() || !head.statistics_viz.empty() ||
                    m.has_backend_config_payload() || !m.backend_config().empty() ||
                    m.has_parameter_replication() || m.has_extras();
  if (!more) {
    draft.instruction.extras = std::move(metadata);
    return absl::OkStatus();
  }
  auto extras = metadata == nullptr ? std::make_shared<InstructionExtras>()
                                    : std::make_shared<InstructionExtras>(*metadata);
  pb::FrontendAttributes attributes;
  ASSAY_RETURN_IF_ERROR(Decode(head.frontend_attributes, "FrontendAttributes", &attributes));
  extras->frontend_attributes = FrontendAttributesFrom(attributes);
  if (m.has_sharding()) {
    ASSAY_ASSIGN_OR_RETURN(extras->sharding, ShardingFrom(m.sharding(), payloads_));
    SpreadShardingOverTuple(*draft.instruction.shape, &extras->sharding);
  }
  pb::StatisticsViz statistics;
  ASSAY_RETURN_IF_ERROR(Decode(head.statistics_viz, "StatisticsViz", &statistics));
  ASSAY_RETURN_IF_ERROR(CheckStatistics(statistics));
  extras->statistics = StatisticsText(statistics);
  extras->backend_config.text = m.backend_config();
  if (m.has_backend_config_payload()) {
    ASSAY_ASSIGN_OR_RETURN(extras->backend_config.text, PayloadOf(m.backend_config_payload(), payloads_));
  }
  const auto& replication = m.parameter_replication().replicated_at_leaf_buffers();
  extras->parameter_replication.assign(replication.begin(), replication.end());
  if (!m.extras().origin().empty()) ASSAY_RETURN_IF_ERROR(OriginFrom(m.extras().origin(), &extras->origin));
  draft.instruction.extras = std::move(extras);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ComputationId>> InstructionReader::Called(const Draft& draft) const {
  std::vector<ComputationId> called;
  for (const int64_t id : draft.head.called_computation_ids) {
    const auto known = computations_.find(id);
    if (known == computations_.end()) {
      return InvalidProgram(
          {},
          fmt::format(
              "called_computation_ids holds {}, which is not a computation above its caller (Call-C3)", id));
    }
    called.push_back({known->second});
  }
  return called;
}

absl::Status InstructionReader::ReadCalled(Draft& draft, std::initializer_list<Attr> attrs) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<ComputationId> called, Called(draft));
  if (called.size() != attrs.size()) {
    return InvalidProgram({}, fmt::format("called_computation_ids has {}, want {}",
                                          Counted(called.size(), "entry"), attrs.size()));
  }
  size_t i = 0;
  for (const Attr attr : attrs) draft.attributes().Set(attr, called[i++]);
  return absl::OkStatus();
}

// Branches in order; a pred chooses between the true and the false one.
absl::Status InstructionReader::ReadConditional(Draft& draft) {
  const auto& operands = draft.instruction.operands;
  const bool by_pred =
      !operands.empty() && draft.above.instructions[operands[0]].shape->IsScalar(ElementType::kPred);
  if (by_pred) return ReadCalled(draft, {Attr::kTrueComputation, Attr::kFalseComputation});
  ASSAY_ASSIGN_OR_RETURN(std::vector<ComputationId> called, Called(draft));
  draft.attributes().Set(Attr::kBranchComputations, std::move(called));
  return absl::OkStatus();
}

absl::Status InstructionReader::ReadCustomCall(Draft& draft) {
  const pb::HloInstructionProto& m = draft.message;
  AttributeMap& attributes = draft.attributes();
  attributes.Set(Attr::kCustomCallTarget, m.custom_call_target());
  ASSAY_RETURN_IF_ERROR(ReadConvolution(m, /*required=*/false, &attributes));
  if (m.constrain_layout()) {
    ShapeList shapes;
    for (const pb::ShapeProto& shape : m.operand_shapes_with_layout()) {
      ASSAY_ASSIGN_OR_RETURN(Shape operand, ShapeFrom(shape));
      shapes.push_back(std::move(operand));
    }
    attributes.Set(Attr::kOperandLayoutConstraints, std::move(shapes));
  }
  if (m.custom_call_has_side_effect()) attributes.Set(Attr::kCustomCallHasSideEffect, true);
  ASSAY_ASSIGN_OR_RETURN(std::vector<ComputationId> called, Called(draft));
  if (!called.empty()) attributes.Set(Attr::kCalledComputations, std::move(called));
  ReadAliasing(m, &attributes);
  if (draft.head.literal) {
    ASSAY_ASSIGN_OR_RETURN(Literal literal, ReadLiteral(*draft.head.literal));
    attributes.Set(Attr::kLiteralValue, std::make_shared<const Literal>(std::move(literal)));
  }
  ASSAY_RETURN_IF_ERROR(SetWord(kPaddingTypes, m.padding_type(), 0, Attr::kPaddingType, &attributes));
  ASSAY_RETURN_IF_ERROR(SetWord(kSchedules, m.custom_call_schedule(), 0, Attr::kSchedule, &attributes));
  constexpr int32_t kUnspecified = 0, kOriginal = 1;
  if (m.custom_call_api_version() == kUnspecified) return absl::OkStatus();
  return SetWord(kApiVersions, m.custom_call_api_version(), kOriginal, Attr::kApiVersion, &attributes);
}

absl::Status InstructionReader::ReadCollectiveAttributes(Draft& draft) {
  const pb::HloInstructionProto& m = draft.message;
  AttributeMap& attributes = draft.attributes();
  const int64_t channel = m.channel_id() > 0 ? m.channel_id() : m.all_reduce_id();
  if (channel > 0) attributes.Set(Attr::kChannelId, channel);
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const ReplicaGroups> groups, groups_.Read(m));
  if (groups != nullptr) attributes.Set(Attr::kReplicaGroups, std::move(groups));
  if (m.constrain_layout()) attributes.Set(Attr::kConstrainLayout, true);
  if (m.use_global_device_ids()) attributes.Set(Attr::kUseGlobalDeviceIds, true);
  const InstructionHead::Ids& dimensions = draft.head.dimensions;
  if (!dimensions.empty()) attributes.Set(Attr::kDimensions, Ints(dimensions.begin(), dimensions.end()));
  switch (draft.instruction.opcode) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kReduceScatter:
      return ReadCalled(draft, {Attr::kToApply});
    default:
      return absl::OkStatus();
  }
}

// Ops that call computations, and nothing else that needs this reader's tables.
absl::Status InstructionReader::ReadCallAttributes(Draft& draft) {
  const pb::HloInstructionProto& m = draft.message;
  switch (draft.instruction.opcode) {
    case Opcode::kCall:
      if (m.is_composite()) draft.attributes().Set(Attr::kIsComposite, true);
      return ReadCalled(draft, {Attr::kToApply});
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScan:
    case Opcode::kScatter:
    case Opcode::kSort:
      return ReadCalled(draft, {Attr::kToApply});
    case Opcode::kFusion:
      return ReadCalled(draft, {Attr::kCalls});
    case Opcode::kAsyncStart:
      if (!m.async_execution_thread().empty()) {
        draft.attributes().Set(Attr::kAsyncExecutionThread, m.async_execution_thread());
      }
      return ReadCalled(draft, {Attr::kCalls});
    case Opcode::kSelectAndScatter:
      return ReadCalled(draft, {Attr::kSelect, Attr::kScatter});
    case Opcode::kWhile:
      return ReadCalled(draft, {Attr::kBody, Attr::kCondition});
    case Opcode::kConditional:
      return ReadConditional(draft);
    default:
      return absl::OkStatus();
  }
}

absl::Status InstructionReader::ReadAttributes(Draft& draft) {
  const pb::HloInstructionProto& m = draft.message;
  const Opcode opcode = draft.instruction.opcode;
  if (m.has_precision_config() && !TakesPrecision(opcode)) {
    return InvalidProgram({}, fmt::format("precision_config stands on {}, which has none", Name(opcode)));
  }
  if (m.has_dot_dimension_numbers() && opcode != Opcode::kDot && opcode != Opcode::kScaledDot) {
    return InvalidProgram({}, fmt::format("dot_dimension_numbers stand on {}, which has none", Name(opcode)));
  }
  ASSAY_RETURN_IF_ERROR(ReadAccuracy(m, &draft.attributes()));
  ASSAY_RETURN_IF_ERROR(ReadCallAttributes(draft));
  switch (opcode) {
    case Opcode::kParameter:
      draft.instruction.parameter_number = draft.head.parameter_number;
      return absl::OkStatus();
    case Opcode::kGetTupleElement:
      draft.attributes().Set(Attr::kIndex, draft.head.tuple_index);
      return absl::OkStatus();
    case Opcode::kConstant: {
      if (!draft.head.literal) return absl::OkStatus();  // of unknown value, as "{...}" in text
      ASSAY_ASSIGN_OR_RETURN(Literal literal, ReadLiteral(*draft.head.literal));
      return SetConstant(std::move(literal), &draft.instruction);
    }
    case Opcode::kCustomCall:
      return ReadCustomCall(draft);
    case Opcode::kDomain: {
      ASSAY_ASSIGN_OR_RETURN(AttrValue domain, DomainFrom(m, payloads_));
      draft.attributes().Set(Attr::kDomain, std::move(domain));
      return absl::OkStatus();
    }
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
      if (m.has_dynamic_root()) draft.attributes().Set(Attr::kHasDynamicRoot, true);
      return ReadCollectiveAttributes(draft);
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart: {
      const auto& operands = draft.instruction.operands;
      const Shape* operand = operands.empty() ? nullptr : draft.above.instructions[operands[0]].shape.get();
      return ReadCollectivePermute(m, operand, &draft.attributes());
    }
    case Opcode::kCompare:
      return ReadCompare(draft.head, draft.direction, &draft.attributes());
    default:
      return ReadOwnAttributes(draft.head, m, opcode, &draft.attributes());
  }
}

}  // namespace assay::proto
