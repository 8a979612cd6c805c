#include "tests/gpu/emulator/settings.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace assay::emulated {
namespace {

constexpr const char* kNumbers[] = {"DEVICES", "DRIVER_VERSION", "MULTIPROCESSORS", "MEMORY", "SHARED",
                                    "POOLS",   "KERNELS",        "EAGER",           "ORDER"};
constexpr int64_t Settings::*kMembers[] = {
    &Settings::devices, &Settings::driver_version, &Settings::multiprocessors,
    &Settings::memory,  &Settings::shared,         &Settings::pools,
    &Settings::kernels, &Settings::eager,          &Settings::order};

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<FailRule> ParseRule(std::string_view text) {
  const size_t first = text.find(':');
  const size_t second = text.find(':', first == text.npos ? first : first + 1);
  if (second == text.npos) return std::nullopt;
  std::string_view calls = text.substr(first + 1, second - first - 1);
  FailRule rule{.function = std::string(text.substr(0, first)), .forever = calls.ends_with('+')};
  if (rule.forever) calls.remove_suffix(1);
  const std::optional<int64_t> count = Number(calls), error = Number(text.substr(second + 1));
  if (!count || !error || *count == 0 || *error == 0) return std::nullopt;
  rule.calls = static_cast<uint64_t>(*count);
  rule.error = static_cast<gpu::cuda::Result>(*error);
  return rule;
}

bool AddRules(std::string_view text, std::vector<FailRule>* rules) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::optional<FailRule> rule = ParseRule(text.substr(0, comma));
    if (!rule) return false;
    rules->push_back(*rule);
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return true;
}

bool SetCapability(std::string_view text, Settings* settings) {
  const size_t dot = text.find('.');
  if (dot == text.npos) return false;
  const std::optional<int64_t> major = Number(text.substr(0, dot)), minor = Number(text.substr(dot + 1));
  if (!major || !minor) return false;
  settings->capability_major = *major;
  settings->capability_minor = *minor;
  return true;
}

}  // namespace

bool Settings::Set(std::string_view setting, const char* value) {
  const Settings defaults;
  for (size_t i = 0; i < std::size(kNumbers); ++i) {
    if (setting != kNumbers[i]) continue;
    const std::optional<int64_t> number = value == nullptr ? defaults.*kMembers[i] : Number(value);
    if (number) this->*kMembers[i] = *number;
    return number.has_value();
  }
  if (setting == "NAME") {
    name = value == nullptr ? defaults.name : value;
    return true;
  }
  if (setting == "CAPABILITY") return SetCapability(value == nullptr ? "9.0" : value, this);
  if (setting != "FAIL") return false;
  if (value != nullptr) return AddRules(value, &fail);
  fail.clear();
  return true;
}

Settings EnvironmentSettings() {
  Settings settings;
  for (const std::string name : {"DEVICES", "NAME", "CAPABILITY", "DRIVER_VERSION", "MULTIPROCESSORS",
                                 "MEMORY", "SHARED", "POOLS", "KERNELS", "EAGER", "ORDER", "FAIL"}) {
    const std::string variable = "ASSAY_EMULATED_" + name;
    const char* const value = std::getenv(variable.c_str());
    if (value == nullptr || settings.Set(name, value)) continue;
    std::fprintf(stderr, "the emulated CUDA driver: %s has no value %s\n", variable.c_str(), value);
    std::abort();
  }
  return settings;
}

gpu::cuda::Result NextFailure(std::string_view function, std::vector<FailRule>* rules) {
  gpu::cuda::Result error = gpu::cuda::Result::kSuccess;
  for (auto rule = rules->begin(); rule != rules->end();) {
    const bool meant = rule->function == "*" || rule->function == function;
    if (meant && rule->calls > 0) --rule->calls;
    if (!meant || rule->calls > 0) {
      ++rule;
      continue;
    }
    error = rule->error;
    rule = rule->forever ? rule + 1 : rules->erase(rule);
  }
  return error;
}

}  // namespace assay::emulated
