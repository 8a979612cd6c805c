#include "hlo/opcode_names.h"

#include "base/suggestion.h"
#include "fmt/format.h"
#include "hlo/opcode.h"

namespace assay {

std::vector<std::string> OpcodeNames() {
  std::vector<std::string> names;
  for (int i = 0; i < kNumOpcodes; ++i) names.emplace_back(Name(static_cast<Opcode>(i)));
  return names;
}

std::string UnknownOpcode(std::string_view name) {
  const std::string_view shown = name.substr(0, 60);
  return fmt::format("unknown opcode '{}'{}", shown, DidYouMean(shown, OpcodeNames()));
}

std::string NearStableHloNames(std::string_view name) {
  std::vector<std::string> names;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const std::string_view known = StableHloName(static_cast<Opcode>(i));
    if (known.empty()) continue;
    // Those of CHLO have their dialect.
    names.push_back(known.find('.') == std::string_view::npos ? fmt::format("stablehlo.{}", known)
                                                              : std::string(known));
  }
  return DidYouMean(name, names);
}

}  // namespace assay
