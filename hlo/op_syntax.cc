#include "hlo/op_syntax.h"

#include <array>

namespace assay {
namespace {

constexpr uint32_t Bit(Syntax fact) { return uint32_t{1} << static_cast<int>(fact); }

constexpr auto kFacts = [] {
  std::array<uint32_t, kNumOpcodes> facts{};
#define SYNTAX(id, fact) facts[static_cast<size_t>(Opcode::k##id)] |= Bit(Syntax::k##fact);
#include "hlo/op_syntax.def"
#undef SYNTAX
  return facts;
}();

}  // namespace

bool Has(Opcode opcode, Syntax fact) { return (kFacts[static_cast<size_t>(opcode)] & Bit(fact)) != 0; }

}  // namespace assay
