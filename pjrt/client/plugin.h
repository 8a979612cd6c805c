// A library with PJRT's C API, opened at run time: its table of functions as calls that give statuses, and
// its handles as values that free themselves. Nothing that a plugin gives is believed: a null pointer where
// something is wanted, a missing function and an exception are errors with the plugin's name.
#ifndef ASSAY_PJRT_CLIENT_PLUGIN_H_
#define ASSAY_PJRT_CLIENT_PLUGIN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt_client {

using pjrt::FunctionId;

// Arguments of a function, with room behind them for the fields of later versions, which are all zero there:
// "nothing given". A plugin that is newer than pjrt_api.h refuses smaller structs than its own.
template <class Args>
class Struct {
 public:
  Struct() { args_.struct_size = sizeof(*this); }
  Args* operator->() { return &args_; }
  Args* get() { return &args_; }

 private:
  Args args_ = {};
  [[maybe_unused]] uint64_t later_fields_[16] = {};
};

class Plugin {
 public:
  // The oldest version whose structs are those of pjrt_api.h; JAX takes no older one either.
  static constexpr int kOldestMinorVersion = 29;

  // Opens the library, which stays open as long as the process does, checks its version and that it has the
  // functions that a run needs, and initialises it once. BadInput: no such library, or none of PJRT.
  // NotSupported: another version, or functions that are missing.
  static absl::StatusOr<std::shared_ptr<const Plugin>> Open(const std::string& path);
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  const std::string& path() const { return path_; }
  bool Has(FunctionId id) const;
  // Errors are those of the plugin, by its own code and message: NotSupported where it says UNIMPLEMENTED or
  // lacks the function, else EvalError.
  template <class Args>
  absl::Status Invoke(FunctionId id, Struct<Args>& call) const {
    return InvokeRaw(id, call.get());
  }
  // What a plugin gave that is wrong.
  absl::Status Wrong(FunctionId id, std::string_view what) const;
  // Text that a plugin gave; what can't be a name is cut off.
  static std::string TextOf(const char* text, size_t size);

  // Waits until the event is ready, and gives its error. It ends with the guard of the work (WorkScope): then
  // the plugin is still at work, and is left alone from then on, with all that it holds.
  absl::Status Await(pjrt::Event* event, std::string_view what) const;
  bool is_abandoned() const { return abandoned_; }

  // By the handle's own function; errors of it help nobody.
  void Destroy(FunctionId id, void* handle) const;

 private:
  Plugin(std::string path, const pjrt::Api* api) : path_(std::move(path)), api_(api) {}
  absl::Status CheckTable() const;
  absl::Status InvokeRaw(FunctionId id, void* args) const;
  pjrt::Error* InvokeUnchecked(FunctionId id, void* args) const;
  absl::Status StatusOf(pjrt::Error* error, FunctionId id) const;
  absl::Status WaitUntilReady(pjrt::Event* event, std::string_view what) const;

  const std::string path_;
  const pjrt::Api* const api_;
  mutable std::atomic<bool> abandoned_{false};
};

template <class T>
inline constexpr FunctionId kDestroyerOf = FunctionId::kError_Destroy;
template <>
inline constexpr FunctionId kDestroyerOf<pjrt::Client> = FunctionId::kClient_Destroy;
template <>
inline constexpr FunctionId kDestroyerOf<pjrt::LoadedExecutable> = FunctionId::kLoadedExecutable_Destroy;
template <>
inline constexpr FunctionId kDestroyerOf<pjrt::Executable> = FunctionId::kExecutable_Destroy;
template <>
inline constexpr FunctionId kDestroyerOf<pjrt::Buffer> = FunctionId::kBuffer_Destroy;
template <>
inline constexpr FunctionId kDestroyerOf<pjrt::Event> = FunctionId::kEvent_Destroy;

// Something of the plugin's that is ours to destroy.
template <class T>
class Handle {
 public:
  Handle() = default;
  Handle(const Plugin& plugin, T* raw) : plugin_(&plugin), raw_(raw) {}
  Handle(Handle&& other) noexcept : plugin_(other.plugin_), raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(plugin_, other.plugin_);
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() {
    if (raw_ != nullptr) plugin_->Destroy(kDestroyerOf<T>, raw_);
  }
  T* get() const { return raw_; }

 private:
  const Plugin* plugin_ = nullptr;
  T* raw_ = nullptr;
};

}  // namespace assay::pjrt_client

#endif  // ASSAY_PJRT_CLIENT_PLUGIN_H_
