// Errors as they cross the border: Assay's status with the code that PJRT has for it.
#ifndef ASSAY_PJRT_PLUGIN_ERROR_H_
#define ASSAY_PJRT_PLUGIN_ERROR_H_

#include <string>

#include "base/error.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

struct Error {
  ErrorCode code;
  std::string message;
};

// Null where the status is OK. A position stands before the message. What an input of a run does wrong
// (BadInput) is an invalid argument here; memory that there is none of for the error itself gives an
// error that nobody destroys.
Error* ErrorOf(const absl::Status& status) noexcept;
// The exception that is at work. No status is made of it: that could throw another one.
Error* ErrorOfException() noexcept;

// A handle or pointer that the caller must give.
absl::Status Wanted(const void* pointer, std::string_view name);

// A struct that the arguments point to is as large as is read of it. Layouts are not asked: frameworks leave
// their sizes unset.
absl::Status WantSize(size_t size, size_t wanted, std::string_view what);

#define ASSAY_PJRT_WANT(field) ASSAY_RETURN_IF_ERROR(Wanted(args.field, #field))

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_ERROR_H_
