// The opcodes, by ops.def.
#ifndef ASSAY_HLO_OPCODE_H_
#define ASSAY_HLO_OPCODE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

enum class Opcode : uint8_t {
#define OP(id, hlo, stablehlo) k##id,
#include "hlo/ops.def"
#undef OP
};
inline constexpr int kNumOpcodes = 0
#define OP(id, hlo, stablehlo) +1
#include "hlo/ops.def"
#undef OP
    ;

std::string_view Name(Opcode opcode);           // "dynamic-slice"
std::string_view IdName(Opcode opcode);         // "DynamicSlice"
std::string_view StableHloName(Opcode opcode);  // "dynamic_slice", or empty
std::optional<Opcode> OpcodeFromName(std::string_view hlo_name);

}  // namespace assay

#endif  // ASSAY_HLO_OPCODE_H_
