// Which oneDNN there is.
#ifndef ASSAY_ENGINES_ONEDNN_VERSION_H_
#define ASSAY_ENGINES_ONEDNN_VERSION_H_

#include <string>

#include "base/error.h"

namespace assay::onednn {

// "2.6.0". Opens the library for the machine's best instruction set; the error says why it can't be used.
absl::StatusOr<std::string> LibraryVersion();

}  // namespace assay::onednn

#endif  // ASSAY_ENGINES_ONEDNN_VERSION_H_
