// Messages to metadata, shardings and replica groups. Text built here is checked by the HLO text parser.
#include <algorithm>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/proto/devices.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/words.h"
#include "hlo/text/attribute_values.h"
#include "hlo/text/common_attributes.h"
#include "hlo/text/device_groups.h"
#include "hlo/text/print_values.h"
#include "hlo/text/sharding_text.h"
#include "hlo/text/token_reader.h"

namespace assay::proto {
namespace {

// An error about text that was made here: its place in that text says nothing.
absl::Status InField(std::string_view field, const absl::Status& status) {
  if (status.ok()) return status;
  return InvalidProgram(
      {}, fmt::format("{}: {}", field, std::string_view(status.message().data(), status.message().size())));
}

// "[2,4]T(1,0)"
template <typename Dims, typename Permutation>
std::string IotaText(const Dims& dims, const Permutation& permutation) {
  std::string text = fmt::format("[{}]", fmt::join(dims, ","));
  if (dims.size() > 1) text += fmt::format("T({})", fmt::join(permutation, ","));
  return text;
}

std::string MeshText(const pb::MeshProto& mesh) {
  if (mesh.axes().empty() && mesh.device_ids_size() == 1) {
    return fmt::format("maximal_mesh[device_id={}]", mesh.device_ids(0));
  }
  std::string text = "mesh[";
  for (const pb::MeshAxis& axis : mesh.axes()) {
    text += fmt::format("{}{}={}", text.back() == '[' ? "" : ",", Quoted(axis.name()), axis.size());
  }
  text += ']';
  if (mesh.has_iota_transform()) {
    const pb::IotaTransform& iota = mesh.iota_transform();
    text += fmt::format(", device_ids=({})", IotaText(iota.reshape_dims(), iota.transpose_perm()));
  } else if (!mesh.device_ids().empty()) {
    text += fmt::format(", device_ids=({})", fmt::join(mesh.device_ids(), ","));
  }
  return text;
}

absl::Status AppendAxisRef(const pb::AxisRefProto& ref, const pb::MeshProto& mesh, std::string* text) {
  if (ref.mesh_axis_index() < 0 || ref.mesh_axis_index() >= mesh.axes_size()) {
    return InvalidProgram({}, fmt::format("mesh_axis_index is {}, but the mesh has {}", ref.mesh_axis_index(),
                                          Counted(mesh.axes_size(), "axis")));
  }
  constexpr int64_t kMaxText = 1 << 24;  // a reference is short, the name that it stands for need not be
  if (text->size() > kMaxText) return ProgramLimitExceeded({}, "bytes of a sharding", kMaxText + 1, kMaxText);
  *text += Quoted(mesh.axes(static_cast<int>(ref.mesh_axis_index())).name());
  if (ref.has_sub_axis_info()) {
    *text += fmt::format(":({}){}", ref.sub_axis_info().pre_size(), ref.sub_axis_info().size());
  }
  return absl::OkStatus();
}

using AxisRefs = google::protobuf::RepeatedPtrField<pb::AxisRefProto>;

// `{"a","b"`: the caller closes it.
absl::Status AppendOpenAxisRefs(const AxisRefs& refs, const pb::MeshProto& mesh, std::string* text) {
  *text += '{';
  for (const pb::AxisRefProto& ref : refs) {
    if (text->back() != '{') *text += ',';
    ASSAY_RETURN_IF_ERROR(AppendAxisRef(ref, mesh, text));
  }
  return absl::OkStatus();
}

// Every axis of the mesh, whole and in order.
bool AreAllAxes(const AxisRefs& refs, const pb::MeshProto& mesh) {
  if (refs.size() != mesh.axes_size() || refs.empty()) return false;
  for (int i = 0; i < refs.size(); ++i) {
    if (refs[i].mesh_axis_index() != i || refs[i].has_sub_axis_info()) return false;
  }
  return true;
}

absl::StatusOr<std::string> MetadataListText(const google::protobuf::RepeatedPtrField<pb::OpMetadata>& list,
                                             Payloads& payloads) {
  std::string text;
  for (const pb::OpMetadata& message : list) {
    ASSAY_ASSIGN_OR_RETURN(const OpMetadata metadata, MetadataFrom(message, payloads));
    text += (text.empty() ? "" : ", ") + MetadataText(metadata);
  }
  return list.size() > 1 ? "{" + text + "}" : text;
}

absl::StatusOr<std::string> NamedBody(const pb::NamedSharding& named, Payloads& payloads) {
  const pb::MeshProto& mesh = named.mesh();
  std::string text = MeshText(mesh);
  ASSAY_ASSIGN_OR_RETURN(const std::string_view op, WordOf(kReductionOps, named.reduction_op()));
  const std::string reduction = named.reduction_op() == 0 ? "" : std::string(op);
  const bool lists =
      !named.replicated_axes().empty() || !named.unreduced_axes().empty() || !named.manual_axes().empty();
  const bool tiled = !named.dim_shardings().empty();
  if (mesh.axes().empty()) {
    // A single device has nothing to divide.
  } else if (!tiled && !lists) {
    text += ", replicated";
  } else if (!tiled && AreAllAxes(named.manual_axes(), mesh) && named.replicated_axes().empty() &&
             named.unreduced_axes().empty()) {
    text += ", manual";
  } else if (!tiled && AreAllAxes(named.unreduced_axes(), mesh) && named.replicated_axes().empty() &&
             named.manual_axes().empty()) {
    text += ", unreduced" + (reduction.empty() ? "" : "=" + reduction);
  } else {
    text += ", [";
    for (const pb::DimSharding& dim : named.dim_shardings()) {
      if (text.back() != '[') text += ", ";
      ASSAY_RETURN_IF_ERROR(AppendOpenAxisRefs(dim.axes(), mesh, &text));
      if (!dim.is_closed()) text += dim.axes().empty() ? "?" : ", ?";
      text += '}';
    }
    text += ']';
    const std::pair<std::string, const AxisRefs*> parts[] = {
        {"replicated=", &named.replicated_axes()},
        {"unreduced=" + reduction, &named.unreduced_axes()},
        {"manual=", &named.manual_axes()}};
    for (const auto& [name, refs] : parts) {
      if (refs->empty()) continue;
      text += ", " + name;
      ASSAY_RETURN_IF_ERROR(AppendOpenAxisRefs(*refs, mesh, &text));
      text += '}';
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string metadata, MetadataListText(named.metadata(), payloads));
  if (!metadata.empty()) text += ", metadata=" + metadata;
  return text;
}

constexpr int32_t kMaximal = 1, kTuple = 2, kOther = 3;

absl::StatusOr<std::string> TilesText(const pb::OpSharding& message) {
  std::string text = fmt::format("devices=[{}]", fmt::join(message.tile_assignment_dimensions(), ","));
  if (!message.iota_reshape_dims().empty()) {
    text += "<=" + IotaText(message.iota_reshape_dims(), message.iota_transpose_perm());
  } else if (message.tile_assignment_devices_size() == 1) {
    return "replicated";
  } else {
    text += fmt::format("{}", fmt::join(message.tile_assignment_devices(), ","));
  }
  if (message.replicate_on_last_tile_dim()) text += " last_tile_dim_replicate";
  std::string last;
  for (const int32_t type : message.last_tile_dims()) {
    ASSAY_ASSIGN_OR_RETURN(const std::string_view word, WordOf(kShardingTypes, type));
    last += fmt::format("{}{}", last.empty() ? "" : ", ", word);
  }
  if (!last.empty()) text += " last_tile_dims={" + last + "}";
  return text;
}

absl::StatusOr<std::string> PlainBody(const pb::OpSharding& message, Payloads& payloads) {
  ASSAY_ASSIGN_OR_RETURN(const std::string_view word, WordOf(kShardingTypes, message.type()));
  std::string text(word);
  if (message.type() == kOther) {
    ASSAY_ASSIGN_OR_RETURN(text, TilesText(message));
  } else if (message.type() == kMaximal) {
    text += fmt::format(" device={}", fmt::join(message.tile_assignment_devices(), " device="));
  }
  if (message.is_shard_group()) {
    if (message.shard_group_type() < 0 || message.shard_group_type() > 1) {
      return InvalidProgram({},
                            fmt::format("shard_group_type is {}, want 0 or 1", message.shard_group_type()));
    }
    text += fmt::format(" {} {}", message.shard_group_type() == 0 ? "shard_as" : "shard_like",
                        message.shard_group_id());
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string metadata, MetadataListText(message.metadata(), payloads));
  if (!metadata.empty()) text += " metadata=" + metadata;
  return text;
}

absl::StatusOr<std::string> ShardingText(const pb::OpSharding& message, Payloads& payloads) {
  if (message.has_named_sharding()) {
    ASSAY_ASSIGN_OR_RETURN(const std::string body, NamedBody(message.named_sharding(), payloads));
    return "{" + body + "}";
  }
  if (message.type() != kTuple) {
    ASSAY_ASSIGN_OR_RETURN(const std::string body, PlainBody(message, payloads));
    return "{" + body + "}";
  }
  std::string text = "{";
  for (const pb::OpSharding& leaf : message.tuple_shardings()) {
    if (leaf.type() == kTuple && !leaf.has_named_sharding()) {
      return InvalidProgram({}, "tuple_shardings holds a tuple sharding, want one sharding for each leaf");
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string one, ShardingText(leaf, payloads));
    text += (text.size() > 1 ? ", " : "") + one;
  }
  return text + "}";
}

std::string GroupsText(const pb::IotaReplicaGroupList& list) {
  return fmt::format("[{},{}]<={}", list.num_replica_groups(), list.num_devices_per_group(),
                     IotaText(list.iota_reshape_dims(), list.iota_transpose_perm()));
}

template <typename List>
std::shared_ptr<const ReplicaGroups> ListedGroups(const List& list) {
  auto groups = std::make_shared<ReplicaGroups>();
  for (const pb::ReplicaGroup& group : list) {
    groups->groups.emplace_back(group.replica_ids().begin(), group.replica_ids().end());
  }
  return groups;
}

}  // namespace

absl::StatusOr<std::string> PayloadOf(const pb::PayloadRef& message, Payloads& payloads) {
  if (message.payload_case() == pb::PayloadRef::kValue) return message.value();
  if (message.payload_case() != pb::PayloadRef::kId) return std::string();
  const int64_t id = message.id();
  if (id < 0 || id >= static_cast<int64_t>(payloads.texts.size())) {
    return InvalidProgram(
        {}, fmt::format("payload id is {}, but the module has {} payloads", id, payloads.texts.size()));
  }
  payloads.copied_bytes += static_cast<int64_t>(payloads.texts[id].size());
  if (payloads.copied_bytes > Payloads::kMaxCopiedBytes) {
    return ProgramLimitExceeded({}, "bytes of shared payloads that instructions name", payloads.copied_bytes,
                                Payloads::kMaxCopiedBytes);
  }
  return std::string(payloads.texts[id]);
}

absl::StatusOr<OpMetadata> MetadataFrom(const pb::OpMetadata& message, Payloads& payloads) {
  OpMetadata metadata;
  metadata.op_type = message.op_type();
  metadata.op_name = message.op_name();
  metadata.source_file = message.source_file();
  metadata.deduplicated_name = message.deduplicated_name();
  metadata.scheduling_name = message.scheduling_name();
  metadata.source_line = message.source_line();
  metadata.source_end_line = message.source_end_line();
  metadata.source_column = message.source_column();
  metadata.source_end_column = message.source_end_column();
  metadata.stack_frame_id = message.stack_frame_id();
  metadata.profile_type.assign(message.profile_type().begin(), message.profile_type().end());
  for (const int64_t type : metadata.profile_type) {
    if (type < 0 || type > 3) {
      return InvalidProgram({}, fmt::format("metadata: profile_type holds {}, want 0 to 3", type));
    }
  }
  if (message.has_metadata_payload()) {
    ASSAY_ASSIGN_OR_RETURN(metadata.metadata_payload, PayloadOf(message.metadata_payload(), payloads));
  }
  return metadata;
}

// Of entries with the same key the last counts, as in every protobuf map.
FrontendAttributes FrontendAttributesFrom(const pb::FrontendAttributes& message) {
  FrontendAttributes attributes;
  for (const pb::StringEntry& entry : message.map())
    attributes.push_back({entry.key(), {entry.value(), false}});
  std::stable_sort(attributes.begin(), attributes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  FrontendAttributes unique;
  for (auto& attribute : attributes) {
    if (!unique.empty() && unique.back().first == attribute.first) unique.pop_back();
    unique.push_back(std::move(attribute));
  }
  return unique;
}

absl::StatusOr<std::string> ShardingFrom(const pb::OpSharding& message, Payloads& payloads) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, ShardingText(message, payloads));
  TokenReader in(text);
  std::string canonical;
  ASSAY_RETURN_IF_ERROR(InField("sharding", ReadSharding(in, &canonical)));
  return canonical;
}

// Text and message name the two sides the other way round: what the message calls the entry is the operand's
// side, which the text calls the exit (seen in what XLA writes of one module).
absl::StatusOr<AttrValue> DomainFrom(const pb::HloInstructionProto& message, Payloads& payloads) {
  ASSAY_ASSIGN_OR_RETURN(const std::string exit, ShardingFrom(message.domain_entry_sharding(), payloads));
  ASSAY_ASSIGN_OR_RETURN(const std::string entry, ShardingFrom(message.domain_exit_sharding(), payloads));
  const std::string text = fmt::format("{{kind=\"sharding\", entry={}, exit={}}}", entry, exit);
  TokenReader in(text);
  return ReadAttributeValue(in, Attr::kDomain);
}

absl::StatusOr<std::shared_ptr<const ReplicaGroups>> ReplicaGroupReader::Read(
    const pb::HloInstructionProto& message) {
  std::string text;
  if (message.has_iota_collective_device_list()) {
    text = GroupsText(message.iota_collective_device_list());
  } else if (message.has_mesh_axes_replica_group_list()) {
    const pb::MeshReplicaGroupList& list = message.mesh_axes_replica_group_list();
    text = MeshText(list.mesh()) + " ";
    ASSAY_RETURN_IF_ERROR(AppendOpenAxisRefs(list.axes(), list.mesh(), &text));
    text += '}';
  } else if (message.has_collective_device_list()) {
    return ListedGroups(message.collective_device_list().replica_groups());
  } else {
    return message.replica_groups().empty() ? nullptr : ListedGroups(message.replica_groups());
  }
  std::shared_ptr<const ReplicaGroups>& known = known_[text];
  if (known != nullptr) return known;
  TokenReader in(text);
  absl::StatusOr<std::shared_ptr<const ReplicaGroups>> groups = ReadReplicaGroups(in);
  if (!groups.ok()) return InField("replica groups", groups.status());
  for (const Ints& group : (*groups)->groups) expanded_devices_ += static_cast<int64_t>(group.size());
  if (expanded_devices_ > TokenReader::kMaxExpandedDevices) {
    return ProgramLimitExceeded({}, "number of devices listed by compact replica groups", expanded_devices_,
                                TokenReader::kMaxExpandedDevices);
  }
  return known = *std::move(groups);
}

}  // namespace assay::proto
