// A program as plugins take it.
#ifndef ASSAY_PJRT_CLIENT_PROGRAM_FORMS_H_
#define ASSAY_PJRT_CLIENT_PROGRAM_FORMS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/backend.h"

namespace assay::pjrt_client {

struct ProgramBytes {
  std::string format;  // PJRT's word: "mlir" or "hlo"
  std::string what;    // for messages: "StableHLO bytecode"
  absl::StatusOr<std::string> code;
};

// The forms to try, in order: the file's own bytes where they are a portable artifact of StableHLO, the HLO
// proto, and StableHLO text. A form that the module has none of says why.
std::vector<ProgramBytes> FormsOf(const Backend::Request& request);

// CompileOptionsProto: one replica of one partition, on that device; nullopt: on the plugin's default.
std::string CompileOptionBytes(bool arguments_are_tupled, std::optional<int64_t> device_id);

}  // namespace assay::pjrt_client

#endif  // ASSAY_PJRT_CLIENT_PROGRAM_FORMS_H_
