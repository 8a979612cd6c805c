#include "hlo/opcode.h"

#include "hlo/name_index.h"

namespace assay {
namespace {

struct OpcodeRow {
  std::string_view id, hlo, stablehlo;
};
constexpr OpcodeRow kOpcodeRows[] = {
#define OP(id, hlo, stablehlo) {#id, hlo, stablehlo},
#include "hlo/ops.def"
#undef OP
};

}  // namespace

std::string_view Name(Opcode opcode) { return kOpcodeRows[static_cast<int>(opcode)].hlo; }
std::string_view IdName(Opcode opcode) { return kOpcodeRows[static_cast<int>(opcode)].id; }
std::string_view StableHloName(Opcode opcode) { return kOpcodeRows[static_cast<int>(opcode)].stablehlo; }

std::optional<Opcode> OpcodeFromName(std::string_view hlo_name) {
  static constexpr NameIndex kByName(kOpcodeRows, &OpcodeRow::hlo);
  const int row = kByName.Find(hlo_name);
  if (row < 0) return std::nullopt;
  return static_cast<Opcode>(row);
}

}  // namespace assay
