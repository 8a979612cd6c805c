#include "hlo/load/stablehlo.h"

#include <memory>

#include "hlo/mlir/bytecode_reader.h"
#include "hlo/mlir/importer.h"
#include "hlo/mlir/quantized_lowering.h"
#include "hlo/mlir/text_parser.h"

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
