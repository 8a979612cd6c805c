// Text as JSON strings.
#ifndef ASSAY_BASE_JSON_H_
#define ASSAY_BASE_JSON_H_

#include <string>
#include <string_view>

namespace assay {

// The text in quotes. Names may hold anything; what is no UTF-8 becomes U+FFFD, one a byte.
std::string JsonString(std::string_view text);

}  // namespace assay

#endif  // ASSAY_BASE_JSON_H_
