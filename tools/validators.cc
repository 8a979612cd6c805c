#include "tools/validators.h"

#include <algorithm>
#include <cctype>
#include <cfloat>
#include <charconv>
#include <regex>
#include <sstream>
#include <string>

#include "base/suggestion.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/output_files.h"

namespace assay::cli {
namespace {

// A number in [low, high], not 0 where it has to be positive; neither nan nor inf.
CLI::Validator Number(double low, double high, bool positive, const std::string& what) {
  const auto check = [=](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = error == std::errc() && end == text.data() + text.size();
    if (number && value >= low && value <= high && !(positive && value == 0)) return "";
    return "'" + text + "' is not a " + what;
  };
  return CLI::Validator(check, "");
}
// What stands for nothing, as an unset variable of a script does, is no file.
CLI::Validator Path(bool output) {
  const auto check = [output](const std::string& text) -> std::string {
    if (text.empty()) return "'' names no file";
    return output && text == "-" ? "'-' names no file to write" : "";
  };
  return CLI::Validator(check, "");
}
}  // namespace

CLI::Validator Whole(uint64_t low, uint64_t high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && value >= low && value <= high) return "";
    return "'" + text + "' is not a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  };
  return CLI::Validator(check, "");
}

CLI::Validator Seconds() { return Number(0, 1e9, true, "number of seconds, more than 0 and at most 1e9"); }
CLI::Validator Tolerance() { return Number(0, DBL_MAX, false, "number that is at least 0"); }
CLI::Validator Input() { return Path(false); }
CLI::Validator Output() { return Path(true); }
CLI::Validator Seed() { return Whole(0, UINT64_MAX); }
CLI::Validator Count() { return Whole(1, INT64_MAX); }

CLI::Validator OneOf(const std::vector<std::string>& words) {
  const std::string list = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words, list](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return fmt::format("{} not in {}{}", text, list, DidYouMean(text, words));
  };
  return CLI::Validator(check, list);
}

CLI::Validator Regex() {
  const auto check = [](const std::string& text) -> std::string {
    try {
      const std::regex regex(text);
      return "";
    } catch (const std::regex_error& error) {
      return "'" + text + "' is not a regular expression: " + error.what();
    }
  };
  return CLI::Validator(check, "");
}

CLI::Validator PassRange() {
  const auto check = [](const std::string& text) -> std::string {
    constexpr uint64_t kMost = 1'000'000'000;
    const size_t colon = text.find(':');
    if (colon != std::string::npos && Whole(0, kMost)(text.substr(0, colon)).empty() &&
        Whole(0, kMost)(text.substr(colon + 1)).empty())
      return "";
    return "'" + text + "' is not LOW:HIGH, two whole numbers from 0 to " + std::to_string(kMost);
  };
  return CLI::Validator(check, "");
}

CLI::Validator Types() {
  const auto check = [](const std::string& text) { return std::string(ParseTypes(text).status().message()); };
  return CLI::Validator(check, "");
}

CLI::Validator ArgumentShapes() {
  const auto check = [](const std::string& text) -> std::string {
    std::istringstream entries(text);
    std::string entry;
    bool is_right = !text.empty() && text.back() != ',';
    while (is_right && std::getline(entries, entry, ',')) {
      const size_t equals = entry.find('=');
      is_right = equals != std::string::npos && equals > 0;
      bool after_digit = false;
      for (size_t i = equals + 1; is_right && i < entry.size(); ++i) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(entry[i])) != 0;
        is_right = is_digit || (entry[i] == 'x' && after_digit);
        after_digit = is_digit;
      }
      is_right = is_right && (after_digit || equals + 1 == entry.size());
    }
    return is_right ? "" : "'" + text + "' is not a list of sizes such as arg0=3x1,arg1=4";
  };
  return CLI::Validator(check, "");
}

}  // namespace assay::cli
