#include "check/report/html.h"

#include <cstdint>

#include "hlo/diagnostics.h"

namespace assay {
namespace {

uint32_t DigitOf(char c) { return static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10); }

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : EscapeControls(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string Shortened(std::string_view text, size_t most) {
  size_t characters = 0;
  for (size_t k = 0; k < text.size(); ++k) {
    const bool begins = (static_cast<unsigned char>(text[k]) & 0xC0) != 0x80;
    if (begins && characters++ == most) return std::string(text.substr(0, k)) + "…";
  }
  return std::string(text);
}

std::string Base64OfHex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = bits << 4 | DigitOf(c);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += kDigits[bits >> count & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace assay
