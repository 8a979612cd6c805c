#include "hlo/opcode.h"

#include <array>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace assay {
namespace {

struct Row {
  std::string_view id, hlo, stablehlo;
};
constexpr Row kRows[] = {
#define OP(id, hlo, stablehlo) {#id, hlo, stablehlo},
#include "hlo/ops.def"
#undef OP
};

}  // namespace

std::string_view Name(Opcode opcode) { return kRows[static_cast<int>(opcode)].hlo; }
std::string_view IdName(Opcode opcode) { return kRows[static_cast<int>(opcode)].id; }
std::string_view StableHloName(Opcode opcode) { return kRows[static_cast<int>(opcode)].stablehlo; }

std::optional<Opcode> OpcodeFromName(std::string_view hlo_name) {
  static const auto* const kByName = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, Opcode>();
    for (int i = 0; i < kNumOpcodes; ++i) {
      map->emplace(absl::string_view(kRows[i].hlo.data(), kRows[i].hlo.size()), static_cast<Opcode>(i));
    }
    return map;
  }();
  const auto it = kByName->find(absl::string_view(hlo_name.data(), hlo_name.size()));
  if (it == kByName->end()) return std::nullopt;
  return it->second;
}

}  // namespace assay
