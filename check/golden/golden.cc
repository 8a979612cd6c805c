// Reading goldens. Running them is in check.cc.
#include "check/golden/golden.h"

#include <charconv>
#include <cstdlib>
#include <sstream>

#include "devices/device_io.h"
#include "fmt/format.h"
#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

constexpr std::string_view kRadius = "radius.";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
bool IsRadius(std::string_view key) { return key.starts_with(kRadius); }
bool IsOutput(std::string_view key) {
  return key.starts_with("out") || key.starts_with("host_send") || key.starts_with("probe/");
}

template <typename Integer = int64_t>
absl::StatusOr<Integer> ParseInteger(std::string_view text, SourcePosition where) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return InvalidProgram(where, fmt::format("golden: '{}' is not an integer", text));
  }
  return value;
}

absl::Status ParseOptions(std::string_view text, SourcePosition where, Golden& golden) {
  RunOptions& options = golden.options;
  std::istringstream words{std::string(text)};
  std::string flag, value;
  while (words >> flag) {
    if (!(words >> value)) return InvalidProgram(where, fmt::format("golden: option {} has no value", flag));
    if (flag == "--seed") {
      ASSAY_ASSIGN_OR_RETURN(options.run_seed, ParseInteger<uint64_t>(value, where));
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const int64_t number, ParseInteger(value, where));
    if (number < 1)
      return InvalidProgram(where, fmt::format("golden: {} {}, wanted 1 or more", flag, number));
    if (flag == "--max-steps") {
      options.limits.max_steps = number;
    } else if (flag == "--memory-limit") {
      options.limits.memory_limit = number;
    } else if (flag == "--timeout") {
      options.limits.timeout_seconds = static_cast<double>(number);
    } else if (flag == "--replicas") {
      golden.devices.replicas = number;
    } else if (flag == "--partitions") {
      golden.devices.partitions = number;
    } else {
      return InvalidProgram(where, fmt::format("golden: unknown option {}", flag));
    }
  }
  return absl::OkStatus();
}

// "Gather-C4" or "NUM-6": a capitalized name and a number, which a letter may precede.
bool IsLabel(std::string_view text) {
  const size_t hyphen = text.find('-');
  if (hyphen == 0 || hyphen == std::string_view::npos || text[0] < 'A' || text[0] > 'Z') return false;
  if (text.substr(0, hyphen).find_first_not_of(kLetters) != std::string_view::npos) return false;
  std::string_view number = text.substr(hyphen + 1);
  if (!number.empty() && number[0] >= 'A' && number[0] <= 'Z') number.remove_prefix(1);
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

absl::Status ParseRules(std::string_view value, SourcePosition where, Golden& golden) {
  for (size_t at = 0; at <= value.size();) {
    const size_t comma = std::min(value.find(',', at), value.size());
    const std::string_view label = Trim(value.substr(at, comma - at));
    if (!IsLabel(label))
      return InvalidProgram(where, fmt::format("golden: '{}' is not a label of a rule", label));
    golden.rules.emplace_back(label);
    at = comma + 1;
  }
  return absl::OkStatus();
}

absl::Status ParseRefusal(std::string_view value, SourcePosition where, Golden& golden) {
  const size_t space = value.find(' ');
  ASSAY_ASSIGN_OR_RETURN(const int64_t code, ParseInteger(value.substr(0, space), where));
  if (code < 3 || code > 5)
    return InvalidProgram(where, fmt::format("golden: refuse code is {}, wanted 3 to 5", code));
  golden.refuse_code = static_cast<int>(code);
  golden.refuse_text = space == std::string_view::npos ? "" : std::string(Trim(value.substr(space)));
  return absl::OkStatus();
}

bool IsInput(std::string_view key) {
  return key.starts_with("arg") || key.starts_with("infeed") || key.starts_with("host_recv");
}

absl::Status ParseHeaderLine(std::string_view key, std::string_view value, SourcePosition where,
                             Golden& golden) {
  if (key == "oracle") {
    golden.oracle = value;
  } else if (key == "decision") {
    golden.decision = value;
  } else if (key == "generator") {
    golden.generator = value;
  } else if (key == "profile") {
    golden.profile = value;
  } else if (key == "options") {
    return ParseOptions(value, where, golden);
  } else if (key == "inputs") {
    golden.inputs_file = value;
  } else if (key == "outputs") {
    golden.outputs_file = value;
  } else if (key == "refuse") {
    return ParseRefusal(value, where, golden);
  } else if (key == "rule") {
    return ParseRules(value, where, golden);
  } else if (key == "tolerance") {
    double share = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), share);
    // Written so that nan is refused too.
    if (error != std::errc() || end != value.data() + value.size() || !(share >= 0 && share <= 1))
      return InvalidProgram(where, fmt::format("golden: tolerance '{}', wanted a number from 0 to 1", value));
    golden.tolerance = share;
  } else if (IsInput(WithoutDevice(key)) || IsOutput(WithoutDevice(key)) || IsRadius(key)) {
    absl::StatusOr<Literal> literal = ParseShapedLiteral(value, {.hex_floats = true});
    if (!literal.ok())
      return WithPosition(WithPrefix(literal.status(), fmt::format("golden: {}", key)), where);
    auto& side = IsRadius(key) ? golden.radii : IsOutput(WithoutDevice(key)) ? golden.outputs : golden.inputs;
    const std::string_view name = IsRadius(key) ? key.substr(kRadius.size()) : key;
    if (!side.emplace(std::string(name), *std::move(literal)).second) {
      return InvalidProgram(where, fmt::format("golden: key {} stands twice", key));
    }
  } else {
    return InvalidProgram(where, fmt::format("golden: unknown key '{}'", key));
  }
  return absl::OkStatus();
}

bool IsKey(std::string_view key) {
  return !key.empty() &&
         key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._/") == std::string_view::npos;
}

// Reads the lines before the program. `remains` gets what is no line of the header: remarks, empty lines,
// the program.
absl::Status ParseHeader(std::string_view text, Golden& golden, std::string& remains) {
  int line_number = 0;
  size_t next = 0;
  for (size_t at = 0; at < text.size(); at = next) {
    const size_t end = std::min(text.find('\n', at), text.size());
    next = std::min(end + 1, text.size());
    const std::string_view line = Trim(text.substr(at, end - at));
    ++line_number;
    if (!line.empty() && !line.starts_with("//")) {
      remains += text.substr(at);
      break;
    }
    const std::string_view body = Trim(line.substr(std::min<size_t>(line.size(), 2)));
    const size_t colon = body.find(':');
    const std::string_view key = body.substr(0, colon);
    if (colon == std::string_view::npos || !IsKey(key)) {
      remains += text.substr(at, next - at);
    } else {
      ASSAY_RETURN_IF_ERROR(ParseHeaderLine(key, Trim(body.substr(colon + 1)), {line_number, 1}, golden));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> WithoutHeader(std::string_view text) {
  Golden golden;
  std::string remains;
  ASSAY_RETURN_IF_ERROR(ParseHeader(text, golden, remains));
  return remains;
}

absl::StatusOr<Golden> ParseGolden(std::string_view text) {
  Golden golden;
  golden.program = text;
  std::string remains;
  ASSAY_RETURN_IF_ERROR(ParseHeader(text, golden, remains));
  const bool expects = !golden.outputs.empty() || !golden.outputs_file.empty();
  if (golden.refuse_code.has_value() && expects) {
    return InvalidProgram({1, 1}, "golden: both expected outputs and a refusal");
  }
  for (const auto& [key, radius] : golden.radii) {
    const auto output = golden.outputs.find(key);
    if (golden.profile.empty()) return InvalidProgram({1, 1}, "golden: radii, but no profile is named");
    if (output == golden.outputs.end() || !IsFloat(radius.shape().element_type()) ||
        !Shape::SameDimensions(output->second.shape(), radius.shape()))
      return InvalidProgram(
          {1, 1}, fmt::format("golden: radius.{} is not an array of floats with the sizes of {}", key, key));
  }
  if (!golden.refuse_code && golden.oracle.empty())
    return InvalidProgram({1, 1}, "golden: no oracle is named");
  return golden;
}

}  // namespace assay
