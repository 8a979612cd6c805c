#include "custom/ffi/library.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <utility>

#include "custom/ffi/api.h"
#include "custom/float_environment.h"
#include "fmt/format.h"

namespace assay::custom::ffi {
namespace {

std::string LastError() {
  const char* const error = dlerror();
  return error == nullptr ? "no reason given" : error;
}

// A library that registers its handlers calls XLA_FFI_GetApi, which it leaves to its process to define. The
// linker looks for it among the symbols of the program and of what was loaded with RTLD_GLOBAL. A program
// exports it by an option of the linker (CMakeLists.txt); where this code lies in a shared library, as in
// Python's module, that library is opened once more, now for all,
// which is why it exports nothing else (python/exports.map).
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

struct Library {
  void* handle = nullptr;
  // What its constructors registered, and the first error that they got. They run once a process: null where
  // something else loaded the library.
  struct Constructed {
    std::vector<Registration> registrations;
    absl::Status error;
  };
  const Constructed* constructed = nullptr;
};

class LoadedLibraries {
 public:
  static LoadedLibraries& OfProcess() {
    static LoadedLibraries& libraries = *new LoadedLibraries;
    return libraries;
  }

  absl::StatusOr<Library> Open(const std::string& file) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const absl::Status offered = OfferApi();  // most libraries do without
    if (void* const before = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
      const auto known = by_handle_.find(before);
      return Library{before, known == by_handle_.end() ? nullptr : &known->second};
    }
    RegistrationScope scope;
    const KeptFloatEnvironment kept;
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const std::string error = LastError();
      return BadInput(offered.ok() ? error : fmt::format("{} ({})", error, std::string(offered.message())));
    }
    Library::Constructed constructed = {std::move(scope.registrations), scope.first_error};
    return Library{handle, &by_handle_.emplace(handle, std::move(constructed)).first->second};
  }

 private:
  std::mutex mutex_;
  std::map<void*, Library::Constructed> by_handle_;
};

// A name without a slash is a file, too, not one of the system's libraries.
std::string FileOf(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> LoadFfiLibrary(const std::string& path, FfiOps& ops) {
  const absl::StatusOr<Library> library = LoadedLibraries::OfProcess().Open(FileOf(path));
  if (!library.ok()) return WithPrefix(library.status(), path);
  if (library->constructed == nullptr) {
    return BadInput(
        fmt::format("{}: something else loaded it before, so what it registered was not seen", path));
  }
  const auto& [registrations, error] = *library->constructed;
  if (!error.ok()) return BadInput(fmt::format("{}: {}", path, std::string(error.message())));
  if (registrations.empty()) {
    return BadInput(
        fmt::format("{}: registers no handlers of XLA's FFI; name one as TARGET={}:SYMBOL", path, path));
  }
  if (const absl::Status status = ops.Register(registrations); !status.ok()) return WithPrefix(status, path);
  std::vector<std::string> targets;
  targets.reserve(registrations.size());
  for (const Registration& registration : registrations) targets.push_back(registration.target);
  return targets;
}

absl::Status RegisterFfiSymbol(std::string_view target, const std::string& path, const std::string& symbol,
                               FfiOps& ops) {
  const absl::StatusOr<Library> library = LoadedLibraries::OfProcess().Open(FileOf(path));
  if (!library.ok()) return WithPrefix(library.status(), path);
  void* const found = dlsym(library->handle, symbol.c_str());
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
