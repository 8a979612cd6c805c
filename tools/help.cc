// assay help: commands, flags, topics, operations and rules by their names; the manual page and completions.
#include <algorithm>
#include <set>

#include "base/suggestion.h"
#include "check/profile.h"
#include "custom/lapack/lapack_ops.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"
#include "hlo/opcode_names.h"
#include "tools/about/app_text.h"
#include "tools/about/completions.h"
#include "tools/about/man_page.h"
#include "tools/about/topics.h"
#include "tools/commands.h"
#include "tools/specification.h"

namespace assay::cli {
namespace {

// The command "golden check" or "run"; null where there is none.
const CLI::App* FindCommand(const CLI::App& app, std::span<const std::string> words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> found =
        command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (found.empty()) return nullptr;
    command = found[0];
  }
  return command;
}

// What the commands say of the flag, and which those are; empty: none has it.
std::string FlagHelp(std::span<const CommandText> commands, const std::string& name) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_text;  // in the order of commands
  for (const CommandText& command : commands) {
    for (const FlagText& flag : command.flags) {
      if (std::find(flag.names.begin(), flag.names.end(), name) == flag.names.end()) continue;
      const std::string text = fmt::format("{}\n  {}\n", UsageOf(flag), flag.help);
      auto it = std::ranges::find(by_text, text, [](const auto& one) { return one.first; });
      if (it == by_text.end()) it = by_text.insert(it, {text, {}});
      it->second.push_back(command.name.empty() ? "assay itself" : command.name);
    }
  }
  std::string text;
  for (const auto& [help, names] : by_text)
    text += fmt::format("{}{}  of: {}\n", text.empty() ? "" : "\n", help, fmt::join(names, ", "));
  return text;
}

std::string Overview(const CLI::App& app, std::span<const CommandText> commands) {
  std::string text = fmt::format("{}\n\ncommands:\n", app.get_description());
  for (const CommandText& command : commands.subspan(1)) {
    if (!command.is_group()) text += fmt::format("  {:<18} {}\n", command.name, command.help);
  }
  text += "\ntopics:\n";
  for (const Topic& topic : Topics()) text += fmt::format("  {:<18} {}\n", topic.name, topic.summary);
  return text +
         "\nassay help NAME tells of a command, a topic, a flag (assay help random-inputs), an operation "
         "(gather) or a rule (Gather-C4).\n";
}

// All that help knows, for suggestions.
std::vector<std::string> KnownNames(std::span<const CommandText> commands) {
  std::vector<std::string> names;
  std::set<std::string> flags;
  for (const CommandText& command : commands) {
    names.push_back(command.name);
    for (const FlagText& flag : command.flags) {
      for (const std::string& name : flag.names) flags.insert(name.substr(name.find_first_not_of('-')));
    }
  }
  for (const Topic& topic : Topics()) names.emplace_back(topic.name);
  names.insert(names.end(), flags.begin(), flags.end());
  for (std::string& name : OpcodeNames()) names.push_back(std::move(name));
  return names;
}

KnownWords CompletionWords(std::span<const CommandText> commands) {
  KnownWords words;
  for (const std::string_view name : ProfileNames()) words["--profile"].emplace_back(name);
  words["OP"] = OpcodeNames();
  std::vector<std::string>& topics = words["TOPIC"];
  for (const std::string& name : commands[0].commands) topics.push_back(name);
  for (const Topic& topic : Topics()) topics.emplace_back(topic.name);
  words["PROFILE"] = words["--profile"];
  return words;
}

}  // namespace

int Help(const CLI::App& app, const HelpFlags& flags) {
  const std::vector<CommandText> commands = CommandsOf(app);
  if (flags.man) return Deliver(ManPage(commands, Topics(), ASSAY_VERSION));
  if (flags.completion == "bash") return Deliver(BashCompletion(commands, CompletionWords(commands)));
  if (flags.completion == "zsh") return Deliver(ZshCompletion(commands, CompletionWords(commands)));
  if (flags.topic.empty()) return Deliver(Overview(app, commands));
  if (const CLI::App* const command = FindCommand(app, flags.topic)) {
    const std::span<const std::string> before(flags.topic.data(), flags.topic.size() - 1);
    return Deliver(
        command->help(fmt::format("assay{}{}", before.empty() ? "" : " ", fmt::join(before, " "))));
  }
  const std::string name = fmt::format("{}", fmt::join(flags.topic, " "));
  if (const Topic* const topic = FindTopic(name))
    return Deliver(fmt::format("{}\n\n{}", topic->summary, topic->text));
  if (const std::string text = FlagHelp(commands, "--" + name); !text.empty()) return Deliver(text);
  OpsFlags op;
  op.op = name;
  if (KnowsOp(name)) return Ops(op);
  return UsageError(fmt::format("there is no command, topic, flag, operation or rule '{}'{}{}",
                                EscapeControls(name), EscapeControls(DidYouMean(name, KnownNames(commands))),
                                NearNames(name, KnownNames(commands)).empty() ? "; see assay help" : ""));
}

}  // namespace assay::cli
