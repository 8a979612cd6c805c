#include "base/zip_library.h"

#include <dlfcn.h>

#include "fmt/format.h"

namespace assay {
namespace {

struct Opened {
  ZipLibrary library;
  absl::Status status;
};

// The loader has no code for what went wrong, only words.
absl::Status CantLoad(std::string_view library, std::string_view why) {
  for (const std::string_view words :
       {"Cannot allocate memory", "cannot allocate memory", "failed to map segment"}) {
    if (why.find(words) != std::string_view::npos) return OutOfMemory(library);
  }
  return NotSupported({}, fmt::format("{} can't be loaded: {}", library, why));
}

// The one that a wheel carries (tools/make_wheels), under a name that no other package has.
constexpr char kCarriedFile[] = "libassay_zip.so";

Opened Open() {
  void* handle = dlopen(kCarriedFile, RTLD_LAZY | RTLD_LOCAL);
  // ASSAY_ZIP_FILE: libzip.so.N, of the version whose header this was compiled with.
  if (handle == nullptr) handle = dlopen(ASSAY_ZIP_FILE, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return {{}, CantLoad("libzip", dlerror())};
  Opened opened;
#define F(name)                                                                                       \
  opened.library.name = reinterpret_cast<decltype(opened.library.name)>(dlsym(handle, "zip_" #name)); \
  if (opened.library.name == nullptr) opened.status = NotSupported({}, ASSAY_ZIP_FILE " has no zip_" #name);
  ASSAY_ZIP_FUNCTIONS(F)
#undef F
  return opened;
}

// It is never closed: archives may be in use when the process ends.
const Opened& Library() {
  static const Opened* const opened = new Opened(Open());
  return *opened;
}

}  // namespace

absl::Status LoadZipLibrary() { return Library().status; }
const ZipLibrary& Zip() { return Library().library; }

}  // namespace assay
