#include "base/text_cursor.h"

#include <algorithm>

namespace assay {

SourcePosition PositionAt(std::string_view text, size_t offset, SourcePosition base) {
  const std::string_view before = text.substr(0, offset);
  const size_t newline = before.rfind('\n');
  if (newline == std::string_view::npos)
    return {base.line, base.column + static_cast<int32_t>(before.size())};
  return {base.line + static_cast<int32_t>(std::count(before.begin(), before.end(), '\n')),
          static_cast<int32_t>(before.size() - newline)};
}

bool TextCursor::SkipSpaceAndComments() {
  while (true) {
    SkipSpace();
    if (Peek() != '/') return true;
    if (Peek(1) == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (Peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      at_ = end + 2;
    } else {
      return true;
    }
  }
}

}  // namespace assay
