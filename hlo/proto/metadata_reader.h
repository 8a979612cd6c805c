// OpMetadata messages to the extras of instructions.
#ifndef ASSAY_HLO_PROTO_METADATA_READER_H_
#define ASSAY_HLO_PROTO_METADATA_READER_H_

#include <memory>
#include <string_view>

#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "hlo/module.h"
#include "hlo/proto/devices.h"
#include "hlo/proto/wire.h"

namespace assay::proto {

class MetadataReader {
 public:
  // Extras with nothing but this metadata; null: there is nothing in it. The bytes must outlive the reader:
  // what was decoded from equal bytes is one object.
  absl::StatusOr<std::shared_ptr<const InstructionExtras>> Read(std::string_view bytes, Payloads& payloads);

 private:
  absl::StatusOr<std::shared_ptr<const InstructionExtras>> Decoded(std::string_view bytes,
                                                                   Payloads& payloads);

  SharedPool<InstructionExtras> extras_;
  TextPool texts_;
  HashMap<absl::string_view, std::shared_ptr<const InstructionExtras>> known_;
  std::string_view last_bytes_;
  std::shared_ptr<const InstructionExtras> last_;
};

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_METADATA_READER_H_
