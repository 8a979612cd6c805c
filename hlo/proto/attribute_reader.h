// Attributes that a message holds by itself, without the module around it.
#ifndef ASSAY_HLO_PROTO_ATTRIBUTE_READER_H_
#define ASSAY_HLO_PROTO_ATTRIBUTE_READER_H_

#include <string>

#include "hlo/module.h"
#include "hlo/proto/instruction_head.h"
#include "hlo/proto/words.h"

namespace assay::pb {
class HloInstructionProto;
}  // namespace assay::pb

namespace assay::proto {

// The attributes of the ops that need no more than their fields; of other ops, nothing.
absl::Status ReadOwnAttributes(const InstructionHead& head, const pb::HloInstructionProto& message,
                               Opcode opcode, AttributeMap* attributes);

// Sets the word of a number unless it is the one that goes without saying.
absl::Status SetWord(const WordTable& table, int32_t number, int32_t unsaid, Attr attr,
                     AttributeMap* attributes);
void ReadAliasing(const pb::HloInstructionProto& message, AttributeMap* attributes);
absl::Status ReadAccuracy(const pb::HloInstructionProto& message, AttributeMap* attributes);
// window, dimension numbers, group counts and precision: of convolutions, and of custom calls in their place.
absl::Status ReadConvolution(const pb::HloInstructionProto& message, bool required, AttributeMap* attributes);
absl::Status ReadCompare(const InstructionHead& head, std::string_view old_direction,
                         AttributeMap* attributes);
// `operand`: the shape of the first, which says how long each list of slice sizes is; null: none.
absl::Status ReadCollectivePermute(const pb::HloInstructionProto& message, const Shape* operand,
                                   AttributeMap* attributes);
// The literal becomes the constant's, as a value of the instruction's shape.
absl::Status SetConstant(Literal literal, Instruction* constant);
absl::Status OriginFrom(const std::string& text, std::string* origin);

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_ATTRIBUTE_READER_H_
