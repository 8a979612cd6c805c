// One HloInstructionProto to an Instruction. Which fields an op uses is decided here, by its opcode; fields
// of other ops are skipped, as XLA skips them.
#ifndef ASSAY_HLO_PROTO_INSTRUCTION_READER_H_
#define ASSAY_HLO_PROTO_INSTRUCTION_READER_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "hlo/module.h"
#include "hlo/proto/devices.h"
#include "hlo/proto/instruction_head.h"
#include "hlo/proto/metadata_reader.h"

namespace assay::pb {
class HloInstructionProto;
class ShapeProto;
}  // namespace assay::pb

namespace assay::proto {

// Instructions compare ids by their low 32 bits.
class InstructionIds {
 public:
  // Forgets all; `expected` ids follow.
  void Reset(size_t expected);
  // -1: unknown or negative.
  int32_t Find(int64_t id) const;
  // False if the id is taken.
  bool Add(int64_t id, int32_t index);

 private:
  std::vector<int32_t> dense_;  // small ids, as every writer makes them; -1: free
  HashMap<uint32_t, int32_t> others_;
};
using ComputationIds = HashMap<int64_t, int32_t>;

class InstructionReader {
 public:
  explicit InstructionReader(const ComputationIds& computations) : computations_(computations) {}
  Payloads& payloads() { return payloads_; }
  // `message` has the fields that `head` has not; `above`: the computation with the instructions before it,
  // and `ids` their places.
  absl::Status Read(const InstructionHead& head, const pb::HloInstructionProto& message,
                    const Computation& above, const InstructionIds& ids, Instruction* instruction);
  // A ShapeProto, whose bytes must outlive the reader: what was decoded from equal bytes is one object.
  absl::StatusOr<std::shared_ptr<const Shape>> ReadShape(std::string_view bytes);
  // A LiteralProto; its shape's bytes as those of ReadShape.
  absl::StatusOr<Literal> ReadLiteral(std::string_view bytes);

 private:
  struct Draft;
  absl::Status ReadOpcode(Draft& draft);
  absl::Status ReadIds(Draft& draft, const InstructionIds& ids);
  absl::Status ReadExtras(Draft& draft);
  absl::Status ReadAttributes(Draft& draft);
  absl::Status ReadCallAttributes(Draft& draft);
  absl::Status ReadCollectiveAttributes(Draft& draft);
  absl::Status ReadCustomCall(Draft& draft);
  absl::Status ReadConditional(Draft& draft);
  // The n-th of exactly `count` called computations.
  absl::Status ReadCalled(Draft& draft, std::initializer_list<Attr> attrs);
  absl::StatusOr<std::vector<ComputationId>> Called(const Draft& draft) const;

  const ComputationIds& computations_;
  Payloads payloads_;
  HashMap<absl::string_view, std::shared_ptr<const Shape>> shapes_;
  std::string_view last_bytes_;  // of the last shape
  std::shared_ptr<const Shape> last_shape_;
  MetadataReader metadata_;
  ReplicaGroupReader groups_;
};

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_INSTRUCTION_READER_H_
