// What the declarations of the command line (tools/declarations.h) say, as data: the manual page and the
// completions of shells are made of it.
#ifndef ASSAY_TOOLS_ABOUT_APP_TEXT_H_
#define ASSAY_TOOLS_ABOUT_APP_TEXT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace assay::cli {

struct FlagText {
  std::vector<std::string> names;  // "--engine"; of what stands without a flag, "PROGRAM"
  bool takes_value = false;        // of what has a flag
  bool is_required = false;
  bool is_repeatable = false;        // of what stands without a flag: PATH...
  std::vector<std::string> choices;  // the values that there are; empty: any
  std::string help;
};

struct CommandText {
  std::string name;  // "golden check"
  std::string help;
  std::vector<FlagText> flags, positionals;
  std::vector<std::string> commands;  // of a group such as "golden": check, update, record

  bool is_group() const { return !commands.empty(); }
};

// The command itself, with an empty name, then its commands, each group before its own, in the order in which
// they are declared. What is declared under "Old names" is left out.
std::vector<CommandText> CommandsOf(const CLI::App& app);

// "--engine {exact|reference}", "PATH...", as a synopsis has it.
std::string UsageOf(const FlagText& flag);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_ABOUT_APP_TEXT_H_
