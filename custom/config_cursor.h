// A place in the text of a backend_config, and the errors that name it: for the readers of both its forms.
#ifndef ASSAY_CUSTOM_CONFIG_CURSOR_H_
#define ASSAY_CUSTOM_CONFIG_CURSOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/error.h"
#include "custom/config_dictionary.h"
#include "fmt/format.h"

namespace assay::custom {

inline constexpr int kMaxConfigLevels = 100;
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsWordByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '.';
}

class ConfigCursor {
 public:
  explicit ConfigCursor(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  void GoTo(size_t at) { at_ = at; }
  std::string_view From(size_t begin) const { return text_.substr(begin, at_ - begin); }
  bool AtEnd() const { return at_ == text_.size(); }
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void Skip(size_t bytes = 1) { at_ += bytes; }
  void SkipSpace() {
    while (!AtEnd() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool Eat(char c) {
    SkipSpace();
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  absl::Status Expect(char c) { return Eat(c) ? absl::OkStatus() : Unexpected(fmt::format("'{}'", c)); }
  // A word, or nothing.
  std::string_view Word() {
    SkipSpace();
    const size_t begin = at_;
    if (IsDigit(Peek())) return {};
    while (!AtEnd() && IsWordByte(text_[at_])) ++at_;
    return From(begin);
  }
  absl::Status Unexpected(std::string_view wanted) {
    SkipSpace();
    if (AtEnd()) return Error(at_, fmt::format("the text ends, want {}", wanted));
    const char c = text_[at_];
    const std::string found = c > ' ' && c < 0x7f
                                  ? std::string(1, c)
                                  : fmt::format("\\{:02X}", static_cast<unsigned>(static_cast<uint8_t>(c)));
    return Error(at_, fmt::format("found '{}', want {}", found, wanted));
  }
  static absl::Status Error(size_t at, std::string_view message) {
    return InvalidProgram({}, fmt::format("backend_config: byte {}: {}", at, message));
  }
  // `read` for each of the items between `open`, which stands here, and `close`.
  template <typename Read>
  absl::Status List(char open, char close, Read read) {
    const size_t begin = at_;
    ASSAY_RETURN_IF_ERROR(Expect(open));
    if (++level_ > kMaxConfigLevels)
      return ProgramLimitExceeded({}, "levels of backend_config", level_, kMaxConfigLevels);
    if (!Eat(close)) {
      do ASSAY_RETURN_IF_ERROR(read());
      while (Eat(','));
      if (!Eat(close)) return Unexpected(fmt::format("',' or the '{}' of byte {}", close, begin));
    }
    --level_;
    return absl::OkStatus();
  }
  // Adds a field whose name started at `name_at`, and gives its value to fill.
  static absl::Status AddField(size_t name_at, std::string name, absl::flat_hash_set<std::string>& names,
                               ConfigDictionary& dictionary) {
    if (!names.insert(name).second) return Error(name_at, fmt::format("the name '{}' stands twice", name));
    dictionary.emplace_back(std::move(name), ConfigValue{});
    return absl::OkStatus();
  }

 private:
  const std::string_view text_;
  size_t at_ = 0;
  int level_ = 0;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_CONFIG_CURSOR_H_
