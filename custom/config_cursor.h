// A place in the text of a backend_config, and the errors that name it: for the readers of both its forms.
#ifndef ASSAY_CUSTOM_CONFIG_CURSOR_H_
#define ASSAY_CUSTOM_CONFIG_CURSOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/hash_map.h"
#include "base/text_cursor.h"
#include "custom/config_dictionary.h"
#include "fmt/format.h"

namespace assay::custom {

inline constexpr int kMaxConfigLevels = 100;
inline bool IsDigit(char c) { return absl::ascii_isdigit(c); }
inline bool IsWordByte(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.'; }

class ConfigCursor : public TextCursor {
 public:
  using TextCursor::TextCursor;

  absl::Status Expect(char c) { return TakeNext(c) ? absl::OkStatus() : Unexpected(fmt::format("'{}'", c)); }
  // A word, or nothing.
  std::string_view Word() {
    SkipSpace();
    return IsDigit(Peek()) ? std::string_view() : TakeWhile(IsWordByte);
  }
  absl::Status Unexpected(std::string_view wanted) {
    SkipSpace();
    if (AtEnd()) return Error(at(), fmt::format("the text ends, want {}", wanted));
    const char c = Peek();
    const std::string found = c > ' ' && c < 0x7f
                                  ? std::string(1, c)
                                  : fmt::format("\\{:02X}", static_cast<unsigned>(static_cast<uint8_t>(c)));
    return Error(at(), fmt::format("found '{}', want {}", found, wanted));
  }
  static absl::Status Error(size_t at, std::string_view message) {
    return InvalidProgram({}, fmt::format("backend_config: byte {}: {}", at, message));
  }
  // `read` for each of the items between `open`, which stands here, and `close`.
  template <typename Read>
  absl::Status List(char open, char close, Read read) {
    const size_t begin = at();
    ASSAY_RETURN_IF_ERROR(Expect(open));
    if (++level_ > kMaxConfigLevels)
      return ProgramLimitExceeded({}, "levels of backend_config", level_, kMaxConfigLevels);
    if (!TakeNext(close)) {
      do ASSAY_RETURN_IF_ERROR(read());
      while (TakeNext(','));
      if (!TakeNext(close)) return Unexpected(fmt::format("',' or the '{}' of byte {}", close, begin));
    }
    --level_;
    return absl::OkStatus();
  }
  // Adds a field whose name started at `name_at`, and gives its value to fill.
  static absl::Status AddField(size_t name_at, std::string name, HashSet<std::string>& names,
                               ConfigDictionary& dictionary) {
    if (!names.insert(name).second) return Error(name_at, fmt::format("the name '{}' stands twice", name));
    dictionary.emplace_back(std::move(name), ConfigValue{});
    return absl::OkStatus();
  }

 private:
  int level_ = 0;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_CONFIG_CURSOR_H_
