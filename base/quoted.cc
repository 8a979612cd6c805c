#include "base/quoted.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "fmt/format.h"

namespace assay {

std::string ShownText(std::string_view text, size_t most) {
  std::string shown = "'";
  for (const char c : text.substr(0, most))
    shown +=
        absl::ascii_isprint(c) ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return shown + (text.size() > most ? "...'" : "'");
}

std::string ShellWord(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string ShellArgument(std::string_view text) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-+=./:,%@").find(c) != std::string_view::npos;
  };
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
  return plain ? std::string(text) : ShellWord(text);
}

}  // namespace assay
