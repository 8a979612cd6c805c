#include "tools/about/man_page.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "fmt/format.h"

namespace assay::cli {
namespace {

// The code point of `text` at `at`, which is moved behind it; of text that is no UTF-8, a byte.
uint32_t NextCodePoint(std::string_view text, size_t& at) {
  const auto first = static_cast<uint8_t>(text[at++]);
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  uint32_t code = more == 0 ? first : first & (0x3fU >> more);
  for (int i = 0; i < more && at < text.size(); ++i)
    code = code << 6 | (static_cast<uint8_t>(text[at++]) & 0x3f);
  return code;
}

// As roff prints it: '-' is a minus and '\' itself; a dot or quote begins no request; ASCII.
std::string EscapedForRoff(std::string_view text) {
  std::string escaped;
  bool begins_line = true;
  for (size_t at = 0; at < text.size();) {
    const uint32_t code = NextCodePoint(text, at);
    if (begins_line && (code == '.' || code == '\'')) escaped += "\\&";
    begins_line = code == '\n';
    if (code >= 0x80) {
      escaped += fmt::format("\\[u{:04X}]", code);
    } else if (code == '\\') {
      escaped += "\\e";
    } else {
      escaped += code == '-' ? "\\-" : std::string(1, static_cast<char>(code));
    }
  }
  return escaped;
}

std::string Synopsis(const CommandText& command) {
  std::string text = fmt::format(".B {}\n", EscapedForRoff("assay " + command.name));
  for (const FlagText& positional : command.positionals) {
    const std::string shown = EscapedForRoff(UsageOf(positional));
    text += positional.is_required ? fmt::format(".I {}\n", shown) : fmt::format(".RI [ {} ]\n", shown);
  }
  return text + ".RI [ options ]\n.br\n";
}

std::string FlagsText(std::span<const FlagText> flags) {
  std::string text;
  for (const FlagText& flag : flags)
    text += fmt::format(".TP\n.B {}\n{}\n", EscapedForRoff(UsageOf(flag)), EscapedForRoff(flag.help));
  return text;
}

std::string TopicText(const Topic& topic) {
  return fmt::format("{}.\n.PP\n.nf\n{}.fi\n", EscapedForRoff(topic.summary), EscapedForRoff(topic.text));
}

std::string Upper(std::string_view name) { return absl::AsciiStrToUpper(EscapedForRoff(name)); }

}  // namespace

std::string ManPage(std::span<const CommandText> commands, std::span<const Topic> topics,
                    std::string_view version) {
  const CommandText& whole = commands[0];
  std::string text = fmt::format(
      ".TH ASSAY 1 \"\" \"assay {}\" \"Assay\"\n.nh\n.ad l\n.SH NAME\nassay \\- reference evaluator and "
      "conformance checker for XLA programs\n.SH SYNOPSIS\n",
      EscapedForRoff(version));
  for (const CommandText& command : commands.subspan(1)) {
    if (!command.is_group()) text += Synopsis(command);
  }
  text += fmt::format(".SH DESCRIPTION\n{}.\n.SH OPTIONS\n{}.SH COMMANDS\n", EscapedForRoff(whole.help),
                      FlagsText(whole.flags));
  for (const CommandText& command : commands.subspan(1)) {
    if (command.is_group()) continue;
    text +=
        fmt::format(".SS {}\n{}.\n", EscapedForRoff("assay " + command.name), EscapedForRoff(command.help));
    text += FlagsText(command.positionals) + FlagsText(command.flags);
  }
  for (const Topic& topic : topics) text += fmt::format(".SH {}\n{}", Upper(topic.name), TopicText(topic));
  return text + ".SH SEE ALSO\n.BR \"assay help\" ,\nhttps://openxla.org/xla/operation_semantics\n";
}

}  // namespace assay::cli
