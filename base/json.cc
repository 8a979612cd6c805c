#include "base/json.h"

#include <algorithm>
#include <cstdint>

#include "fmt/format.h"

namespace assay {
namespace {

// Bytes of the UTF-8 character that `text` begins with; 0: it is none (RFC 3629: no
// surrogates, nothing overlong, nothing beyond U+10FFFF).
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  const uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t k = 2; k < length; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) {
      quoted += "\\ufffd";
    } else if (static_cast<uint8_t>(text[0]) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<int>(text[0]));
    } else {
      if (text[0] == '"' || text[0] == '\\') quoted += '\\';
      quoted += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return quoted + '"';
}

}  // namespace assay
