// JSON as it is written: from front to back, commas where they belong, strings in quotes.
#ifndef ASSAY_BASE_JSON_WRITER_H_
#define ASSAY_BASE_JSON_WRITER_H_

#include <cmath>
#include <concepts>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"
#include "fmt/format.h"

namespace assay {

// A value that is JSON already.
struct JsonText {
  std::string text;
};
inline JsonText SignificantDigits(double value, int digits) {
  return {fmt::format("{:.{}g}", value, digits)};
}
inline JsonText DecimalPlaces(double value, int places) { return {fmt::format("{:.{}f}", value, places)}; }

// Values are strings, bools, numbers (null where one is not finite), ranges of values, optionals (null where
// there is none), JsonText, and functions, which write one value themselves.
class JsonWriter {
 public:
  // Brackets of any kind, with what stands between the items inside of them.
  void Begin(std::string_view open, std::string_view separator = ", ") {
    Separate();
    text_ += open;
    levels_.push_back({separator, false});
  }
  void End(std::string_view close) {
    levels_.pop_back();
    text_ += close;
  }
  // From here on `separator` stands between the items of the innermost brackets.
  void SeparateBy(std::string_view separator) { levels_.back().separator = separator; }

  // Keys and values in turn.
  template <typename Value, typename... More>
  void Fields(std::string_view key, const Value& value, const More&... more) {
    Write(key);
    text_ += ": ";
    is_behind_key_ = true;
    Write(value);
    if constexpr (sizeof...(more) > 0) Fields(more...);
  }
  template <typename... KeysAndValues>
  void Object(const KeysAndValues&... fields) {
    Begin("{");
    Fields(fields...);
    End("}");
  }
  // `write` writes an item.
  template <typename Items, typename WriteItem>
  void Array(const Items& items, WriteItem write, std::string_view separator = ", ") {
    Begin("[", separator);
    for (const auto& item : items) write(item);
    End("]");
  }

  template <typename Value>
  void Write(const Value& value) {
    if constexpr (std::is_invocable_v<const Value&>) {
      value();
    } else if constexpr (std::same_as<Value, JsonText>) {
      Separate();
      text_ += value.text;
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      Write(JsonText{JsonString(value)});
    } else if constexpr (std::ranges::range<Value>) {
      Array(value, [&](const auto& item) { Write(item); });
    } else if constexpr (std::is_floating_point_v<Value>) {
      Write(JsonText{std::isfinite(value) ? fmt::format("{}", value) : "null"});
    } else if constexpr (std::is_arithmetic_v<Value>) {
      Write(JsonText{fmt::format("{}", value)});
    } else {
      value ? Write(*value) : Write(JsonText{"null"});
    }
  }

  // What was written so far. Who takes it out goes on behind it.
  std::string& text() { return text_; }

 private:
  struct Level {
    std::string_view separator;
    bool has_items;
  };
  void Separate() {
    if (std::exchange(is_behind_key_, false)) return;
    if (std::exchange(levels_.back().has_items, true)) text_ += levels_.back().separator;
  }

  std::string text_;
  std::vector<Level> levels_ = {{", ", false}};
  bool is_behind_key_ = false;
};

}  // namespace assay

#endif  // ASSAY_BASE_JSON_WRITER_H_
