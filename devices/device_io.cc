#include "devices/device_io.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"
#include "run/inputs/random_inputs.h"

namespace assay {
namespace {

// "r0p1/" at the beginning of a key.
struct DeviceName {
  int64_t replica = 0, partition = 0;
  size_t length = 0;
};

std::optional<DeviceName> NameIn(std::string_view key) {
  DeviceName name;
  const char* const end = key.data() + key.size();
  const auto number = [end](const char*& at, char before, int64_t& value) {
    if (at == end || *at != before || at + 1 == end || at[1] < '0' || at[1] > '9') return false;
    const auto [next, error] = std::from_chars(at + 1, end, value);
    at = next;
    return error == std::errc();
  };
  const char* at = key.data();
  if (!number(at, 'r', name.replica) || !number(at, 'p', name.partition) || at == end || *at != '/')
    return std::nullopt;
  name.length = static_cast<size_t>(at + 1 - key.data());
  return name;
}

template <typename Value>
absl::StatusOr<DeviceInputs> InputsOfOne(const VerifiedModule& module,
                                         const std::map<std::string, Value>& values) {
  DeviceInputs inputs;
  ASSAY_ASSIGN_OR_RETURN(inputs.arguments, ArgumentsFrom(module, values, &inputs.process));
  return inputs;
}

template <typename Value>
absl::StatusOr<std::vector<DeviceInputs>> Inputs(const VerifiedModule& module, const DeviceGrid& grid,
                                                 const std::map<std::string, Value>& values) {
  std::map<std::string, Value> common;
  std::vector<std::map<std::string, Value>> own(static_cast<size_t>(grid.size()));
  bool any_own = false;
  for (const auto& [key, value] : values) {
    const std::optional<DeviceName> name = NameIn(key);
    if (!name) {
      common.emplace(key, value);
      continue;
    }
    if (grid.logical) {
      return BadInput(
          fmt::format("'{}' is of one device: this program takes whole values, without names of "
                      "devices",
                      key));
    }
    if (name->replica >= grid.replicas || name->partition >= grid.partitions) {
      return BadInput(fmt::format("'{}' is of no device: there are {} replicas of {}", key, grid.replicas,
                                  Counted(grid.partitions, "partition")));
    }
    const std::string rest = key.substr(name->length);
    if (values.count(rest) > 0)
      return BadInput(fmt::format("'{}' is given for all devices, and as '{}'", rest, key));
    own[static_cast<size_t>(grid.id(name->replica, name->partition))].emplace(rest, value);
    any_own = true;
  }
  if (!any_own) {
    ASSAY_ASSIGN_OR_RETURN(const DeviceInputs inputs, InputsOfOne(module, common));
    return std::vector<DeviceInputs>(own.size(), inputs);
  }
  std::vector<DeviceInputs> all;
  for (size_t id = 0; id < own.size(); ++id) {
    own[id].insert(common.begin(), common.end());
    absl::StatusOr<DeviceInputs> inputs = InputsOfOne(module, own[id]);
    if (!inputs.ok())
      return WithSuffix(inputs.status(), fmt::format(" (for {})", grid.NameOf(static_cast<int64_t>(id))));
    all.push_back(*std::move(inputs));
    own[id].clear();
  }
  return all;
}

}  // namespace

std::string_view WithoutDevice(std::string_view key) {
  const std::optional<DeviceName> name = NameIn(key);
  return name ? key.substr(name->length) : key;
}

absl::StatusOr<std::vector<DeviceInputs>> InputsOfDevices(const VerifiedModule& module,
                                                          const DeviceGrid& grid,
                                                          const std::map<std::string, NpyArray>& arrays) {
  return Inputs(module, grid, arrays);
}

absl::StatusOr<std::vector<DeviceInputs>> InputsOfDevices(const VerifiedModule& module,
                                                          const DeviceGrid& grid,
                                                          const std::map<std::string, Literal>& values) {
  return Inputs(module, grid, values);
}

absl::StatusOr<std::vector<DeviceInputs>> RandomInputsOfDevices(const VerifiedModule& module,
                                                                const DeviceGrid& grid, uint64_t seed) {
  std::vector<DeviceInputs> all(static_cast<size_t>(grid.size()));
  for (size_t id = 0; id < all.size(); ++id) {
    const uint64_t own = grid.logical ? seed : seed + id;
    ASSAY_ASSIGN_OR_RETURN(all[id].arguments, RandomInputs(module, own));
    all[id].process.when_empty = RandomStream(own);
  }
  return all;
}

NamedLiterals ResultsOfDevices(const DeviceGrid& grid, const std::vector<DeviceOutputs>& outputs) {
  if (grid.logical) return AllResults(outputs[0].root, outputs[0].process);
  std::vector<NamedLiterals> sets;
  sets.reserve(outputs.size());
  for (const DeviceOutputs& device : outputs) sets.push_back(AllResults(device.root, device.process));
  const bool agree = std::all_of(sets.begin(), sets.end(), [&](const NamedLiterals& set) {
    return std::equal(set.begin(), set.end(), sets[0].begin(), sets[0].end(),
                      [](const auto& a, const auto& b) {
                        return a.first == b.first && Literal::BitwiseEqual(a.second, b.second);
                      });
  });
  if (agree) return std::move(sets[0]);
  NamedLiterals all;
  for (size_t id = 0; id < sets.size(); ++id) {
    for (auto& [key, value] : sets[id])
      all.emplace_back(fmt::format("{}/{}", grid.NameOf(static_cast<int64_t>(id)), key), std::move(value));
  }
  return all;
}

}  // namespace assay
