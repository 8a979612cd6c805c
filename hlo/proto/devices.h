// Shardings and replica groups, both ways (docs/spec/hlo-proto.md section 5). A module keeps both as
// canonical HLO text, so reading writes text and lets the text parser check it, and writing reads the text
// again.
#ifndef ASSAY_HLO_PROTO_DEVICES_H_
#define ASSAY_HLO_PROTO_DEVICES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_map.h"
#include "hlo/attribute.h"
#include "hlo/module.h"

namespace assay::pb {
class FrontendAttributes;
class HloInstructionProto;
class OpMetadata;
class OpSharding;
class PayloadRef;
}  // namespace assay::pb

namespace assay::proto {

// Strings of the module that instructions name by number. What is copied from here is counted against a
// limit, because a name of three bytes may stand for a string of any length.
struct Payloads {
  static constexpr int64_t kMaxCopiedBytes = int64_t{1} << 26;
  std::vector<std::string_view> texts = {};
  int64_t copied_bytes = 0;
};
absl::StatusOr<std::string> PayloadOf(const pb::PayloadRef& message, Payloads& payloads);

absl::StatusOr<OpMetadata> MetadataFrom(const pb::OpMetadata& message, Payloads& payloads);
void WriteMetadata(const OpMetadata& metadata, pb::OpMetadata* message);

FrontendAttributes FrontendAttributesFrom(const pb::FrontendAttributes& message);
void WriteFrontendAttributes(const FrontendAttributes& attributes, pb::FrontendAttributes* message);

// The text has its braces.
absl::StatusOr<std::string> ShardingFrom(const pb::OpSharding& message, Payloads& payloads);
absl::Status WriteSharding(std::string_view text, pb::OpSharding* message);

// domain={kind="sharding", entry=..., exit=...}
absl::StatusOr<AttrValue> DomainFrom(const pb::HloInstructionProto& message, Payloads& payloads);
absl::Status WriteDomain(const std::string& text, pb::HloInstructionProto* message);

// Lists out compact groups once for each form, within a limit for the program.
class ReplicaGroupReader {
 public:
  // Null: the instruction names no groups.
  absl::StatusOr<std::shared_ptr<const ReplicaGroups>> Read(const pb::HloInstructionProto& message);

 private:
  HashMap<std::string, std::shared_ptr<const ReplicaGroups>> known_;
  int64_t expanded_devices_ = 0;
};
absl::Status WriteReplicaGroups(const ReplicaGroups& groups, pb::HloInstructionProto* message);

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_DEVICES_H_
