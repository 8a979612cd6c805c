// Metadata, shardings and replica groups to messages. The text comes from a module that was read and is in
// canonical form; what does not read is refused.
#include "fmt/format.h"
#include "hlo/proto/devices.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/words.h"
#include "hlo/text/common_attributes.h"
#include "hlo/text/device_groups.h"
#include "hlo/text/sharding_text.h"
#include "hlo/text/token_reader.h"

namespace assay::proto {
namespace {

using AxisRefs = google::protobuf::RepeatedPtrField<pb::AxisRefProto>;

void WriteMesh(const DeviceMesh& mesh, pb::MeshProto* message) {
  for (const DeviceMesh::Axis& axis : mesh.axes) {
    pb::MeshAxis* const added = message->add_axes();
    added->set_name(axis.name);
    added->set_size(axis.size);
  }
  message->mutable_device_ids()->Add(mesh.listed.begin(), mesh.listed.end());
  if (mesh.iota && mesh.iota->dims.size() > 1) {
    pb::IotaTransform* const iota = message->mutable_iota_transform();
    iota->mutable_reshape_dims()->Add(mesh.iota->dims.begin(), mesh.iota->dims.end());
    iota->mutable_transpose_perm()->Add(mesh.iota->permutation.begin(), mesh.iota->permutation.end());
  }
}

void WriteAxisRef(const DeviceMesh& mesh, const MeshAxisRef& ref, AxisRefs* refs) {
  pb::AxisRefProto* const added = refs->Add();
  added->set_mesh_axis_index(static_cast<int64_t>(ref.axis));
  if (ref.before == 1 && ref.size == mesh.axes[ref.axis].size) return;
  added->mutable_sub_axis_info()->set_pre_size(ref.before);
  added->mutable_sub_axis_info()->set_size(ref.size);
}

void WriteAllAxes(const DeviceMesh& mesh, AxisRefs* refs) {
  for (size_t i = 0; i < mesh.axes.size(); ++i) refs->Add()->set_mesh_axis_index(static_cast<int64_t>(i));
}

// Reads the text of a NamedSharding behind its mesh.
struct NamedWriter {
  TokenReader& in;
  const DeviceMesh& mesh;
  pb::NamedSharding* message;
  std::vector<MeshAxisRef> used = {};
  std::string ignored = {};

  absl::Status ReadRefs(AxisRefs* refs) {
    const size_t before = used.size();
    ASSAY_RETURN_IF_ERROR(ReadAxisRefs(in, mesh, &used, &ignored));
    for (size_t i = before; i < used.size(); ++i) WriteAxisRef(mesh, used[i], refs);
    return absl::OkStatus();
  }

  void ReadReduction() {
    if (!in.At(TokenKind::kIdent)) return;
    if (const auto op = NumberOf(kReductionOps, in.token().text); op.ok()) {
      message->set_reduction_op(*op);
      in.Next();
    }
  }

  absl::Status ReadDim(pb::DimSharding* dim) {
    dim->set_is_closed(true);
    return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
      if (in.Eat(TokenKind::kQuestion)) {
        dim->set_is_closed(false);
        return absl::OkStatus();
      }
      ASSAY_RETURN_IF_ERROR(ReadAxisRef(in, mesh, &used, &ignored));
      WriteAxisRef(mesh, used.back(), dim->mutable_axes());
      return absl::OkStatus();
    });
  }

  absl::Status ReadUnreduced() {
    ReadReduction();
    if (in.At(TokenKind::kLeftBrace)) return ReadRefs(message->mutable_unreduced_axes());
    WriteAllAxes(mesh, message->mutable_unreduced_axes());
    return absl::OkStatus();
  }

  absl::Status ReadMain() {
    if (in.At(TokenKind::kLeftSquare)) {
      return in.ReadList(TokenKind::kLeftSquare, TokenKind::kRightSquare,
                         [&] { return ReadDim(message->add_dim_shardings()); });
    }
    if (in.EatAttrName("unreduced") || in.EatKeyword("unreduced")) return ReadUnreduced();
    if (in.EatKeyword("replicated")) return absl::OkStatus();
    if (!in.EatKeyword("manual")) return in.Unexpected("replicated, manual, unreduced or '['");
    WriteAllAxes(mesh, message->mutable_manual_axes());
    return absl::OkStatus();
  }
};

absl::Status ReadMetadataList(TokenReader& in, google::protobuf::RepeatedPtrField<pb::OpMetadata>* list) {
  const auto read_one = [&]() -> absl::Status {
    OpMetadata metadata;
    ASSAY_RETURN_IF_ERROR(ReadMetadata(in, &metadata));
    WriteMetadata(metadata, list->Add());
    return absl::OkStatus();
  };
  if (in.Ahead() != TokenKind::kLeftBrace) return read_one();
  return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, read_one);
}

absl::Status ReadNamed(TokenReader& in, pb::NamedSharding* message) {
  DeviceMesh mesh;
  ASSAY_RETURN_IF_ERROR(ReadMesh(in, &mesh));
  WriteMesh(mesh, message->mutable_mesh());
  NamedWriter writer{in, mesh, message};
  if (!mesh.is_maximal) {
    in.Eat(TokenKind::kComma);
    ASSAY_RETURN_IF_ERROR(writer.ReadMain());
  }
  while (in.Eat(TokenKind::kComma)) {
    if (in.EatAttrName("metadata")) {
      ASSAY_RETURN_IF_ERROR(ReadMetadataList(in, message->mutable_metadata()));
    } else if (in.EatAttrName("replicated")) {
      ASSAY_RETURN_IF_ERROR(writer.ReadRefs(message->mutable_replicated_axes()));
    } else if (in.EatAttrName("manual")) {
      ASSAY_RETURN_IF_ERROR(writer.ReadRefs(message->mutable_manual_axes()));
    } else if (in.EatAttrName("unreduced")) {
      writer.ReadReduction();
      ASSAY_RETURN_IF_ERROR(writer.ReadRefs(message->mutable_unreduced_axes()));
    } else {
      return in.Unexpected("replicated=, unreduced=, manual= or metadata=");
    }
  }
  return absl::OkStatus();
}

constexpr int32_t kTupleSharding = 2, kOtherSharding = 3;

absl::Status ReadTiles(TokenReader& in, pb::OpSharding* message) {
  message->set_type(kOtherSharding);
  Ints dims;
  ASSAY_RETURN_IF_ERROR(in.ReadIntList(TokenKind::kLeftSquare, TokenKind::kRightSquare, &dims));
  message->mutable_tile_assignment_dimensions()->Add(dims.begin(), dims.end());
  if (in.Eat(TokenKind::kLessEqual)) {
    IotaDevices iota;
    ASSAY_RETURN_IF_ERROR(ReadIotaDevices(in, &iota));
    message->mutable_iota_reshape_dims()->Add(iota.dims.begin(), iota.dims.end());
    message->mutable_iota_transpose_perm()->Add(iota.permutation.begin(), iota.permutation.end());
    return absl::OkStatus();
  }
  do {
    int64_t device;
    ASSAY_RETURN_IF_ERROR(in.ReadNonNegative(&device, "a device number"));
    message->add_tile_assignment_devices(device);
  } while (in.Eat(TokenKind::kComma));
  return absl::OkStatus();
}

absl::Status ReadLastTileDims(TokenReader& in, pb::OpSharding* message) {
  return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const int32_t type, NumberOf(kShardingTypes, in.token().text));
    message->add_last_tile_dims(type);
    in.Next();
    return absl::OkStatus();
  });
}

absl::Status ReadItem(TokenReader& in, pb::OpSharding* message) {
  for (const std::string_view kind : {"replicated", "manual", "unknown", "unreduced", "maximal"}) {
    if (!in.EatKeyword(kind)) continue;
    ASSAY_ASSIGN_OR_RETURN(const int32_t type, NumberOf(kShardingTypes, kind));
    message->set_type(type);
    return absl::OkStatus();
  }
  if (in.EatAttrName("device")) {
    int64_t device;
    ASSAY_RETURN_IF_ERROR(in.ReadInt(&device));
    message->add_tile_assignment_devices(device);
    return absl::OkStatus();
  }
  if (in.EatAttrName("devices")) return ReadTiles(in, message);
  if (in.EatAttrName("last_tile_dims")) return ReadLastTileDims(in, message);
  if (in.EatAttrName("metadata")) return ReadMetadataList(in, message->mutable_metadata());
  if (in.EatKeyword("last_tile_dim_replicate")) {
    message->set_replicate_on_last_tile_dim(true);
    return absl::OkStatus();
  }
  message->set_shard_group_type(in.EatKeyword("shard_as") ? 0 : 1);
  if (message->shard_group_type() == 1 && !in.EatKeyword("shard_like"))
    return in.Unexpected("a part of a sharding");
  int64_t id;
  ASSAY_RETURN_IF_ERROR(in.ReadInt(&id));
  message->set_is_shard_group(true);
  message->set_shard_group_id(id);
  return absl::OkStatus();
}

// A leaf behind its '{', with the '}'.
absl::Status ReadLeaf(TokenReader& in, pb::OpSharding* message) {
  if (AtMesh(in)) {
    ASSAY_RETURN_IF_ERROR(ReadNamed(in, message->mutable_named_sharding()));
  } else {
    while (!in.At(TokenKind::kRightBrace)) ASSAY_RETURN_IF_ERROR(ReadItem(in, message));
  }
  return in.Expect(TokenKind::kRightBrace);
}

}  // namespace

void WriteMetadata(const OpMetadata& metadata, pb::OpMetadata* message) {
  message->set_op_type(std::string(metadata.op_type));
  message->set_op_name(std::string(metadata.op_name));
  message->set_source_file(std::string(metadata.source_file));
  message->set_deduplicated_name(std::string(metadata.deduplicated_name));
  message->set_scheduling_name(std::string(metadata.scheduling_name));
  message->set_source_line(static_cast<int32_t>(metadata.source_line));
  message->set_source_end_line(static_cast<int32_t>(metadata.source_end_line));
  message->set_source_column(static_cast<int32_t>(metadata.source_column));
  message->set_source_end_column(static_cast<int32_t>(metadata.source_end_column));
  message->set_stack_frame_id(static_cast<int32_t>(metadata.stack_frame_id));
  for (const int64_t type : metadata.profile_type) message->add_profile_type(static_cast<int32_t>(type));
  if (!metadata.metadata_payload.empty()) {
    message->mutable_metadata_payload()->set_value(std::string(metadata.metadata_payload));
  }
}

void WriteFrontendAttributes(const FrontendAttributes& attributes, pb::FrontendAttributes* message) {
  for (const auto& [key, value] : attributes) {
    pb::StringEntry* const entry = message->add_map();
    entry->set_key(key);
    entry->set_value(value.text);
  }
}

absl::Status WriteSharding(std::string_view text, pb::OpSharding* message) {
  TokenReader in(text);
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  if (!in.At(TokenKind::kLeftBrace) && !in.At(TokenKind::kRightBrace)) return ReadLeaf(in, message);
  message->set_type(kTupleSharding);
  while (!in.At(TokenKind::kRightBrace)) {
    if (!message->tuple_shardings().empty()) ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kComma));
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
    ASSAY_RETURN_IF_ERROR(ReadLeaf(in, message->add_tuple_shardings()));
  }
  return absl::OkStatus();
}

absl::Status WriteDomain(const std::string& text, pb::HloInstructionProto* message) {
  TokenReader in(text);
  std::string kind, entry, exit;
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  ASSAY_RETURN_IF_ERROR(in.ExpectAttrName("kind"));
  ASSAY_RETURN_IF_ERROR(in.ReadString(&kind));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kComma));
  ASSAY_RETURN_IF_ERROR(in.ExpectAttrName("entry"));
  ASSAY_RETURN_IF_ERROR(ReadSharding(in, &entry));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kComma));
  ASSAY_RETURN_IF_ERROR(in.ExpectAttrName("exit"));
  ASSAY_RETURN_IF_ERROR(ReadSharding(in, &exit));
  ASSAY_RETURN_IF_ERROR(WriteSharding(exit, message->mutable_domain_entry_sharding()));  // as DomainFrom says
  return WriteSharding(entry, message->mutable_domain_exit_sharding());
}

absl::Status WriteReplicaGroups(const ReplicaGroups& groups, pb::HloInstructionProto* message) {
  if (groups.compact_text.empty()) {
    pb::CollectiveDeviceList* const list = message->mutable_collective_device_list();
    for (const Ints& group : groups.groups) {
      list->add_replica_groups()->mutable_replica_ids()->Add(group.begin(), group.end());
    }
    return absl::OkStatus();
  }
  TokenReader in(groups.compact_text);
  if (AtMesh(in)) {
    pb::MeshReplicaGroupList* const list = message->mutable_mesh_axes_replica_group_list();
    DeviceMesh mesh;
    ASSAY_RETURN_IF_ERROR(ReadMesh(in, &mesh));
    WriteMesh(mesh, list->mutable_mesh());
    std::vector<MeshAxisRef> refs;
    std::string ignored;
    ASSAY_RETURN_IF_ERROR(ReadAxisRefs(in, mesh, &refs, &ignored));
    for (const MeshAxisRef& ref : refs) WriteAxisRef(mesh, ref, list->mutable_axes());
    return absl::OkStatus();
  }
  pb::IotaReplicaGroupList* const list = message->mutable_iota_collective_device_list();
  Ints sizes;
  ASSAY_RETURN_IF_ERROR(in.ReadIntList(TokenKind::kLeftSquare, TokenKind::kRightSquare, &sizes));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLessEqual));
  IotaDevices iota;
  ASSAY_RETURN_IF_ERROR(ReadIotaDevices(in, &iota));
  if (sizes.size() != 2) return InvalidProgram({}, "replica_groups: want two sizes before '<='");
  list->set_num_replica_groups(sizes[0]);
  list->set_num_devices_per_group(sizes[1]);
  list->mutable_iota_reshape_dims()->Add(iota.dims.begin(), iota.dims.end());
  list->mutable_iota_transpose_perm()->Add(iota.permutation.begin(), iota.permutation.end());
  return absl::OkStatus();
}

}  // namespace assay::proto
