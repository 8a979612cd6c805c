#include "hlo/diagnostics.h"

#include <algorithm>
#include <optional>

#include "fmt/format.h"

namespace assay {
namespace {

constexpr size_t kShownColumns = 100;  // of a source line
constexpr size_t kBeforeCaret = 60;    // columns kept before the caret of a longer one

// Line `number` (1-based) without its line feed; empty where there is none.
std::string_view LineOf(std::string_view source, int32_t number) {
  size_t at = 0;
  for (int32_t line = 1; line < number; ++line) {
    at = source.find('\n', at);
    if (at == std::string_view::npos) return {};
    ++at;
  }
  return source.substr(at, source.find('\n', at) - at);
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string EscapeControls(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (char c : text) {
    if (IsControl(c)) {
      escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string RenderDiagnostic(const absl::Status& status, std::string_view file, std::string_view source) {
  const std::string message = EscapeControls({status.message().data(), status.message().size()});
  const std::string name = EscapeControls(file);
  const std::optional<SourcePosition> where = PositionOf(status);
  if (!where) return fmt::format("{}: error: {}\n", name, message);
  std::string text = fmt::format("{}:{}:{}: error: {}\n", name, where->line, where->column, message);
  std::string_view line = LineOf(source, where->line);
  if (line.empty() || where->column < 1) return text;
  size_t caret = std::min(static_cast<size_t>(where->column - 1), line.size());
  if (line.size() > kShownColumns && caret > kBeforeCaret) {
    line.remove_prefix(caret - kBeforeCaret);
    caret = kBeforeCaret;
  }
  line = line.substr(0, kShownColumns);
  // Everything before the caret keeps its width: control characters become one blank each.
  std::string shown(line);
  std::replace_if(shown.begin(), shown.end(), IsControl, ' ');
  return text + fmt::format("  {}\n  {}^\n", shown, std::string(std::min(caret, shown.size()), ' '));
}

}  // namespace assay
