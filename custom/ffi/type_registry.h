// The types of states and user data, by number. A library keeps the number of its type in a static variable
// and registers it with no context at hand, so there is one list for the process.
#ifndef ASSAY_CUSTOM_FFI_TYPE_REGISTRY_H_
#define ASSAY_CUSTOM_FFI_TYPE_REGISTRY_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "custom/ffi/abi.h"

namespace assay::custom::ffi {

using Deleter = void (*)(void* object);

class TypeRegistry {
 public:
  static TypeRegistry& OfProcess();

  // A type without a number gets one. One that has a number has it from here, by this name, or from another
  // runtime in the process, as of JAX, and keeps it; ours are large, so that they don't meet. Errors:
  // AlreadyExists, InvalidArgument.
  absl::Status Register(std::string_view name, abi::TypeId& type, Deleter deleter);
  // nullopt: no such type is registered. A deleter may be null.
  std::optional<Deleter> DeleterOf(abi::TypeId type) const;
  // For messages.
  std::string NameOf(abi::TypeId type) const;

 private:
  struct Entry {
    std::string name;
    Deleter deleter;
  };
  static constexpr int64_t kFirst = int64_t{1} << 40;
  const Entry* Find(abi::TypeId type) const;  // under mutex_

  mutable std::mutex mutex_;
  int64_t next_ = kFirst;
  std::map<int64_t, Entry> entries_;
};

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_TYPE_REGISTRY_H_
