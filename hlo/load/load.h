// Reads a program of any form to a Module. The content determines the form; see docs/architecture.md.
#ifndef ASSAY_HLO_LOAD_LOAD_H_
#define ASSAY_HLO_LOAD_LOAD_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/diagnostics.h"
#include "hlo/mlir/refine/known_argument.h"
#include "hlo/module.h"

namespace assay {

enum class ProgramForm { kHloText, kProto, kStableHloText, kStableHloBytecode };

// `name` (a file name, or "-") only breaks ties. A byte order mark before text is not part of it.
ProgramForm FormOfProgram(std::string_view name, std::string_view bytes);
// `warnings`, which may be null, receives the reader's warnings. StableHLO with free dimensions ('?') is
// checked as far as possible without sizes; its module has only the entry's parameters and result
// (HasFreeDimensions), and RefineProgram gives the program that can be run.
absl::StatusOr<Module> LoadProgram(std::string_view name, std::string_view bytes,
                                   std::vector<Warning>* warnings = nullptr);

bool HasFreeDimensions(const Module& module);
// A StableHLO program with free dimensions for arguments of these shapes, one for each parameter of the
// entry. BadInput and EvalError where they do not fit the program; other errors are LoadProgram's. Any other
// program is LoadProgram's.
absl::StatusOr<Module> RefineProgram(std::string_view name, std::string_view bytes,
                                     std::span<const KnownArgument> arguments);
// An error of a refined program, which was valid without sizes: InvalidProgram becomes EvalError.
absl::Status WrongForShapes(const absl::Status& status);
// The error for a use that needs sizes and has none.
absl::Status LacksShapes(const Module& module);
// A StableHLO program with free dimensions as StableHLO text, as it was read. nullopt: it has none.
absl::StatusOr<std::optional<std::string>> FreeProgramText(std::string_view name, std::string_view bytes);

// A StableHLO program with quantized types, as StableHLO text: HLO has none of them, so that it can't be
// written from its Module. nullopt: it has none, or is of another form.
absl::StatusOr<std::optional<std::string>> QuantizedProgramText(std::string_view name,
                                                                std::string_view bytes);

// A program in a file, and how many lines of the file stand before it.
struct ProgramPart {
  std::string_view text;
  int32_t lines_before = 0;

  // The name after HloModule or module; may be empty.
  std::string_view Name() const;
};
// The programs of a file. StableHLO's tests keep several in one, with lines "// -----" between them; parts
// that hold no operation are left out. In HLO text each line that starts with HloModule starts one, and so
// does what stands before the first of them, where it begins as a program without a header does. Other files
// are one part.
std::vector<ProgramPart> PartsOfFile(std::string_view name, std::string_view bytes);

}  // namespace assay

#endif  // ASSAY_HLO_LOAD_LOAD_H_
