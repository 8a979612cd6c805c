// What messages say of names that are no opcodes.
#ifndef ASSAY_HLO_OPCODE_NAMES_H_
#define ASSAY_HLO_OPCODE_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace assay {

std::vector<std::string> OpcodeNames();  // as HLO writes them, in the order of ops.def

// "unknown opcode 'gahter'; did you mean 'gather'?"; of the name 60 bytes at most.
std::string UnknownOpcode(std::string_view name);

// "; did you mean 'stablehlo.gather'?", or nothing, for an operation "stablehlo.gahter".
std::string NearStableHloNames(std::string_view name);

}  // namespace assay

#endif  // ASSAY_HLO_OPCODE_NAMES_H_
