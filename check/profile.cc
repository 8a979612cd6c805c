#include "check/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/counted.h"
#include "base/file_io.h"
#include "base/suggestion.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay {
namespace {

// The texts of check/profiles/, which CMakeLists.txt puts together.
constexpr std::pair<std::string_view, std::string_view> kProfiles[] = {
#include "check/profile_texts.inc"
};

constexpr int kMaxInherited = 16;

// What made the profile; the backend with its versions; the device; its driver; the day; what was tried.
constexpr std::string_view kOriginKeys[] = {"made_by", "backend", "device", "driver", "date", "arguments"};

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  while (true) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

absl::StatusOr<ElementType> FloatType(std::string_view word) {
  const std::optional<ElementType> type = ElementTypeFromName(word);
  if (type.has_value() && IsFloat(*type)) return *type;
  return BadInput(fmt::format("'{}' is not a floating-point type", word));
}

absl::StatusOr<double> NumberOf(std::string_view word, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size() && value >= 0 && value <= most) return value;
  return BadInput(fmt::format("'{}' is not a number from 0 to {}", word, most));
}

class Parser {
 public:
  Parser(Profile& profile, int depth) : profile_(profile), depth_(depth) {}

  absl::Status Read(std::string_view name, std::string_view text) {
    for (int line = 1; !text.empty(); ++line) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::vector<std::string_view> words = WordsOf(text.substr(0, end));
      if (!words.empty()) {
        const absl::Status status = ReadLine(words);
        if (!status.ok()) return WithPrefix(status, fmt::format("profile {}, line {}", name, line));
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadLine(const std::vector<std::string_view>& words) {
    const std::string_view key = words[0];
    const size_t n = words.size() - 1;
    if (std::find(std::begin(kOriginKeys), std::end(kOriginKeys), key) != std::end(kOriginKeys) && n > 0) {
      if (depth_ == 0)
        profile_.origin.push_back(
            {std::string(key), fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " "))});
      return absl::OkStatus();
    }
    if (key == "variant" && n == 1) {
      if (depth_ == 0) profile_.variants.emplace_back(words[1]);
      return absl::OkStatus();
    }
    if (key == "inherit" && n == 1) return Inherit(words[1]);
    if (key == "ulps" && n == 3) {
      ASSAY_ASSIGN_OR_RETURN(Profile::Ulps rule, ReadRule(words));
      ASSAY_ASSIGN_OR_RETURN(rule.ulps, NumberOf(words[3], 1e30));
      profile_.ulps.push_back(rule);
      return absl::OkStatus();
    }
    if (key == "underflows" && n == 2) {
      ASSAY_ASSIGN_OR_RETURN(const Profile::Ulps rule, ReadRule(words));
      profile_.underflows.push_back(rule);
      return absl::OkStatus();
    }
    if ((key == "accumulate" || key == "accumulate_dots") && n == 2) {
      ASSAY_ASSIGN_OR_RETURN(const ElementType type, FloatType(words[1]));
      ASSAY_ASSIGN_OR_RETURN(const ElementType kept, FloatType(words[2]));
      profile_.dot_accumulators[static_cast<size_t>(type)] = kept;
      if (key == "accumulate") profile_.accumulators[static_cast<size_t>(type)] = kept;
      return absl::OkStatus();
    }
    if (key == "dot_input_bits" && n == 2) return ReadBits(words, profile_.dot_input_bits);
    if (key == "tensor_core_bits" && n == 2) return ReadBits(words, profile_.tensor_core_bits);
    if (key == "keeps_precision") return ReadTypes(words, profile_.keeps_precision);
    if (key == "flushes_subnormals") return ReadTypes(words, profile_.flushes);
    if (key == "contracts" && n == 1 && (words[1] == "yes" || words[1] == "no")) {
      profile_.contracts = words[1] == "yes";
      return absl::OkStatus();
    }
    if (key == "stores_dots" && n == 1 && (words[1] == "yes" || words[1] == "no")) {
      profile_.stores_dots = words[1] == "yes";
      return absl::OkStatus();
    }
    if (key == "stores_loop_state" && n == 1 && (words[1] == "yes" || words[1] == "no")) {
      profile_.stores_loop_state = words[1] == "yes";
      return absl::OkStatus();
    }
    return BadInput(fmt::format(
        "'{}' with {} behind it is not a line of a profile, want inherit NAME, variant NAME, ulps OP TYPE "
        "NUMBER, underflows OP TYPE, accumulate TYPE TYPE, accumulate_dots TYPE TYPE, dot_input_bits TYPE "
        "NUMBER, tensor_core_bits TYPE "
        "NUMBER, keeps_precision TYPE..., flushes_subnormals TYPE..., contracts yes|no, stores_dots yes|no, "
        "stores_loop_state yes|no, or {} TEXT",
        key, Counted(n, "word"), fmt::join(kOriginKeys, ", ")));
  }

  absl::Status Inherit(std::string_view name) {
    if (depth_ >= kMaxInherited)
      return BadInput(fmt::format("profiles inherit each other more than {} deep", depth_));
    for (const auto& [known, text] : kProfiles) {
      if (known == name) return Parser(profile_, depth_ + 1).Read(name, text);
    }
    return BadInput(fmt::format("there is no profile '{}' to inherit", name));
  }

  static absl::StatusOr<Profile::Ulps> ReadRule(const std::vector<std::string_view>& words) {
    Profile::Ulps rule;
    rule.ulps = 0;
    if (words[1] != "*") {
      rule.op = OpcodeFromName(words[1]);
      if (!rule.op.has_value()) return BadInput(fmt::format("'{}' is not an operation", words[1]));
    }
    if (words[2] != "*") {
      ASSAY_ASSIGN_OR_RETURN(rule.type, FloatType(words[2]));
    }
    return rule;
  }

  static absl::Status ReadBits(const std::vector<std::string_view>& words,
                               std::array<int, kNumElementTypes>& bits) {
    ASSAY_ASSIGN_OR_RETURN(const ElementType type, FloatType(words[1]));
    ASSAY_ASSIGN_OR_RETURN(const double number, NumberOf(words[2], 64));
    if (number != std::floor(number)) return BadInput(fmt::format("'{}' is not a whole number", words[2]));
    bits[static_cast<size_t>(type)] = static_cast<int>(number);
    return absl::OkStatus();
  }

  absl::Status ReadTypes(const std::vector<std::string_view>& words, TypeSet& types) {
    types = kNoTypes;
    for (size_t k = 1; k < words.size(); ++k) {
      ASSAY_ASSIGN_OR_RETURN(const ElementType type, FloatType(words[k]));
      types = types | TypeSet::Of(type);
    }
    return absl::OkStatus();
  }

  Profile& profile_;
  const int depth_;
};

bool IsFor(const Profile::Ulps& rule, Opcode op, ElementType type) {
  return (!rule.op || *rule.op == op) && (!rule.type || *rule.type == type);
}

std::string RuleText(const Profile::Ulps& rule) {
  return fmt::format("{} {}", rule.op ? Name(*rule.op) : "*", rule.type ? Name(*rule.type) : "*");
}

std::string TypesText(std::string_view key, TypeSet types) {
  std::string text(key);
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (types.Has(type)) text += fmt::format(" {}", Name(type));
  }
  return text + "\n";
}

}  // namespace

Profile::Profile() {
  for (int t = 0; t < kNumElementTypes; ++t)
    accumulators[static_cast<size_t>(t)] = dot_accumulators[static_cast<size_t>(t)] =
        static_cast<ElementType>(t);
}

double Profile::UlpsOf(Opcode op, ElementType type) const {
  double found = 0.5;
  for (const Ulps& rule : ulps) {
    if (IsFor(rule, op, type)) found = rule.ulps;
  }
  return found;
}

bool Profile::Flushes(ElementType type) const {
  return flushes.Has(IsComplex(type) ? ComponentType(type) : type);
}

bool Profile::Underflows(Opcode op, ElementType type) const {
  return std::any_of(underflows.begin(), underflows.end(),
                     [&](const Ulps& rule) { return IsFor(rule, op, type); });
}

std::vector<std::string_view> ProfileNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, text] : kProfiles) names.push_back(name);
  return names;
}

absl::StatusOr<Profile> ParseProfile(std::string_view name, std::string_view text) {
  Profile profile;
  profile.name = name;
  ASSAY_RETURN_IF_ERROR(Parser(profile, 0).Read(name, text));
  return profile;
}

std::string TextOf(const Profile& profile) {
  std::string text;
  for (const Profile::Origin& line : profile.origin) text += fmt::format("{} {}\n", line.key, line.text);
  for (const std::string& variant : profile.variants) text += fmt::format("variant {}\n", variant);
  for (const Profile::Ulps& rule : profile.ulps)
    text += fmt::format("ulps {} {}\n", RuleText(rule), rule.ulps);
  for (const Profile::Ulps& rule : profile.underflows) text += fmt::format("underflows {}\n", RuleText(rule));
  for (size_t t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (profile.accumulators[t] != type)
      text += fmt::format("accumulate {} {}\n", Name(type), Name(profile.accumulators[t]));
    if (profile.dot_accumulators[t] != profile.accumulators[t])
      text += fmt::format("accumulate_dots {} {}\n", Name(type), Name(profile.dot_accumulators[t]));
    if (profile.dot_input_bits[t] != 0)
      text += fmt::format("dot_input_bits {} {}\n", Name(type), profile.dot_input_bits[t]);
    if (profile.tensor_core_bits[t] != 0)
      text += fmt::format("tensor_core_bits {} {}\n", Name(type), profile.tensor_core_bits[t]);
  }
  if (!(profile.keeps_precision == kNoTypes)) text += TypesText("keeps_precision", profile.keeps_precision);
  if (!(profile.flushes == kNoTypes)) text += TypesText("flushes_subnormals", profile.flushes);
  const auto yes_no = [](bool is) { return is ? "yes" : "no"; };
  return text + fmt::format("contracts {}\nstores_dots {}\nstores_loop_state {}\n", yes_no(profile.contracts),
                            yes_no(profile.stores_dots), yes_no(profile.stores_loop_state));
}

absl::StatusOr<Profile> LoadProfile(const std::string& name_or_path) {
  std::vector<std::string> names;
  for (const auto& [name, text] : kProfiles) {
    if (name == name_or_path) return ParseProfile(name, text);
    names.emplace_back(name);
  }
  const absl::StatusOr<std::string> text = ReadFile(name_or_path);
  if (!text.ok()) {
    return BadInput(fmt::format("'{}' is neither a profile ({}) nor a file that can be read{}", name_or_path,
                                fmt::join(names, ", "), DidYouMean(name_or_path, names)));
  }
  return ParseProfile(name_or_path, *text);
}

}  // namespace assay
