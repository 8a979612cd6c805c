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

// How many bytes of `text` a terminal may be given as they are: 1 for a printable ASCII byte, 2 to 4 for
// another character in valid UTF-8, 0 for what must be escaped: control characters, stray bytes, and
// characters that change the direction or the lines of what is around them.
size_t PrintableLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const uint32_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  uint32_t code = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kShortest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= kShortest[length] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  const bool harmless = code >= 0xa0 && code != 0x61c && !(code >= 0x200b && code <= 0x200f) &&
                        !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2060 && code <= 0x206f) &&
                        code != 0xfeff && code < 0xe0000;
  return valid && harmless ? length : 0;
}

// A source line with one column for each of its characters, and the column of byte `caret`.
std::string ShownLine(std::string_view line, size_t caret, size_t* caret_column) {
  std::string shown;
  size_t columns = 0;
  *caret_column = 0;
  for (size_t at = 0; at < line.size(); ++columns) {
    if (at <= caret) *caret_column = columns;
    const size_t length = PrintableLength(line.substr(at));
    shown += length == 0 ? std::string_view(" ") : line.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  if (caret >= line.size()) *caret_column = columns;
  return shown;
}

}  // namespace

std::string EscapeControls(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = PrintableLength(text.substr(at));
    if (length > 0) {
      escaped += text.substr(at, length);
    } else {
      escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    }
    at += std::max<size_t>(length, 1);
  }
  return escaped;
}

namespace {

std::string Render(std::string_view kind, std::string_view said, std::optional<SourcePosition> where,
                   std::string_view file, std::string_view source) {
  const std::string message = EscapeControls(said);
  const std::string name = EscapeControls(file);
  if (!where) return fmt::format("{}: {}: {}\n", name, kind, message);
  std::string text = fmt::format("{}:{}:{}: {}: {}\n", name, where->line, where->column, kind, message);
  std::string_view line = LineOf(source, where->line);
  if (line.empty() || where->column < 1) return text;
  size_t caret = std::min(static_cast<size_t>(where->column - 1), line.size());
  if (line.size() > kShownColumns && caret > kBeforeCaret) {
    line.remove_prefix(caret - kBeforeCaret);
    caret = kBeforeCaret;
  }
  line = line.substr(0, kShownColumns);
  const std::string shown = ShownLine(line, caret, &caret);
  return text + fmt::format("  {}\n  {}^\n", shown, std::string(caret, ' '));
}

}  // namespace

std::string RenderDiagnostic(const absl::Status& status, std::string_view file, std::string_view source) {
  return Render("error", {status.message().data(), status.message().size()}, PositionOf(status), file,
                source);
}

std::string RenderWarning(const Warning& warning, std::string_view file, std::string_view source) {
  return Render("warning", warning.message, warning.where, file, source);
}

}  // namespace assay
