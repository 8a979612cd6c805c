#include "pjrt/plugin/client_options.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "evaluator/device.h"
#include "fmt/format.h"
#include "pjrt/plugin/error.h"

namespace assay::pjrt {
namespace {

constexpr std::string_view kCrosschecks[] = {"off", "sample", "full"};

absl::Status Refuse(std::string_view name, std::string_view value, std::string_view wanted) {
  return InvalidProgram({}, fmt::format("option {} is '{}', want {}", name, value.substr(0, 100), wanted));
}

template <typename T>
absl::Status ReadNumber(std::string_view name, std::string_view text, T least, T most, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc() && end == text.data() + text.size() && *value >= least && *value <= most)
    return absl::OkStatus();
  return Refuse(name, text, fmt::format("a number from {} to {}", least, most));
}

absl::Status SetEngine(std::string_view name, std::string_view text, ClientOptions& options) {
  for (const EngineChoice choice : {EngineChoice::kReference, EngineChoice::kExact, EngineChoice::kFast,
                                    EngineChoice::kGpu, EngineChoice::kGpuFast}) {
    if (Name(choice) != text) continue;
    options.engine = choice;
    return absl::OkStatus();
  }
  return Refuse(name, text, "exact, fast, gpu, gpu-fast or reference");
}

absl::Status SetCrosscheck(std::string_view name, std::string_view text, ClientOptions& options) {
  for (size_t i = 0; i < std::size(kCrosschecks); ++i) {
    if (kCrosschecks[i] != text) continue;
    options.run.crosscheck = static_cast<Crosscheck>(i);
    return absl::OkStatus();
  }
  return Refuse(name, text, "off, sample or full");
}

absl::Status SetLapack(std::string_view name, std::string_view text, ClientOptions& options) {
  if (text != "0" && text != "1") return Refuse(name, text, "0 or 1");
  options.lapack = text == "1";
  return absl::OkStatus();
}

// name: "engine" or "ASSAY_ENGINE", for messages; `option` the lower-case word.
absl::Status Set(std::string_view name, std::string_view option, std::string_view text,
                 ClientOptions& options) {
  RunLimits& limits = options.run.limits;
  if (option == "engine") return SetEngine(name, text, options);
  if (option == "crosscheck") return SetCrosscheck(name, text, options);
  if (option == "lapack") return SetLapack(name, text, options);
  if (option == "devices") return ReadNumber<int64_t>(name, text, 1, kMaxDevices, &options.devices);
  if (option == "memory_limit") return ReadNumber<int64_t>(name, text, 0, INT64_MAX, &limits.memory_limit);
  if (option == "max_steps") return ReadNumber<int64_t>(name, text, 0, INT64_MAX, &limits.max_steps);
  if (option == "timeout") return ReadNumber<double>(name, text, 0, 1e9, &limits.timeout_seconds);
  if (option == "jobs") return ReadNumber<int>(name, text, 0, 1 << 16, &options.run.jobs);
  if (option == "seed") return ReadNumber<uint64_t>(name, text, 0, UINT64_MAX, &options.run.run_seed);
  return InvalidProgram({}, fmt::format("there is no option '{}'", option.substr(0, 100)));
}

struct Variable {
  const char* variable;
  std::string_view option;
};
constexpr Variable kVariables[] = {
    {"ASSAY_DEVICES", "devices"},
    {"ASSAY_ENGINE", "engine"},
    {"ASSAY_CROSSCHECK", "crosscheck"},
    {"ASSAY_LAPACK", "lapack"},
    {"ASSAY_MEMORY_LIMIT", "memory_limit"},
    {"ASSAY_MAX_STEPS", "max_steps"},
    {"ASSAY_TIMEOUT", "timeout"},
    {"ASSAY_JOBS", "jobs"},
    {"ASSAY_SEED", "seed"},
};

absl::StatusOr<std::string> TextOf(const NamedValue& value, std::string_view name) {
  switch (value.type) {
    case NamedValueType::kString:
      if (value.string_value == nullptr && value.value_size > 0) break;
      return std::string(value.string_value, value.value_size);
    case NamedValueType::kInt64:
      return fmt::format("{}", value.int64_value);
    case NamedValueType::kFloat:
      return fmt::format("{}", value.float_value);
    default:
      break;
  }
  return InvalidProgram({}, fmt::format("option {} is neither a text nor a number", name));
}

}  // namespace

absl::StatusOr<ClientOptions> ClientOptions::Of(std::span<const NamedValue> values) {
  ClientOptions options;
  for (const Variable& known : kVariables) {
    const char* const text = std::getenv(known.variable);
    if (text == nullptr || *text == '\0') continue;
    ASSAY_RETURN_IF_ERROR(Set(known.variable, known.option, text, options));
  }
  for (const NamedValue& value : values) {
    ASSAY_RETURN_IF_ERROR(WantSize(value.struct_size, kSizeOf<NamedValue>, "an option"));
    if (value.name == nullptr) return InvalidProgram({}, "an option without a name");
    const std::string_view name(value.name, value.name_size);
    ASSAY_ASSIGN_OR_RETURN(const std::string text, TextOf(value, name));
    ASSAY_RETURN_IF_ERROR(Set(name, name, text, options));
  }
  return options;
}

std::string ClientOptions::EngineText() const {
  std::string text(Name(engine));
  if (run.crosscheck != Crosscheck::kOff)
    text += fmt::format(", crosscheck {}", kCrosschecks[static_cast<size_t>(run.crosscheck)]);
  if (lapack) text += ", lapack";
  return text;
}

std::string ClientOptions::Text() const {
  return fmt::format("engine {}, seed {}", EngineText(), run.run_seed);
}

}  // namespace assay::pjrt
