// The frontend attribute of a parameter that holds the storage of a quantized type with a range of its own:
// which integers mean a number of that type. Nothing but random inputs keeps to it.
#ifndef ASSAY_HLO_STORAGE_RANGE_H_
#define ASSAY_HLO_STORAGE_RANGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

inline constexpr std::string_view kStorageRange = "storage_range";

// "-127:127"
std::string StorageRangeText(int64_t smallest, int64_t largest);
std::optional<std::pair<int64_t, int64_t>> ParseStorageRange(std::string_view text);

}  // namespace assay

#endif  // ASSAY_HLO_STORAGE_RANGE_H_
