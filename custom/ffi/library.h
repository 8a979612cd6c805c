// Shared libraries with handlers. They stay loaded: states and other threads may need their code until the
// process ends.
#ifndef ASSAY_CUSTOM_FFI_LIBRARY_H_
#define ASSAY_CUSTOM_FFI_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "custom/ffi/ffi_ops.h"

namespace assay::custom::ffi {

// A library that registers its handlers by itself when it is loaded (XLA_FFI_REGISTER_HANDLER): adds all of
// them, or none, and gives their targets. One that is loaded again gives the same. BadInput: no such file, no
// library, nothing registered, an error that the library did not look at, something else loaded it before;
// and what FfiOps::Register says. Messages name the file.
absl::StatusOr<std::vector<std::string>> LoadFfiLibrary(const std::string& path, FfiOps& ops);

// A library that exports a handler as a function (XLA_FFI_DEFINE_HANDLER_SYMBOL).
absl::Status RegisterFfiSymbol(std::string_view target, const std::string& path, const std::string& symbol,
                               FfiOps& ops);

// TARGET=LIB.so:SYMBOL, or LIB.so for one that registers its handlers by itself.
absl::Status AddFfiOption(std::string_view option, FfiOps& ops);

}  // namespace assay::custom::ffi

#endif  // ASSAY_CUSTOM_FFI_LIBRARY_H_
