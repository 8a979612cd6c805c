#include "hlo/storage_range.h"

#include <charconv>

#include "fmt/format.h"

namespace assay {

std::string StorageRangeText(int64_t smallest, int64_t largest) {
  return fmt::format("{}:{}", smallest, largest);
}

std::optional<std::pair<int64_t, int64_t>> ParseStorageRange(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::pair<int64_t, int64_t> range;
  const auto [colon, error] = std::from_chars(text.data(), end, range.first);
  if (error != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto [last, second_error] = std::from_chars(colon + 1, end, range.second);
  if (second_error != std::errc() || last != end || range.first > range.second) return std::nullopt;
  // What 32 bits hold, signed or not.
  if (range.first < INT32_MIN || range.second > int64_t{UINT32_MAX}) return std::nullopt;
  return range;
}

}  // namespace assay
