#include "engines/onednn/library.h"

#include <dlfcn.h>

#include <mutex>

#include "fmt/format.h"

namespace assay::onednn {
namespace {

constexpr char kName[] = "libdnnl.so.2";

dnnl_cpu_isa_t IsaFor(Isa isa) {
  if (isa == Isa::kAvx512) return dnnl_cpu_isa_all;
  return isa == Isa::kAvx2 ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_sse41;
}

// What environment variables may have set: less precise multiplication, output, files.
bool ResetDefaults(const Library& library, Isa isa) {
  return library.set_verbose(0) == dnnl_success && library.set_jit_dump(0) == dnnl_success &&
         library.set_default_fpmath_mode(dnnl_fpmath_mode_strict) == dnnl_success &&
         library.set_max_cpu_isa(IsaFor(isa)) == dnnl_success;
}

absl::StatusOr<Library> Load(Isa isa) {
  void* const handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return NotSupported({}, fmt::format("oneDNN can't be loaded: {}", dlerror()));
  Library library{.isa = isa};
  const char* missing = nullptr;
#define F(name, symbol)                                                            \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, #symbol)); \
  if (library.name == nullptr) missing = #symbol;
  ASSAY_DNNL_FUNCTIONS(F)
#undef F
  if (missing != nullptr) return NotSupported({}, fmt::format("{} has no {}", kName, missing));
  // The structures that functions fill differ between major versions.
  const dnnl_version_t& version = *library.version();
  if (version.major != DNNL_VERSION_MAJOR)
    return NotSupported({},
                        fmt::format("oneDNN has version {}, wanted {}", version.major, DNNL_VERSION_MAJOR));
  library.set_num_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "omp_set_num_threads"));
  library.get_num_procs = reinterpret_cast<int (*)()>(dlsym(handle, "omp_get_num_procs"));
  if (!ResetDefaults(library, isa)) return NotSupported({}, "oneDNN rejects the settings");
  if (library.engine_create(&library.engine, dnnl_cpu, 0) != dnnl_success ||
      library.stream_create(&library.stream, library.engine, dnnl_stream_default_flags) != dnnl_success)
    return NotSupported({}, "initializing oneDNN failed");
  return library;
}

}  // namespace

namespace {

std::mutex mutex;
const absl::StatusOr<Library>* library = nullptr;

}  // namespace

absl::Status LoadFailure() {
  const std::lock_guard lock(mutex);
  return library == nullptr ? absl::OkStatus() : library->status();
}

absl::StatusOr<const Library*> GetLibrary(Isa isa) {
  const std::lock_guard lock(mutex);
  if (library == nullptr) library = new absl::StatusOr<Library>(Load(isa));
  if (!library->ok()) return library->status();
  if ((*library)->isa != isa)
    return NotSupported({}, "oneDNN already runs in this process with another instruction set");
  return &**library;
}

absl::Status Check(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return absl::OkStatus();
  if (status == dnnl_out_of_memory)
    return absl::ResourceExhaustedError(fmt::format("oneDNN: out of memory: {}", what));
  return EvalError({}, fmt::format("oneDNN: {}: status {}", what, static_cast<int>(status)));
}

}  // namespace assay::onednn
