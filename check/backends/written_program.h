// Programs that were made in memory as files for a backend.
#ifndef ASSAY_CHECK_BACKENDS_WRITTEN_PROGRAM_H_
#define ASSAY_CHECK_BACKENDS_WRITTEN_PROGRAM_H_

#include <string>

#include "base/error.h"
#include "hlo/load/load.h"
#include "hlo/module.h"

namespace assay {

// The program in a form that it came in: its bytes, and the name of its file. NotSupported where the module
// can't be written so.
struct WrittenProgram {
  std::string file, bytes;
};
absl::StatusOr<WrittenProgram> WriteProgram(const Module& module, ProgramForm form);

}  // namespace assay

#endif  // ASSAY_CHECK_BACKENDS_WRITTEN_PROGRAM_H_
