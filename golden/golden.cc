// Reading goldens. Running them is in check.cc.
#include "golden/golden.h"

#include <charconv>
#include <cstdlib>
#include <sstream>

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

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool IsOutput(std::string_view key) { return StartsWith(key, "out") || StartsWith(key, "send"); }

absl::StatusOr<int64_t> ParseInteger(std::string_view text, SourcePosition where) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return InvalidProgram(where, fmt::format("golden: '{}' is no integer", text));
  }
  return value;
}

absl::Status ParseOptions(std::string_view text, SourcePosition where, RunOptions& options) {
  std::istringstream words{std::string(text)};
  std::string flag, value;
  while (words >> flag) {
    if (!(words >> value)) return InvalidProgram(where, fmt::format("golden: option {} has no value", flag));
    ASSAY_ASSIGN_OR_RETURN(const int64_t number, ParseInteger(value, where));
    if (flag == "--max-steps") {
      options.limits.max_steps = number;
    } else if (flag == "--memory-limit") {
      options.limits.memory_limit = number;
    } else if (flag == "--timeout") {
      options.limits.timeout_seconds = static_cast<double>(number);
    } else if (flag == "--seed") {
      options.run_seed = static_cast<uint64_t>(number);
    } else if (flag == "--replicas" || flag == "--partitions") {
      if (number != 1)
        return InvalidProgram(where, fmt::format("golden: {} {}: only 1 is supported", flag, number));
    } else {
      return InvalidProgram(where, fmt::format("golden: unknown option {}", flag));
    }
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

absl::Status ParseHeaderLine(std::string_view key, std::string_view value, SourcePosition where,
                             Golden& golden) {
  if (key == "oracle") {
    golden.oracle = value;
  } else if (key == "decision") {
    golden.decision = value;
  } else if (key == "options") {
    return ParseOptions(value, where, golden.options);
  } else if (key == "inputs") {
    golden.inputs_file = value;
  } else if (key == "outputs") {
    golden.outputs_file = value;
  } else if (key == "refuse") {
    return ParseRefusal(value, where, golden);
  } else if (key == "tolerance") {
    golden.tolerance = std::strtod(std::string(value).c_str(), nullptr);
  } else if (StartsWith(key, "arg") || StartsWith(key, "infeed") || IsOutput(key)) {
    absl::StatusOr<Literal> literal = ParseShapedLiteral(value, {.hex_floats = true});
    if (!literal.ok())
      return WithPosition(WithPrefix(literal.status(), fmt::format("golden: {}", key)), where);
    auto& side = IsOutput(key) ? golden.outputs : golden.inputs;
    if (!side.emplace(std::string(key), *std::move(literal)).second) {
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

}  // namespace

absl::StatusOr<Golden> ParseGolden(std::string_view text) {
  Golden golden;
  golden.program = text;
  int line_number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = Trim(text.substr(at, end - at));
    at = end + 1;
    ++line_number;
    if (line.empty()) continue;
    if (!StartsWith(line, "//")) break;
    const std::string_view body = Trim(line.substr(2));
    const size_t colon = body.find(':');
    const std::string_view key = body.substr(0, colon);
    if (colon == std::string_view::npos || !IsKey(key)) continue;  // a remark
    ASSAY_RETURN_IF_ERROR(ParseHeaderLine(key, Trim(body.substr(colon + 1)), {line_number, 1}, golden));
  }
  const bool expects = !golden.outputs.empty() || !golden.outputs_file.empty();
  if (golden.refuse_code.has_value() && expects) {
    return InvalidProgram({1, 1}, "golden: both expected outputs and a refusal");
  }
  if (!golden.refuse_code && golden.oracle.empty())
    return InvalidProgram({1, 1}, "golden: no oracle is named");
  return golden;
}

}  // namespace assay
