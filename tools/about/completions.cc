#include "tools/about/completions.h"

#include "base/quoted.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::cli {
namespace {

constexpr char kBashHead[] = R"(# Completion of assay for bash. Written by: assay help --completion bash
_assay() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= flags= words= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${COMP_WORDS[i]}" in
)";
constexpr char kBashFlags[] = R"(    esac
  done
  case "$command" in
)";
constexpr char kBashValues[] = R"(  esac
  case "$command $before" in
)";
constexpr char kBashEnd[] = R"(    *) [[ $word == -* ]] && words=$flags ;;
  esac
  [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
  return 0
}
complete -o bashdefault -o default -F _assay assay
)";
constexpr char kZshHead[] = R"(#compdef assay
# Completion of assay for zsh. Written by: assay help --completion zsh
)";

std::vector<std::string> WordsFor(const FlagText& flag, const KnownWords& known) {
  if (!flag.choices.empty()) return flag.choices;
  for (const std::string& name : flag.names) {
    if (const auto it = known.find(name); it != known.end()) return it->second;
  }
  return {};
}

std::vector<std::string> NamesOf(std::span<const FlagText> flags) {
  std::vector<std::string> names;
  for (const FlagText& flag : flags) names.insert(names.end(), flag.names.begin(), flag.names.end());
  return names;
}

// The text with a backslash before each of `special`.
std::string Escaped(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// What completes a value: a few words, or files.
std::string ZshAction(const FlagText& flag, const KnownWords& known) {
  const std::vector<std::string> words = WordsFor(flag, known);
  return words.empty() ? "_files" : fmt::format("({})", fmt::join(words, " "));
}

// The specification of an option for _arguments: '--engine[exact (default)]:value:(exact reference)'.
std::string ZshSpec(const std::string& name, const FlagText& flag, const KnownWords& known) {
  return ShellWord(fmt::format("*{}[{}]{}", name, Escaped(flag.help, "[]:\\"),
                               flag.takes_value ? ":value:" + ZshAction(flag, known) : ""));
}

std::string FunctionOf(const std::string& command) {
  std::string name = "_assay_" + command;
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}

// A function that completes the words behind a command.
std::string ZshFunction(const CommandText& command, const KnownWords& known) {
  std::string text = fmt::format("{}() {{\n  _arguments -S \\\n", FunctionOf(command.name));
  for (const FlagText& flag : command.flags) {
    for (const std::string& name : flag.names) text += fmt::format("    {} \\\n", ZshSpec(name, flag, known));
  }
  for (const FlagText& positional : command.positionals) {
    text += fmt::format("    '{}:{}:{}' \\\n", positional.is_repeatable ? "*" : "", positional.names[0],
                        ZshAction(positional, known));
  }
  return text + "    && return 0\n}\n";
}

// A function that completes a command of a group, and hands on what is behind it.
std::string ZshGroup(const CommandText& group, std::span<const CommandText> commands) {
  const std::string prefix = group.name.empty() ? "" : group.name + " ";
  const std::string function = group.name.empty() ? "_assay" : FunctionOf(group.name);
  std::string text = fmt::format(
      "{}() {{\n  local context state state_descr line\n  local -a commands\n"
      "  typeset -A opt_args\n  commands=(\n",
      function);
  for (const CommandText& command : commands) {
    if (!command.name.starts_with(prefix) || command.name.empty()) continue;
    const std::string last = command.name.substr(prefix.size());
    if (last.empty() || last.find(' ') != std::string::npos) continue;
    text += fmt::format("    {}\n", ShellWord(last + ":" + command.help));
  }
  text += "  )\n  _arguments -S -C";
  for (const std::string& name : NamesOf(group.flags)) text += fmt::format(" '{}'", name);
  text +=
      " '1: :->command' '*:: :->rest' && return 0\n  case $state in\n"
      "    command) _describe command commands ;;\n    rest)\n      case $words[1] in\n";
  for (const std::string& name : group.commands)
    text += fmt::format("        {}) {} ;;\n", name, FunctionOf(prefix + name));
  return text + "      esac ;;\n  esac\n}\n";
}

}  // namespace

std::string BashCompletion(std::span<const CommandText> commands, const KnownWords& known) {
  std::string text = kBashHead;
  for (const CommandText& command : commands.subspan(1)) {
    const size_t space = command.name.find(' ');
    text += space == std::string::npos ? fmt::format("      ' {0}') command='{0}' ;;\n", command.name)
                                       : fmt::format("      '{0}') command='{0}' ;;\n", command.name);
  }
  text += kBashFlags;
  for (const CommandText& command : commands) {
    text += fmt::format("    '{}') flags='{}'", command.name, fmt::join(NamesOf(command.flags), " "));
    std::vector<std::string> words = command.commands;
    for (const FlagText& positional : command.positionals) {
      const std::vector<std::string> more = WordsFor(positional, known);
      words.insert(words.end(), more.begin(), more.end());
    }
    text += words.empty() ? " ;;\n" : fmt::format(" words='{}' ;;\n", fmt::join(words, " "));
  }
  text += kBashValues;
  for (const CommandText& command : commands) {
    for (const FlagText& flag : command.flags) {
      if (!flag.takes_value) continue;
      const std::vector<std::string> words = WordsFor(flag, known);
      for (const std::string& name : flag.names)
        text += fmt::format("    '{} {}') words='{}' ;;\n", command.name, name, fmt::join(words, " "));
    }
  }
  return text + kBashEnd;
}

std::string ZshCompletion(std::span<const CommandText> commands, const KnownWords& known) {
  std::string text = kZshHead;
  for (const CommandText& command : commands.subspan(1))
    text += command.is_group() ? ZshGroup(command, commands) : ZshFunction(command, known);
  return text + ZshGroup(commands[0], commands) + "_assay \"$@\"\n";
}

}  // namespace assay::cli
