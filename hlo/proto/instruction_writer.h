// The attributes of an instruction as fields of an HloInstructionProto.
#ifndef ASSAY_HLO_PROTO_INSTRUCTION_WRITER_H_
#define ASSAY_HLO_PROTO_INSTRUCTION_WRITER_H_

#include "hlo/module.h"

namespace assay::pb {
class HloInstructionProto;
}  // namespace assay::pb

namespace assay::proto {

// Attributes, literal and extras; not name, shape and ids, nor what it calls.
absl::Status WriteInstruction(const Computation& computation, const Instruction& instruction,
                              pb::HloInstructionProto* message);

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_INSTRUCTION_WRITER_H_
