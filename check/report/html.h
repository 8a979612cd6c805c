// Text as it stands in a page.
#ifndef ASSAY_CHECK_REPORT_HTML_H_
#define ASSAY_CHECK_REPORT_HTML_H_

#include <string>
#include <string_view>

namespace assay {

// Text, or the value of an attribute in quotes: names of programs and words of backends may hold anything.
// Control characters and what is no UTF-8 are shown as \xHH.
std::string EscapeHtml(std::string_view text);
// The first `most` characters of a text, and that it goes on.
std::string Shortened(std::string_view text, size_t most);
// A digest in hexadecimal digits as base64, which policies of pages name it by.
std::string Base64OfHex(std::string_view hex);

}  // namespace assay

#endif  // ASSAY_CHECK_REPORT_HTML_H_
