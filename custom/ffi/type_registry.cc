#include "custom/ffi/type_registry.h"

#include "fmt/format.h"

namespace assay::custom::ffi {

TypeRegistry& TypeRegistry::OfProcess() {
  static TypeRegistry& registry =
      *new TypeRegistry;  // for libraries that are asked for it while the process ends
  return registry;
}

const TypeRegistry::Entry* TypeRegistry::Find(abi::TypeId type) const {
  const auto found = entries_.find(type.value);
  return found == entries_.end() ? nullptr : &found->second;
}

absl::Status TypeRegistry::Register(std::string_view name, abi::TypeId& type, Deleter deleter) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const Entry* const entry = Find(type)) {
    if (entry->name == name) return absl::OkStatus();
    return absl::InvalidArgumentError(
        fmt::format("type '{}' has number {}, which is that of '{}'", name, type.value, entry->name));
  }
  for (const auto& [number, entry] : entries_) {
    if (entry.name == name)
      return absl::AlreadyExistsError(fmt::format("type '{}' is registered already", name));
  }
  if (type.value == 0) type.value = next_++;
  entries_.emplace(type.value, Entry{std::string(name), deleter});
  return absl::OkStatus();
}

std::optional<Deleter> TypeRegistry::DeleterOf(abi::TypeId type) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Entry* const entry = Find(type);
  return entry == nullptr ? std::nullopt : std::optional(entry->deleter);
}

std::string TypeRegistry::NameOf(abi::TypeId type) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Entry* const entry = Find(type);
  return entry == nullptr ? fmt::format("type {}", type.value) : fmt::format("type '{}'", entry->name);
}

}  // namespace assay::custom::ffi
