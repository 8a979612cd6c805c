// SHA-256 (FIPS 180-4), for digests of files that are written.
#ifndef ASSAY_BASE_SHA256_H_
#define ASSAY_BASE_SHA256_H_

#include <string>
#include <string_view>

namespace assay {

// 64 hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace assay

#endif  // ASSAY_BASE_SHA256_H_
