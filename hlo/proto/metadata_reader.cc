// Most of a real program's file is metadata. Messages of nothing but texts and
// numbers are read from the wire.
#include "hlo/proto/metadata_reader.h"

#include <utility>

#include "hlo/proto/hlo.pb.h"

namespace assay::proto {
namespace {

bool IsPlain(const OpMetadata& m) {
  return m.op_type.empty() && m.op_name.empty() && m.source_file.empty() && m.deduplicated_name.empty() &&
         m.scheduling_name.empty() && m.source_line == 0 && m.source_end_line == 0 && m.source_column == 0 &&
         m.source_end_column == 0 && m.stack_frame_id == 0 && m.profile_type.empty() &&
         m.metadata_payload.empty();
}

// Where a number of the message goes, all of which are int32; null: there is no such field.
int64_t OpMetadata::*NumberField(int32_t number) {
  switch (number) {
    case 4:
      return &OpMetadata::source_line;
    case 15:
      return &OpMetadata::stack_frame_id;
    case 17:
      return &OpMetadata::source_end_line;
    case 18:
      return &OpMetadata::source_column;
    case 19:
      return &OpMetadata::source_end_column;
    default:
      return nullptr;
  }
}

// False: the message has to be decoded whole.
bool TakeField(const WireField& field, TextPool& texts, OpMetadata* metadata) {
  if (field.is_varint) {
    if (field.number == 5) return false;
    if (int64_t OpMetadata::*const number = NumberField(field.number); number != nullptr)
      metadata->*number = static_cast<int32_t>(field.value);
    return true;
  }
  if (!field.is_bytes) return true;
  switch (field.number) {
    case 1:
      metadata->op_type = texts.Add(field.payload);
      return true;
    case 2:
      metadata->op_name = texts.Add(field.payload);
      return true;
    case 3:
      metadata->source_file = texts.Add(field.payload);
      return true;
    case 5:
    case 20:
      return false;
    case 12:
      metadata->deduplicated_name = texts.Add(field.payload);
      return true;
    case 16:
      metadata->scheduling_name = texts.Add(field.payload);
      return true;
    default:
      return true;
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<const InstructionExtras>> MetadataReader::Read(std::string_view bytes,
                                                                              Payloads& payloads) {
  if (bytes.empty()) return nullptr;
  if (bytes == last_bytes_) return last_;
  const auto [entry, is_new] = known_.try_emplace(absl::string_view(bytes.data(), bytes.size()));
  if (is_new) {
    ASSAY_ASSIGN_OR_RETURN(entry->second, Decoded(bytes, payloads));
  }
  last_bytes_ = bytes;
  return last_ = entry->second;
}

absl::StatusOr<std::shared_ptr<const InstructionExtras>> MetadataReader::Decoded(std::string_view bytes,
                                                                                 Payloads& payloads) {
  std::shared_ptr<InstructionExtras> extras = extras_.New();
  OpMetadata& metadata = extras->metadata;
  WireReader reader(bytes);
  WireField field;
  bool is_whole = true;
  while (is_whole && !reader.AtEnd())
    is_whole = reader.Next(&field).ok() && TakeField(field, texts_, &metadata);
  if (!is_whole) {
    pb::OpMetadata message;
    ASSAY_RETURN_IF_ERROR(Decode(bytes, "OpMetadata", &message));
    ASSAY_ASSIGN_OR_RETURN(metadata, MetadataFrom(message, payloads));
  }
  if (IsPlain(metadata)) return nullptr;
  return extras;
}

}  // namespace assay::proto
