#include "hlo/load/stablehlo.h"

#include <memory>

#include "hlo/mlir/bytecode/reader.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/quantized/lowering.h"
#include "hlo/mlir/text/parser.h"

namespace assay {

absl::StatusOr<Module> ParseStableHloText(std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, mlir::ParseMlirText(text));
  ASSAY_RETURN_IF_ERROR(mlir::LowerQuantizedTypes(*tree));
  return mlir::ImportModule(*tree);
}

absl::StatusOr<Module> ParseStableHloBytecode(std::string_view bytes) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, mlir::ReadMlirBytecode(bytes));
  ASSAY_RETURN_IF_ERROR(mlir::LowerQuantizedTypes(*tree));
  return mlir::ImportModule(*tree);
}

}  // namespace assay
