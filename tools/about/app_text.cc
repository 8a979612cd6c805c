#include "tools/about/app_text.h"

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::cli {
namespace {

// Those of a description "TEXT:{exact,reference}".
std::vector<std::string> ChoicesOf(const std::string& type) {
  std::vector<std::string> choices;
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return choices;
  for (size_t at = open + 1; at <= close;) {
    const size_t end = std::min(type.find(',', at), close);
    choices.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return choices;
}

FlagText TextOf(const CLI::Option& option) {
  FlagText text;
  if (option.get_positional()) {
    text.names = {option.get_name(true)};
    text.is_repeatable = option.get_expected_max() > 1;
  } else {
    for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  }
  text.takes_value = option.get_expected_min() > 0 && option.get_type_size_min() > 0;
  text.is_required = option.get_required();
  text.choices = ChoicesOf(option.get_type_name());
  text.help = option.get_description();
  return text;
}

void AddCommands(const CLI::App& app, const std::string& name, std::vector<CommandText>& commands) {
  const size_t at = commands.size();
  commands.push_back({name, app.get_description(), {}, {}, {}});
  for (const CLI::Option* const option : app.get_options({})) {
    if (option->get_group() == "Old names") continue;
    const FlagText text = TextOf(*option);
    (option->get_positional() ? commands[at].positionals : commands[at].flags).push_back(text);
  }
  for (const CLI::App* const command : app.get_subcommands({})) {
    commands[at].commands.push_back(command->get_name());
    AddCommands(*command, name.empty() ? command->get_name() : name + " " + command->get_name(), commands);
  }
}

}  // namespace

std::vector<CommandText> CommandsOf(const CLI::App& app) {
  std::vector<CommandText> commands;
  AddCommands(app, "", commands);
  return commands;
}

std::string UsageOf(const FlagText& flag) {
  if (!flag.names[0].starts_with("-")) return flag.names[0] + (flag.is_repeatable ? "..." : "");
  std::string text = fmt::format("{}", fmt::join(flag.names, ", "));
  if (!flag.takes_value) return text;
  return text + " " + (flag.choices.empty() ? "VALUE" : fmt::format("{{{}}}", fmt::join(flag.choices, "|")));
}

}  // namespace assay::cli
