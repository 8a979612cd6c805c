#include "check/backends/written_program.h"

#include "hlo/mlir/export/export.h"
#include "hlo/proto/export.h"
#include "hlo/text/printer.h"

namespace assay {

absl::StatusOr<WrittenProgram> WriteProgram(const Module& module, ProgramForm form) {
  WrittenProgram written;
  switch (form) {
    case ProgramForm::kHloText:
      return WrittenProgram{"program.hlo", ModuleToText(module)};
    case ProgramForm::kProto: {
      ASSAY_ASSIGN_OR_RETURN(written.bytes, ExportProto(module));
      written.file = "program.pb";
      return written;
    }
    case ProgramForm::kStableHloText:
    case ProgramForm::kStableHloBytecode: {
      ASSAY_ASSIGN_OR_RETURN(written.bytes, ExportStableHlo(module));
      written.file = "program.mlir";
      return written;
    }
  }
  return NotSupported({}, "a program of no known form");
}

}  // namespace assay
