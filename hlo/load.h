// A program in whatever form it comes, to a Module. The content decides the form; see docs/architecture.md.
#ifndef ASSAY_HLO_LOAD_H_
#define ASSAY_HLO_LOAD_H_

#include <string_view>

#include "hlo/module.h"

namespace assay {

enum class ProgramForm { kHloText, kProto, kStableHloText, kStableHloBytecode };

// `name` (a file name, or "-") only breaks ties. Forms that are recognised and not read yet give NotSupported.
ProgramForm FormOfProgram(std::string_view name, std::string_view bytes);
absl::StatusOr<Module> LoadProgram(std::string_view name, std::string_view bytes);

}  // namespace assay

#endif  // ASSAY_HLO_LOAD_H_
