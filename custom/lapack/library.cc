#include "custom/lapack/library.h"

#include <dlfcn.h>

#include <string>

#include "custom/float_environment.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

constexpr char kLapackFile[] = "liblapack.so.3";

struct OpenedLapack {
  void* handle = nullptr;
  absl::Status status;
};

// Implementations that have threads take them from the number of processors,
// and then round as that number says.
void UseOneThread(void* handle) {
  if (void* const set = dlsym(handle, "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(set)(1);
  if (void* const set = dlsym(handle, "bli_thread_set_num_threads")) reinterpret_cast<void (*)(long)>(set)(1);
}

OpenedLapack OpenLapack() {
  const KeptFloatEnvironment kept;
  void* const handle = dlopen(kLapackFile, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    return {nullptr,
            NotSupported({}, fmt::format("LAPACK can't be loaded (Debian: liblapack3): {}", dlerror()))};
  }
  UseOneThread(handle);
  return {handle, absl::OkStatus()};
}

}  // namespace

absl::StatusOr<void*> FindLapackRoutine(std::string_view name) {
  // It is never closed: kernels keep addresses as long as they like.
  static const OpenedLapack* const opened = new OpenedLapack(OpenLapack());
  ASSAY_RETURN_IF_ERROR(opened->status);
  const std::string symbol = fmt::format("{}_", name);
  void* const routine = dlsym(opened->handle, symbol.c_str());
  if (routine == nullptr) return NotSupported({}, fmt::format("{} has no {}", kLapackFile, symbol));
  return routine;
}

}  // namespace assay::custom
