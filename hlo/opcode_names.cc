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
  constexpr std::string_view kDialect = "stablehlo.";
  if (!name.starts_with(kDialect)) return "";
  std::vector<std::string> names;
  for (int i = 0; i < kNumOpcodes; ++i) {
    const std::string_view known = StableHloName(static_cast<Opcode>(i));
    if (!known.empty()) names.emplace_back(known);
  }
  std::string text;
  for (const std::string& near : NearNames(name.substr(kDialect.size()), names))
    text += fmt::format("{}'{}{}'", text.empty() ? "; did you mean " : " or ", kDialect, near);
  return text.empty() ? text : text + "?";
}

}  // namespace assay
