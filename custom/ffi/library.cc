#include "custom/ffi/library.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <utility>

#include "custom/ffi/api.h"
#include "fmt/format.h"

namespace assay::custom::ffi {
namespace {

std::string LastError() {
  const char* const error = dlerror();
  return error == nullptr ? "no reason given" : error;
}

// A library that registers its handlers calls XLA_FFI_GetApi, which it leaves to its process to define. The linker looks for it
// among the symbols of the program and of what was loaded with RTLD_GLOBAL. A program exports it by an option of the linker
// (CMakeLists.txt); where this code lies in a shared library, as in Python's module, that library is opened once more, now for
// all, which is why it exports nothing else (python/exports.map).
absl::Status OfferApi() {
  constexpr const char* kName = "XLA_FFI_GetApi";
  void* const ours = reinterpret_cast<void*>(&XLA_FFI_GetApi);
  // RTLD_DEFAULT would look in this library, too.
  void* const everybody = dlopen(nullptr, RTLD_NOW);
  if (dlsym(everybody, kName) == ours) return absl::OkStatus();
  Dl_info here = {};
  if (dladdr(ours, &here) != 0 && here.dli_fname != nullptr)
    dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  void* const found = dlsym(everybody, kName);
  if (found == ours) return absl::OkStatus();
  return BadInput(fmt::format(
      "{} {}", found == nullptr ? "this program does not export" : "something else in this process exports",
      kName));
}

// What the libraries that are loaded registered: their constructors run once a process.
class LoadedLibraries {
 public:
  static LoadedLibraries& OfProcess() {
    static LoadedLibraries& libraries = *new LoadedLibraries;
    return libraries;
  }

  absl::StatusOr<std::vector<Registration>> Load(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ASSAY_RETURN_IF_ERROR(OfferApi());
    if (void* const before = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
      const auto known = by_handle_.find(before);
      if (known != by_handle_.end()) return known->second;
      return BadInput("something else loaded it before, so what it registered was not seen");
    }
    RegistrationScope scope;
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return BadInput(LastError());
    if (!scope.first_error.ok()) return BadInput(std::string(scope.first_error.message()));
    return by_handle_.emplace(handle, std::move(scope.registrations)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::vector<Registration>> by_handle_;
};

// A name without a slash is a file, too, not one of the system's libraries.
std::string FileOf(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> LoadFfiLibrary(const std::string& path, FfiOps& ops) {
  absl::StatusOr<std::vector<Registration>> registered = LoadedLibraries::OfProcess().Load(FileOf(path));
  if (!registered.ok()) return WithPrefix(registered.status(), path);
  if (registered->empty()) {
    return BadInput(
        fmt::format("{}: registers no handlers of XLA's FFI; name one as TARGET={}:SYMBOL", path, path));
  }
  if (const absl::Status status = ops.Register(*registered); !status.ok()) return WithPrefix(status, path);
  std::vector<std::string> targets;
  for (const Registration& registration : *registered) targets.push_back(registration.target);
  return targets;
}

absl::Status RegisterFfiSymbol(std::string_view target, const std::string& path, const std::string& symbol,
                               FfiOps& ops) {
  // A library may have both forms.
  static_cast<void>(OfferApi().ok());
  RegistrationScope scope;
  void* const handle = dlopen(FileOf(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return BadInput(fmt::format("{}: {}", path, LastError()));
  void* const found = dlsym(handle, symbol.c_str());
  if (found == nullptr) return BadInput(fmt::format("{}: no symbol '{}'", path, symbol));
  abi::HandlerBundle bundle = {};
  bundle.execute = reinterpret_cast<abi::Handler*>(found);
  const absl::Status status = ops.Register(target, bundle);
  return status.ok() ? status : WithPrefix(status, path);
}

absl::Status AddFfiOption(std::string_view option, FfiOps& ops) {
  const size_t equals = option.find('=');
  if (equals == std::string_view::npos) return LoadFfiLibrary(std::string(option), ops).status();
  const std::string_view target = option.substr(0, equals);
  const size_t colon = option.rfind(':');
  if (target.empty() || colon == std::string_view::npos || colon < equals + 2 || colon + 1 == option.size())
    return BadInput(fmt::format("--ffi {}: want TARGET=LIB.so:SYMBOL or LIB.so", option));
  return RegisterFfiSymbol(target, std::string(option.substr(equals + 1, colon - equals - 1)),
                           std::string(option.substr(colon + 1)), ops);
}

}  // namespace assay::custom::ffi
